# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Tests twenty exporters in network namespaces on one bridge. They use TLS and passwords, and one
network link is disconnected for a time."""

import json
import subprocess
import time

import test_tls
from exporter import PATIENCE, RECORDINGS, Pki, Prometheus, job, until
from harness import FAULTSCOPE, Skip, live

WANTS_QUIET = "twenty hosts are enough at a time"
HOSTS = 20
NETWORK = "10.77.0"
PORT = 10435
RECORDING = RECORDINGS / "brief_children_among_all-open.fsr"


class Net:
    """A bridge with hosts in network namespaces. A namespace ends with the process that holds it.
    """

    def __init__(self, lab, hosts):
        self.lab = lab
        self.switch = self.hold()
        self.inside(self.switch, "ip", "link", "add", "br0", "type", "bridge")
        self.inside(self.switch, "ip", "addr", "add", f"{NETWORK}.254/24", "dev", "br0")
        self.inside(self.switch, "ip", "link", "set", "br0", "up")
        self.inside(self.switch, "ip", "link", "set", "lo", "up")
        self.hosts = [self.plug_in(i + 1) for i in range(hosts)]

    def hold(self):
        process = self.lab.spawn(["unshare", "-n", "sh", "-c", "echo; exec sleep infinity"])
        if process.stdout.readline() != "\n":
            raise Skip(f"no network namespaces: {process.stderr.read().strip()}")
        return process.pid

    def plug_in(self, number):
        host = self.hold()
        self.inside(self.switch, "ip", "link", "add", f"v{number}", "type", "veth", "peer", "name",
                    "eth0", "netns", str(host))
        self.inside(self.switch, "ip", "link", "set", f"v{number}", "master", "br0", "up")
        self.inside(host, "ip", "addr", "add", f"{NETWORK}.{number}/24", "dev", "eth0")
        self.inside(host, "ip", "link", "set", "eth0", "up")
        return host

    @staticmethod
    def prefix(pid):
        return ["nsenter", "-t", str(pid), "-n", "--"]

    def inside(self, pid, *argv):
        ran = self.lab.call(*self.prefix(pid), *argv)
        if ran.returncode:
            raise Skip(f"{' '.join(argv)}: {ran.err.strip()}")


class InnerPrometheus(Prometheus):
    """A Prometheus in the network of the bridge. Queries to this Prometheus also run in that
    network."""

    def __init__(self, lab, net, jobs):
        self.inner = net.prefix(net.switch)
        super().__init__(lab, jobs, interval="2s", argv=self.inner)

    def fetch(self, path):
        ran = subprocess.run(
            [*self.inner, "python3", "-c",
             "import sys, urllib.request as u; "
             "sys.stdout.write(u.urlopen(sys.argv[1], timeout=10).read().decode())",
             f"http://127.0.0.1:{self.port}{path}"], capture_output=True, text=True, check=False,
            timeout=PATIENCE)
        if ran.returncode:
            raise OSError(ran.stderr)
        return ran.stdout

    def is_ready(self):
        assert self.process.poll() is None, (self.dir / "log").read_text()
        try:
            return bool(self.fetch("/-/ready"))
        except OSError:
            return False

    def api(self, path):
        return json.loads(self.fetch(f"/api/v1/{path}"))["data"]


@live
def test_twenty_hosts(check, lab):
    pki = Pki(lab)
    pki.issue("server")
    (lab.dir / "web.yml").write_text(
        test_tls.tls() + f"basic_auth_users:\n  prometheus: {test_tls.ALICE}\n")
    net = Net(lab, HOSTS)
    for number, host in enumerate(net.hosts, 1):
        with open(lab.dir / f"host{number}.err", "w", encoding="utf-8") as err:
            lab.spawn([*net.prefix(host), FAULTSCOPE, "export", "--replay", RECORDING,
                       "--workload.min-age", "0", "--web.config.file", lab.dir / "web.yml",
                       "--web.listen-address", f"{NETWORK}.{number}:{PORT}"],
                      stdout=subprocess.DEVNULL, stderr=err)
    targets = [f"{NETWORK}.{number}:{PORT}" for number in range(1, HOSTS + 1)]
    tls = {"ca_file": str(pki.dir / "ca.crt"), "server_name": "localhost"}
    good = {"username": "prometheus", "password": "example-only"}
    prometheus = InnerPrometheus(lab, net, [
        job(*targets, scheme="https", tls_config=tls, basic_auth=good),
        job(*targets[:2], name="intruder", scheme="https", tls_config=tls,
            basic_auth={**good, "password": "guessed"})])
    fleet = 'up{job="faultscope"}'
    until(lambda: prometheus.value(f"sum({fleet})") == HOSTS, "all of them")
    check.equal("without an error", [one["lastError"] for one in prometheus.targets()
                                     if one["labels"]["job"] == "faultscope"
                                     and one["lastError"]], [])
    intruder = [one["lastError"] for one in prometheus.targets()
                if one["labels"]["job"] == "intruder"]
    check.that(all("401" in one for one in intruder), f"with another password: {intruder}")
    check.equal("series alike", len({value for _, value in prometheus.query(
        'count by (instance) (faultscope_mappings)')}), 1)
    net.inside(net.switch, "ip", "link", "set", "v7", "down")
    cut = f'up{{job="faultscope",instance="{NETWORK}.7:{PORT}"}}'
    until(lambda: prometheus.value(cut) == 0, "the loss of the host that was cut off")
    check.equal("of the others", prometheus.value(f"sum({fleet})"), HOSTS - 1)
    net.inside(net.switch, "ip", "link", "set", "v7", "up")
    until(lambda: prometheus.value(cut) == 1, "the host that was plugged in again")
    time.sleep(5)
    check.equal("all again", prometheus.value(f"sum({fleet})"), HOSTS)
