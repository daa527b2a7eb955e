# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Tests the HTTP server: listening addresses, malformed requests, slow clients, and many
connections."""

import contextlib
import http.client
import os
import resource
import signal
import socket
import subprocess
import time

from exporter import (AT_ONCE, PATIENCE, RECORDINGS, SANITIZED, Exporter, Samples, free_port,
                      until)
from harness import FAULTSCOPE, MOST_TRIES, Skip, idle, live

REPLAY = ("--replay", RECORDINGS / "brief_children_among_all-open.fsr", *AT_ONCE)


def answers(exporter):
    return exporter.get(timeout=PATIENCE).status == 200


def answers_again(exporter):
    """Returns whether the exporter answers. The client retries if its connection is closed to make
    room for a newer one."""
    for _ in range(MOST_TRIES):
        with contextlib.suppress(ConnectionError, http.client.HTTPException):
            return answers(exporter)
    return False


def raw(exporter, data, timeout=PATIENCE):
    """Sends bytes and returns everything that is received until the connection is closed."""
    with socket.create_connection((exporter.host, exporter.port), timeout=timeout) as s:
        with contextlib.suppress(ConnectionError, BrokenPipeError):
            s.sendall(data)
        got = b""
        with contextlib.suppress(ConnectionError):
            while chunk := s.recv(65536):
                got += chunk
        return got


def status_line(got):
    return got.split(b"\r\n", 1)[0].decode(errors="replace")


def test_pages(check, lab):
    exporter = Exporter(lab, *REPLAY)
    landing = exporter.get("/")
    check.that('<a href="/metrics">' in landing.text, landing.text)
    check.equal("type", landing.headers["content-type"], "text/html; charset=utf-8")
    check.equal("healthy", exporter.get("/-/healthy").status, 200)
    exporter.get()
    check.equal("ready", exporter.get("/-/ready").status, 200)
    nothing = exporter.get("/nothing?x=<script>alert(1)</script>")
    check.equal("elsewhere", nothing.status, 404)
    check.that("script" not in nothing.text, "what was asked is said again")
    check.equal("with a query", exporter.get("/metrics?a=b").status, 200)
    head = exporter.get(method="HEAD")
    check.equal("HEAD", (head.status, head.body), (200, b""))
    check.that(int(head.headers["content-length"]) > 1000, "the length of what GET has")


def test_telemetry_path(check, lab):
    exporter = Exporter(lab, *REPLAY, "--web.telemetry-path", "/other/metrics")
    check.equal("there", exporter.get("/other/metrics").status, 200)
    check.equal("not here", exporter.get("/metrics").status, 404)
    check.that("/other/metrics" in exporter.get("/").text, "the landing page knows not")


def test_wrong_methods(check, lab):
    exporter = Exporter(lab, *REPLAY)
    for method in ("PUT", "DELETE", "OPTIONS", "TRACE", "CONNECT", "PATCH", "BREW"):
        answer = exporter.get(method=method)
        check.equal(method, answer.status, 405)
        check.equal("Allow", answer.headers.get("allow"), "GET, HEAD, POST")
    check.that(answers(exporter), "it is gone")


def test_ports_beyond_the_last(check, lab):
    """Port 99999 is rejected, since getaddrinfo() would truncate it to 34463."""
    for port in ("99999", "65536", "4294977731", "-1", "0x10", "http", "1 2"):
        ran = subprocess.run([FAULTSCOPE, "export", *REPLAY, "--web.listen-address",
                              f"127.0.0.1:{port}"], capture_output=True, text=True, timeout=PATIENCE)
        check.that(ran.returncode and "PORT is 0 to 65535" in ran.stderr,
                   f"{port}: status {ran.returncode}, {ran.stderr!r}")


def test_times_of_nothing(check, lab):
    for options in (("--workload.min-age", "0s"), ("--workload.min-age=0",),
                    ("--workload.retention=0m",)):
        exporter = Exporter(lab, *REPLAY, *options)
        check.equal(f"{options}", exporter.get().status, 200)
        exporter.process.terminate()


def test_post_is_answered(check, lab):
    """Like node_exporter, the exporter answers a POST request with the metrics page, whatever the
    body of the request is."""
    exporter = Exporter(lab, *REPLAY)
    check.equal("without a body", exporter.get(method="POST").status, 200)
    for head, body in ((b"Content-Length: 5", b"hello"), (b"Content-Length: 70000", b"x" * 70000),
                       (b"Transfer-Encoding: chunked", b"5\r\nhello\r\n0\r\n\r\n")):
        got = raw(exporter, b"POST /metrics HTTP/1.1\r\nHost: a\r\nConnection: close\r\n" + head
                  + b"\r\n\r\n" + body)
        check.that(" 200 " in status_line(got) and b"faultscope_build_info" in got,
                   f"{head}: {status_line(got)}")


def test_two_lengths_are_refused(check, lab):
    """A request with two Content-Length headers is an error, because a proxy in between could
    interpret the request differently."""
    exporter = Exporter(lab, *REPLAY)
    for method in (b"GET", b"POST"):
        for heads in ((b"Content-Length: 5", b"Content-Length: 6"),
                      (b"Content-Length: 5", b"content-length: 5"),
                      (b"Content-Length: 5", b"Transfer-Encoding: chunked")):
            got = raw(exporter, method + b" /metrics HTTP/1.1\r\nHost: a\r\n" + heads[0] + b"\r\n"
                      + heads[1] + b"\r\n\r\nhello")
            check.that(" 400 " in status_line(got), f"{method} {heads}: {status_line(got)}")
    check.that(answers(exporter), "it is gone")


def test_garbage(check, lab):
    exporter = Exporter(lab, *REPLAY)
    for data in (b"\0" * 100 + b"\r\n\r\n", b"\x16\x03\x01\x02\0\x01\0\x01\xfc\x03\x03" * 20,
                 b"GET\r\n\r\n", b"GET /metrics HTTP/9.9\r\n\r\n", b"\r\n" * 5000,
                 b"GET /" + b"a" * 70000 + b" HTTP/1.1\r\n\r\n",
                 b"GET /metrics HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\n",
                 b"GET /metrics HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
                 b"GET /metrics HTTP/1.1\r\nHost: a\r\nAccept: \xff\xfe\x00\r\n"
                 b"Connection: close\r\n\r\n"):
        with socket.create_connection((exporter.host, exporter.port), timeout=PATIENCE) as s:
            with contextlib.suppress(OSError):
                s.sendall(data)
        check.that(answers(exporter), f"it is gone after {data[:30]!r}")


def test_long_headers(check, lab):
    exporter = Exporter(lab, *REPLAY)
    got = raw(exporter, b"GET /metrics HTTP/1.1\r\nHost: a\r\nX: " + b"a" * 65536 + b"\r\n\r\n")
    check.that(not got or " 431 " in status_line(got), status_line(got))
    many = b"".join(b"X-%d: %s\r\n" % (i, b"b" * 100) for i in range(640))
    got = raw(exporter, b"GET /metrics HTTP/1.1\r\nHost: a\r\n" + many + b"\r\n")
    check.that(not got or " 431 " in status_line(got) or " 413 " in status_line(got),
               status_line(got))
    check.that(answers(exporter), "it is gone")
    check.equal("4 KB of headers", exporter.get(X="a" * 4000).status, 200)


def test_slow_clients(check, lab):
    """A client that sends one byte now and then is disconnected. Other clients get answers
    meanwhile."""
    exporter = Exporter(lab, *REPLAY)
    slow = [socket.create_connection((exporter.host, exporter.port)) for _ in range(20)]
    for s in slow:
        s.sendall(b"GET /metrics HTTP/1.1\r\n")
        s.settimeout(0)
    begin = time.monotonic()
    alive = list(slow)
    while alive and time.monotonic() - begin < PATIENCE:
        check.that(answers(exporter), "nobody else is answered")
        time.sleep(0.5)
        for s in list(alive):
            try:
                s.sendall(b"X")
                if s.recv(4096) is not None:
                    alive.remove(s)  # the exporter closed the connection, or answered with an error
            except BlockingIOError:
                pass
            except OSError:
                alive.remove(s)
    check.equal("connections that are still open", len(alive), 0)
    for s in slow:
        s.close()


@idle
def test_many_connections(check, lab):
    """With 3,000 idle connections the exporter still answers, and the exporter's memory does not
    grow."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = 3000
    if hard != resource.RLIM_INFINITY and hard < wanted + 100:
        raise Skip(f"RLIMIT_NOFILE is {hard}")
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, wanted + 100), hard))
    exporter = Exporter(lab, *REPLAY)
    answers(exporter)
    before, opened = exporter.rss_bytes(), []
    try:
        for i in range(wanted):
            s = socket.socket()
            s.settimeout(1)  # the kernel may delay a connection when the listen queue is full
            opened.append(s)
            with contextlib.suppress(OSError):
                s.connect((exporter.host, exporter.port))
            if i % 1000 == 999:
                check.that(answers_again(exporter), f"no answer beside {i + 1} connections")
        fds = len(os.listdir(f"/proc/{exporter.pid}/fd"))
        check.that(fds < 200, f"{fds} descriptors")
        if not SANITIZED:  # sanitizers keep freed memory for a while
            check.between("RSS", exporter.rss_bytes(), 0, before + (8 << 20))
    finally:
        for s in opened:
            s.close()
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    check.that(answers_again(exporter), "no answer after them")


