# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Tests HTTPS, client certificates and passwords, configured as in Prometheus' exporter-toolkit,
and their reload by SIGHUP."""

import ctypes
import signal
import socket
import ssl
import time
from pathlib import Path

from exporter import (AT_ONCE, PATIENCE, RECORDINGS, SANITIZED, Exporter, Pki, promtool,
                      until)

REPLAY = ("--replay", RECORDINGS / "brief_children_among_all-open.fsr", *AT_ONCE)
# bcrypt hash of "example-only", cost 10
ALICE = "$2y$10$O8xWO2CpxWi7DhkBHn90Jeemwe3tiYdL73sbOyk73A.wFOTJeZ9g."


def bcrypt(password):
    """Returns a bcrypt hash of cost 5, computed by libcrypt, because Python 3.13 no longer has the
    module crypt."""
    crypt = ctypes.CDLL("libcrypt.so.1").crypt
    crypt.restype = ctypes.c_char_p
    return crypt(password.encode(), b"$2y$05$abcdefghijklmnopqrstuu").decode()


def configured(lab, text, *options, context=None):
    path = lab.dir / "web.yml"
    path.write_text(text)
    return Exporter(lab, *REPLAY, "--web.config.file", path, *options, context=context)


def tls(more=""):
    return ("tls_server_config:\n  cert_file: pki/server.crt\n  key_file: pki/server.key\n"
            + more)


def test_https(check, lab):
    pki = Pki(lab)
    pki.issue("server")
    exporter = configured(lab, tls(), context=pki.client())
    check.equal("status", exporter.get().status, 200)
    check.that("https://" in exporter.said(), exporter.said())
    with socket.create_connection((exporter.host, exporter.port)) as s:
        s.settimeout(PATIENCE)
        s.sendall(b"GET /metrics HTTP/1.1\r\nHost: a\r\n\r\n")
        check.that(b"200" not in s.recv(4096), "plain HTTP is answered")
    ran = promtool("check", "web-config", lab.dir / "web.yml")
    check.equal("promtool of the same file", ran.returncode, 0)


def handshake(exporter, context):
    """Makes a TLS handshake. Returns the negotiated TLS version, or the name of the error."""
    try:
        with socket.create_connection((exporter.host, exporter.port), timeout=PATIENCE) as s:
            with context.wrap_socket(s, server_hostname="localhost") as t:
                # In TLS 1.3, the server rejects a client certificate only after the handshake. So
                # the client must also send a request to see the error.
                t.sendall(b"GET /-/healthy HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
                return t.version() if b"200 OK" in t.recv(4096) else "no answer"
    except (ssl.SSLError, OSError) as error:
        return type(error).__name__


def test_versions(check, lab):
    pki = Pki(lab)
    pki.issue("server")
    old, middle = pki.client(), pki.client()
    old.minimum_version = ssl.TLSVersion.TLSv1
    old.maximum_version = ssl.TLSVersion.TLSv1_1
    old.set_ciphers("ALL:@SECLEVEL=0")
    middle.maximum_version = ssl.TLSVersion.TLSv1_2
    exporter = configured(lab, tls("  min_version: TLS12\n"))
    check.that("TLS" not in handshake(exporter, old), "TLS 1.1 is taken")
    check.equal("TLS 1.2", handshake(exporter, middle), "TLSv1.2")
    check.equal("TLS 1.3", handshake(exporter, pki.client()), "TLSv1.3")
    exporter.stop()
    exporter = configured(lab, tls("  min_version: TLS13\n"))
    check.that(handshake(exporter, middle) != "TLSv1.2", "TLS 1.2 is taken")
    check.equal("TLS 1.3", handshake(exporter, pki.client()), "TLSv1.3")


def test_bad_tls(check, lab):
    """TLS handshakes that never end, and bytes that are not TLS, do not disturb other clients."""
    pki = Pki(lab)
    pki.issue("server")
    exporter = configured(lab, tls(), context=pki.client())
    idle = []
    for data in (b"", b"\x16\x03\x01", b"\x16\x03\x01\x02\x00" + b"\0" * 512, b"\xff" * 5000,
                 b"\x15\x03\x03\x00\x02\x02\x28"):
        s = socket.create_connection((exporter.host, exporter.port))
        s.sendall(data)
        idle.append(s)
    check.equal("beside them", exporter.get().status, 200)
    check.that("TLS" not in handshake(exporter, ssl.create_default_context()),
               "a client that knows not the authority")
    check.equal("after them", exporter.get().status, 200)
    for s in idle:
        s.close()


def test_client_certificates(check, lab):
    pki = Pki(lab)
    pki.issue("server")
    pki.issue("client")
    demand = ("  client_auth_type: RequireAndVerifyClientCert\n  client_ca_file: pki/ca.crt\n")
    exporter = configured(lab, tls(demand))
    check.equal("with one", handshake(exporter, pki.client("client")), "TLSv1.3")
    check.that("TLS" not in handshake(exporter, pki.client()), "without one")
    foreign = Pki(lab, "other")
    foreign.issue("client")
    other = pki.client()
    other.load_cert_chain(foreign.dir / "client.crt", foreign.dir / "client.key")
    check.that("TLS" not in handshake(exporter, other), "one of another authority")
    middle = pki.client("client")
    middle.maximum_version = ssl.TLSVersion.TLSv1_2
    check.equal("TLS 1.2 with one", handshake(exporter, middle), "TLSv1.2")


def test_allowed_names(check, lab):
    """Tests client_allowed_sans: one subject alternative name of the client's certificate must
    equal an entry of this list."""
    pki = Pki(lab)
    pki.issue("server")
    names = {"dns": "DNS:prometheus.example", "mail": "email:prometheus@example.org",
             "address": "IP:192.0.2.7", "six": "IP:2001:db8:0:0:0:0:0:7",
             "uri": "URI:spiffe://example.org/prometheus",
             "second": "DNS:other.example,DNS:prometheus.example"}
    strangers = {"none": "", "other": "DNS:other.example", "longer": "DNS:prometheus.example.org",
                 "shorter": "DNS:prometheus.exampl", "upper": "DNS:Prometheus.example",
                 "text": "DNS:192.0.2.8", "kind": "RID:1.2.3.4",
                 "host": "IP:192.0.2.8", "host6": "IP:2001:db8:0:0:0:0:0:8"}
    for name, san in {**names, **strangers}.items():
        pki.issue(name, san=san)
    allowed = ("  client_allowed_sans:\n    - prometheus.example\n    - 192.0.2.7\n"
               "    - prometheus@example.org\n    - 2001:db8::7\n"
               "    - spiffe://example.org/prometheus\n")
    exporter = configured(lab, tls(
        "  client_auth_type: RequireAndVerifyClientCert\n  client_ca_file: pki/ca.crt\n" + allowed))
    for name in names:
        check.equal(name, handshake(exporter, pki.client(name)), "TLSv1.3")
    for name in strangers:
        check.that("TLS" not in handshake(exporter, pki.client(name)), f"{name} is let in")
    check.that("TLS" not in handshake(exporter, pki.client()), "nobody is let in")
    middle = pki.client("other")
    middle.maximum_version = ssl.TLSVersion.TLSv1_2
    check.that("TLS" not in handshake(exporter, middle), "another is let in by TLS 1.2")
    exporter.stop()
    exporter = configured(lab, tls("  client_auth_type: RequireAnyClientCert\n" + allowed))
    check.equal("of any authority", handshake(exporter, pki.client("dns")), "TLSv1.3")
    check.that("TLS" not in handshake(exporter, pki.client("other")), "another is let in")


SUITES = {"TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256": "ECDHE-ECDSA-AES128-GCM-SHA256",
          "TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384": "ECDHE-ECDSA-AES256-GCM-SHA384",
          "TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA": "ECDHE-ECDSA-AES128-SHA",
          "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256": "ECDHE-ECDSA-CHACHA20-POLY1305"}


def test_cipher_suites(check, lab):
    """cipher_suites accepts IANA names, and the server then accepts only these cipher suites."""
    pki = Pki(lab)
    pki.issue("server")

    def client(suite):
        context = pki.client()
        context.maximum_version = ssl.TLSVersion.TLSv1_2
        context.set_ciphers(suite + ":@SECLEVEL=0")
        return context

    for wanted in (list(SUITES)[:1], list(SUITES)[:2], list(SUITES)[2:3], list(SUITES)[3:]):
        exporter = configured(lab, tls(f"  cipher_suites: [{', '.join(wanted)}]\n"))
        for iana, suite in SUITES.items():
            answer = handshake(exporter, client(suite))
            check.equal(f"{suite} of {wanted}", answer == "TLSv1.2", iana in wanted)
        exporter.stop()
    exporter = configured(lab, tls("  cipher_suites: [TLS_AES_128_GCM_SHA256]\n"
                                   "  curve_preferences: [X25519]\n"))
    check.equal("of TLS 1.3", handshake(exporter, pki.client()), "TLSv1.3")
    check.that("TLS" not in handshake(exporter, client("ALL")), "TLS 1.2 without a suite of it")
    other = pki.client()
    other.set_ecdh_curve("prime256v1")
    check.that("TLS" not in handshake(exporter, other), "another curve is taken")


def test_passwords(check, lab):
    exporter = configured(lab, f"basic_auth_users:\n  alice: {ALICE}\n  bob: {bcrypt('second')}\n")
    check.equal("nobody", exporter.get().status, 401)
    check.that("Basic" in exporter.get().headers["www-authenticate"], "it does not ask")
    check.equal("alice", exporter.get(user="alice:example-only").status, 200)
    check.equal("bob", exporter.get(user="bob:second").status, 200)
    for user in ("alice:wrong", "alice:", "alice:second", "mallory:example-only", ":", "alice",
                 "alice:" + "x" * 3000, "al\0ice:example-only", "bob:example-only"):
        check.equal(f"{user[:20]!r}", exporter.get(user=user).status, 401)
    check.equal("no Basic", exporter.get(Authorization="Bearer x").status, 401)
    check.equal("not base64", exporter.get(Authorization="Basic ***").status, 401)
    for path in ("/", "/-/healthy", "/-/ready", "/nothing"):
        check.equal(f"{path} without", exporter.get(path).status, 401)


def test_passwords_are_remembered(check, lab):
    """The exporter hashes a password only once, and in a child process."""
    exporter = configured(lab, f"basic_auth_users:\n  alice: {ALICE}\n")
    children = lab.read(f"/proc/{exporter.pid}/task/{exporter.pid}/children").split()
    check.equal("children", len(children), 1)

    def worked():
        return sum(map(int, lab.read(f"/proc/{children[0]}/stat").rsplit(")", 1)[1].split()[11:13]))

    check.equal("status", exporter.get(user="alice:example-only").status, 200)
    ticks = worked()
    for _ in range(50):
        exporter.get(user="alice:example-only")
    check.that(worked() <= ticks + 1, f"{worked() - ticks} ticks of work for what is known")
    status = lab.read(f"/proc/{children[0]}/status")
    if not SANITIZED:
        check.that("Seccomp:\t1" in status, "it may call what it likes")
    exporter.stop()
    until(lambda: not lab_alive(children[0]), "the end of its child")


def lab_alive(pid):
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii") as f:
            return f.read().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


def test_guesses_delay_nobody(check, lab):
    """While unknown passwords are hashed, clients with known passwords get answers at once."""
    exporter = configured(lab, f"basic_auth_users:\n  alice: {ALICE}\n")
    exporter.get(user="alice:example-only")
    guesses = []
    for i in range(20):
        connection = exporter.connect()
        connection.request("GET", "/metrics", headers={
            "Authorization": "Basic " + __import__("base64").b64encode(
                f"alice:{i}".encode()).decode()})
        guesses.append(connection)
    check.equal("beside them", exporter.get(user="alice:example-only").status, 200)
    for connection in guesses:
        check.equal("a guess", connection.getresponse().status, 401)
        connection.close()


def test_headers(check, lab):
    exporter = configured(lab, "http_server_config:\n  headers:\n    X-Frame-Options: deny\n"
                               "    X-Content-Type-Options: nosniff\n")
    answer = exporter.get()
    check.equal("one", answer.headers["x-frame-options"], "deny")
    check.equal("another", answer.headers["x-content-type-options"], "nosniff")


def test_inline(check, lab):
    """The certificate, the key and the authority may be inline text instead of file names."""
    pki = Pki(lab)
    pki.issue("server")
    pki.issue("client")
    text = "tls_server_config:\n  client_auth_type: RequireAndVerifyClientCert\n"
    for key, name in (("cert", "server.crt"), ("key", "server.key"), ("client_ca", "ca.crt")):
        lines = (pki.dir / name).read_text().splitlines()
        text += f"  {key}: |\n" + "".join(f"    {line}\n" for line in lines)
    exporter = configured(lab, text, context=pki.client("client"))
    check.equal("status", exporter.get().status, 200)


def test_rate_limit(check, lab):
    """rate_limit is a token bucket: the exporter accepts `burst` requests, including requests with
    wrong passwords, and one more in each interval."""
    users = f"basic_auth_users:\n  alice: {ALICE}\n"
    exporter = configured(lab, users + "rate_limit: {interval: 1h, burst: 3}\n")
    got = [exporter.get(user=user).status for user in
           ("alice:example-only", "alice:guessed", "alice:example-only", "alice:example-only")]
    check.equal("of an hour", got, [200, 401, 200, 429])
    (lab.dir / "web.yml").write_text("rate_limit: {interval: 1ms, burst: 1}\n")
    exporter.process.send_signal(signal.SIGHUP)
    until(lambda: exporter.get("/-/healthy").status == 200, "the next token")
    (lab.dir / "web.yml").write_text("rate_limit: {interval: 0, burst: 0}\n")
    exporter.process.send_signal(signal.SIGHUP)
    until(lambda: {exporter.get("/-/healthy").status for _ in range(20)} == {200}, "no limit")


def test_reload(check, lab):
    """A reload reads a new certificate and a new password. If the new file is invalid, the exporter
    keeps its configuration."""
    pki = Pki(lab)
    pki.issue("first", "server")
    users = f"basic_auth_users:\n  alice: {ALICE}\n"
    exporter = configured(lab, tls() + users, context=pki.client())
    check.equal("before", exporter.get(user="alice:example-only").status, 200)
    check.equal("name", peer_name(exporter, pki), "first")
    pki.issue("second", "server")
    (lab.dir / "web.yml").write_text(tls() + f"basic_auth_users:\n  bob: {bcrypt('second')}\n")
    exporter.process.send_signal(signal.SIGHUP)
    until(lambda: peer_name(exporter, pki) == "second", "the new certificate")
    check.equal("alice", exporter.get(user="alice:example-only").status, 401)
    check.equal("bob", exporter.get(user="bob:second").status, 200)
    for broken in ("no: [yaml", tls("  surprise: 1\n"), tls("  client_auth_type: Maybe\n"),
                   "tls_server_config:\n  cert_file: none.crt\n  key_file: none.key\n",
                   "basic_auth_users:\n  bob: plain-text\n"):
        (lab.dir / "web.yml").write_text(broken)
        said = len(exporter.said())
        exporter.process.send_signal(signal.SIGHUP)
        until(lambda: "stays active" in exporter.said()[said:], f"a word on {broken!r}")
        check.equal(f"after {broken[:20]!r}", exporter.get(user="bob:second").status, 200)


def test_reload_by_a_relative_path(check, lab):
    """A configuration file that was given by a relative path can be replaced through a symbolic
    link, as a Kubernetes ConfigMap is."""
    for name, user in (("one.yml", "alice"), ("two.yml", "bob")):
        (lab.dir / name).write_text(f"basic_auth_users:\n  {user}: {ALICE}\n")
    (lab.dir / "web.yml").symlink_to("one.yml")
    exporter = Exporter(lab, "--replay", str(Path(REPLAY[1]).resolve()),
                        "--web.config.file", "web.yml", cwd=lab.dir)
    check.equal("before", exporter.get(user="alice:example-only").status, 200)
    (lab.dir / "web.yml").unlink()
    (lab.dir / "web.yml").symlink_to("two.yml")
    exporter.process.send_signal(signal.SIGHUP)
    until(lambda: exporter.get(user="bob:example-only").status == 200 or exporter.said().count("\n") > 1,
          "the new user")
    check.equal("after", exporter.get(user="bob:example-only").status, 200)
    check.that("reload" not in exporter.said(), exporter.said())


def peer_name(exporter, pki):
    # A reload closes connections, so a request may fail.
    for _ in range(100):
        try:
            with socket.create_connection((exporter.host, exporter.port), PATIENCE) as s:
                with pki.client().wrap_socket(s, server_hostname="localhost") as t:
                    return dict(pair[0] for pair in t.getpeercert()["subject"])["commonName"]
        except OSError:
            time.sleep(0.05)
    raise AssertionError("no handshake succeeds")


def test_config_errors(check, lab):
    path = lab.dir / "web.yml"
    pki = Pki(lab)
    pki.issue("server")
    pki.issue("other")
    for text, word in (
            ("a: b\n", "not supported"), ("- a\n", "must be a mapping"), ("a: [\n", "line"),
            ("tls_server_config: {cert_file: pki/server.crt}\n", "key_file"),
            (tls("  client_auth_type: RequireAndVerifyClientCert\n"), "client_ca_file"),
            (tls("  client_ca_file: pki/ca.crt\n"), "client_auth_type"),
            (tls("  min_version: TLS10\n"), "TLS12"),
            (tls("  cipher_suites: [a]\n"), "is unknown"),
            (tls("  cipher_suites: [TLS_RSA_WITH_RC4_128_SHA]\n"), "is unknown"),
            (tls("  cipher_suites: a\n"), "must be a list"),
            (tls("  cipher_suites: [TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256,"
                 " TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384]\n"), "would also enable"),
            (tls("  cipher_suites: [TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA]\n  min_version: TLS13\n"),
             "none of these suites"),
            (tls("  curve_preferences: [CurveP128]\n"), "is unknown"),
            (tls("  client_allowed_sans: [a]\n"), "client_auth_type"),
            (tls("  client_allowed_sans: [[]]\n"), "must be a text"),
            ("basic_auth_users: {a: $2y$10$short}\n", "bcrypt"),
            ("http_server_config: {headers: {Server: x}}\n", "Server"),
            (tls("  cert: text\n"), "already given"),
            ("rate_limit: {interval: 1s}\n", "burst"),
            ("rate_limit: {interval: 1s, burst: -1}\n", "burst"),
            ("rate_limit: {interval: 1, burst: 1}\n", "interval"),
            ("rate_limit: {interval: 2h, burst: 1}\n", "interval"),
            ("rate_limit: {interval: infs, burst: 1}\n", "interval"),
            ("rate_limit: {rate: 1}\n", "not supported"),
            ("tls_server_config: {cert_file: pki/server.crt, key_file: pki/other.key}\n",
             "belong")):
        path.write_text(text)
        ran = lab.faultscope("export", *REPLAY, "--web.config.file", path,
                             "--web.listen-address", "127.0.0.1:0")
        check.equal(f"status of {text!r}", ran.returncode, 1)
        check.that(word in ran.err, f"{text!r}: {ran.err}")
    ran = lab.faultscope("export", *REPLAY, "--web.config.file", lab.dir / "none")
    check.that("none" in ran.err and ran.returncode == 1, ran.err)
