# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Checks the systemd units: systemd reads them, and the exporter's exposure to attacks is low."""
import os
import re
import shutil
import signal
import subprocess
import tempfile
import time
import urllib.request
from pathlib import Path

from deployed import DEPLOY, PATIENCE, accepts, borrowed, call
from harness import FAULTSCOPE, ROOT, Skip, lines_to

UNITS = DEPLOY / "systemd"
EXPORTER = UNITS / "faultscope-exporter.service"
MOST_EXPOSED = 1.5
# Highest allowed score of `systemd-analyze security` for the flight recorder. The flight recorder
# keeps access to the kernel log, tracing and kernel symbols, which the other units drop.
MOST_OF_RECORDER = 3.5
RECORDER = UNITS / "faultscope-blackbox.service"
# System calls that no part of the exporter needs.
DENIED = {"setuid", "mount", "init_module", "kexec_load", "reboot", "swapon", "ptrace", "chroot",
          "settimeofday", "setrlimit", "sched_setaffinity", "add_key", "open_by_handle_at"}


def analyze(*words):
    if not shutil.which("systemd-analyze"):
        raise Skip("systemd-analyze is missing")
    return call("systemd-analyze", *words)


def settings(path):
    """Returns (name, value) of each line of a unit, in order."""
    return re.findall(r"^(\w+)=(.*)$", path.read_text(encoding="utf-8"), re.M)


def values(path, name):
    return [value for key, value in settings(path) if key == name]


def call_sets():
    """Returns {name of a system call set: its calls}, with nested sets resolved."""
    raw = {}
    for line in analyze("syscall-filter").stdout.splitlines():
        if line.startswith("@"):
            raw[line] = members = []
        elif line.strip() and not line.strip().startswith("#"):
            members.append(line.strip())

    def resolve(name):
        return {one for member in raw[name]
                for one in (resolve(member) if member.startswith("@") else [member])}
    return {name: resolve(name) for name in raw if name != "@known"}


def allowed_calls(path):
    """Returns the calls that SystemCallFilter= allows. As in systemd, the first line lists the
    allowed calls, and later lines add or remove calls."""
    sets, allowed = call_sets(), set(call_sets()["@default"])
    for value in values(path, "SystemCallFilter"):
        named = value.removeprefix("~").split()
        calls = {one for name in named for one in sets.get(name, {name})}
        allowed = allowed - calls if value.startswith("~") else allowed | calls
    return allowed


def test_services_are_hardly_exposed(check):
    services = sorted(UNITS.glob("*.service"))
    check.equal("services", len(services), 3)
    for unit in services:
        most = MOST_OF_RECORDER if "blackbox" in unit.name else MOST_EXPOSED
        ran = analyze("security", "--offline=true", f"--threshold={most * 10:.0f}", unit)
        check.that(ran.returncode == 0, ran.stdout[-4000:] + ran.stderr)
        found = re.search(rf"exposure level for {unit.name}: ([\d.]+)", ran.stdout)
        check.that(found and float(found[1]) <= most, f"{unit.name}: {found}")


def test_systemd_can_read_the_units(check):
    """The units get the path of the built program, since systemd checks that the program exists."""
    with tempfile.TemporaryDirectory() as place:
        paths = []
        for unit in sorted(UNITS.glob("*.[st]*")):
            if unit.suffix in (".service", ".socket", ".timer"):
                text = unit.read_text(encoding="utf-8")
                text = text.replace("/usr/bin/faultscope", str(FAULTSCOPE))
                paths.append(Path(place) / unit.name)
                paths[-1].write_text(text, encoding="utf-8")
        check.that(len(paths) >= 5, f"only {len(paths)} units")
        ran = analyze("verify", "--man=no", "--recursive-errors=no", *paths)
    mine = [line for line in ran.stderr.splitlines() if "faultscope" in line or place in line]
    check.equal("what systemd says", mine, [])
    check.equal("status", ran.returncode, 0)


def test_the_exporter_has_two_capabilities_alone(check):
    for name in ("AmbientCapabilities", "CapabilityBoundingSet"):
        check.equal(name, values(EXPORTER, name), ["CAP_BPF CAP_PERFMON"])
    for name, value in (("DynamicUser", "yes"), ("NoNewPrivileges", "yes"),
                        ("PrivateNetwork", "yes"), ("ProtectSystem", "strict")):
        check.equal(name, values(EXPORTER, name), [value])
    check.equal("PrivateUsers, which would take them", values(EXPORTER, "PrivateUsers"), [])


