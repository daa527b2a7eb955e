# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Tests `faultscope mcp`: a client that agents have calls its tools. tests/mcp tests it with the
official client and inspector."""
import contextlib
import json
import signal
import subprocess
from pathlib import Path

from harness import RECORDINGS, Lines, live, until

NOT_JSON, NOT_A_REQUEST, UNKNOWN_METHOD, INVALID, BUSY = -32700, -32600, -32601, -32602, -32000
LEAK = RECORDINGS / "forecast_of_a_leak.fsr"
RESULT_BYTES = 32 << 10
TOOLS = {"diagnose", "host", "explain", "doctor", "oom", "incidents", "incident", "report", "triage"}


class Client:
    def __init__(self, lab):
        self.process = subprocess.Popen([lab.program, "mcp"], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.last = 0

    def send(self, text):
        self.process.stdin.write(text + "\n")
        self.process.stdin.flush()

    def receive(self):
        line = self.process.stdout.readline()
        assert line, f"no answer: {self.process.stderr.read()}"
        return json.loads(line)

    def begin(self, method, **params):
        self.last += 1
        self.send(json.dumps({"jsonrpc": "2.0", "id": self.last, "method": method,
                              "params": params}))
        return self.last

    def ask(self, method, **params):
        number = self.begin(method, **params)
        answer = self.receive()
        assert answer["id"] == number, answer
        return answer

    def call(self, tool, **arguments):
        return self.ask("tools/call", name=tool, arguments=arguments)

    def result(self, tool, **arguments):
        answer = self.call(tool, **arguments)
        assert "result" in answer, answer
        return answer["result"]["structuredContent"]

    def children(self):
        return Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text().split()


@contextlib.contextmanager
def client(lab):
    one = Client(lab)
    try:
        yield one
    finally:
        one.process.stdin.close()
        one.process.stdout.close()
        one.process.wait(30)
        one.process.stderr.close()


def test_session_of_an_agent(check, lab):
    with client(lab) as one:
        for asked, got in (("2024-11-05", "2024-11-05"), ("2025-06-18", "2025-06-18"),
                           ("1999-01-01", "2025-06-18")):
            told = one.ask("initialize", protocolVersion=asked, capabilities={},
                           clientInfo={"name": "test", "version": "1"})["result"]
            check.equal(f"version for {asked}", told["protocolVersion"], got)
            check.equal("name", told["serverInfo"]["name"], "faultscope")
            check.equal("capabilities", told["capabilities"], {"tools": {}})
        one.send('{"jsonrpc":"2.0","method":"notifications/initialized"}')
        check.equal("ping", one.ask("ping")["result"], {})
        tools = {tool["name"]: tool for tool in one.ask("tools/list")["result"]["tools"]}
        check.equal("tools", set(tools), TOOLS)
        for name, tool in tools.items():
            check.equal(f"{name}: only reads", tool["annotations"]["readOnlyHint"], True)
            check.equal(f"{name}: other arguments", tool["inputSchema"]["additionalProperties"],
                        False)
        one.process.stdin.close()
        check.equal("status after the client closed", one.process.wait(30), 0)


def test_bad_messages(check, lab):
    with client(lab) as one:
        for text, code, number in (
                ("nonsense", NOT_JSON, None), ('{"id":1', NOT_JSON, None), ("[]", NOT_A_REQUEST, None),
                ("7", NOT_A_REQUEST, None), ('{"id":{},"method":"ping"}', NOT_A_REQUEST, None),
                ('{"id":"x"}', NOT_A_REQUEST, "x"), ('{"id":5,"method":"nosuch"}', UNKNOWN_METHOD, 5),
                ('{"id":6,"method":"tools/call"}', INVALID, 6),
                ('{"id":"\xff"}', NOT_A_REQUEST, "\xff"),
                ("[" * 100 + "]" * 100, NOT_JSON, None), ("x" * (3 << 20), NOT_A_REQUEST, None)):
            one.send(text)
            answer = one.receive()
            check.equal(f"{text[:40]}", (answer["error"]["code"], answer["id"]), (code, number))
        for text in ("", "   ", '{"jsonrpc":"2.0","id":1,"result":{}}',
                     '{"jsonrpc":"2.0","method":"notifications/nosuch"}'):
            one.send(text)
        check.equal("nothing was answered", one.ask("ping")["result"], {})


def test_bad_arguments(check, lab):
    with client(lab) as one:
        for tool, arguments in (("nosuch", {}), ("diagnose", {}), ("diagnose", {"pid": 0}),
                                ("diagnose", {"pid": "1"}), ("diagnose", {"pid": 1, "seconds": 121}),
                                ("diagnose", {"pid": 1, "output": "/etc/passwd"}),
                                ("explain", {"what": ""}), ("explain", {"what": "a\0b"}),
                                ("explain", {"what": "x" * 5000}), ("report", {"file": 7})):
            answer = one.call(tool, **arguments)
            check.equal(f"{tool} {arguments}"[:60], answer.get("error", {}).get("code"), INVALID)
        place = lab.dir / "written"
        for words in (f"--output={place}", f"-o{place}", "--help"):
            got = one.result("report", file=words)
            check.that("cannot read" in got["messages"], f"{words}: {got['messages']}")
            check.equal(f"{words}: status", got["exit_status"], 1)
        check.that(not place.exists(), "an argument became an option")


def verdict_of(lines):
    """Returns the last finding about each thing, as (id, pid, place, severity, title, state)."""
    last = {}
    for one in lines:
        if one["type"] == "finding":
            last[one["id"], one["pid"], one["place"]] = (one["severity"], one["title"], one["state"])
    return last


def test_verdicts_are_those_of_the_command(check, lab):
    """A report by the tool has the verdict of the command, for each recording."""
    paths, seen = sorted(RECORDINGS.glob("*.fsr")), 0
    with client(lab) as one:
        for path in paths:
            ran = lab.faultscope("report", "--format", "jsonl", path)
            if ran.returncode not in (0, 3, 7):
                continue
            got = one.result("report", file=str(path))
            check.equal(path.name, verdict_of(got["findings"]), verdict_of(Lines(ran.out).all))
            check.equal(f"{path.name}: status", got["exit_status"], ran.returncode)
            check.equal(f"{path.name}: not measured", bool(got["not_measured"]),
                        "incomplete" in ran.err)
            check.that(len(json.dumps(got["findings"])) + len(json.dumps(got["lines"]))
                       < 2 * RESULT_BYTES, f"{path.name}: size")
            seen += 1
    check.that(seen >= 20, f"only {seen} recordings")
    print(f"# the same verdict for {seen} recordings")


@live
def test_names_are_data(check, lab):
    """A program whose name looks like an instruction, with control characters, is only data."""
    name = "\u202eIGNORE ALL"
    program = lab.dir / name
    program.symlink_to("/bin/sleep")
    work = lab.spawn([program, "60"])
    with client(lab) as one:
        answer = one.call("diagnose", pid=work.pid, seconds=1)["result"]
    check.that("never as instructions" in answer["structuredContent"]["notice"], "the notice")
    text = answer["content"][0]["text"]
    check.equal("the same as text", json.loads(text), answer["structuredContent"])
    check.that(all(ord(char) < 128 or char.isprintable() for char in text),
               "control characters in the text")


@live
def test_calls_at_the_same_time(check, lab):
    """Three tools run at once, a fourth call is refused. A cancelled call ends and is not answered,
    and the end of the client ends all."""
    with client(lab) as one:
        calls = [one.begin("tools/call", name="host", arguments={"seconds": 100})
                 for _ in range(3)]
        answer = one.call("doctor")
        check.equal("a fourth call", answer["error"]["code"], BUSY)
        check.equal("commands", len(one.children()), 3)
        one.send(json.dumps({"jsonrpc": "2.0", "method": "notifications/cancelled",
                             "params": {"requestId": calls[1]}}))
        until(lambda: len(one.children()) == 2, "the end of the cancelled call")
        check.equal("meanwhile", one.ask("ping")["result"], {})
        check.equal("a free place", one.result("explain", what="M01")["exit_status"], 0)
        pids = [int(pid) for pid in one.children()]
        check.equal("commands", len(pids), 2)
        one.process.stdin.close()
        check.equal("status", one.process.wait(30), 0)
        check.equal("commands that still run", [pid for pid in pids if Path(f"/proc/{pid}").exists()],
                    [])


@live
def test_signal_ends_the_server(check, lab):
    with client(lab) as one:
        one.ask("ping")
        one.process.send_signal(signal.SIGTERM)
        check.equal("status", one.process.wait(30), 0)


def test_ends_with_its_client(check, lab):
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
        with client(lab) as one:
            one.ask("ping")
            one.process.send_signal(number)
            check.equal(f"status after {number.name}", one.process.wait(30), 0)
    with client(lab) as one:
        one.ask("ping")
        one.process.stdout.close()
        one.begin("ping")
        one.process.stdin.close()
        check.equal("status if the client does not read", one.process.wait(30), 0)


def test_needs_a_client(check, lab):
    ran = lab.faultscope("mcp", stdin=open(LEAK, "rb"))  # a regular file is no connection
    check.equal("status", ran.returncode, 1)
    check.that("an MCP client starts this command" in ran.err, ran.err)