def test_keep_alive(check, lab):
    exporter = Exporter(lab, *REPLAY)
    connection = exporter.connect()
    for _ in range(50):
        connection.request("GET", "/metrics")
        response = connection.getresponse()
        check.equal("status", (response.status, len(response.read()) > 1000), (200, True))
    connection.close()


def test_pipelined(check, lab):
    exporter = Exporter(lab, *REPLAY)
    one = b"GET /-/healthy HTTP/1.1\r\nHost: a\r\n\r\n"
    last = b"GET /-/healthy HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"
    check.equal("answers", raw(exporter, one * 5 + last).count(b"HTTP/1.1 200"), 6)


def test_addresses(check, lab):
    """Tests listening addresses: loopback by default, IPv6, several at once, and invalid addresses.
    """
    if not os.path.exists("/proc/net/if_inet6") or not lab.read("/proc/net/if_inet6"):
        raise Skip("no IPv6")
    second = free_port()
    exporter = Exporter(lab, *REPLAY, "--web.listen-address", f"127.0.0.1:{second}", host="::1")
    check.equal("[::1]", exporter.get().status, 200)
    exporter.host, exporter.port = "127.0.0.1", second
    check.equal("127.0.0.1", exporter.get().status, 200)
    exporter.stop()
    everywhere = free_port()
    exporter = Exporter(lab, *REPLAY, "--web.listen-address", f":{everywhere}")
    for host in ("127.0.0.1", "::1"):
        exporter.host, exporter.port = host, everywhere
        check.equal(f"of all, {host}", exporter.get().status, 200)
    for address in ("127.0.0.1", "::1:99", "127.0.0.1:port", "256.1.1.1:80", "[::1:99", ""):
        ran = lab.faultscope("export", *REPLAY, "--web.listen-address", address)
        check.equal(f"status of {address!r}", ran.returncode, 1)
        check.that("cannot listen" in ran.err, ran.err)
    ran = lab.faultscope("export", *REPLAY, "--web.listen-address", f"127.0.0.1:{everywhere}")
    check.that("in use" in ran.err, ran.err)


