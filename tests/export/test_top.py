# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""`faultscope top`: tables of exporters that we play ourselves, and of the real one."""

import base64
import http.server
import os
import re
import socket
import ssl
import sys
import threading
from pathlib import Path

from exporter import AT_ONCE, PATIENCE, RECORDINGS, Exporter, Pki, free_port, until
from harness import FAULTSCOPE

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "e2e"))
from test_terminal import ENTER, LEAVE, Terminal, check_clean  # noqa: E402

ENV = {**os.environ, "LC_ALL": "C.UTF-8"}


def page(workloads, maps_limit=65530):
    """Of {workload: (maps, fds, limit of fds, majors, seconds of stall)}."""
    lines = ['faultscope_build_info{version="0.1.0",revision="x",kernel="6.1"} 1',
             "faultscope_up 1", f"faultscope_mappings_limit {maps_limit}"]
    for name, (maps, fds, limit, majors, stall) in workloads.items():
        label = f'workload="{name}"'
        lines += [f"faultscope_worst_process_mappings{{{label}}} {maps}",
                  f"faultscope_worst_process_open_fds{{{label}}} {fds}",
                  f"faultscope_worst_process_fds_limit{{{label}}} {limit}",
                  f'faultscope_page_faults_total{{{label},severity="minor"}} 123456',
                  f'faultscope_page_faults_total{{{label},severity="major"}} {majors}',
                  f"faultscope_major_fault_stall_seconds_total{{{label}}} {stall}"]
    return "".join(line + "\n" for line in lines)


class Host:
    """One that answers as it is told: pages in turn, the last one for ever."""

    def __init__(self, *pages, context=None, user=None, status=200, header=None):
        self.pages = list(pages)
        self.asked = []
        host = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self):
                host.asked.append((self.path, dict(self.headers)))
                host.answer(self, user, status, header or {})

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.handle_error = lambda *_: None  # whoever goes away in between
        if context:
            self.server.socket = context.wrap_socket(self.server.socket, server_side=True)
        self.port = self.server.server_address[1]
        self.name = f"127.0.0.1:{self.port}"
        self.thread = threading.Thread(target=self.server.serve_forever, daemon=True)
        self.thread.start()

    def answer(self, request, user, status, header):
        said = request.headers.get("Authorization", "")
        if user and said != "Basic " + base64.b64encode(user.encode()).decode():
            status = 401
        body = self.pages.pop(0) if len(self.pages) > 1 else self.pages[0]
        body = body if isinstance(body, bytes) else body.encode()
        request.send_response(status)
        for name, value in header.items():
            request.send_header(name, value)
        request.send_header("Content-Length", str(len(body)))
        request.end_headers()
        request.wfile.write(body)

    def close(self):
        self.server.shutdown()
        self.server.server_close()
        self.thread.join(PATIENCE)


def top(lab, *options, env=None):
    return lab.faultscope("top", "--width", "130", *options, env={**ENV, **(env or {})})


def rows_of(text):
    """{(host, workload): cells} of a table."""
    rows = {}
    for line in text.splitlines():
        cells = re.split(r"\s{2,}|(?<=\S) (?=\S)", line.strip())
        if len(cells) >= 10 and cells[0] not in ("HOST", "faultscope"):
            rows[cells[0], cells[1]] = cells[2:]
    return rows


def test_table(check, lab):
    one = Host(page({"shop/cart/app": (60000, 10, 1024, 100, 1.0), "a.service": (10, 9, 10, 0, 0)}),
               page({"shop/cart/app": (61000, 10, 1024, 200, 1.1), "a.service": (10, 9, 10, 0, 0)}))
    two = Host(page({"db": (1, 1, 100, 0, 0)}, maps_limit=262144))
    dead = f"127.0.0.1:{free_port()}"
    ran = top(lab, "--from", f"{one.name},{dead}", "--from", f"http://{two.name}/metrics", "0.5")
    check.equal("status: one is down", ran.returncode, 7)
    check.that("incomplete: not read: 1 of 3 hosts" in ran.err, ran.err)
    lines = ran.out.splitlines()
    check.that("3 hosts, 1 down  3 workloads" in lines[0], lines[0])
    check.equal("titles", lines[1].split(), "HOST WORKLOAD MAPS LIMIT MAP% FDS LIMIT FD% MAJ/s "
                "STALL/s".split())
    check.that("shop/cart/app" in lines[2] and "a.service" in lines[3] and "db" in lines[4],
               f"not by pressure: {ran.out}")
    check.that("61,000" in lines[2] and "65,530" in lines[2] and "93.1" in lines[2], lines[2])
    check.that("262,144" in lines[4], lines[4])
    major = float(re.search(r"([\d,.]+)\s+[\d.]+ ms$", lines[2])[1].replace(",", ""))
    check.that(0 < major <= 210, f"{major} major faults a second of 100 in about 0.5 s")
    check.that(lines[-1].startswith(dead) and "connect" in lines[-1].lower(), lines[-1])
    check.equal("pages", [len(one.asked), len(two.asked)], [2, 2])
    check.equal("what was asked for", {path for path, _ in one.asked + two.asked}, {"/metrics"})
    for host in (one, two):
        host.close()


