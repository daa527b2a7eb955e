# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Checks the container image: its recipe, and if buildah is installed, the image that it builds."""
import io
import json
import os
import re
import shutil
import tarfile
import tempfile
from pathlib import Path

from aptroot import host_arch
from deployed import DEPLOY, call
from harness import ROOT, Skip

RECIPE = DEPLOY / "container/Containerfile"
COMMAND = ["export", "--web.listen-address=:10435"]


def test_the_image_has_nothing_but_the_program(check):
    lines = RECIPE.read_text(encoding="utf-8").splitlines()
    words = [line.split(None, 1) for line in lines if re.match(r"[A-Z]+ ", line)]
    check.equal("instructions", [word[0] for word in words],
                ["FROM", "COPY", "USER", "EXPOSE", "ENTRYPOINT", "CMD", "LABEL"])
    told = dict(words)
    check.equal("FROM", told["FROM"], "scratch")
    check.that(re.fullmatch(r"\d+:\d+", told["USER"]), f"USER {told['USER']}: not by number")
    check.equal("ENTRYPOINT", json.loads(told["ENTRYPOINT"]), ["/faultscope"])
    check.equal("CMD", json.loads(told["CMD"]), COMMAND)


def blob(archive, digest):
    return archive.extractfile("blobs/" + digest.replace(":", "/")).read()


def images(path):
    """Returns {"OS/ARCHITECTURE": (configuration, TAR files of all layers)} of an OCI archive."""
    found = {}
    with tarfile.open(path) as archive:
        index = json.load(archive.extractfile("index.json"))
        index = json.loads(blob(archive, index["manifests"][0]["digest"]))
        for one in index["manifests"]:
            manifest = json.loads(blob(archive, one["digest"]))
            layers = [tarfile.open(fileobj=io.BytesIO(blob(archive, layer["digest"])))
                      for layer in manifest["layers"]]
            platform = one["platform"]
            found[f"{platform['os']}/{platform['architecture']}"] = (
                json.loads(blob(archive, manifest["config"]["digest"])), layers)
    return found


# Platforms of the image: the static program, and the machine in its ELF header (elf.h)
PLATFORMS = {"amd64": (ROOT / "build/static/faultscope", 62),
             "arm64": (ROOT / "build/static-arm64/faultscope", 183)}


def machine_of(layer):
    return int.from_bytes(layer.extractfile("faultscope").read(20)[18:20], "little")


def test_buildah_builds_an_image_for_each_platform(check):
    if not shutil.which("buildah"):
        raise Skip("buildah is missing (tools/setup.sh package)")
    if os.geteuid():
        raise Skip("needs root")
    there = {arch: one for arch, one in PLATFORMS.items() if one[0].exists()}
    if host_arch() not in there:
        raise Skip("no static program: make static")
    programs = [f"{arch}={path}" for arch, (path, _) in there.items()]
    with tempfile.TemporaryDirectory() as place:
        out = Path(place) / "image.tar"
        built = call(ROOT / "tools/image.sh", "1.2.3", out, *programs)
        if "serves no HTTP" in built.stderr:
            raise Skip("a static program serves no HTTP: make image-programs")
        check.equal("status", (built.returncode, built.stderr), (0, ""))
        found = images(out)
        check.equal("platforms", set(found), {f"linux/{arch}" for arch in there})
        for arch, (_, machine) in there.items():
            config, layers = found[f"linux/{arch}"]
            check.equal(f"{arch}: architecture", config["architecture"], arch)
            check.equal(f"{arch}: configuration", {key: config["config"].get(key) for key in (
                "User", "Entrypoint", "Cmd", "ExposedPorts")}, {
                    "User": "0:0", "Entrypoint": ["/faultscope"], "Cmd": COMMAND,
                    "ExposedPorts": {"10435/tcp": {}}})
            check.equal(f"{arch}: version",
                        config["config"]["Labels"]["org.opencontainers.image.version"], "1.2.3")
            files = {one.name for layer in layers for one in layer if not one.isdir()}
            check.equal(f"{arch}: files", files, {"LICENSE", "faultscope"})
            check.equal(f"{arch}: machine of the program", machine_of(layers[-1]), machine)
        for layer in found[f"linux/{host_arch()}"][1]:
            layer.extractall(Path(place) / "root")
        ran = call("chroot", Path(place) / "root", "/faultscope", "--version")
        check.equal("status of the program", (ran.returncode, ran.stderr), (0, ""))
        check.that(ran.stdout.startswith("faultscope "), ran.stdout)
        again = Path(place) / "again.tar"
        call(ROOT / "tools/image.sh", "1.2.3", again, *programs)
        check.equal("blobs of a second build", blob_names(again), blob_names(out))


def blob_names(path):
    with tarfile.open(path) as archive:
        return {one.name for one in archive if one.name.startswith("blobs/") and one.isfile()}


def test_image_refuses_a_wrong_program(check):
    if not shutil.which("buildah"):
        raise Skip("buildah is missing (tools/setup.sh package)")
    with tempfile.TemporaryDirectory() as place:
        out, dynamic = Path(place) / "image.tar", Path(place) / "true"
        shutil.copy(shutil.which("true"), dynamic)
        static = PLATFORMS[host_arch()][0]
        other = next(arch for arch in PLATFORMS if arch != host_arch())
        for words, said in (([f"{host_arch()}={dynamic}"], "shared libraries"),
                            ([f"{other}={static}"], f"is not for {other}"), ([], "name a program")):
            if words and not Path(words[0].partition("=")[2]).exists():
                raise Skip("no static program: make static")
            built = call(ROOT / "tools/image.sh", "1.2.3", out, *words)
            check.that(said in built.stderr and built.returncode, f"{words}: {built.stderr}")
            check.that(not out.exists(), f"{words}: an image")
