# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""OOM kills by construction, with their true answers, for this machine and for guests.

A kill is made in cgroups of its own: some processes take memory and rest, then a last one takes
more than the limit permits. So it is known which limit is reached, which kind of memory fills it,
and which process holds most of it.
"""
import json
import shlex
from collections import namedtuple

MIB = 1 << 20
LIMIT = 40
FDS = 20000  # file descriptors of a process: enough for the kills with pipes and sockets

# A process of a kill: the cgroup below that of the kill, and the words of the workload. `rests`:
# the next process starts when this one has its memory.
Process = namedtuple("Process", "below words rests")

# limits: MiB by cgroup below that of the kill. kind, holder, blame: the accepted answers. limit: the
# cgroup whose limit is reached. needs: what the machine must have. settings: files of cgroups. both:
# MiB of memory and swap together, a limit of cgroup v1 that is reached instead; 0: none. facts: other
# values of the stored page.
Kill = namedtuple("Kill", "name limits processes limit kinds holders blames needs settings both"
                  " facts")


def rests(words, below=""):
    return Process(below, words, True)


def last(words, below=""):
    return Process(below, words, False)


def kill(name, processes, kinds, holders, blames, limits=None, limit="", needs=(), settings=(),
         both=0, facts=()):
    return Kill(name, limits or {"": LIMIT}, processes, limit, kinds.split(), holders.split(),
                blames.split(), needs, dict(settings), both, dict(facts))


ANON, SHMEM, FILE, TABLES = "anonymous", "shmem", "file", "page_tables"
# cgroup v1 prints all kernel memory as one number
SLAB, STACK = "slab other_kernel", "kernel_stack other_kernel"
OTHER = "other_kernel slab"

KILLS = [
    kill("fast leak", [last("anon 80 --name hog")], ANON, "hog", "victim"),
    kill("slow leak", [last("anon 80 --rate 20 --name hog")], ANON, "hog", "victim"),
    kill("leak of huge pages", [last("anon 80 --huge --name hog")], ANON, "hog", "victim"),
    kill("leak in a thread", [last("thread 80 --name hog")], ANON, "hog", "victim"),
    kill("locked memory", [last("anon 80 --lock --name hog")], ANON, "hog", "victim"),
    kill("changed private pages of a file", [last("copied 80 --name hog --in {disk}")], ANON, "hog",
         "victim"),
    kill("leak beside a small process",
         [rests("anon 5 --name small"), last("anon 80 --name hog")], ANON, "hog", "victim"),
    kill("leak below the limit of the parent", [last("anon 80 --name hog", "/a")], ANON, "hog",
         "victim", {"": LIMIT, "/a": 400}),
    kill("limit of the child", [last("anon 80 --name hog", "/a")], ANON, "hog", "victim",
         {"": 400, "/a": LIMIT}, "/a"),
    kill("limit three levels up", [last("anon 80 --name hog", "/a/b/c")], ANON, "hog", "victim",
         {"": LIMIT, "/a": 0, "/a/b": 0, "/a/b/c": 0}),
    kill("limit in the middle", [last("anon 80 --name hog", "/a/b")], ANON, "hog", "victim",
         {"": 400, "/a": LIMIT, "/a/b": 200}, "/a"),
    kill("sibling holds most", [rests("anon 30 --name hog"),
                                last("anon 30 --name small --adj 1000")], ANON, "hog", "other_process"),
    kill("sibling cgroup holds most", [rests("anon 30 --name hog", "/b"),
                                       last("anon 30 --name small --adj 1000", "/a")], ANON, "hog",
         "other_process", {"": LIMIT, "/a": 400, "/b": 400}),
    kill("victim by its oom_score_adj", [rests("anon 8 --name small --adj 1000"),
                                         last("anon 80 --rate 40 --name hog")], ANON,
         "hog", "other_process", facts=[("comm", "small"), ("oom_score_adj", 1000)]),
    kill("leak kills the one that rests", [rests("anon 12 --name small --adj 600"),
                                           last("anon 80 --name hog")], ANON, "hog",
         "other_process"),
    kill("shared memory", [last("shared 80 --name hog")], SHMEM, "hog", "victim"),
    kill("System V segment", [last("sysv 80 --name hog")], SHMEM, "hog", "victim"),
    kill("shared memory of another process", [rests("shared 30 --name hog"),
                                              last("anon 30 --name small --adj 1000")], SHMEM, "hog",
         "other_process"),
    kill("memfd that no process maps", [rests("memfd 30 --name quiet"),
                                        last("anon 30 --rate 10 --name small")], SHMEM, "", "tmpfs"),
    kill("memfd grows", [last("memfd 80 --name hog")], SHMEM, "", "tmpfs"),
    kill("tmpfs file of an ended process",
         [rests("file 30 --exits --in {tmpfs}"), last("anon 30 --rate 10 --name small")], SHMEM, "",
         "tmpfs"),
    kill("tmpfs file of a running process",
         [rests("file 30 --name quiet --in {tmpfs}"), last("anon 30 --name small")], SHMEM, "",
         "tmpfs"),
    kill("tmpfs file grows", [last("file 80 --name hog --in {tmpfs}")], SHMEM, "", "tmpfs"),
    kill("tmpfs files of many", [rests("file 10 --exits --in {tmpfs}"),
                                 rests("file 10 --exits --in {tmpfs}"),
                                 rests("file 10 --exits --in {tmpfs}"),
                                 last("anon 30 --name small")], SHMEM, "", "tmpfs"),
    kill("tmpfs below the limit of the parent",
         [rests("file 30 --exits --in {tmpfs}", "/b"), last("anon 30 --name small", "/a")], SHMEM,
         "", "tmpfs", {"": LIMIT, "/a": 400, "/b": 400}),
    kill("page tables", [last("tables 80 --name hog")], TABLES, "hog", "victim"),
    kill("page tables of another process", [rests("tables 30 --name hog"),
                                            last("anon 30 --name small --adj 1000")], TABLES, "hog",
         "other_process"),
    kill("kernel stacks of threads", [last("stacks 80 --name hog")], STACK, "", "kernel many_processes",
         needs=("threads",)),
    kill("pipes", [last("pipes 80 --name hog")], OTHER, "", "kernel"),
    kill("pipes of an idle process", [rests("pipes 30 --name quiet"),
                                      last("anon 30 --rate 10 --name small")], OTHER, "", "kernel"),
    kill("messages in unix sockets", [last("messages 80 --name hog")], OTHER, "", "kernel"),
    kill("sockets", [last("objects 40 --name hog")], SLAB, "", "kernel", {"": 12}),
    kill("fork bomb", [last("anon 1 --children 200 --name bomb")], ANON, "bomb", "many_processes"),
    kill("twenty workers", [last("anon 4 --rate 2 --children 20 --name worker")], ANON, "worker",
         "many_processes"),
    kill("one worker of three leaks", [rests("anon 4 --children 2 --name worker"),
                                       last("anon 80 --name hog")], ANON, "hog", "victim"),
    kill("locked file", [rests("file 30 --lock --name quiet --in {disk}"),
                         last("anon 30 --rate 20 --name small")], FILE, "", "page_cache",
         needs=("disk",)),
    kill("PID 1 of a container", [last("anon 80 --init --name hog")], ANON, "hog", "victim",
         facts=[("pid_in_namespace", 1)]),
    kill("name with commas", [last("anon 80 --name a,pid=1,uid=0")], ANON, "a,pid=1,uid=0",
         "victim"),
    kill("name with a bracket and blanks", [last("anon 80 --name '] 1 2 3 x'")], ANON, "]", "victim"),
    kill("memory.oom.group", [rests("anon 10 --name worker"), last("anon 80 --name hog")], ANON,
         "hog", "victim", needs=("v2",), settings=[("memory.oom.group", "1")],
         facts=[("victims", 2), ("comm", "hog")]),
    kill("memory.oom.group of the parent",
         [rests("anon 10 --name worker", "/a"), last("anon 80 --name hog", "/b")], ANON, "hog",
         "victim", {"": LIMIT, "/a": 0, "/b": 0}, needs=("v2",),
         settings=[("memory.oom.group", "1")], facts=[("victims", 2), ("comm", "hog")]),
    kill("swap is full", [last("anon 80 --name hog")], ANON, "hog", "victim", needs=("v2", "swap"),
         settings=[("memory.swap.max", str(8 * MIB))]),
    kill("limit of memory and swap together", [last("anon 80 --name hog")], ANON, "hog", "victim",
         needs=("memsw", "swap"), both=LIMIT + 8,
         settings=[("memory.swappiness", "60"),
                   ("memory.memsw.limit_in_bytes", str((LIMIT + 8) * MIB))]),
    kill("no swap beyond the memory limit", [last("anon 80 --name hog")], ANON, "hog", "victim",
         needs=("memsw",), settings=[("memory.memsw.limit_in_bytes", str(LIMIT * MIB))]),
]


class Place:
    """Where kills are made: cgroups below `top`, with the files of version `version`."""

    def __init__(self, shell, top, version, workload, tmpfs, disk, has=()):
        self.shell, self.top, self.version = shell, top, version
        self.workload, self.tmpfs, self.disk, self.has = workload, tmpfs, disk, has

    def limit_file(self):
        return "memory.max" if self.version == 2 else "memory.limit_in_bytes"

    def can(self, one):
        return all(need in self.has or (need == "v2" and self.version == 2) for need in one.needs)

    def make(self, one, name):
        """Makes the cgroups of a kill. Returns the directory of the uppermost one."""
        group = f"{self.top}/{name}"
        lines = []
        for below, mib in one.limits.items():
            lines.append(f"mkdir {group}{below}")
            if self.version == 2:
                # the controller is needed below: processes are only in the innermost cgroups
                inner = any(other != below and other.startswith(below + "/") for other in one.limits)
                lines.append(f"echo +memory >{group}{below}/cgroup.subtree_control" if inner else ":")
                lines.append(f"echo 0 >{group}{below}/memory.swap.max 2>/dev/null || :")
            else:
                # reclaim of a cgroup with this value takes no anonymous pages: without it, a leak
                # that fits into the machine's swap is not killed
                lines.append(f"echo 0 >{group}{below}/memory.swappiness")
            if mib:
                lines.append(f"echo {mib * MIB} >{group}{below}/{self.limit_file()}")
        lines += [f"echo {value} >{group}/{file}" for file, value in one.settings.items()]
        self.shell("\n".join(lines))
        return group

    def start(self, one, group, out):
        for i, process in enumerate(one.processes):
            words = process.words.format(tmpfs=self.tmpfs, disk=self.disk)
            said = f"{out}.{i}"
            self.shell(f"rm -f {said}; (ulimit -n {FDS} 2>/dev/null;"
                       f" sh -c 'echo $$ >{group}{process.below}/cgroup.procs;"
                       f" exec \"$@\"' sh {self.workload} {words} </dev/null >{said} 2>&1 &)")
            if process.rests:
                self.shell(f"n=0; until [ -s {said} ] || [ $n -gt 300 ]; do sleep 0.1;"
                           " n=$((n + 1)); done")

    def end(self, one, group, out):
        """Ends all processes of the cgroups, removes the files of the kill and the cgroups."""
        places = sorted(one.limits, key=len, reverse=True)
        procs = " ".join(f"{group}{below}/cgroup.procs" for below in places)
        dirs = " ".join(f"{group}{below}" for below in places)
        self.shell(f"""
            n=0
            while [ -d {group} ] && [ $n -lt 300 ]; do
                for p in $(cat {procs} 2>/dev/null); do kill -9 $p 2>/dev/null; done
                rm -f {self.tmpfs}/oomkill.* {self.disk}/oomkill.* {out}.*
                sleep 0.1
                for d in {dirs}; do rmdir $d 2>/dev/null; done
                n=$((n + 1))
            done
            :""")


def page_of(lines, name):
    """Returns the first page about a kill whose cgroup's name has `name` in it."""
    pages = [one for one in lines if one["type"] == "oom_page" and
             f"/{name}" in (one["limit_cgroup"] or one["cgroup"] or "")]
    return pages[0] if pages else None


