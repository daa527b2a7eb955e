# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Gives the programs of a test their own view of the machine: files of the test cover files of
/proc, /sys and other places. New user and mount namespaces make this possible without privileges.
In a user namespace, the kernel refuses BPF programs."""

from harness import FAULTSCOPE, Skip

# arguments: SOURCE PATH SOURCE PATH ... -- COMMAND
COVER = """
while [ "$1" != -- ]; do mount --rbind "$1" "$2" || exit 99; shift 2; done
shift; exec "$@"
"""


class OwnMachine:
    def __init__(self, lab):
        self.lab = lab
        self.top = lab.new_place_for_all()
        self.covers = []  # (path of the covering file or directory, path that it covers)
        if lab.call("unshare", "-Urm", "true").returncode:
            raise Skip("user namespaces are not permitted")

    def cover(self, path, text=None):
        """Covers the file `path` with a text, or the directory `path` with an empty one. Returns
        the path of the covering file or directory."""
        inside = self.top / f"{len(self.covers)}{path.replace('/', '-')}"
        if text is None:
            inside.mkdir()
        else:
            inside.write_text(text)
        self.covers.append((inside, path))
        return inside

    def argv(self, *words):
        return ["unshare", "-Urm", "sh", "-c", COVER, "sh",
                *[word for pair in self.covers for word in pair], "--", *words]

    def call(self, *words, **how):
        return self.lab.call(*self.argv(*words), **how)

    def faultscope(self, *options, **how):
        return self.call(FAULTSCOPE, *options, **how)


def put(directory, files):
    """Writes files, {path below a directory: text}."""
    for path, text in files.items():
        (directory / path).parent.mkdir(parents=True, exist_ok=True)
        (directory / path).write_text(text)
