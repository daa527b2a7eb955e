#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Builds a release of the last commit, or says why this commit must not be released.

usage: release.py [--check] [OUT]    OUT: an empty or new directory (default: build/release)

Refuses a tree with changes, a change log without the version, files that name another version, names
that were removed without a word in the change log, and a tree whose tests of compatible names and of
kept outputs fail. --check only does this. Then builds the static programs for x86-64 and arm64, the
Debian packages, the image for both platforms and the source archive, and writes the bill of materials
(SPDX) and SHA256SUMS.
"""
import argparse
import hashlib
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
ARCHES = {"amd64": "static", "arm64": "static-arm64"}
# The tests of what a release promises: names that programs use, and outputs of recordings
PROMISES = (("tests/e2e/run.py", "--no-live", "--only", "compatible_names|kept_"),
            ("tests/export/run.py", "--only", "kept"))
COMPATIBLE = "tests/e2e/compatible"


def call(*argv, **how):
    return subprocess.run([str(word) for word in argv], cwd=ROOT, text=True, check=False,
                          stdin=subprocess.DEVNULL, **how)


def out_of(*argv):
    ran = call(*argv, capture_output=True)
    return ran.stdout.rstrip("\n") if not ran.returncode else ""


def read(path):
    return (ROOT / path).read_text(encoding="utf-8")


def version():
    return re.search(r"^VERSION := (.*)$", read("Makefile"), re.M)[1]


def last_release():
    """Returns the newest tag vVERSION that HEAD contains, except one at HEAD; "" if there is none."""
    here = out_of("git", "tag", "--points-at", "HEAD").splitlines()
    tags = out_of("git", "tag", "--merged", "HEAD", "--sort=-creatordate", "v[0-9]*").splitlines()
    return next((tag for tag in tags if tag not in here), "")


def number(text):
    return [int(part) for part in re.findall(r"\d+", text)]


# Reasons for a refusal. Each function yields texts.

def unclean():
    changed = out_of("git", "status", "--porcelain")
    if changed:
        yield "the tree has changes that are not committed:\n" + changed
    if not out_of("git", "rev-parse", "HEAD"):
        yield "this is no clone of git"


def section(text):
    """Returns the text of the newest section of the change log, and its version."""
    parts = re.split(r"^## (.*)$", text, flags=re.M)
    return (parts[1].strip(), parts[2]) if len(parts) > 2 else ("", "")


def unlogged():
    named, text = section(read("CHANGELOG.md"))
    if named != version():
        yield f"CHANGELOG.md: the newest section is {named or 'missing'}, not {version()}"
    elif not re.search(r"^\* \S", text, re.M) and len(text.split()) < 5:
        yield f"CHANGELOG.md: the section {named} is empty"


def misnamed():
    date = re.search(r"^VERSION_DATE := (\d{4}-\d\d-\d\d)$", read("Makefile"), re.M)
    if not date:
        yield "Makefile: VERSION_DATE is no date"
    for path, pattern in (("deploy/debian/changelog", r"^faultscope \((.*?)\)"),
                          ("deploy/kubernetes/base/kustomization.yaml", r"newTag: (\S+)"),
                          ("deploy/helm/faultscope/Chart.yaml", r"^appVersion: (\S+)")):
        found = re.search(pattern, read(path), re.M)
        if not found or found[1] != version():
            yield f"{path} names the version {found[1] if found else 'not'}, not {version()}"
    chart = call(sys.executable, "tools/chart.py", "--check", capture_output=True)
    if chart.returncode:
        yield chart.stderr.strip()


def released_before():
    commit = out_of("git", "rev-list", "-n1", f"v{version()}")
    if commit and commit != out_of("git", "rev-parse", "HEAD"):
        yield f"v{version()} is the tag of another commit: raise VERSION"
    last = last_release()
    if last and number(last) >= number(version()):
        yield f"the last release is {last}, which is not below {version()}"


def removed_names():
    """Names that the last release had may go only if the change log names them."""
    last = last_release()
    _, text = section(read("CHANGELOG.md"))
    for path in sorted((ROOT / COMPATIBLE).glob("*.txt")) if last else ():
        before = out_of("git", "show", f"{last}:{COMPATIBLE}/{path.name}").splitlines()
        now = set(path.read_text(encoding="utf-8").splitlines())
        for line in before:
            if line not in now and line.split()[0] not in text:
                yield (f"{path.name}: {line!r} of {last} is gone or changed, and CHANGELOG.md does "
                       "not say so")


def broken_promises():
    for command in PROMISES:
        ran = call(*command, capture_output=True)
        # a promise is not kept if its test could not run
        failed = re.findall(r"^(?:not ok .*(?:\n# .*)*|ok .* # SKIP .*)", ran.stdout, re.M)
        if ran.returncode or failed or not re.search(r"^ok ", ran.stdout, re.M):
            yield f"{' '.join(command)}: " + ("\n".join(failed)[:2000] or ran.stderr[-2000:])


CHECKS = (unclean, unlogged, misnamed, released_before, removed_names)


def refuse(reasons):
    for reason in reasons:
        print(f"release: {reason}", file=sys.stderr)
    return bool(reasons)


def check():
    reasons = [text for one in CHECKS for text in one()]
    # the tests need minutes, so they run only if nothing else is wrong
    return reasons or list(broken_promises())


def run(*argv, **env):
    """Runs a command without the flags of a make that runs this program: its job server is not
    available here, so that a build would run one job at a time."""
    print("+", *argv, file=sys.stderr)
    mine = {name: one for name, one in os.environ.items() if name not in ("MAKEFLAGS", "MFLAGS")}
    ran = call(*argv, env={**mine, **{name: str(one) for name, one in env.items()}},
               stdout=sys.stderr)
    if ran.returncode:
        raise SystemExit(f"release: {' '.join(map(str, argv))}: status {ran.returncode}")


def build_programs(out, epoch):
    """Links the static programs again, so that the linker writes maps, and copies them."""
    maps = []
    for arch, directory in ARCHES.items():
        program = ROOT / "build" / directory / "faultscope"
        link_map = program.with_suffix(".map")
        program.unlink(missing_ok=True)
        run("make", f"-j{os.cpu_count()}", f"IMAGE_ARCHES={arch}", f"LDFLAGS=-Wl,-Map={link_map}",
            "image-programs", SOURCE_DATE_EPOCH=epoch)
        named = out / f"faultscope-{version()}-linux-{arch}"
        shutil.copy(program, named)
        strip = "strip" if arch == out_of("dpkg", "--print-architecture") else {
            "arm64": "aarch64-linux-gnu-strip", "amd64": "x86_64-linux-gnu-strip"}[arch]
        run(strip, named)
        sysroot = ROOT / "build/sysroot" / {"amd64": "x86"}.get(arch, arch)
        maps.append(f"{arch}={link_map}" + (f"={sysroot}" if sysroot.exists() else ""))
    return maps


def build(out):
    revision = out_of("git", "rev-parse", "HEAD")
    epoch = out_of("git", "log", "-1", "--format=%ct")
    out.mkdir(parents=True, exist_ok=True)
    maps = build_programs(out, epoch)
    run("tools/image.sh", version(), out / f"faultscope-{version()}.oci.tar",
        *(f"{arch}={ROOT / 'build' / directory / 'faultscope'}"
          for arch, directory in ARCHES.items()), SOURCE_DATE_EPOCH=epoch)
    run("make", "dist")
    shutil.copy(ROOT / f"build/faultscope-{version()}.tar.gz", out)
    run("tools/deb.sh", "build/deb", DEB_BUILD_OPTIONS="nocheck")
    for path in (ROOT / "build/deb").glob("*.deb"):
        shutil.copy(path, out)
    bill = call(sys.executable, "tools/sbom.py", version(), revision, epoch, out, *maps,
                capture_output=True)
    if bill.returncode:
        raise SystemExit(f"release: {bill.stderr.strip()}")
    (out / f"faultscope-{version()}.spdx.json").write_text(bill.stdout, encoding="utf-8")
    sums = "".join(f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n"
                   for path in sorted(out.iterdir()))
    (out / "SHA256SUMS").write_text(sums, encoding="utf-8")
    print(sums, end="")


def main():
    parser = argparse.ArgumentParser(usage="release.py [--check] [OUT]",
                                     description=__doc__.partition("\n\n")[0])
    parser.add_argument("--check", action="store_true", help="only say what prevents a release")
    parser.add_argument("out", nargs="?", type=Path, default=ROOT / "build/release")
    args = parser.parse_args()
    if not args.check and args.out.exists() and any(args.out.iterdir()):
        parser.error(f"{args.out} is not empty")
    if refuse(check()):
        return 1
    if not args.check:
        build(args.out.resolve())
    return 0


if __name__ == "__main__":
    sys.exit(main())