def test_socket_activation(check, lab):
    """The exporter accepts a socket from systemd (socket activation): file descriptor 3, with
    LISTEN_FDS and LISTEN_PID in the environment."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        # systemd passes sockets from file descriptor 3 on. So the shell duplicates the test's
        # socket to file descriptor 3. (A shell can only redirect file descriptors up to 9.)
        wrap = ("sh", "-c", f'exec 3<&{listener.fileno()}; LISTEN_FDS=1 LISTEN_PID=$$; '
                "export LISTEN_FDS LISTEN_PID; exec \"$@\"", "sh")
        exporter = Exporter(lab, *REPLAY, "--web.listen-address", "fd://", argv=wrap,
                            pass_fds=[listener.fileno()])
    exporter.port = port
    check.equal("status", exporter.get().status, 200)
    ran = lab.faultscope("export", *REPLAY, "--web.systemd-socket")
    check.equal("status without one", ran.returncode, 1)
    check.that("LISTEN_FDS" in ran.err, ran.err)


def test_notify(check, lab):
    path = lab.dir / "notify"
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as s:
        s.bind(str(path))
        s.settimeout(PATIENCE)
        exporter = Exporter(lab, *REPLAY, env={**os.environ, "NOTIFY_SOCKET": str(path)})
        check.that(b"READY=1" in s.recv(4096), "it never says that it is ready")
        exporter.process.send_signal(signal.SIGHUP)
        check.equal("reload", s.recv(4096), b"RELOADING=1")
        check.equal("reloaded", s.recv(4096), b"READY=1")
        check.equal("status", exporter.stop(), 0)
        check.equal("end", s.recv(4096), b"STOPPING=1")


@live
def test_reload_once_confined(check, lab):
    """After the exporter has dropped its rights, it can still read its configuration again."""
    path = lab.dir / "web.yml"
    path.write_text("http_server_config: {headers: {X-Frame-Options: first}}\n")
    exporter = Exporter(lab, "--web.config.file", path)
    check.equal("before", exporter.get().headers["x-frame-options"], "first")
    path.write_text("http_server_config: {headers: {X-Frame-Options: second}}\n")
    exporter.process.send_signal(signal.SIGHUP)
    until(lambda: exporter.get().headers.get("x-frame-options") == "second", "the new header")


def test_ends_in_order(check, lab):
    for number in (signal.SIGTERM, signal.SIGINT):
        exporter = Exporter(lab, *REPLAY)
        check.equal("status", exporter.stop(number), 0)


@live
def test_timeout(check, lab):
    """After a scrape's timeout, the page has faultscope_up 0 and only values that need no scan."""
    exporter = Exporter(lab, *AT_ONCE)
    late = exporter.metrics(X_Prometheus_Scrape_Timeout_Seconds="0.0000001")
    check.equal("up", late.one("faultscope_up"), 0)
    check.equal("the limit", len(late.of("faultscope_mappings_limit")), 1)
    check.equal("workloads", late.of("faultscope_mappings"), [])
    check.equal("ready", exporter.get("/-/ready").status, 503)
    whole = exporter.metrics(X_Prometheus_Scrape_Timeout_Seconds="10")
    check.equal("up again", whole.one("faultscope_up"), 1)
    check.that(len(whole.of("faultscope_mappings")) > 0, "no workloads")


