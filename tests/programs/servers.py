# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Healthy servers of Debian: PostgreSQL, php-fpm, nginx, MariaDB and Redis."""
import glob
import http.client
import os
import shutil
import signal
import socket
import struct
import subprocess

from program import AS_NOBODY, Server, amount, many, need_setup, quiet, write
from run import Skip, until


def postgresql(folder):
    found = sorted(glob.glob("/usr/lib/postgresql/*/bin/pgbench"))
    if not found:
        raise Skip("no PostgreSQL: tools/setup.sh healthy")
    at, data = os.path.dirname(found[-1]), os.path.join(folder, "data")
    quiet([*AS_NOBODY, f"{at}/initdb", "-D", data, "-U", "bench", "-A", "trust", "-N"], folder)
    bench = [*AS_NOBODY, f"{at}/pgbench", "-h", folder, "-U", "bench"]

    def client():
        ready = [f"{at}/pg_isready", "-q", "-h", folder]
        until(lambda: subprocess.run(ready, check=False).returncode == 0, "PostgreSQL")
        quiet([*bench, "-q", "-i", "-s", str(amount(5)), "postgres"], folder)
        quiet([*bench, "-c", "8", "-j", "2", "-t", str(amount(500)), "postgres"], folder)

    return Server(folder, [*AS_NOBODY, f"{at}/postgres", "-D", data, "-k", folder, "-c",
                           "listen_addresses="], f"{folder}/.s.PGSQL.5432", client, signal.SIGINT)


def fastcgi(path, script):
    """Sends one FastCGI request and returns the raw answer, with its record headers."""
    def record(kind, body=b""):
        return struct.pack(">BBHHBB", 1, kind, 1, len(body), 0, 0) + body

    names = {"SCRIPT_FILENAME": script, "REQUEST_METHOD": "GET", "QUERY_STRING": ""}
    pairs = b"".join(bytes([len(name), len(value)]) + name.encode() + value.encode()
                     for name, value in names.items())
    with socket.socket(socket.AF_UNIX) as one:
        one.connect(path)
        one.sendall(record(1, b"\0\1\0\0\0\0\0\0") + record(4, pairs) + record(4) + record(5))
        return b"".join(iter(lambda: one.recv(65536), b""))


def php_fpm(folder):
    found = sorted(glob.glob("/usr/sbin/php-fpm*"))
    if not found:
        raise Skip("no php-fpm: tools/setup.sh healthy")
    path = f"{folder}/php"
    script = write(folder, "page.php", """\
        <?php
        $rows = [];
        for ($i = 0; $i < 20000; $i++) $rows[] = ["id" => $i, "text" => str_repeat("x", 40)];
        echo strlen(json_encode($rows)), " well";
        """)
    conf = write(folder, "fpm.conf", f"""\
        [global]
        error_log = {folder}/log
        daemonize = no
        [www]
        user = nobody
        group = nogroup
        listen = {path}
        pm = dynamic
        pm.max_children = 8
        pm.start_servers = 2
        pm.min_spare_servers = 1
        pm.max_spare_servers = 4
        pm.max_requests = 100
        """)

    def request():
        answer = fastcgi(path, script)
        assert b"well" in answer, answer[:300]

    return Server(folder, [found[-1], "-n", "-d", "zend_extension=opcache", "-d",
                           "opcache.enable=1", "-y", conf], path,
                  lambda: many(request, times=200), signal.SIGQUIT)


def nginx(folder):
    need_setup("nginx")
    path = f"{folder}/http"
    for name, size in (("small", 1000), ("large", 1 << 20)):
        write(folder, name, "x" * size)
    conf = write(folder, "nginx.conf", f"""\
        daemon off;
        pid {folder}/nginx.pid;
        error_log {folder}/log;
        worker_processes 2;
        events {{ worker_connections 256; }}
        http {{
            access_log {folder}/access;
            client_body_temp_path {folder}/body;
            proxy_temp_path {folder}/proxy;
            fastcgi_temp_path {folder}/fastcgi;
            uwsgi_temp_path {folder}/uwsgi;
            scgi_temp_path {folder}/scgi;
            gzip on;
            sendfile on;
            open_file_cache max=100;
            server {{ listen unix:{path}; root {folder}; }}
        }}
        """)

    def request():
        for name, size in (("small", 1000), ("large", 1 << 20)):
            one = http.client.HTTPConnection("localhost")
            one.sock = socket.socket(socket.AF_UNIX)
            one.sock.connect(path)
            one.request("GET", f"/{name}")
            got = len(one.getresponse().read())
            one.close()
            assert got == size, got

    return Server(folder, [shutil.which("nginx"), "-c", conf, "-e", f"{folder}/log"], path,
                  lambda: many(request), signal.SIGQUIT)


def mariadb(folder):
    need_setup("mariadbd", "mariadb-install-db", "mariadb-slap")
    data, path = f"{folder}/data", f"{folder}/sql"
    quiet([*AS_NOBODY, "mariadb-install-db", "--no-defaults", f"--datadir={data}",
           "--auth-root-authentication-method=normal", "--skip-test-db"], folder)
    return Server(folder, [*AS_NOBODY, shutil.which("mariadbd"), "--no-defaults",
                           f"--datadir={data}", f"--socket={path}", "--skip-networking",
                           f"--pid-file={folder}/sql.pid"], path,
                  lambda: quiet(["mariadb-slap", "--no-defaults", f"--socket={path}", "-uroot",
                                 "--auto-generate-sql", "--concurrency=8",
                                 f"--number-of-queries={amount(4000)}"], folder), signal.SIGTERM)


def redis(folder):
    need_setup("redis-server", "redis-benchmark", "redis-cli")
    path = f"{folder}/redis"

    def ready():
        ping = subprocess.run(["redis-cli", "-s", path, "ping"], capture_output=True, check=False)
        # while Redis loads its data, it answers LOADING instead of PONG
        return ping.stdout == b"PONG\n"

    def client():
        until(ready, "Redis")
        quiet(["redis-benchmark", "-s", path, "-q", "-c", "20", "-d", "200", "-r", "20000", "-n",
               str(amount(20000)), "-t", "set,get,incr,lpush,hset,lrange_100"], folder)
        for command in ("bgsave", "bgrewriteaof"):
            quiet(["redis-cli", "-s", path, command], folder)
        quiet(["redis-benchmark", "-s", path, "-q", "-n", str(amount(20000)), "-t", "set"], folder)

    return Server(folder, [shutil.which("redis-server"), "--port", "0", "--unixsocket", path,
                           "--dir", folder, "--appendonly", "yes"], path, client, signal.SIGTERM)
