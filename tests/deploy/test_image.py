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

from deployed import DEPLOY, call
from harness import ROOT, Skip

RECIPE = DEPLOY / "container/Containerfile"
PROGRAM = ROOT / "build/static/faultscope"
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


def image(path):
    """Returns (configuration, TAR files of all layers) of an OCI archive."""
    with tarfile.open(path) as archive:
        index = json.load(archive.extractfile("index.json"))
        manifest = json.loads(blob(archive, index["manifests"][0]["digest"]))
        layers = [tarfile.open(fileobj=io.BytesIO(blob(archive, layer["digest"])))
                  for layer in manifest["layers"]]
        return json.loads(blob(archive, manifest["config"]["digest"])), layers


def test_buildah_builds_an_image_that_runs(check):
    if not shutil.which("buildah"):
        raise Skip("buildah is missing (tools/setup.sh package)")
    if os.geteuid():
        raise Skip("needs root")
    if not PROGRAM.exists():
        raise Skip("no static program: make static")
    with tempfile.TemporaryDirectory() as place:
        out = Path(place) / "image.tar"
        built = call(ROOT / "tools/image.sh", PROGRAM, "1.2.3", out)
        if "serves no HTTP" in built.stderr:
            raise Skip("libunistring-dev is missing (tools/setup.sh package)")
        check.equal("status", (built.returncode, built.stderr), (0, ""))
        config, layers = image(out)
        check.equal("configuration", {key: config["config"].get(key) for key in (
            "User", "Entrypoint", "Cmd", "ExposedPorts")}, {
                "User": "0:0", "Entrypoint": ["/faultscope"], "Cmd": COMMAND,
                "ExposedPorts": {"10435/tcp": {}}})
        check.equal("version", config["config"]["Labels"]["org.opencontainers.image.version"],
                    "1.2.3")
        files = {one.name for layer in layers for one in layer if not one.isdir()}
        check.equal("files", files, {"LICENSE", "faultscope"})
        for layer in layers:
            layer.extractall(Path(place) / "root")
        ran = call("chroot", Path(place) / "root", "/faultscope", "--version")
        check.equal("status of the program", (ran.returncode, ran.stderr), (0, ""))
        check.that(ran.stdout.startswith("faultscope "), ran.stdout)
        with tempfile.NamedTemporaryFile() as dynamic:
            shutil.copy(shutil.which("true"), dynamic.name)
            built = call(ROOT / "tools/image.sh", dynamic.name, "1.2.3", out)
            check.that("shared libraries" in built.stderr and built.returncode == 1, built.stderr)
