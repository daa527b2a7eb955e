# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Fetches and unpacks Debian packages of any suite and architecture, without installing them.

Each suite has its own apt root with sources, lists and archives. The mirror is taken from the
host's own apt configuration, so this file does not name a mirror.
"""
import fcntl
import os
import re
import subprocess
import time
from pathlib import Path

CACHE = Path(os.environ.get("FAULTSCOPE_VM_CACHE") or Path.home() / ".cache/faultscope-vm")
PATIENCE = 300  # timeout of one apt call in seconds
LISTS_AGE = 24 * 3600  # seconds until package lists are fetched again
KEYRINGS = ("/usr/share/keyrings/debian-archive-keyring.gpg",
            "/usr/share/keyrings/debian-archive-keyring.pgp")


class Missing(Exception):
    """Raised if a package or a suite is not available. The text says what is missing, and why."""


def locked(fetch):
    """Decorator that lets only one process at a time fetch into a cache."""
    def alone(*args, **how):
        CACHE.mkdir(parents=True, exist_ok=True)
        with open(CACHE / "lock", "w", encoding="ascii") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            return fetch(*args, **how)
    return alone


def os_release():
    text = Path("/etc/os-release").read_text(encoding="utf-8")
    return dict(re.findall(r'^(\w+)="?([^"\n]*)"?$', text, re.M))


def host_arch():
    return subprocess.run(["dpkg", "--print-architecture"], capture_output=True, text=True,
                          check=True).stdout.strip()


# Functions that read the host's own apt sources

def one_line_sources(text):
    """Yields (uri, suite) of lines "deb [options] uri suite components"."""
    for line in text.splitlines():
        found = re.match(r"deb\s+(?:\[[^]]*\]\s+)?(\S+)\s+(\S+)", line.strip())
        if found:
            yield found[1], found[2]


def deb822_sources(text):
    lines = (line for line in text.splitlines() if not line.startswith("#"))
    for stanza in re.split(r"\n\s*\n", "\n".join(lines)):
        fields = dict(re.findall(r"^([\w-]+):\s*((?:.*)(?:\n[ \t]+.*)*)", stanza, re.M))
        fields = {key.lower(): value.split() for key, value in fields.items()}
        if "deb" in fields.get("types", []) and fields.get("enabled") != ["no"]:
            for uri in fields.get("uris", []):
                for suite in fields.get("suites", []):
                    yield uri, suite


def host_sources(etc=Path("/etc/apt")):
    files = [etc / "sources.list", *sorted((etc / "sources.list.d").glob("*"))]
    for path in files:
        if path.suffix in (".list", ".sources") and path.is_file():
            parse = deb822_sources if path.suffix == ".sources" else one_line_sources
            yield from parse(path.read_text(encoding="utf-8", errors="replace"))


def mirrors():
    """Returns the host's URIs of the distribution and of its security updates."""
    codename = os_release().get("VERSION_CODENAME", "")
    main, security = [], []
    for uri, suite in host_sources():
        uri = uri.rstrip("/")
        if suite == codename or suite.startswith(("stable", "testing", "sid", "unstable")):
            main.append(uri)
        elif re.match(r"[\w-]+[-/](security|updates)$", suite) and "security" in uri + suite:
            security.append(uri)
    if not main or os_release().get("ID") != "debian":
        raise Missing("the host's apt sources name no Debian mirror")
    return main, security


def places_of(suite):
    """Returns the URIs of mirrors that may have a suite. The mirror that most probably has the
    suite is first."""
    main, security = mirrors()
    if suite.endswith("-security"):
        found = security + [f"{uri}-security" for uri in main]
    else:
        found = main + [f"{uri}-archive/debian" for uri in main]
    return list(dict.fromkeys(found))


# Functions for an apt root, which is separate from the apt directories of the host

# Keeps the host's apt settings (such as a proxy), except those that would act outside of the apt
# root.
CONFIG = """\
#clear APT::Update::Post-Invoke;
#clear APT::Update::Post-Invoke-Success;
#clear DPkg::Post-Invoke;
#clear Acquire::IndexTargets::deb::DEP-11;
#clear Acquire::IndexTargets::deb::DEP-11-icons;
#clear Acquire::IndexTargets::deb::DEP-11-icons-small;
#clear Acquire::IndexTargets::deb::DEP-11-icons-large;
Dir::Etc::sourcelist "{root}/sources.list";
Dir::Etc::sourceparts "{root}/none";
Dir::Etc::preferences "{root}/none";
Dir::Etc::preferencesparts "{root}/none";
Dir::State "{root}/state";
Dir::State::status "{status}";
Dir::Cache "{root}/cache";
APT::Architecture "{arch}";
#clear APT::Architectures;
APT::Architectures:: "{arch}";
APT::Sandbox::User "root";
APT::Install-Recommends "false";
Acquire::Languages "none";
Acquire::Check-Valid-Until "false";
"""