def judge(one, page, name):
    """Returns what is wrong in a page, by topic: limit, kind, holder, blame."""
    wrong = {}
    if not page:
        return {"limit": "no page", "kind": "no page", "holder": "no page", "blame": "no page"}
    want = f"/{name}{one.limit}"
    if not (page["limit_cgroup"] or "").endswith(want):
        wrong["limit"] = f"{page['limit_cgroup']}, not {want}"
    mib = one.both or one.limits[one.limit]
    if page["limit_bytes"] != mib * MIB:
        wrong["limit"] = f"{page['limit_bytes']} bytes, not {mib} MiB"
    if ("memsw" in (page["limit_file"] or "")) != bool(one.both):
        wrong["limit"] = f"{page['limit_file']}"
    if page["kind"] not in one.kinds:
        wrong["kind"] = f"{page['kind']}, not {one.kinds}"
    if one.holders and page["holder_comm"].split()[0] not in one.holders:
        wrong["holder"] = f"{page['holder_comm']}, not {one.holders}"
    if page["blame"] not in one.blames:
        wrong["blame"] = f"{page['blame']}, not {one.blames}"
    return wrong


def judge_stored(one, lines, name):
    """Returns what is wrong in the stored page of a kill, whose cgroup is gone."""
    page = page_of(lines, name)
    wrong = judge(one, page, name)
    for key, value in one.facts.items():
        if page and page[key] != value:
            wrong[key] = f"{page[key]}, not {value}"
    return wrong


def lines_of(text):
    return [json.loads(line) for line in text.splitlines() if line.endswith("}")]


def quoted(*words):
    return " ".join(shlex.quote(str(word)) for word in words)
