# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""What a benchmark must know of its machine: BPF programs of others, the CPU time that others use,
and the CPU time and kernel memory of a control group."""
import contextlib
import os
import platform
import re
import tempfile
import time
from pathlib import Path

from bpf_programs import programs_at_events
from procs import CannotRun

TICKS = os.sysconf("SC_CLK_TCK")
RECLAIMS = 10  # number of requests to reclaim the memory of a control group of version 1


class Others:
    """Observes what other programs do while the benchmark runs."""

    def __init__(self):
        self.foreign, self.looks, self.looks_with_foreign = set(), 0, 0
        self.clean = True  # whether the last look found no program
        self.busy_s = self.stolen_s = self.passed_s = 0

    @contextlib.contextmanager
    def observed(self):
        """Observes a time in which no tool runs, and one workload keeps one CPU busy."""
        before, start = self._times(), time.monotonic()
        yield
        passed = time.monotonic() - start
        busy, stolen = (now - then for now, then in zip(self._times(), before))
        self.busy_s += max(0, busy - passed)
        self.stolen_s += stolen
        self.passed_s += passed
        self.look()

    def look(self, own=()):
        """Looks for BPF programs, except those with the ids `own`. Returns their names."""
        names = {name for number, name in programs_at_events().items() if number not in own}
        self.clean = not names
        self.looks += 1
        self.looks_with_foreign += bool(names)
        self.foreign |= names
        return names

    @staticmethod
    def _times():
        """Returns the CPU seconds that all CPUs worked, and that the hypervisor took away."""
        user, nice, system, _, _, irq, softirq, steal = map(
            int, Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:9])
        return (user + nice + system + irq + softirq) / TICKS, steal / TICKS

    def as_json(self):
        passed = self.passed_s or 1
        return {"foreign_programs": sorted(self.foreign), "looks": self.looks,
                "looks_with_foreign_programs": self.looks_with_foreign,
                "busy_cpus_of_others": round(self.busy_s / passed, 2),
                "stolen_cpus": round(self.stolen_s / passed, 2)}


def in_general_words():
    """Describes the machine without names: architecture, kind, CPUs and memory."""
    cpu = Path("/proc/cpuinfo").read_text(errors="replace")
    model = re.search(r"^model name\s*:\s*(.*)$", cpu, re.M)
    kind = "virtual machine" if re.search(r"^flags\s*:.*\bhypervisor\b", cpu, re.M) else "machine"
    gib = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / 2**30
    processor = f", {model[1].strip()}" if model else ""
    return f"{kind} with {os.cpu_count()} CPUs ({platform.machine()}{processor}), {gib:.0f} GiB"


def _mounts(kind, option=None):
    for line in Path("/proc/self/mounts").read_text().splitlines():
        _, place, is_kind, options = line.split()[:4]
        if is_kind == kind and (not option or option in options.split(",")):
            yield place


class Group:
    """A control group of this benchmark. CPU time needs cgroup v2, even without its controllers.
    Kernel memory needs the memory controller of either version."""

    def __init__(self, place):
        if not place:
            raise CannotRun("no control group can be made here")
        try:
            self.path = Path(tempfile.mkdtemp(prefix="faultscope-bench-", dir=place))
        except OSError as reason:
            raise CannotRun(f"no control group: {reason}") from reason

    @classmethod
    def of_cpu(cls):
        return cls(next(_mounts("cgroup2"), None))

    @classmethod
    def of_memory(cls):
        v2 = [place for place in _mounts("cgroup2")
              if "memory" in Path(place, "cgroup.subtree_control").read_text().split()]
        return cls(next(iter(v2), None) or next(_mounts("cgroup", "memory"), None))

    def entered(self, argv):
        """Returns a command line that enters this group and then becomes the command `argv`."""
        return ["sh", "-c", 'echo $$ > "$0" && exec "$@"', str(self.path / "cgroup.procs"), *argv]

    def cpu_s(self):
        return int(re.search(r"usage_usec (\d+)", (self.path / "cpu.stat").read_text())[1]) / 1e6

    def kernel_bytes(self):
        """Returns the kernel memory of this group that the kernel cannot reclaim."""
        v1 = self.path / "memory.kmem.usage_in_bytes"
        if v1.exists():
            # Version 1 does not tell what is reclaimable, so it is reclaimed first. One request may
            # leave some: entries of /proc that faultscope has just read.
            least = int(v1.read_text())
            for _ in range(RECLAIMS):
                with contextlib.suppress(OSError):
                    (self.path / "memory.force_empty").write_text("0", encoding="ascii")
                time.sleep(0.1)
                least = min(least, int(v1.read_text()))
            return least
        lines = (self.path / "memory.stat").read_text().splitlines()
        numbers = dict(line.split() for line in lines)
        if "kernel" not in numbers:
            raise CannotRun("memory.stat has no kernel memory (Linux 5.18 and later)")
        return int(numbers["kernel"]) - int(numbers.get("slab_reclaimable", 0))

    def close(self):
        for _ in range(100):
            try:
                os.rmdir(self.path)
                return
            except OSError:
                time.sleep(0.05)