class Suite:
    """Some suites of one architecture, with a common apt root in the cache directory."""
    kind = "deb"

    def __init__(self, cache, suites, arch):
        self.suites = suites
        self.arch = arch
        self.root = Path(cache) / "apt" / f"{suites[-1]}-{arch}{self.kind[len('deb'):]}"
        self.debs = Path(cache) / "debs"
        for part in ("state/lists/partial", "cache/archives/partial"):
            (self.root / part).mkdir(parents=True, exist_ok=True)
        self.debs.mkdir(parents=True, exist_ok=True)
        (self.root / "status").touch()
        self.configs = {}
        for name, status in (("empty", self.root / "status"),
                             ("host", Path("/var/lib/dpkg/status"))):
            self.configs[name] = self.root / f"{name}.conf"
            self.configs[name].write_text(
                CONFIG.format(root=self.root, status=status, arch=arch), encoding="utf-8")

    def call(self, *words, against="empty"):
        argv = [words[0], "-q", "-c", str(self.configs[against]), *words[1:]]
        try:
            ran = subprocess.run(argv, capture_output=True, text=True, timeout=PATIENCE,
                                 cwd=self.debs, check=False, stdin=subprocess.DEVNULL)
        except subprocess.TimeoutExpired:
            raise Missing(f"{' '.join(words)} takes more than {PATIENCE} s") from None
        if ran.returncode:
            # If apt prints several errors, the first one is the cause.
            said = [line for line in ran.stderr.splitlines() if line.startswith("E:")]
            said = (said or ran.stderr.splitlines() or [f"status {ran.returncode}"])[0]
            raise Missing(f"{words[0]} {words[1]}: {said}")
        return ran.stdout

    def write_sources(self, uris):
        keyring = next((path for path in KEYRINGS if Path(path).exists()), None)
        signed = f" signed-by={keyring}" if keyring else ""
        (self.root / "sources.list").write_text("".join(
            f"{self.kind} [arch={self.arch}{signed}] {uri} {suite} main\n"
            for uri, suite in zip(uris, self.suites)), encoding="utf-8")

    def update(self, force=False):
        """Fetches package lists, at most once a day, from the first mirror that has all of them."""
        stamp = self.root / "updated"
        if not force and stamp.exists() and time.time() - stamp.stat().st_mtime < LISTS_AGE:
            return
        places = [places_of(suite) for suite in self.suites]
        failure = None
        for i in range(max(len(some) for some in places)):
            self.write_sources([some[min(i, len(some) - 1)] for some in places])
            try:
                self.call("apt-get", "-o", "APT::Update::Error-Mode=any", "update")
                stamp.touch()
                return
            except Missing as reason:
                failure = failure or reason
        raise Missing(f"no lists of {'/'.join(self.suites)} {self.arch}: {failure}")

    def depends(self, package):
        """Returns the names of all dependencies of a package, including alternative dependencies.
        """
        text = self.call("apt-cache", "show", "--no-all-versions", package)
        found = re.search(r"^Depends: (.*)$", text, re.M)
        return re.findall(r"(?:^|[,|])\s*([a-z0-9][a-z0-9.+-]*)", found[1]) if found else []

    def version(self, package):
        text = self.call("apt-cache", "show", "--no-all-versions", package)
        found = re.search(r"^Version: (.*)$", text, re.M)
        if not found:
            raise Missing(f"no package {package}")
        return found[1]

    def first_of(self, names):
        """Returns the first package of "a | b" that the suite has."""
        for name in names.split(" | "):
            try:
                self.version(name)
            except Missing:
                continue
            return name
        raise Missing(f"no package {names}")

    def wanted_besides(self, packages, release=None):
        """Returns the packages that apt would install on the host in addition to these packages."""
        target = ["-t", release] if release else []
        text = self.call("apt-get", *target, "--simulate", "--reinstall", "install", *packages,
                         against="host")
        names = re.findall(r"^Inst (\S+) (?:\[\S+\] )?\((\S+)", text, re.M)
        return [f"{name}={version}" for name, version in names]

    def download(self, package):
        """Returns the path of a package's .deb file. If the cache does not have the file, downloads
        it."""
        name, _, version = package.partition("=")
        version = version or self.version(name)
        name = name.partition(":")[0]
        pattern = f"{name}_{version.replace(':', '%3a')}_*.deb"
        for arch in (self.arch, "all"):
            path = self.debs / pattern.replace("*", arch)
            if path.exists():
                return path
        self.call("apt-get", "download", f"{name}={version}")
        for arch in (self.arch, "all"):
            path = self.debs / pattern.replace("*", arch)
            if path.exists():
                return path
        raise Missing(f"apt-get download {name}={version} left no {pattern}")

    def unpack(self, package, into):
        into.mkdir(parents=True, exist_ok=True)
        deb = self.download(package)
        ran = subprocess.run(["dpkg", "-x", deb, into], capture_output=True, text=True,
                             timeout=PATIENCE, check=False)
        if ran.returncode:
            # removes the broken file, which may be truncated, so that the next call downloads it
            # again
            deb.unlink()
            raise Missing(f"dpkg -x {deb.name}: {ran.stderr.strip()}")


class SourceSuite(Suite):
    """Source packages of some suites."""
    kind = "deb-src"

    def fetch(self, package, into):
        """Downloads a source package. Returns the path of its upstream archive."""
        into.mkdir(parents=True, exist_ok=True)
        self.debs = into
        self.call("apt-get", "--download-only", "source", package)
        found = sorted(into.glob(f"{package}_*.orig.tar.*z"))
        if not found:
            raise Missing(f"the source package {package} has no upstream archive")
        return found[-1]
