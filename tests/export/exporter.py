# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Shared code of the exporter's tests: the exporter as a process, parsers of its output, and a real
Prometheus.

The parsers follow the specifications of the formats, not the code of faultscope, so that they do
not repeat errors of that code: Prometheus text format 0.0.4, OpenMetrics 1.0, and
io.prometheus.client protobuf messages.
"""
import base64
import gzip
import http.client
import json
import os
import re
import shutil
import signal
import socket
import ssl
import struct
import subprocess
import sys
import time
import urllib.parse
import urllib.request
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "e2e"))
sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent / "tools"))

import borrow  # noqa: E402
from harness import BUILD, FAULTSCOPE, PATIENCE, RECORDINGS, Skip, until  # noqa: E402, F401

SANITIZED = BUILD.name == "san"
TEXT = "text/plain;version=0.0.4"
OPENMETRICS = "application/openmetrics-text;version=1.0.0"
PROTOBUF = ("application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;"
            "encoding=delimited")
# options with which workloads have series from the first scrape on
AT_ONCE = ("--workload.min-age", "0")


# Programs of Debian packages

def program(name):
    """Returns the path of a program. If the program is not installed, its Debian package is
    unpacked in a cache."""
    try:
        return str(borrow.program(name))
    except (borrow.Missing, OSError, subprocess.CalledProcessError) as reason:
        raise Skip(f"{name} of Debian cannot be had: {reason}") from None


def promtool(*args, **how):
    return subprocess.run([program("promtool"), *map(str, args)],
                          capture_output=True, text=True, timeout=PATIENCE, check=False, **how)


# HTTP client

# What --textfile says if the kernel had no room for the counters of a process of the host.
PROCESSES_LOST = re.compile(
    r"faultscope: incomplete: lost: \d+ process(?:es)? lost because [^;]*\n")


def wrote_all(check, what, ran):
    """Checks the status of --textfile. A process that any program of a busy host starts may be lost:
    then, the exporter must say exactly this, with status 7."""
    lost = PROCESSES_LOST.fullmatch(" ".join(ran.err.split()) + "\n") is not None
    check.equal(f"{what}: status, loss of a process", (ran.returncode, lost),
                (7, True) if lost else (0, False))
    check.that(lost or not ran.err, f"{what}: {ran.err}")


class Answer:
    def __init__(self, response, body):
        self.status = response.status
        self.headers = {name.lower(): value for name, value in response.getheaders()}
        self.body = body

    @property
    def text(self):
        body = gzip.decompress(self.body) if self.is_gzipped else self.body
        return body.decode()

    @property
    def is_gzipped(self):
        return self.headers.get("content-encoding") == "gzip"


RESERVED = []  # sockets that reserve ports until this process ends


def free_ports(count, host="127.0.0.1"):
    """Returns free TCP ports. A socket that is bound to a port reserves it: the kernel gives this
    port neither to a connection nor to another test. A server with SO_REUSEADDR can listen there."""
    ports = []
    for _ in range(count):
        one = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET)
        one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        one.bind((host, 0))
        RESERVED.append(one)
        ports.append(one.getsockname()[1])
    return ports


def free_port(host="127.0.0.1"):
    return free_ports(1, host)[0]


class Exporter:
    """A running `faultscope export` on ports of its own."""

    def __init__(self, lab, *options, host="127.0.0.1", port=None, context=None, argv=(),
                 program=FAULTSCOPE, **how):
        self.host = host
        self.port = port or free_port(host)
        self.context = context
        address = f"[{host}]:{self.port}" if ":" in host else f"{host}:{self.port}"
        self.err = lab.dir / f"export-{self.port}.err"
        self.incidents = lab.dir / f"incidents-{self.port}"
        with open(self.err, "w", encoding="utf-8") as err:
            self.process = lab.spawn(
                [*argv, program, "export", "--web.listen-address", address,
                 "--incident.store", self.incidents, *options],
                stdout=subprocess.DEVNULL, stderr=err, **how)
        self.pid = self.process.pid
        until(lambda: self.process.poll() is not None or "metrics at" in self.said(),
              "the exporter")
        assert self.process.poll() is None, f"the exporter ended: {self.said()}"

    def said(self):
        return self.err.read_text(encoding="utf-8")

    def connect(self, timeout=PATIENCE):
        if self.context:
            return http.client.HTTPSConnection(self.host, self.port, context=self.context,
                                               timeout=timeout)
        return http.client.HTTPConnection(self.host, self.port, timeout=timeout)

    def get(self, path="/metrics", method="GET", user=None, timeout=PATIENCE, **headers):
        names = {name.replace("_", "-"): value for name, value in headers.items()}
        if user:
            names["Authorization"] = "Basic " + base64.b64encode(user.encode()).decode()
        connection = self.connect(timeout)
        try:
            connection.request(method, path, headers=names)
            response = connection.getresponse()
            return Answer(response, response.read())
        finally:
            connection.close()

    def metrics(self, **headers):
        """Returns the samples of a fresh scrape in text format."""
        time.sleep(0.11)  # a scrape less than 0.1 s after the previous one gets the same values
        return Samples(self.get(**headers).text)

    def rss_bytes(self):
        text = Path(f"/proc/{self.pid}/statm").read_text(encoding="ascii")
        return int(text.split()[1]) * os.sysconf("SC_PAGE_SIZE")

    def stop(self, number=signal.SIGTERM):
        self.process.send_signal(number)
        return self.process.wait(PATIENCE)


# Parsers of the text formats of metrics

NAME = r"[a-zA-Z_:][a-zA-Z0-9_:]*"
LABEL = r'([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\["\\n])*)"'
ONE = LABEL.replace("([", "(?:[").replace('"((?:', '"(?:(?:')
LABELS = rf"\{{(?:{ONE}(?:,{ONE})*)?\}}"
NUMBER = r"(?:[+-]?(?:[0-9.]+(?:[eE][+-]?[0-9]+)?|Inf)|NaN)"
SAMPLE = re.compile(rf"({NAME})({LABELS})? ({NUMBER})")
EXEMPLAR = re.compile(rf" # ({LABELS}) ({NUMBER})(?: [0-9]+\.[0-9]+)?")
HELP = re.compile(rf"# HELP ({NAME}) (.*)")
TYPE = re.compile(rf"# TYPE ({NAME}) (counter|gauge|histogram|info)")
UNIT = re.compile(rf"# UNIT ({NAME}) ([a-z]+)")


def unescape(text):
    return re.sub(r"\\(.)", lambda m: "\n" if m[1] == "n" else m[1], text)


def labels_of(text):
    return {name: unescape(value) for name, value in re.findall(LABEL, text or "")}


class Samples:
    """The samples of a page. A line that violates the format raises AssertionError."""

    def __init__(self, text, openmetrics=False):
        self.all = []  # samples: tuples (name, labels, value)
        # exemplars: tuples (name, labels of the sample, labels of the exemplar, value of the
        # exemplar)
        self.exemplars = []
        self.types = {}
        self.helps = {}
        self.units = {}
        lines = text.split("\n")
        assert lines[-1] == "", "the last line does not end"
        lines.pop()
        if openmetrics:
            assert lines.pop() == "# EOF", "no # EOF at the end"
        seen = set()
        for line in lines:
            self.take(line, openmetrics)
        for name, labels, _ in self.all:
            key = (name, tuple(sorted(labels.items())))
            assert key not in seen, f"twice: {key}"
            seen.add(key)

    def take(self, line, openmetrics):
        for pattern, into in ((HELP, self.helps), (TYPE, self.types), (UNIT, self.units)):
            found = pattern.fullmatch(line)
            if found:
                assert found[1] not in into, f"a family twice: {line}"
                into[found[1]] = found[2]
                return
        found = SAMPLE.match(line)
        assert found, f"no line of the format: {line!r}"
        labels = labels_of(found[2])
        self.all.append((found[1], labels, float(found[3])))
        rest = line[found.end():]
        if rest:
            told = EXEMPLAR.fullmatch(rest)
            assert openmetrics and told, f"behind the sample: {line!r}"
            its = labels_of(told[1])
            assert sum(len(name) + len(value) for name, value in its.items()) <= 128, line
            self.exemplars.append((found[1], labels, its, float(told[2])))

    def of(self, metric, **labels):
        return [value for name, its, value in self.all if name == metric
                and all(its.get(key) == want for key, want in labels.items())]

    def one(self, metric, **labels):
        found = self.of(metric, **labels)
        assert len(found) == 1, f"{metric}{labels}: {len(found)} samples"
        return found[0]

    def values(self, metric, label, **labels):
        return {its[label]: value for name, its, value in self.all if name == metric
                and all(its.get(key) == want for key, want in labels.items())}


# Parser of protobuf messages with metrics

def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7f) << shift
        shift += 7
        if byte < 0x80:
            return value, at


def fields_of(data):
    """Yields (field number, value) of a message. Nested messages are bytes, doubles are floats."""
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        kind = key & 7
        if kind == 0:
            value, at = varint(data, at)
        elif kind == 1:
            value, at = struct.unpack("<d", data[at:at + 8])[0], at + 8
        else:
            assert kind == 2, f"wire type {kind}"
            size, at = varint(data, at)
            value, at = data[at:at + size], at + size
            assert len(value) == size, "cut off"
        yield key >> 3, value


def zigzag(value):
    return value >> 1 ^ -(value & 1)


def message(data):
    """Returns a message as {field number: [values]}."""
    got = {}
    for number, value in fields_of(data):
        got.setdefault(number, []).append(value)
    return got


def messages_of(data):
    """Yields length-delimited messages."""
    at = 0
    while at < len(data):
        size, at = varint(data, at)
        yield data[at:at + size]
        at += size


def families_of(data):
    """Returns {name: (help, type, [(labels, values by field number)])} of length-delimited
    messages."""
    families = {}
    for family in map(message, messages_of(data)):
        name = family[1][0].decode()
        assert name not in families, f"a family twice: {name}"
        series = []
        for one in family.get(4, []):
            metric = message(one)
            labels = {}
            for pair in metric.pop(1, []):
                parts = message(pair)
                labels[parts[1][0].decode()] = parts.get(2, [b""])[0].decode()
            series.append((labels, {number: message(value[0])
                                    for number, value in metric.items()}))
        families[name] = (family[2][0].decode(), family.get(3, [0])[0], series)
    return families


def samples_of(families):
    """Returns {(name, labels): value} of protobuf families, with the names that the text format
    would show."""
    got = {}
    for name, (_, _, series) in families.items():
        for labels, value in series:
            key = tuple(sorted(labels.items()))
            for number, parts in value.items():
                if number in (2, 3):
                    got[name, key] = parts[1][0]
                else:
                    got[name + "_count", key] = parts[1][0]
                    got[name + "_sum", key] = parts[2][0]
    return got


# Certificates

class Pki:
    """A certificate authority for one test, and its certificates."""

    # Extensions that a strict verifier requires (RFC 5280)
    AUTHORITY = ("basicConstraints=critical,CA:TRUE", "keyUsage=critical,keyCertSign,cRLSign",
                 "subjectKeyIdentifier=hash")
    ISSUED = ("basicConstraints=critical,CA:FALSE", "subjectKeyIdentifier=hash",
              "authorityKeyIdentifier=keyid")

    def __init__(self, lab, name="pki"):
        if not shutil.which("openssl"):
            raise Skip("openssl is missing")
        self.lab = lab
        self.dir = lab.dir / name
        self.dir.mkdir()
        self.serial = 0
        self.request("ca", "faultscope test CA")
        self.sign("ca", self.AUTHORITY, "-signkey", "ca.key", "-set_serial", "1")

    def openssl(self, *args):
        ran = self.lab.call("openssl", *args, cwd=self.dir)
        assert ran.returncode == 0, ran.err

    def request(self, to, name):
        self.openssl("req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
                     "-keyout", f"{to}.key", "-out", f"{to}.csr", "-subj", f"/CN={name}")

    def sign(self, to, extensions, *how):
        (self.dir / "extensions").write_text("".join(f"{line}\n" for line in extensions))
        self.openssl("x509", "-req", "-in", f"{to}.csr", "-days", "2", "-out", f"{to}.crt",
                     "-extfile", "extensions", *how)

    def issue(self, name, to=None, san="DNS:localhost,IP:127.0.0.1"):
        """Issues NAME.crt and NAME.key (or TO.crt and TO.key) for localhost and 127.0.0.1."""
        to = to or name
        self.serial += 1
        self.request(to, name)
        self.sign(to, (*self.ISSUED, *([f"subjectAltName={san}"] if san else [])),
                  "-CA", "ca.crt", "-CAkey", "ca.key",
                  "-set_serial", str(int(time.time()) * 1000 + self.serial))

    def client(self, certificate=None):
        context = ssl.create_default_context(cafile=self.dir / "ca.crt")
        context.verify_flags |= ssl.VERIFY_X509_STRICT  # Python 3.13 sets this flag by default
        if certificate:
            context.load_cert_chain(self.dir / f"{certificate}.crt",
                                    self.dir / f"{certificate}.key")
        return context


# A real Prometheus

class Prometheus:
    """A running Prometheus with its own directory and port."""

    def __init__(self, lab, jobs, rules=None, features=(), interval="1s", argv=()):
        self.port = free_port()
        self.dir = lab.dir / f"prometheus-{self.port}"
        self.dir.mkdir()
        config = {"global": {"scrape_interval": interval, "scrape_timeout": interval,
                             "evaluation_interval": "1s"},
                  "scrape_configs": jobs}
        if rules:
            config["rule_files"] = [str(rules)]
        # Prometheus reads YAML, which includes JSON
        (self.dir / "prometheus.yml").write_text(json.dumps(config))
        argv = [*argv, program("prometheus"), f"--config.file={self.dir}/prometheus.yml",
                f"--storage.tsdb.path={self.dir}/data",
                f"--web.listen-address=127.0.0.1:{self.port}",
                "--web.console.templates=/nonexistent", "--web.console.libraries=/nonexistent",
                "--log.level=warn"]
        argv += [f"--enable-feature={','.join(features)}"] if features else []
        with open(self.dir / "log", "w", encoding="utf-8") as log:
            self.process = lab.spawn(argv, stdout=log, stderr=log)
        until(self.is_ready, "Prometheus")

    def is_ready(self):
        assert self.process.poll() is None, (self.dir / "log").read_text()
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/-/ready", timeout=5):
                return True
        except OSError:
            return False

    def api(self, path):
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/api/v1/{path}",
                                    timeout=PATIENCE) as answer:
            return json.load(answer)["data"]

    def query(self, expression):
        """Returns [(labels, value)] of an instant query."""
        found = self.api("query?" + urllib.parse.urlencode({"query": expression}))["result"]
        return [(one["metric"], float(one["value"][1])) for one in found]

    def value(self, expression):
        found = self.query(expression)
        return found[0][1] if found else None

    def targets(self):
        return self.api("targets?state=active")["activeTargets"]

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(PATIENCE)


def job(*addresses, name="faultscope", **more):
    return {"job_name": name, "static_configs": [{"targets": list(addresses)}], **more}