def test_count_and_output(check, lab):
    host = Host(page({"a": (1, 1, 10, 0, 0)}))
    out = lab.dir / "tables"
    ran = top(lab, "--from", host.name, "-n", "3", "-o", out, "0.2")
    check.equal("status", (ran.returncode, ran.out, ran.err), (0, "", ""))
    check.equal("tables", lab.read(out).count("faultscope top"), 3)
    check.equal("pages", len(host.asked), 4)
    ran = top(lab, "--from", host.name, "0.2", "2")
    check.equal("tables by COUNT", ran.out.count("faultscope top"), 2)
    host.close()


def test_nobody_answers(check, lab):
    ran = top(lab, "--from", f"127.0.0.1:{free_port()}", "0.2")
    check.equal("status", ran.returncode, 1)
    check.that("no exporter answered" in ran.err, ran.err)


def test_wrong_options(check, lab):
    for options in ((), ("--from", ""), ("--from", "ftp://a"), ("--from", "a b"),
                    ("--from", "a", "--web.password-file", "/dev/null"),
                    ("--from", "a", "--web.user", "u", "--web.password-file", "/dev/null"),
                    ("--from", "a", "--web.user", "u" * 300), ("--from", "a", "-n", "0"),
                    ("--from", ",".join(["a"] * 513))):
        ran = top(lab, *options)
        check.equal(f"{options}"[:60], (ran.returncode, ran.out), (2, ""))


def test_wrong_answers(check, lab):
    """Whatever a host sends, it is said of it, and the others are shown."""
    good = Host(page({"fine": (1, 1, 10, 0, 0)}))
    hosts = [(Host("<html>hello</html>"), "no page of faultscope export"),
             (Host("node_load1 3\n"), "no page of faultscope export"),
             (Host(""), "no page of faultscope export"),
             (Host(b"\0\xff" * 5000), "no page of faultscope export"),
             (Host("x", status=500), "500"), (Host("x", status=404), "404"),
             (Host("x", status=302, header={"Location": f"http://{good.name}/metrics"}), "no page"),
             (Host("a" * (17 << 20)), "longer than 16 MiB"),
             (Host(page({"x": (1, 1, 1, 0, 0)}) + "rubbish\n"), "1 lines are no samples")]
    silent = socket.create_server(("127.0.0.1", 0))
    urls = [good.name, "127.0.0.1:%d" % silent.getsockname()[1]] + [host.name for host, _ in hosts]
    ran = top(lab, "--from", ",".join(urls), "1")
    check.equal("status: most are down", ran.returncode, 7)
    check.that((good.name, "fine") in rows_of(ran.out), ran.out)
    lines = ran.out.splitlines()
    for host, said in hosts:
        check.that(any(line.startswith(host.name + ":") and said in line for line in lines),
                   f"not {said!r} of {host.name}: {ran.out}")
        host.close()
    check.that(any(line.startswith(urls[1] + ":") and "timed out" in line.lower() for line in lines),
               f"silence: {ran.out}")
    silent.close()
    good.close()


def test_hostile_names(check, lab):
    names = {"\\033[31m\x1b]0;x\x07": (1, 1, 10, 0, 0), "\u202eevil": (2, 1, 10, 0, 0),
             "a\\\\b\\\"c\\nd": (3, 1, 10, 0, 0), "x" * 3000: (4, 1, 10, 0, 0),
             "~other": (5, 1, 10, 0, 0)}
    host = Host(page(names))
    ran = lab.call(FAULTSCOPE, "top", "--from", host.name, "--width", "100", "0.2", text=False,
                   env=ENV)
    check.equal("status", ran.returncode, 0)
    check_clean(check, "the table", ran.out)
    text = ran.out.decode(errors="replace")
    check.that("~other" in text and 'a\\b"c' in text, text)
    check.that(all(len(line) <= 100 for line in text.splitlines()), text)
    host.close()


