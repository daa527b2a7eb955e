# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Compares pages for recordings, and HTTP answers, with expected checksums (e2e/expected.py)."""
import re

from expected import compare, compare_sum, environment, helper, made
from exporter import AT_ONCE, OPENMETRICS, PROTOBUF, RECORDINGS, Exporter, messages_of
from harness import FAULTSCOPE
from test_http import raw

# Metrics whose values differ between scrapes of a recording, or between hosts.
OWN = re.compile(r"^(process_|go_|faultscope_scrape_duration_seconds|faultscope_build_info)")
SEEDS = range(1, 7)
SOME = ("brief_children_among_all-open", "faults_of_each_kind", "latency_of_delayed_faults-1ms",
        "crash_after_refusal", "forecast_of_a_leak")
WAYS = {"bare": (), "at-once": AT_ONCE, "few": (*AT_ONCE, "--limit.workloads", "3"),
        "full": (*AT_ONCE, "--export.detail", "full"),
        "host": (*AT_ONCE, "--export.detail", "host"),
        "scarce": (*AT_ONCE, "--limit.series", "150"),
        "collapsed": (*AT_ONCE, "--workload.collapse", "[0-9]+"),
        "no-names": (*AT_ONCE, "--workload.collapse", "none")}


def without_own(text):
    return "".join(line for line in text.splitlines(True) if not OWN.match(line))


def textfile(lab, recording, *options):
    """Returns the textfile that the exporter writes for a recording, and its messages."""
    file = lab.dir / "metrics.prom"
    ran = lab.call(FAULTSCOPE, "export", "--replay", recording, "--textfile", file, *options,
                   cwd=lab.dir, env=environment())
    text = without_own(file.read_text()) if file.exists() else ""
    file.unlink(missing_ok=True)
    return f"{text}{ran.err}status {ran.returncode}\n"


def test_kept_textfiles_of_events(check, lab):
    for seed in SEEDS:
        name = made(lab, seed)
        for way, options in WAYS.items():
            compare_sum(check, f"export/{name}/{way}", textfile(lab, f"{name}.fsr", *options))


def test_kept_textfiles_of_recordings(check, lab):
    for name in SOME:
        compare(check, f"export/{name}", textfile(lab, RECORDINGS / f"{name}.fsr", *AT_ONCE))
    for seed in (1, 2):
        helper(lab, "random_recording", seed, 25, "random.fsr")
        compare(check, f"export/random-{seed}", textfile(lab, "random.fsr", *AT_ONCE))
        (lab.dir / "random.fsr").unlink()


def test_kept_pages_of_events(check, lab):
    """Compares metrics pages in all three formats. Each protobuf message is shown as one line."""
    for seed in SEEDS[:2]:
        for way in ((), ("--native-histograms",)):
            exporter = Exporter(lab, "--replay", lab.dir / f"{made(lab, seed)}.fsr", *AT_ONCE,
                                *way, "--export.detail", "full", env=environment())
            name = f"export/pages-{seed}{''.join(way)}"
            compare(check, f"{name}/openmetrics",
                    without_own(exporter.get(Accept=OPENMETRICS).text))
            families = messages_of(exporter.get(Accept=PROTOBUF).body)
            compare(check, f"{name}/protobuf", "".join(
                f"{family.hex()}\n" for family in families
                if not OWN.match(family[2:80].decode(errors="replace"))))
            exporter.process.terminate()


REQUESTS = {
    "landing": b"GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n",
    "healthy": b"GET /-/healthy HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n",
    "ready": b"GET /-/ready HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n",
    "nothing": b"GET /other HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n",
    "head": b"HEAD /-/healthy HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n",
    "post": b"POST /-/healthy HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nConnection: close\r\n\r\nabc",
    "put": b"PUT / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n",
    "lengths": b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\na",
    "first": b"GET /-/healthy HTTP/1.0\r\n\r\n",
    "two": b"GET /-/healthy HTTP/1.1\r\nHost: a\r\n\r\n"
           b"GET /-/ready HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n",
    "user": b"GET / HTTP/1.1\r\nHost: a\r\nAuthorization: Basic YTpi\r\nConnection: close\r\n\r\n",
}


def said(exporter, request):
    """Returns a whole HTTP answer without the Date header and the version of faultscope."""
    text = raw(exporter, request).decode(errors="replace").replace("\r\n", "\n")
    text = re.sub(r"(?m)^Date: .*\n", "", text)
    return re.sub(r"Version \d+\.\d+\.\d+", "Version", text)


