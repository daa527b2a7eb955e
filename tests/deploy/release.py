#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Tests tools/release.py in a temporary clone of the last commit. Prints TAP.

usage: release.py [--refusals]   --refusals builds no release: it only tests what is refused

The clone uses the programs of this tree's build directory for the tests of promises.
"""
import hashlib
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

sys.dont_write_bytecode = True

HERE = Path(__file__).resolve().parent
sys.path[1:1] = [str(HERE.parent / "e2e"), str(HERE.parents[1] / "tools")]

from harness import ROOT  # noqa: E402
from run import Tap  # noqa: E402

PATIENCE = 3000  # timeout of a release in seconds
WHO = {f"GIT_{who}_{what}": f"t{'@t' * (what == 'EMAIL')}"
       for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}


class Clone:
    """A clone of the last commit, which releases with the built programs of this tree."""

    def __init__(self, place):
        self.top = Path(place) / "clone"
        self.env = {**os.environ, **WHO, "BUILD": str(ROOT / "build"), "TMPDIR": place}
        self.git("clone", "-q", ROOT, self.top, where=place)

    def git(self, *words, where=None):
        subprocess.run(["git", *map(str, words)], cwd=where or self.top, env=self.env, check=True,
                       capture_output=True, stdin=subprocess.DEVNULL)

    def change(self, path, old, new):
        """Replaces a text and commits the change."""
        file = self.top / path
        text = file.read_text(encoding="utf-8")
        assert old in text, f"{path} has no {old!r}"
        file.write_text(text.replace(old, new, 1), encoding="utf-8")
        self.git("commit", "-qam", "change")

    def release(self, *words):
        return subprocess.run([self.top / "tools/release.py", *map(str, words)],
                              capture_output=True, text=True, env=self.env, timeout=PATIENCE,
                              stdin=subprocess.DEVNULL, check=False)


def refuses(check, what, change, said):
    with tempfile.TemporaryDirectory() as place:
        clone = Clone(place)
        change(clone)
        ran = clone.release("--check")
        check.equal(f"{what}: status", ran.returncode, 1)
        check.that(said in ran.stderr, f"{what}: {said!r} is not in {ran.stderr!r}")


def check_accepted(check):
    with tempfile.TemporaryDirectory() as place:
        ran = Clone(place).release("--check")
        check.equal("status", (ran.returncode, ran.stderr), (0, ""))


def dirty(clone):
    (clone.top / "README.md").write_text("changed\n", encoding="utf-8")


def untracked(clone):
    (clone.top / "new.c").touch()


def tagged(clone, old, new):
    """Changes the list of metrics after a release."""
    clone.git("tag", "v0.0.9")
    clone.change("tests/e2e/compatible/metrics.txt", old, new)


def check_refusals(check):
    version = re.search(r"^VERSION := (.*)$", (ROOT / "Makefile").read_text(encoding="utf-8"),
                        re.M)[1]
    metrics = (ROOT / "tests/e2e/compatible/metrics.txt").read_text(encoding="utf-8")
    gone = metrics.splitlines()[3]
    rows = (
        ("a changed file", dirty, "not committed"),
        ("an untracked file", untracked, "not committed"),
        ("a version without a change log", lambda c: c.change(
            "Makefile", f"VERSION := {version}", "VERSION := 99.0.0"),
         "CHANGELOG.md: the newest section is " + version),
        ("the package of another version", lambda c: c.change(
            "deploy/debian/changelog", f"({version})", "(98.0.0)"),
         "deploy/debian/changelog names the version 98.0.0"),
        ("an old chart", lambda c: c.change(
            "deploy/kubernetes/base/daemonset.yaml", "memory: 128Mi", "memory: 129Mi"),
         "run tools/chart.py"),
        ("an empty change log", lambda c: c.change(
            "CHANGELOG.md", f"## {version}\n", f"## {version}\n\n## 0.0.1\n"), "is empty"),
        ("a tag of another commit", lambda c: (c.git("tag", f"v{version}"), c.change(
            "README.md", "\n", "\n\n")), "is the tag of another commit"),
        ("a lower version than the last", lambda c: (c.git("tag", "v99.0.0"), c.change(
            "README.md", "\n", "\n\n")), "which is not below"),
        ("a metric that was removed from the list", lambda c: tagged(c, gone + "\n", ""),
         gone.split()[0]),
        ("a metric that the program lacks", lambda c: c.change(
            "tests/e2e/compatible/metrics.txt", gone + "\n",
            gone + "\nfaultscope_zzz_total counter workload\n"), "faultscope_zzz_total"),
        ("another output than the kept one", change_kept, "kept_"),
        ("a promise whose test cannot run", without_tables, "tables is not built"),
    )
    for what, change, said in rows:
        refuses(check, what, change, said)


def without_tables(clone):
    """Lets the tests of promises find all programs of the build except one."""
    build = clone.top.parent / "build"
    build.mkdir()
    for path in (ROOT / "build").iterdir():
        if path.name != "tables":
            (build / path.name).symlink_to(path)
    clone.env["BUILD"] = str(build)


def change_kept(clone):
    """Changes the checksum of one line of a kept output."""
    path = clone.top / "tests/e2e/expected.txt"
    lines = path.read_text(encoding="utf-8").splitlines(True)
    index = next(i for i, line in enumerate(lines) if line.startswith("options/run:"))
    clone.change("tests/e2e/expected.txt", lines[index],
                 re.sub(r":[0-9a-f]{4}", ":zzzz", lines[index], count=1))


def files_of(version):
    return {f"faultscope-{version}-linux-amd64", f"faultscope-{version}-linux-arm64",
            f"faultscope-{version}.oci.tar", f"faultscope-{version}.tar.gz",
            f"faultscope-{version}.spdx.json", "SHA256SUMS"}


def check_bill(check, place, version):
    """Checks the fields that SPDX 2.3 requires, the files, and libraries that must be there."""
    bill = json.loads((place / f"faultscope-{version}.spdx.json").read_text(encoding="utf-8"))
    check.equal("version of SPDX", (bill["spdxVersion"], bill["dataLicense"]),
                ("SPDX-2.3", "CC0-1.0"))
    ids = {one["SPDXID"] for one in bill["packages"] + bill["files"]} | {"SPDXRef-DOCUMENT"}
    for one in bill["packages"]:
        check.that(re.fullmatch(r"SPDXRef-[A-Za-z0-9.-]+", one["SPDXID"]), one["SPDXID"])
        check.that({"name", "downloadLocation", "versionInfo"} <= one.keys(), str(one))
    for one in bill["relationships"]:
        check.that({one["spdxElementId"], one["relatedSpdxElement"]} <= ids, str(one))
    for one in bill["files"]:
        told = {each["algorithm"]: each["checksumValue"] for each in one["checksums"]}
        data = (place / one["fileName"]).read_bytes()
        check.equal(one["fileName"], told["SHA256"], hashlib.sha256(data).hexdigest())
    for arch in ("amd64", "arm64"):
        program = f"SPDXRef-File-faultscope-{version}-linux-{arch}"
        linked = {one["relatedSpdxElement"] for one in bill["relationships"]
                  if one["spdxElementId"] == program}
        names = {one["name"] for one in bill["packages"] if one["SPDXID"] in linked}
        for name in ("libbpf-dev", "libelf-dev", "zlib1g-dev", "libgnutls28-dev",
                     "libmicrohttpd-dev", "libjson-c-dev"):
            check.that(name in names, f"{arch}: no {name} in {sorted(names)}")
        check.that(any(name.startswith("libc6-dev") for name in names), f"{arch}: no C library")


def make_release(check, clone, **env):
    """Runs `make release` in a clone that has built nothing. Returns the directory of the release.
    """
    del clone.env["BUILD"]
    made = subprocess.run(["make", "-s", f"-j{os.cpu_count()}", "release"], cwd=clone.top,
                          env={**clone.env, **env}, text=True, capture_output=True,
                          timeout=PATIENCE, check=False)
    check.equal("make release", made.returncode, 0)
    if made.returncode:
        raise AssertionError(made.stderr[-3000:])
    return clone.top / "build/release"


def check_files(check, place, version):
    files = {path.name for path in place.iterdir()}
    check.equal("missing", files_of(version) - files, set())
    check.that({"faultscope", "faultscope-exporter", "faultscope-mixin"} <=
               {one.partition("_")[0] for one in files if one.endswith(".deb")}, str(sorted(files)))
    sums = subprocess.run(["sha256sum", "-c", "--strict", "SHA256SUMS"], cwd=place,
                          capture_output=True, text=True, check=False)
    check.equal("checksums", (sums.returncode, sums.stdout.count(": OK")),
                (0, len(files) - 1))


def check_release(check):
    version = re.search(r"^VERSION := (.*)$", (ROOT / "Makefile").read_text(encoding="utf-8"),
                        re.M)[1]
    with tempfile.TemporaryDirectory() as name:
        clone = Clone(name)
        place = make_release(check, clone)
        check_files(check, place, version)
        check_bill(check, place, version)
        check.equal("a directory with files", clone.release(place).returncode, 2)
        again = Path(name, "another/place")
        again.mkdir(parents=True)
        other = make_release(check, Clone(again), TZ="Pacific/Kiritimati", LC_ALL="C")
        check.equal("a second release", (other / "SHA256SUMS").read_text(encoding="ascii"),
                    (place / "SHA256SUMS").read_text(encoding="ascii"))


def main():
    tap = Tap()
    tap.test("release: the last commit may be released", check_accepted)
    tap.test("release: it refuses a tree that breaks a promise", check_refusals)
    if "--refusals" not in sys.argv:
        tap.test("release: programs, packages, image, checksums, bill of materials", check_release)
    print(f"1..{tap.done}")
    return tap.failed > 0


if __name__ == "__main__":
    sys.exit(main())