def traced(check, become, words):
    """Runs the program under strace, started by setpriv with the options `become`. Yields (process,
    directory) first, and the set of the process's system calls last."""
    if os.geteuid() or not shutil.which("strace") or not shutil.which("setpriv"):
        raise Skip("needs root, strace and setpriv")
    with tempfile.TemporaryDirectory() as place:
        os.chmod(place, 0o777)
        seen = Path(place) / "calls"
        ran = subprocess.Popen(
            ["strace", "-f", "-qq", "-o", seen, "setpriv", *become, "--no-new-privs", FAULTSCOPE,
             *(word.replace("PLACE", place) for word in words)],
            stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        yield ran, place
        said = ran.communicate(timeout=PATIENCE)[1]
        check.that(ran.returncode in (0, -15, 143), f"status {ran.returncode}: {said}")
        text = seen.read_text(encoding="utf-8", errors="replace")
    mine = text[text.rindex(f'execve("{FAULTSCOPE}"'):]
    yield set(re.findall(r"^\d+ +(\w+)\(", mine, re.M))


def calls_of(check, *options, unit=EXPORTER):
    """Returns traced() for the exporter, with the user and the capabilities of its unit, or of a
    drop-in of it."""
    given = values(unit, "AmbientCapabilities")[-1]
    caps = ",".join(["-all", *("+" + one.removeprefix("CAP_").lower() for one in given.split())])
    return traced(check, ["--reuid=65534", "--regid=65534", "--clear-groups", f"--inh-caps={caps}",
                          f"--ambient-caps={caps}", f"--bounding-set={caps}"],
                  ["export", *options])


def judge_calls(check, unit, made, denied=frozenset(DENIED)):
    check.that({"bpf", "capset", "read"} <= made, f"{unit.name}: hardly any call: {sorted(made)}")
    allowed = allowed_calls(unit)
    check.equal(f"{unit.name}: calls it makes and may not", made - allowed, set())
    check.equal(f"{unit.name}: calls it may make without need", denied & allowed, set())


RESIDENT = UNITS / "faultscope-exporter-resident.conf"


def test_the_exporter_makes_the_calls_that_its_unit_allows(check):
    """The test scrapes the exporter, reloads it by SIGHUP and ends it. The exporter's unit must
    allow every system call that the exporter makes."""
    judge_exporter(check, calls_of(check, "--web.listen-address=127.0.0.1:0",
                                   "--oom.store=PLACE/oom", "--incident.store=PLACE/incidents"),
                   b"faultscope_up 1")


def test_its_unit_allows_log_lines(check):
    """The exporter sends log lines to the journal, or writes them when a pipe has room for them."""
    check.equal("calls that it may not make", {"sendto", "poll", "write"} - allowed_calls(EXPORTER),
                set())
    check.that("AF_UNIX" in values(EXPORTER, "RestrictAddressFamilies")[0], "no UNIX sockets")


def test_its_unit_allows_readings_of_memory(check):
    """With the drop-in, the unit allows every system call of --export.resident."""
    check.equal("both settings", values(RESIDENT, "AmbientCapabilities"),
                values(RESIDENT, "CapabilityBoundingSet"))
    judge_exporter(check, calls_of(check, "--web.listen-address=127.0.0.1:0",
                                   "--workload.min-age=0", "--export.resident=.",
                                   "--oom.store=PLACE/oom", "--incident.store=PLACE/incidents",
                                   unit=RESIDENT),
                   b'by="before"')


PROFILES = UNITS / "faultscope-exporter-profiles.conf"


def test_its_unit_allows_profiles(check):
    """With the drop-in, the unit allows every system call of --export.profiles."""
    check.equal("both settings", values(PROFILES, "AmbientCapabilities"),
                values(PROFILES, "CapabilityBoundingSet"))
    judge_exporter(check, calls_of(check, "--web.listen-address=127.0.0.1:0", "--export.profiles",
                                   "--incident.store=PLACE/incidents", unit=PROFILES),
                   b"faultscope_up 1", "debug/pprof/faults?seconds=1")


def judge_exporter(check, made, wanted, *paths):
    ran, _ = next(made)
    said = lines_to(ran.stderr, "metrics at")  # log lines may come before
    ready = re.search(r"http://[\d.]+:(\d+)", said[-1])
    check.that(ready, f"it does not say where it listens: {said}")
    if ready:
        with urllib.request.urlopen(f"http://127.0.0.1:{ready[1]}/metrics", timeout=60) as page:
            check.that(wanted in page.read(), f"no {wanted}")
        for path in paths:
            with urllib.request.urlopen(f"http://127.0.0.1:{ready[1]}/{path}", timeout=60) as page:
                check.that(page.read(), f"{path} is empty")
    child = Path(f"/proc/{ran.pid}/task/{ran.pid}/children").read_text(encoding="ascii").split()[0]
    os.kill(int(child), signal.SIGHUP)
    os.kill(int(child), signal.SIGTERM)
    judge_calls(check, EXPORTER, next(made))


def test_the_textfile_service_makes_the_calls_that_its_unit_allows(check):
    made = calls_of(check, "--textfile", "PLACE/faultscope.prom")
    _, place = next(made)
    judge_calls(check, UNITS / "faultscope-textfile.service", next(made))


def test_the_exporter_listens_on_loopback_by_default(check):
    socket = EXPORTER.with_suffix(".socket")
    check.equal("addresses", values(socket, "ListenStream"),
                ["127.0.0.1:10435"])
    check.that("--web.listen-address=fd://" in values(EXPORTER, "ExecStart")[0], "no fd://")


def test_drop_ins_set_what_units_know(check):
    """Systemd reads a drop-in after its unit, so each drop-in is checked together with the unit."""
    with tempfile.TemporaryDirectory() as place:
        unit = Path(place) / EXPORTER.name
        drop_in = Path(place) / f"{EXPORTER.name}.d"
        drop_in.mkdir()
        text = EXPORTER.read_text(encoding="utf-8").replace("/usr/bin/faultscope", str(FAULTSCOPE))
        unit.write_text(text, encoding="utf-8")
        for one in UNITS.glob("faultscope-exporter-*.conf"):
            shutil.copy(one, drop_in)
        shutil.copy(EXPORTER.with_suffix(".socket"), place)
        ran = analyze("verify", "--man=no", "--recursive-errors=no", unit)
    mine = [line for line in ran.stderr.splitlines() if "faultscope" in line or place in line]
    check.equal("what systemd says", mine, [])


def test_promtool_takes_the_example_of_web_yml(check):
    """The test makes the certificates that web.yml names, since promtool checks that they exist."""
    openssl = shutil.which("openssl")
    if not openssl:
        raise Skip("openssl is missing")
    with tempfile.TemporaryDirectory() as place:
        shutil.copy(UNITS / "web.yml", place)
        accepts(check, "openssl", openssl, "req", "-x509", "-newkey", "ec", "-pkeyopt",
                "ec_paramgen_curve:P-256", "-nodes", "-subj", "/CN=localhost", "-days", "2",
                "-keyout", "faultscope.key", "-out", "faultscope.crt", where=place)
        accepts(check, "promtool", borrowed("promtool"), "check", "web-config",
                Path(place) / "web.yml")


def test_apparmor_takes_the_profile(check):
    """apparmor_parser accepts the AppArmor profile, the unit names the profile, and the profile
    allows the directories that the program reads."""
    profile = DEPLOY / "apparmor/faultscope-exporter"
    parser = borrowed("apparmor_parser")
    accepts(check, "apparmor_parser", parser, "-QTK", profile)
    names = call(parser, "-QTK", "-N", profile).stdout.split()
    check.equal("names", names, [value.removeprefix("-")
                                 for value in values(EXPORTER, "AppArmorProfile")])
    text = re.sub(r"#.*", "", profile.read_text(encoding="utf-8"))
    rules = [" ".join(line.rstrip(",").split()) for line in text.splitlines()]
    check.equal("capabilities", {rule.split()[1] for rule in rules if rule.startswith("capability")},
                {name.removeprefix("CAP_").lower()
                 for name in values(EXPORTER, "AmbientCapabilities")[0].split()})
    reach = set(re.findall(r'readable\[n\+\+\] = "([^"]+)"', (ROOT / "src/export/export.c").read_text(
        encoding="utf-8")))
    check.that(reach, "src/export/export.c names no directory")
    for place in reach | {"@{PROC}", "@{sys}", "/etc/faultscope"}:
        check.that(f"{place}/ r" in rules, f"{place} is not to be read: {rules}")
    check.that(not [rule for rule in rules if re.search(r" [mrkl]*[wa][mrkl]*$", rule)], "it may write")


def test_the_recorder_makes_the_calls_that_its_unit_allows(check):
    """Runs the recorder as root with the capabilities of its unit. The unit must allow every system
    call that the recorder makes."""
    given = values(RECORDER, "CapabilityBoundingSet")
    check.equal("lines of capabilities", len(given), 1)
    for name in ("CAP_SYS_ADMIN", "CAP_DAC_OVERRIDE", "CAP_SYS_PTRACE"):
        check.that(name not in given[0], f"it has {name}")
    caps = ",".join(["-all", *("+" + one.removeprefix("CAP_").lower() for one in given[0].split())])
    made = traced(check, [f"--bounding-set={caps}"],
                  ["blackbox", "run", "--ring", "PLACE/ring", "--heartbeat", "0.2"])
    ran, place = next(made)
    ring = Path(place) / "ring"
    end = time.monotonic() + PATIENCE
    while (not ring.exists() or b"FSbb" not in ring.read_bytes()) and time.monotonic() < end:
        time.sleep(0.1)
    text = ring.read_bytes()
    check.that(b"FSbb" in text, "no record in its file")
    check.that(b"failed." not in text, "a place where it could not keep records")
    child = Path(f"/proc/{ran.pid}/task/{ran.pid}/children").read_text(encoding="ascii").split()[0]
    os.kill(int(child), signal.SIGTERM)
    judge_calls(check, RECORDER, next(made), DENIED - {"setrlimit", "sched_setaffinity"})
