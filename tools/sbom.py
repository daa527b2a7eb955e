#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Writes the software bill of materials of a release, as SPDX 2.3 JSON.

usage: sbom.py VERSION REVISION EPOCH DIRECTORY ARCH=MAP[=SYSROOT]...

DIRECTORY has the files of the release. MAP is the linker's map of the static program of ARCH (amd64,
arm64): it lists each archive from which the linker took an object. The Debian package and version of
an archive come from dpkg, or for a SYSROOT from the file packages.txt, which sysroot.py writes. EPOCH
is the time of the release, in seconds since 1970.
"""
import hashlib
import json
import os
import re
import subprocess
import sys
from datetime import datetime, timezone
from pathlib import Path
from urllib.parse import quote

LICENSE = "GPL-2.0-only OR BSD-2-Clause"


def archives(path):
    """Returns the archives from which the linker took objects, sorted: the first section of a map."""
    found = set()
    for line in Path(path).read_text(encoding="utf-8", errors="replace").splitlines():
        if line.startswith(("Discarded input sections", "Memory Configuration", "Merging program")):
            break
        member = re.match(r"(/\S+\.a|\S+/\S+\.a)\(", line)
        if member:
            found.add(os.path.realpath(member[1]))
    if not found:
        raise SystemExit(f"sbom: {path} lists no archive")
    return sorted(found)


def ask(*argv):
    ran = subprocess.run(argv, capture_output=True, text=True, check=False)
    return ran.stdout.strip() if not ran.returncode else ""


def owner(path):
    """Returns the installed package that contains a file."""
    for one in (path, path.removeprefix("/usr")):
        named = ask("dpkg", "-S", one).partition(": ")[0].split(",")[0]
        if named:
            return named
    raise SystemExit(f"sbom: {path} is of no package")


def of_host(path):
    """Returns (name, version) of the package that contains an archive."""
    return tuple(ask("dpkg-query", "-W", "-f", "${Package} ${Version}", owner(path)).split())


def of_sysroot(path, root):
    known = dict(line.split("=", 1) for line in
                 (Path(root) / "packages.txt").read_text(encoding="utf-8").splitlines())
    listed = Path(root) / "files.txt"
    inside = "/" + str(Path(path).relative_to(Path(root).resolve()))
    for line in listed.read_text(encoding="utf-8").splitlines():
        name, _, file = line.partition(" ")
        if file == inside:
            return name, known[name]
    raise SystemExit(f"sbom: {inside} is of no package in {root}")


def library(path, root):
    """An archive of the cross compiler is in a package of the host."""
    if root and Path(path).is_relative_to(Path(root).resolve()):
        return of_sysroot(path, root)
    return of_host(path)


def identifier(*words):
    return "SPDXRef-" + "-".join(re.sub(r"[^A-Za-z0-9.-]", "-", word) for word in words)


def package(name, version, arch):
    return {
        "SPDXID": identifier("Package", name, version, arch), "name": name, "versionInfo": version,
        "supplier": "Organization: Debian", "downloadLocation": "NOASSERTION",
        "filesAnalyzed": False, "licenseConcluded": "NOASSERTION",
        "licenseDeclared": "NOASSERTION", "copyrightText": "NOASSERTION",
        "externalRefs": [{"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl",
                          "referenceLocator": f"pkg:deb/debian/{name}@{quote(version, safe='')}"
                                              f"?arch={arch}"}]}


def checksum(path, algorithm):
    return {"algorithm": algorithm.upper(),
            "checksumValue": hashlib.new(algorithm, path.read_bytes()).hexdigest()}


def artifact(path):
    return {"SPDXID": identifier("File", path.name), "fileName": f"./{path.name}",
            "checksums": [checksum(path, "sha1"), checksum(path, "sha256")],
            "licenseConcluded": LICENSE, "copyrightText": "NOASSERTION"}


def relation(one, kind, other):
    return {"spdxElementId": one, "relationshipType": kind, "relatedSpdxElement": other}


def document(version, revision, epoch, place, maps):
    root = identifier("Package", "faultscope")
    files = [artifact(path) for path in sorted(place.iterdir()) if path.is_file()]
    packages, relations = {}, [relation("SPDXRef-DOCUMENT", "DESCRIBES", root)]
    relations += [relation(root, "CONTAINS", one["SPDXID"]) for one in files]
    for arch, path, sysroot in maps:
        program = identifier("File", f"faultscope-{version}-linux-{arch}")
        for one in archives(path):
            made = package(*library(one, sysroot), arch)
            if made["SPDXID"] not in packages:
                packages[made["SPDXID"]] = made
                relations.append(relation(program, "STATIC_LINK", made["SPDXID"]))
    return {
        "spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT",
        "name": f"faultscope-{version}",
        "documentNamespace": f"https://spdx.org/spdxdocs/faultscope-{version}-{revision}",
        "creationInfo": {
            "created": datetime.fromtimestamp(epoch, timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
            "creators": ["Tool: faultscope tools/sbom.py"]},
        "packages": [{
            "SPDXID": root, "name": "faultscope", "versionInfo": version,
            "downloadLocation": "NOASSERTION", "filesAnalyzed": False,
            "licenseConcluded": LICENSE, "licenseDeclared": LICENSE,
            "copyrightText": "NOASSERTION", "sourceInfo": f"git commit {revision}"},
            *packages.values()],
        "files": files, "relationships": relations}


def main():
    if len(sys.argv) < 6:
        sys.exit(__doc__)
    version, revision, epoch, place, *maps = sys.argv[1:]
    maps = [tuple((one.split("=") + [""])[:3]) for one in maps]
    print(json.dumps(document(version, revision, int(epoch), Path(place), maps), indent=1))


if __name__ == "__main__":
    main()