def test_basic_authentication(check, lab):
    host = Host(page({"a": (1, 1, 10, 0, 0)}), user="alice:example-only")
    secret = lab.dir / "password"
    secret.write_text("example-only\nanother line\n")
    home = lab.dir / "home"
    home.mkdir()
    netrc = home / ".netrc"
    options = ("--from", host.name, "0.2")
    env = {"HOME": str(home)}
    ran = top(lab, *options, env=env)
    check.equal("without", ran.returncode, 1)
    check.that("401" in ran.out, ran.out)
    ran = top(lab, *options, "--web.user", "alice", "--web.password-file", secret, env=env)
    check.equal("with a file", ran.returncode, 0)
    secret.write_text("wrong\n")
    ran = top(lab, *options, "--web.user", "alice", "--web.password-file", secret, env=env)
    check.equal("with a wrong one", ran.returncode, 1)
    netrc.write_text("machine 127.0.0.1 login alice password example-only\n")
    netrc.chmod(0o600)
    ran = top(lab, *options, env=env)
    check.equal("by ~/.netrc", (ran.returncode, "example-only" in ran.out), (0, False))
    ran = top(lab, "--from", f"http://alice:example-only@{host.name}", "0.2",
              env={"HOME": "/nonexistent"})
    check.equal("in the address", ran.returncode, 0)
    check.that("example-only" not in ran.out and "alice" not in ran.out, ran.out)
    host.close()


def test_https(check, lab):
    pki = Pki(lab)
    pki.issue("server")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(pki.dir / "server.crt", pki.dir / "server.key")
    host = Host(page({"a": (1, 1, 10, 0, 0)}), context=context)
    ran = top(lab, "--from", f"https://{host.name}", "0.2")
    check.equal("an authority that nobody knows", ran.returncode, 1)
    check.that("certificate" in ran.out.lower(), ran.out)
    ran = top(lab, "--from", f"https://{host.name}", "--web.ca-file", pki.dir / "ca.crt", "0.2")
    check.equal("one that we trust", ran.returncode, 0)
    host.close()


def test_real_exporters(check, lab):
    """Passwords and certificates of exporter-toolkit's file, and workloads of a recording."""
    pki = Pki(lab)
    pki.issue("server")
    pki.issue("client")
    (lab.dir / "web.yml").write_text(
        "tls_server_config:\n  cert_file: pki/server.crt\n  key_file: pki/server.key\n"
        "  client_auth_type: RequireAndVerifyClientCert\n  client_ca_file: pki/ca.crt\n")
    replay = ("--replay", RECORDINGS / "brief_children_among_all-open.fsr", *AT_ONCE)
    plain = Exporter(lab, *replay)
    closed = Exporter(lab, *replay, "--web.config.file", lab.dir / "web.yml",
                      context=pki.client())
    urls = f"127.0.0.1:{plain.port},https://127.0.0.1:{closed.port}"
    ran = top(lab, "--from", urls, "--web.ca-file", pki.dir / "ca.crt", "0.3")
    check.that("1 down" in ran.out, f"without a certificate: {ran.out}")
    ran = top(lab, "--from", urls, "--web.ca-file", pki.dir / "ca.crt", "--web.cert-file",
              pki.dir / "client.crt", "--web.key-file", pki.dir / "client.key", "0.3")
    check.equal("status", ran.returncode, 0)
    check.that("down" not in ran.out, ran.out)
    rows = rows_of(ran.out)
    names = plain.metrics().values("faultscope_worst_process_mappings", "workload")
    for port in (plain.port, closed.port):
        told = {workload for host, workload in rows if host.endswith(str(port))}
        check.that(told and told <= set(names) | {"~other"}, f"{port}: {told} of {set(names)}")


def test_on_a_terminal(check, lab):
    host = Host(page({"first": (1, 1, 10, 0, 0)}), page({"second": (1, 1, 10, 0, 0)}))
    terminal = Terminal(lab, "top", "--from", host.name, "0.3")
    until(lambda: "first" in terminal.text(), "the first table")
    until(lambda: "second" in terminal.text(), "the next one")
    terminal.type(b"q")
    check.equal("status", terminal.ended(), 0)
    text = terminal.text()
    check.that(text.startswith(ENTER) and LEAVE in text, "the screen is taken and given back")
    check.equal("the terminal", terminal.attributes(), terminal.before)
    check_clean(check, "the screen", text.encode(errors="surrogateescape").split(
        LEAVE.encode())[0], on_terminal=True)
    terminal.close()
    host.close()


def test_interrupt_while_it_waits(check, lab):
    silent = socket.create_server(("127.0.0.1", 0))
    name = "127.0.0.1:%d" % silent.getsockname()[1]
    terminal = Terminal(lab, "top", "--from", name, "10")
    connection, _ = silent.accept()
    terminal.type(b"\x03")
    check.equal("status", terminal.ended(), 1)
    for s in (connection, silent):
        s.close()
    terminal.close()