def test_kept_answers_of_the_exporter(check, lab):
    exporter = Exporter(lab, "--replay", RECORDINGS / f"{SOME[0]}.fsr", *AT_ONCE)
    compare(check, "http/not-ready", said(exporter, REQUESTS["ready"]))
    exporter.get()
    for name, request in REQUESTS.items():
        compare(check, f"http/{name}", said(exporter, request))


HASH = "$2y$05$abcdefghijklmnopqrstuuABCDEFGHIJKLMNOPQRSTUVWXYZ01234"
TLS = "tls_server_config:\n  cert_file: cert\n  key_file: key\n"
# Invalid configurations, which the exporter rejects before it serves anything.
CONFIGS = (
    "x", "- a", "a: [", "\n\nx: 1", "? [a]\n: b", "tls_server_config: x", "rate_limit: []",
    "tls_server_config:\n  ? {a: b}\n  : c", "tls_server_config:\n  cert_file: cert",
    "tls_server_config:\n  key_file: key", "tls_server_config:\n  cert_file: none",
    "tls_server_config:\n  cert_file: /none/none", "tls_server_config:\n  cert_file: [a]",
    "tls_server_config:\n  cert: ''", "tls_server_config:\n  cert: a\n  cert_file: cert",
    "tls_server_config:\n  cert_file: cert\n  cert: a", "tls_server_config:\n  other: 1",
    TLS, f"{TLS}  client_auth_type: x", f"{TLS}  client_auth_type: RequireAndVerifyClientCert",
    f"{TLS}  client_auth_type: VerifyClientCertIfGiven", f"{TLS}  client_ca: A",
    f"{TLS}  client_auth_type: NoClientCert\n  client_ca: A",
    f"{TLS}  client_auth_type: RequestClientCert\n  client_allowed_sans: [a]",
    f"{TLS}  client_auth_type: RequireClientCert\n  client_allowed_sans: a",
    f"{TLS}  client_allowed_sans: [a, '']", f"{TLS}  client_allowed_sans: [{'a, ' * 100}a]",
    f"{TLS}  min_version: TLS11", f"{TLS}  min_version: [a]", f"{TLS}  max_version: TLS12",
    f"{TLS}  max_version: x", f"{TLS}  cipher_suites: [none]", f"{TLS}  curve_preferences: [none]",
    "basic_auth_users:\n  a: b", "basic_auth_users:\n  a: $3y$",
    f"basic_auth_users:\n  a: {HASH}x", f"basic_auth_users:\n  a: {HASH[:-1]}",
    f"basic_auth_users:\n  a: x{HASH[1:]}", f"basic_auth_users:\n  a: $1{HASH[2:]}",
    "basic_auth_users:\n" + "".join(f"  a{i}: {HASH}\n" for i in range(200)),
    "http_server_config:\n  other: 1", "http_server_config:\n  headers:\n    Server: x",
    "http_server_config:\n  headers:\n    X-Frame-Options: \"a\\r\\nb\"",
    "http_server_config:\n  headers:\n    X-Frame-Options: [a]",
    "rate_limit:\n  interval: x", "rate_limit:\n  interval: 2h", "rate_limit:\n  interval: 1s",
    "rate_limit:\n  interval: 1s\n  burst: 0", "rate_limit:\n  burst: x",
    "rate_limit:\n  burst: 1x", "rate_limit:\n  burst: -1", "rate_limit:\n  burst: 1000000000",
    "rate_limit:\n  other: 1", "a: " + "x" * 2000000)


def test_kept_answers_to_web_configs(check, lab):
    file, said_of = lab.dir / "web.yml", []
    for name in ("cert", "key"):
        (lab.dir / name).write_text("no certificate\n")
    for config in CONFIGS:
        file.write_text(config)
        ran = lab.call(FAULTSCOPE, "export", "--replay", RECORDINGS / f"{SOME[0]}.fsr",
                       "--web.listen-address", "127.0.0.1:0", "--web.config.file", file,
                       cwd=lab.dir, env=environment())
        said_of.append(f"{config[:60]!r}: {ran.returncode} "
                       f"{ran.err.replace(str(lab.dir), 'DIR')}")
    compare(check, "http/configs", "".join(said_of))
