# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Runs a Redis server whose functions hold known amounts of memory. The process becomes the server,
and a child of it sends the commands and prints the amounts, in bytes.

usage: serve_redis.py FOLDER
"""
import json
import os
import socket
import sys
import time

MIB = 1 << 20
STARTED = 30  # seconds in which a server must answer


class Client:
    """Speaks the protocol of Redis."""

    def __init__(self, path):
        end = time.monotonic() + STARTED
        self.socket = socket.socket(socket.AF_UNIX)
        while self.socket.connect_ex(path):
            if time.monotonic() > end:
                sys.exit("the server does not answer")
            time.sleep(0.05)
        self.answers = self.socket.makefile("rb")

    def send(self, *words):
        words = [word if isinstance(word, bytes) else str(word).encode() for word in words]
        self.socket.sendall(b"*%d\r\n" % len(words) +
                            b"".join(b"$%d\r\n%s\r\n" % (len(word), word) for word in words))

    def ask(self, *words):
        self.send(*words)
        answer = self.answers.readline()
        if answer.startswith(b"-"):
            sys.exit(f"{words[0]}: {answer!r}")
        if answer.startswith(b"$"):
            answer = self.answers.read(int(answer[1:]) + 2)
        return answer

    def used(self):
        """Returns the bytes that the server's allocator has given it."""
        text = self.ask("INFO", "memory").decode()
        return next(int(line.split(":")[1]) for line in text.splitlines()
                    if line.startswith("used_memory:"))


def hold(client):
    """Returns what functions of the server hold after it executed commands."""
    holds = {}
    client.ask("SETRANGE", "freed", 60 * MIB - 1, "x")
    client.ask("DEL", "freed")
    client.ask("MEMORY", "PURGE")
    client.ask("SETRANGE", "grown", 40 * MIB - 1, "x")
    holds["setrangeCommand"] = 40 * MIB
    # the server reads large values into blocks that become the values
    for i in range(30):
        client.ask("SET", f"large:{i}", bytes(MIB))
    holds["read ("] = 30 * MIB
    before = client.used()
    client.ask("DEBUG", "POPULATE", 25000, "small", 1000)
    holds["debugCommand"] = client.used() - before
    return holds


def main():
    folder = sys.argv[1]
    path = os.path.join(folder, "redis.sock")
    if os.fork():
        os.execvp("redis-server", ["redis-server", "--port", "0", "--unixsocket", path, "--save", "",
                                   "--dir", folder, "--enable-debug-command", "yes", "--logfile",
                                   os.path.join(folder, "log")])
    client = Client(path)
    print(json.dumps({"holds": hold(client)}), flush=True)
    sys.stdin.read()
    client.send("SHUTDOWN", "NOSAVE")


main()