@live
def test_scrapes_share_a_collection(check, lab):
    exporter = Exporter(lab, *AT_ONCE)
    exporter.metrics()
    connection = exporter.connect()
    ages, begin = [], time.monotonic()
    for _ in range(100):
        connection.request("GET", "/metrics")
        text = connection.getresponse().read().decode()
        ages.append(Samples(text).one("faultscope_scrape_duration_seconds"))
    took = time.monotonic() - begin
    # The metric is the time since the collection began, so it falls when there is a new collection.
    # Counters do not show this: when processes end, they also grow between collections.
    collections = 1 + sum(after <= before for before, after in zip(ages, ages[1:]))
    # In the measured time there is at most one collection every 0.1 s. One more collection is
    # possible at the start and one at the end.
    check.that(collections <= took / 0.1 + 2, f"{collections} collections in {took:.2f} s")


@live
def test_confined(check, lab):
    exporter = Exporter(lab)
    status = dict(line.split(":\t") for line in lab.read(f"/proc/{exporter.pid}/status")
                  .splitlines() if ":\t" in line)
    for name in ("CapInh", "CapPrm", "CapEff", "CapAmb", "CapBnd"):
        check.equal(name, int(status[name], 16), 0)
    check.equal("no_new_privs", status["NoNewPrivs"], "1")
    check.equal("seccomp", status["Seccomp"], "2")
    check.that(answers(exporter), "no answer")
    until(lambda: answers(exporter), "an answer")
