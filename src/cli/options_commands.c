// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "cli/options_table.h"

const struct command_row command_rows[NR_COMMANDS] = {
	[CMD_WATCH] = {"", "[OPTIONS] [INTERVAL [COUNT]]",
		       "watch all processes, or some (-p, --comm, --cgroup)",
		       "Shows page faults, mappings and descriptors of every process, or of those "
		       "named, each INTERVAL seconds (1), COUNT times or until Ctrl-C. Map counts "
		       "and descriptors are compared with their limits in the kernel, at the "
		       "moment a threshold (50, 80, 95 %) is crossed. On a terminal it is a live "
		       "view (see KEYS), elsewhere plain text."},
	[CMD_RUN] = {"run", "[OPTIONS] -- CMD [ARG...]", "run a command and watch it to its end",
		     "Starts CMD with the hooks in place before its first instruction, follows its "
		     "children to the end, prints a summary to standard error and exits with the "
		     "command's own status."},
	[CMD_DIAGNOSE] =
		{"diagnose", "[OPTIONS] -p PID",
		 "say which limit is near or said no, who grew, and what to do",
		 "Watches processes and their children for 3 seconds (-d), reads once what they "
		 "hold (/proc/PID/maps and fd, bounded; never smaps), and gives a verdict: each "
		 "finding with its evidence, the calls and user stacks that made the growth, when "
		 "a limit is reached, where it comes from and what to do. Where the flight "
		 "recorder (faultscope blackbox) runs or ran since the boot, its records are "
		 "judged too: K01 to K12, what precedes a crash of the kernel. With --replay, on a "
		 "recording. Exits 3 when there is a finding of warning or above (or of what "
		 "--min-severity says), 7 when there is none but something was lost or not "
		 "measured, 0 when all is well."},
	[CMD_HOST] =
		{"host", "[OPTIONS] [INTERVAL [COUNT]]",
		 "say whether this machine is short of memory, what kind, who has it",
		 "Watches the machine for 3 seconds (-d) and says on one screen whether it is "
		 "short of memory: whether work waits for it and since when; memory, swap, "
		 "commit, cgroups and tmpfs against their limits; which programs have it and "
		 "grow; who the OOM killer would take next; and the findings. With INTERVAL "
		 "again and again, COUNT times or until Ctrl-C. Without the right to BPF it "
		 "reads /proc alone. Exits 3 when there is a finding of warning or above (or of "
		 "what --min-severity says), 7 when there is none but something was lost or not "
		 "measured, 0 when all is well."},
	[CMD_DOCTOR] =
		{"doctor", "[OPTIONS]",
		 "say what works on this kernel with these rights, and why not",
		 "Loads and attaches every hook, says which mechanism is in use, what was tried "
		 "before it and what the kernel answered, what is lost without it, and what it "
		 "costs here: measured for half a second with hooks attached and detached in turn. "
		 "Then the limits of this machine, and what to change for more. Exits 0 when all "
		 "probes work, 6 when one of the core (state, look or life) is unavailable, 7 when "
		 "another is. Those of the flight recorder are shown, and do not count."},
	[CMD_EXPLAIN] =
		{"explain", "[ID...|TEXT|-]",
		 "say what a finding or an error message means, and what to do",
		 "With ids, as M01: prints the long text of each diagnosis: what it means, how it "
		 "is detected, how to see it by hand, the workaround, the fix, what looks alike, "
		 "and where it happened. With TEXT, as \"unable to mmap 320 bytes\", EMFILE or "
		 "\"exit code 137\", or with - and a log on standard input: lists what it may be, "
		 "the most likely first, each with the command that decides. These are candidates, "
		 "not a verdict. Without an argument: lists all ids. Needs no root. Exits 1 when "
		 "no "
		 "known message is similar."},
	[CMD_TRIAGE] =
		{"triage", "[OPTIONS] FILE...|-",
		 "say what a kernel crash log means, and who is suspect",
		 "Reads any log that may hold a kernel crash, of any machine, without root and "
		 "without the kernel's symbols: dmesg, console, syslog, journal, /dev/kmsg, pstore "
		 "(a directory is read whole and its parts put in order), compressed or not; - is "
		 "standard input. Says what happened and by what mechanism, quotes the lines that "
		 "decide, ranks the suspects with reasons, and says what to do next. Several files "
		 "are one crash. Exits 0 when there is no crash, 3 when there is, 1 when a file "
		 "cannot be read, 7 when no crash is found but nothing was read, or not all."},
	[CMD_BLACKBOX] =
		{"blackbox", "[OPTIONS] [run | arm | status | read [FILE...]]",
		 "record what comes before a kernel crash, where the crash cannot reach it",
		 "run (or nothing) is a daemon: it watches what the kernel lets see of bad "
		 "accesses "
		 "that "
		 "it survives, of corruption, modules, hardware and memory, and keeps each as a "
		 "record of "
		 "512 bytes at most in whatever survives a crash here. arm says what this machine "
		 "has of that, switches on what can be switched on, and names the boot argument or "
		 "setting for more. status tells of the recorder and its losses. read prints what "
		 "survived: of FILEs (a ring file, pmsg, a trace, a log, a dump of memory), or of "
		 "all places where it may be. Exits 0; 3 when read finds a record of critical, 1 "
		 "when nothing can be read, 7 when there is no record or some were lost."},
	[CMD_EXPORT] =
		{"export", "[OPTIONS] [INTERVAL]",
		 "serve metrics of workloads to Prometheus, or write them to a file",
		 "Serves the machine's page faults, mappings, descriptors and swap by workload "
		 "(pod "
		 "container, container, systemd unit, session, else program) on /metrics: as text, "
		 "OpenMetrics or protobuf, gzipped where that is accepted, over HTTP or HTTPS. "
		 "Each "
		 "scrape is one look at all processes by a BPF iterator; no file of /proc/PID but "
		 "cgroup is read, and no label is a pid. Series are bounded: see --limit.*. SIGHUP "
		 "reads certificates and users anew. Rights are given up once all is attached, and "
		 "most system calls are barred."},
	[CMD_RECORD] =
		{"record", "[OPTIONS] [PID[,PID...]] -o FILE",
		 "record what happens, small enough for days, to look at later",
		 "Records all processes each 10 seconds, or those named each second (--interval), "
		 "until Ctrl-C, for -d, or up to --max-size. In the name of FILE %p is the process "
		 "(or our own pid), %h the host, %t the time in UTC; a file that exists is kept "
		 "unless --force is given. It is written look by look, so that what a crash cuts "
		 "off is at most one of them. At the beginning and at the end it is read once what "
		 "processes hold (/proc/PID/maps and fd, bounded; never smaps). --redact leaves "
		 "names of the host and of files, paths and addresses out."},
	[CMD_INFO] =
		{"info", "[OPTIONS] FILE", "say what a recording holds, and what is lost of it",
		 "Reads a recording to its end: where, when and how it was made, how many looks, "
		 "processes and events are in it, what the kernel side could not keep, what it "
		 "takes on disk, and what of the file is damaged. Exits 1 when anything is."},
	[CMD_REPLAY] =
		{"replay", "[OPTIONS] FILE", "show a recording as it was, at its times or faster",
		 "Shows a recording as if it were this machine: on a terminal at its own times "
		 "and with the keys of the live view (--speed 10 is ten times as fast, 0 without "
		 "waiting), elsewhere at once. Needs no root."},
	[CMD_REPORT] =
		{"report", "[OPTIONS] FILE",
		 "make a report of a recording, for people or for tools",
		 "Writes a recording in the format that --format names, or that the name of -o "
		 "ends in: html is one page that needs no network, others are what profilers, "
		 "tracers, spreadsheets and Prometheus read (see FORMATS). Needs no root."},
	[CMD_DIFF] =
		{"diff", "[OPTIONS] A B", "say what grew between two recordings",
		 "Compares the ends of two recordings: by workload (faults a second, mappings, "
		 "descriptors, memory), by user stack and sort, and by what processes hold, the "
		 "largest growth first. Needs no root."},
	[CMD_SCHEMA] =
		{"schema", "", "print the JSON Schema of the JSON output",
		 "Prints the schema (JSON Schema 2020-12) that every line of --json follows."},
	[CMD_COMPLETION] =
		{"completion", "bash|zsh|fish", "print a completion script for a shell",
		 "Prints a script to source, or to install where the shell looks for it."},
	[CMD_MAN] = {"man", "", "print the manual page",
		     "Prints the manual page in man(7) format."},
};

const char *command_name(enum command command)
{
	return command_rows[command].name;
}
