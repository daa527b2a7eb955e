# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Tests of the settings of the live view: they are kept from one run to the next, options come
before them, and files that another user could change, or that are no settings, are named and not
used."""

import json
import os
import re
import shutil
import stat

from harness import FAULTSCOPE, RECORDINGS, Skip
from tmux import Tmux

DONE, FAILED, USAGE = 0, 1, 2
SHOWN = RECORDINGS / "brief_children_among_all-close.fsr"
OTHER = 12345  # a user that is not this one
NOBODY = 65534
AS_NOBODY = ("setpriv", "--reuid", NOBODY, "--regid", NOBODY, "--clear-groups", "--")


def place_of(lab, name="config"):
    place = lab.dir / name / "faultscope"
    place.mkdir(parents=True, mode=0o700, exist_ok=True)
    for one in (place, place.parent):
        one.chmod(0o700)
    return place


def settings(lab, *words, config="config", **env):
    return lab.faultscope("settings", *words, env={
        **{k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "HOME")},
        "XDG_CONFIG_HOME": str(lab.dir / config), **env})


def values(lab, *words, **env):
    page = json.loads(settings(lab, "--json", *words, **env).out)
    return page, {one["name"]: one for one in page["settings"]}


def replay(lab, options="", **env):
    return Tmux(lab, 120, 30, f"{FAULTSCOPE} replay {options} --quiet --speed 0 {SHOWN}",
                TERM="screen", XDG_CONFIG_HOME=str(lab.dir / "config"), **env)


def run_view(check, tmux, what, steps):
    """Presses keys, and ends the view. Each step waits for what the screen then shows."""
    for keys, *words in steps:
        if keys:
            tmux.keys(*keys)
        wrong = tmux.shows(*words)
        check.that(not wrong, f"{what}, {keys}: {wrong}")
    tmux.keys("q")
    wrong = tmux.shows("ended with 0")
    check.that(not wrong, f"{what}: {wrong}")
    screen = tmux.screen("-J")
    tmux.close()
    return screen


def test_settings_are_kept(check, lab):
    """A theme, columns and an order that the user chooses are there again in the next run. The file
    is private, and no temporary file is left."""
    run_view(check, replay(lab), "first run", [
        ((), "END OF RECORDING", "PID"), (("L",), "light background"), (("3",), r"FULL IN"),
        (("o",), "Columns of the tab FDs"), (("j", "j", "j", "Space"), r"\[ \]"),
        (("Escape",), "order: findings"), (("N",), "order: PID"), (("e",), "ended")])
    file = lab.dir / "config" / "faultscope" / "settings"
    text = file.read_text()
    check.equal("mode", stat.S_IMODE(file.stat().st_mode), 0o600)
    check.equal("mode of the directory", stat.S_IMODE(file.parent.stat().st_mode), 0o700)
    check.equal("files", os.listdir(file.parent), ["settings"])
    check.that("theme = light\n" in text and "sort.fds = pid\n" in text, text)
    check.that(re.search(r"^columns.fds = user .*fds.count", text, re.M), text)
    check.that("ended" not in text, f"a recording at its end is no wish for the next time:\n{text}")
    run_view(check, replay(lab), "second run", [
        ((), "END OF RECORDING"), (("3",), "order: PID"), (("L",), "no colours")])
    check.that("theme = none\n" in file.read_text(), file.read_text())
    before = file.read_text(), file.stat().st_ino
    run_view(check, replay(lab), "third run", [((), "END OF RECORDING"), (("5",), "Limits of this machine")])
    check.equal("a run without a change writes nothing", (file.read_text(), file.stat().st_ino),
                before)


def test_what_people_wrote_stays(check, lab):
    """Comments and unknown lines stay in the file. Each line that is not used is named."""
    file = place_of(lab) / "settings"
    text = "# mine\ntheme=light\nfuture = 7\n\ntree = oaks\nodd line\n"
    file.write_text(text)
    screen = run_view(check, replay(lab), "odd lines", [
        ((), "END OF RECORDING", r"settings: .*:3: future: no setting has this name"),
        (("c",), "order: findings"), (("t",), "by cgroup")])
    for line in ("settings:3: future", "settings:6: odd line: expected: key = value",
                 "settings:5: tree = oaks: allowed: no, cgroups or parents"):
        check.that(re.search(line.replace(" ", r"\s+"), screen), f"{line}:\n{screen}")
    check.equal("the file", file.read_text(),
                text.replace("oaks", "cgroups") + "command_lines = yes\n")
    ran = settings(lab)
    check.equal("status with a line that is not used", ran.returncode, FAILED)
    check.that(":3: future" in ran.out, ran.out)


def test_options_come_first(check, lab):
    (place_of(lab) / "settings").write_text("theme = none\nsort.faults = pid\n")
    page, got = values(lab)
    check.equal("file", page["file"], str(lab.dir / "config/faultscope/settings"))
    check.equal("from the file", [got["theme"][key] for key in ("value", "source", "line")],
                ["none", "file", 1])
    check.equal("default", [got["tree"][key] for key in ("value", "source")], ["no", "default"])
    _, got = values(lab, "--color", "always")
    check.equal("option", [got["theme"][key] for key in ("value", "source", "by")],
                ["dark", "option", "--color"])
    _, got = values(lab, "--color", "never")
    check.equal("option", got["theme"]["value"], "none")
    settings(lab, "theme=light")
    _, got = values(lab, NO_COLOR="1")
    check.equal("environment", [got["theme"][key] for key in ("value", "source", "by")],
                ["none", "environment", "NO_COLOR"])
    run_view(check, replay(lab, "--sort faults.minor"), "--sort", [
        ((), "END OF RECORDING", "order: MINFLT/s")])
    _, got = values(lab)
    check.equal("an option is not kept", got["sort.faults"]["value"], "pid")


def test_changes_by_the_command(check, lab):
    ran = settings(lab, "theme=light", "columns.maps=user maps.count.share")
    check.equal("status", (ran.returncode, ran.out, ran.err), (DONE, "", ""))
    _, got = values(lab)
    check.equal("columns", got["columns.maps"]["value"], "user maps.count.share")
    before = (lab.dir / "config/faultscope/settings").read_bytes()
    for words in (["theme=light", "tree=oaks"], ["nothing=1"], ["theme"], ["theme="],
                  ["columns.maps=user user"], ["sort.maps=maps.count.trend"]):
        ran = settings(lab, *words)
        check.equal(f"{words}: {ran.err}", ran.returncode, USAGE)
    check.equal("nothing is changed then", (lab.dir / "config/faultscope/settings").read_bytes(),
                before)
    ran = settings(lab, "theme=light", XDG_CONFIG_HOME="relative", HOME="")
    check.equal("no place", ran.returncode, FAILED)
    check.that("neither XDG_CONFIG_HOME nor HOME" in ran.err, ran.err)


def make_link(place):
    (place / "settings").symlink_to("/etc/passwd")


def make_fifo(place):
    os.mkfifo(place / "settings")


def make_large(place):
    with open(place / "settings", "wb") as file:
        file.truncate(1 << 30)


def make_binary(place):
    (place / "settings").write_bytes(bytes(range(256)) * 16)


def make_foreign_file(place):
    (place / "settings").write_text("theme = light\n")
    os.chown(place / "settings", OTHER, OTHER)


def make_foreign_directory(place):
    place.chmod(0o755)
    os.chown(place, OTHER, OTHER)


def make_foreign_parent(place):
    place.parent.chmod(0o755)
    os.chown(place.parent, OTHER, OTHER)


def make_shared_directory(place):
    place.chmod(0o770)


def make_linked_directory(place):
    place.rmdir()
    place.symlink_to("/etc")


HOSTILE = {
    make_link: "symbolic link", make_fifo: "no regular file", make_large: "larger than 65536 bytes",
    make_binary: "is no text", make_foreign_file: "belongs to another user",
    make_foreign_directory: "belongs to another user",
    make_foreign_parent: "belongs to another user", make_shared_directory: "other users can write",
    make_linked_directory: "symbolic link",
}


def contents(place):
    """Everything below a directory: names, kinds, sizes and times of the last change."""
    found = {}
    for path in sorted(place.rglob("*")):
        st = path.lstat()
        found[str(path)] = (st.st_mode, st.st_size, st.st_mtime_ns, st.st_uid)
    return found


def test_hostile_places(check, lab):
    """What another user could have made is neither read nor written. The view goes on with its
    defaults, and says why."""
    if os.geteuid():
        raise Skip("makes files of another user: needs root")
    for make, why in HOSTILE.items():
        name = make.__name__
        make(place_of(lab, name))
        before = contents(lab.dir / name)
        ran = settings(lab, "theme=light", config=name)
        check.equal(f"{name}: status: {ran.err}", ran.returncode, FAILED)
        check.that(why in ran.err, f"{name}: {ran.err}")
        page, got = values(lab, XDG_CONFIG_HOME=str(lab.dir / name))
        check.that(why in page["unusable"], f"{name}: {page['unusable']}")
        check.equal(f"{name}: theme", (got["theme"]["value"], got["theme"]["source"]),
                    ("dark", "default"))
        tmux = Tmux(lab, 140, 30, f"{FAULTSCOPE} replay --quiet --speed 0 {SHOWN}", TERM="screen",
                    XDG_CONFIG_HOME=str(lab.dir / name))
        screen = run_view(check, tmux, name, [((), "END OF RECORDING", "settings: "),
                                             (("t",), "by cgroup")])
        check.that("are not kept" in " ".join(screen.split()), f"{name}: {screen}")
        check.equal(f"{name}: what is there", contents(lab.dir / name), before)


# {mode of the directory of all settings: what the live view says at its start, and status of the
# command settings}
UNUSABLE = {0o000: (r"settings: .*/faultscope: Permission denied", FAILED), 0o500: ("", DONE)}


def test_places_without_permission(check, lab):
    """A user without the right to search the directory of settings learns this at the start. Where
    there are no settings, and the user may not create any, the view says so when a change is lost.
    """
    if os.geteuid() or not shutil.which("setpriv"):
        raise Skip("takes rights from a user: needs root and setpriv")
    program, shown = lab.for_all(FAULTSCOPE), lab.for_all(SHOWN)
    for mode, (said, status) in UNUSABLE.items():
        what, home = f"mode {mode:o}", lab.dir / f"{mode:o}"
        home.mkdir()
        if said:
            (home / "faultscope").mkdir()
        os.chown(home, NOBODY, NOBODY)
        home.chmod(mode)
        env = {**os.environ, "XDG_CONFIG_HOME": str(home)}
        ran = lab.call(*AS_NOBODY, program, "settings", env=env)
        check.equal(f"{what}: status", ran.returncode, status)
        check.equal(f"{what}: {ran.out}", "Permission denied" in ran.out, bool(said))
        ran = lab.call(*AS_NOBODY, program, "settings", "theme=light", env=env)
        check.equal(f"{what}: status of a change", ran.returncode, FAILED)
        check.that("faultscope: Permission denied" in ran.err, f"{what}: {ran.err}")
        words = *AS_NOBODY, program, "replay", "--quiet", "--speed", "0", shown
        tmux = Tmux(lab, 140, 30, " ".join(map(str, words)), TERM="screen",
                    XDG_CONFIG_HOME=str(home))
        wrong = tmux.shows("END OF RECORDING", said)
        check.that(not wrong, f"{what}: {wrong}")
        check.equal(f"{what}: said at the start", "settings: " in tmux.screen(), bool(said))
        screen = " ".join(run_view(check, tmux, what, [(("t",), "by cgroup")]).split())
        check.that("are not kept" in screen and "Permission denied" in screen, f"{what}: {screen}")
