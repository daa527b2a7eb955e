#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Checks the Debian packages that `make deb` built, and installs them in an overlay. Prints TAP.

usage: packages.py DIRECTORY [AGAIN]

AGAIN holds the packages of a second build in another place, which must be identical. dpkg installs
the packages with their scripts into an overlay over this machine's root. The overlay already has
all dependencies of the packages, and the machine itself stays unchanged.
"""
import os
import re
import shutil
import sys
import tempfile
from pathlib import Path

sys.dont_write_bytecode = True

HERE = Path(__file__).resolve().parent
sys.path[1:1] = [str(HERE.parent / "e2e"), str(HERE.parents[1] / "tools")]

from deployed import DEPLOY, alerts, call, packages  # noqa: E402
from harness import ROOT, Skip  # noqa: E402
from run import Tap  # noqa: E402

NAMES = ("faultscope", "faultscope-exporter", "faultscope-mixin")
EXPORTER = ("faultscope-exporter.service", "faultscope-exporter.socket")
UNITS = ("faultscope-blackbox.service", *EXPORTER)
HOLDS = {
    "faultscope": {
        "usr/bin/faultscope", "lib/systemd/system/faultscope-blackbox.service",
        *(f"usr/share/man/man8/{name}.8.gz" for name in (
            "faultscope", "faultscope-run", "faultscope-export", "faultscope-blackbox")),
        "usr/share/bash-completion/completions/faultscope",
        "usr/share/zsh/vendor-completions/_faultscope",
        "usr/share/fish/vendor_completions.d/faultscope.fish",
        *(f"usr/share/doc/faultscope/{name}" for name in (
            "copyright", "README.md", "CHANGELOG.md", "docs/start.md", "docs/findings/M01.md",
            "docs/examples/too-many-mappings.fsr")),
        "usr/share/faultscope/faultscope-node-check",
        *(f"usr/share/doc/faultscope/examples/{name}" for name in (
            "kubernetes/base/daemonset.yaml", "kubernetes/kubectl-faultscope",
            "helm/faultscope/Chart.yaml", "node-problem-detector/faultscope.json"))},
    "faultscope-exporter": {
        *(f"lib/systemd/system/{unit}" for unit in EXPORTER), "etc/default/faultscope-exporter",
        "etc/apparmor.d/faultscope-exporter",
        "usr/share/doc/faultscope-exporter/examples/web.yml",
        "usr/share/doc/faultscope-exporter/examples/faultscope-textfile.timer"},
    "faultscope-mixin": {
        *(f"usr/share/faultscope/prometheus/{name}.yml"
          for name in ("rules", "rules_test", "prometheus", "kubernetes")),
        *(f"usr/share/faultscope/grafana/faultscope-{name}.json"
          for name in ("fleet", "host", "kernel"))},
}
PLACES = re.compile(r"usr/(bin|share)/|lib/systemd/system/|etc/(default|apparmor\.d)/")

# Script for a mount namespace of its own. $1: directory of the packages, $2: an empty directory.
INSTALL = r"""
set -eu
mount -t tmpfs -o mode=755 tmpfs "$2"
mkdir "$2/upper" "$2/work" "$2/root"
mount -t overlay -o "lowerdir=/,upperdir=$2/upper,workdir=$2/work" overlay "$2/root"
mkdir "$2/root/packages"
cp "$1"/*.deb "$2/root/packages"
mount -t proc proc "$2/root/proc"
mount --rbind /dev "$2/root/dev"
cat >"$2/root/packages/go" <<'END'
set -eu
export DEBIAN_FRONTEND=noninteractive LC_ALL=C
cd /
dpkg -i $(ls /packages/*.deb | grep -v dbgsym)
dpkg-query -W -f 'status ${Package} ${db:Status-Status}\n' 'faultscope*'
echo "version $(faultscope --version)"
for unit in faultscope-exporter.socket faultscope-exporter.service faultscope-blackbox.service; do
	echo "unit $unit $(systemctl --root=/ is-enabled $unit || true)"
done
systemd-analyze verify --man=no --recursive-errors=no \
	/lib/systemd/system/faultscope-exporter.service \
	/lib/systemd/system/faultscope-blackbox.service 2>&1 | grep faultscope | sed 's/^/verify /' || true
dpkg -P faultscope-mixin faultscope-exporter faultscope
find /etc /lib/systemd /usr/bin /usr/lib /usr/share /var/lib -xdev -name '*faultscope*' |
	sed 's/^/left /'
END
exec chroot "$2/root" sh /packages/go
"""


def contents(path):
    """Returns the files of a package without leading "./". Unit files are listed below /lib, where
    Debian 12 has them; lintian checks their place in each release.
    """
    listed = call("dpkg-deb", "-c", path).stdout.splitlines()
    return {re.sub("^(usr/)?lib/systemd/", "lib/systemd/", line.split()[5].removeprefix("./"))
            for line in listed if not line.startswith("d")}


def field(path, name):
    return call("dpkg-deb", "-f", path, name).stdout.strip()


def check_lintian(check, where):
    """lintian must report nothing of any severity, from errors to pedantic tags. Only one tag is
    allowed. It says that the Standards-Version is out of date: the packages are also built for
    Debian 12, so they state the policy version of Debian 12, which a later lintian calls old."""
    if not shutil.which("lintian"):
        raise Skip("lintian is missing")
    changes = list(where.glob("*.changes"))
    check.equal("files of changes", len(changes), 1)
    ran = call("lintian", "--allow-root", "-I", "--pedantic",
               "--suppress-tags", "out-of-date-standards-version",
               "--fail-on", "error,warning,info,pedantic", *changes)
    tags = [line for line in ran.stdout.splitlines() if re.match(r"[EWIP]: ", line)]
    check.equal("tags", (ran.returncode, tags), (0, []))


def check_contents(check, where):
    check.equal("packages", set(packages(where)), set(NAMES))
    for name, path in packages(where).items():
        files = contents(path)
        check.equal(f"{name}: missing", HOLDS[name] - files, set())
        check.equal(f"{name}: out of place", {one for one in files if not PLACES.match(one)}, set())
    pages = {Path(one).name.removesuffix(".gz") for one in contents(packages(where)[NAMES[2]])
             if "/runbooks/" in one}
    check.equal("runbooks", pages, {f"{rule['alert']}.md" for rule in alerts()} | {"README.md"})


def check_fields(check, where):
    """All packages have the Makefile's version; the program's package depends on its libraries."""
    version = re.search(r"^VERSION := (.*)$", (ROOT / "Makefile").read_text(encoding="utf-8"), re.M)
    for name, path in packages(where).items():
        check.equal(f"{name}: version", field(path, "Version"), version[1])
    for name, path in packages(where).items():
        maintainer = os.environ.get("DEBEMAIL", ".invalid")
        check.that(f"{maintainer}>" in field(path, "Maintainer"),
                   f"{name}: the maintainer is {field(path, 'Maintainer')}")
    check.that("libbpf" in field(packages(where)["faultscope"], "Depends"), "no libbpf")
    check.that("faultscope (>=" in field(packages(where)["faultscope-exporter"], "Depends"),
               "the exporter does not depend on the program")


def check_build_depends(check, _where):
    """Build-Depends lists the packages that setup.sh installs for a build, with two exceptions:
    build-essential, and the packages that only a static program needs. `setup.sh package` installs
    all of Build-Depends."""
    def of_setup(group):
        text = (ROOT / "tools/setup.sh").read_text(encoding="utf-8")
        return set(" ".join(re.findall(rf'^{group}="(.*)"$', text, re.M)).split())
    control = (DEPLOY / "debian/control").read_text(encoding="utf-8")
    named = set(re.findall(r"^[ ]*([a-z0-9+-]+)", re.search(
        r"Build-Depends:(.*?)\nStand", control, re.S)[1], re.M))
    wanted = of_setup("build")
    check.equal("not in Build-Depends",
                wanted - named - {"$build", "build", "make", "gcc", "libc6-dev",
                                  "libunistring-dev"}, set())
    check.equal("what setup.sh package does not install",
                named - wanted - of_setup("package") - {"debhelper-compat"}, set())


def check_reproducible(check, where):
    if len(sys.argv) < 3:
        raise Skip("no second build is named")
    def made(place):
        """Returns the packages and the files of the source package."""
        return {path.name: path.read_bytes() for path in place.glob("faultscope*")
                if path.suffix in (".deb", ".dsc", ".xz")}
    first, second = made(where), made(Path(sys.argv[2]))
    check.equal("files", set(second), set(first))
    check.that(len(first) > len(NAMES) + 1, f"only {sorted(first)}")
    check.equal("different files", {name for name in first if first[name] != second.get(name)},
                set())


def check_installation(check, where):
    if os.geteuid():
        raise Skip("needs root")
    if "\toverlay\n" not in Path("/proc/filesystems").read_text(encoding="ascii"):
        raise Skip("this kernel has no overlayfs")
    with tempfile.TemporaryDirectory() as place:
        ran = call("unshare", "-m", "sh", "-c", INSTALL, "install", where, place)
    check.equal("status", ran.returncode, 0)
    if ran.returncode:
        check.that(False, ran.stdout + ran.stderr)
        return

    def told(what):
        return set(re.findall(rf"^{what} (.*)$", ran.stdout, re.M))
    check.equal("status of packages", told("status"), {f"{name} installed" for name in NAMES})
    version = field(packages(where)["faultscope"], "Version")
    check.equal("what the program says", told("version"), {f"faultscope {version} ({version})"})
    check.equal("units", told("unit"), {f"{unit} disabled" for unit in UNITS})
    check.equal("what systemd says of the unit", told("verify"), set())
    check.equal("what stays behind", told("left"), set())


def main():
    where, tap = Path(sys.argv[1]).resolve(), Tap()
    for name, body in (("lintian has nothing to say", check_lintian),
                       ("packages hold what they should", check_contents),
                       ("versions and dependencies", check_fields),
                       ("what building needs is told", check_build_depends),
                       ("two builds are equal bit for bit", check_reproducible),
                       ("dpkg installs them, starts nothing, removes them", check_installation)):
        tap.test(f"packages: {name}", body, where)
    print(f"1..{tap.done}")
    return tap.failed > 0


if __name__ == "__main__":
    sys.exit(main())
