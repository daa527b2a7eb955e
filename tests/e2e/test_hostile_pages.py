# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Tests HTML pages with hostile names, such as names that contain markup. Every name must stay
text, both in elements and in attributes."""

import html.parser
import json

from harness import BUILD, Skip

# Each name contains a tag, and also characters that end an attribute, a script, CDATA or a comment.
TAG = "<zz>"
HOSTILE = (TAG + '"zz=1', TAG + "'zz=1", TAG + "&lt;\"'", "</script>" + TAG, "]]>-->" + TAG)
# {page: {prefix of a name in hostile_recording.c: least number of times that the page shows this
# name}}
SHOWN = {"report": {"host": 2, "kernel": 2, "target": 1, "why": 1, "by": 5, "c": 10, "b": 1,
                    "/cgroup": 1, "frame": 3, "module": 3, "held": 1, "symbol": 2, "kmod": 2,
                    "sampled": 1},
         "diff": {"host": 2, "c": 1, "cgroup": 3, "frame": 1, "module": 1, "held": 1}}


class Page(html.parser.HTMLParser):
    """Parses a page as a browser does: names of elements and attributes, texts, and data."""

    def __init__(self, text):
        super().__init__()
        self.elements, self.attributes, self.said, self.scripts = set(), set(), [], []
        self.opened = None
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.elements.add(tag)
        self.attributes.update(name for name, _ in attrs)
        self.said += [value for _, value in attrs if value]
        self.opened = (tag, dict(attrs))

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)

    def handle_data(self, data):
        if self.opened and self.opened[0] == "script":
            self.scripts.append((self.opened[1].get("type"), data))
        else:
            self.said.append(data)

    def handle_endtag(self, tag):
        self.elements.add(tag)
        self.opened = None

    def times(self, name):
        return sum(text.count(name) for text in self.said)


def hostile_recording(lab, text):
    writer, path = BUILD / "hostile_recording", lab.dir / "hostile.fsr"
    if not writer.exists():
        raise Skip(f"{writer} is not built: make {writer}")
    path.unlink(missing_ok=True)
    written = lab.call(writer, text, path)
    assert written.returncode == 0, written.err
    return path


def cut(name, text):
    """Cuts a name to the size of its field: names of processes have 15 bytes."""
    return (name + text)[:15] if name in ("c", "b") else name + text


def check_page(check, what, text, plain, hostile, shown):
    page = Page(text)
    check.equal(f"{what}: elements of its own", page.elements - plain.elements, set())
    check.equal(f"{what}: attributes of its own", page.attributes - plain.attributes, set())
    for name, least in shown.items():
        if "cgroup" in name and "/" in hostile:
            # A cgroup name with a slash is a path, and a page may show only the last part of a
            # path.
            continue
        got = page.times(cut(name, hostile))
        check.that(got >= least, f"{what}: {name} is shown {got} times, not {least}")
    for kind, data in page.scripts:
        check.that(TAG not in data, f"{what}: a tag in data")
        if kind == "application/json":
            json.loads(data)


def test_hostile_names_in_pages(check, lab):
    def pages(text):
        path = hostile_recording(lab, text)
        return {"report": lab.faultscope("report", "--html", path).out,
                "diff": lab.faultscope("diff", "--html", path, path).out}

    plain = {what: Page(text) for what, text in pages("plain").items()}
    for hostile in HOSTILE:
        for what, text in pages(hostile).items():
            check_page(check, f"{what} of {hostile}", text, plain[what], hostile, SHOWN[what])


def test_hostile_log_in_pages(check, lab):
    """The page of a crash log must be right if file, function and module in the log have hostile
    names."""
    def page(text):
        path = lab.dir / f"{text.replace('/', '_')}.log"
        path.write_text(f"""\
[    1.000000] BUG: kernel NULL pointer dereference, address: 0000000000000010
[    1.000001] #PF: supervisor read access in kernel mode
[    1.000002] Oops: 0000 [#1] PREEMPT SMP
[    1.000003] CPU: 0 PID: 1 Comm: c{text} Not tainted 6.1.0{text} #1
[    1.000004] RIP: 0010:demo_read+0x10/0x20 [demo]
[    1.000005] Call Trace:
[    1.000006]  f{text}+0x1/0x2 [demo]
[    1.000007] ---[ end trace 0000000000000000 ]---
""")
        return lab.faultscope("triage", "--html", path).out

    plain = Page(page("plain"))
    for hostile in HOSTILE:
        check_page(check, f"triage of {hostile}", page(hostile), plain, hostile, {"": 1})
