// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <string.h>

#include "cli/options_table.h"

const struct command_row command_rows[NR_COMMANDS] = {
	[CMD_WATCH] =
		{"", "[OPTIONS] [INTERVAL [COUNT]]",
		 "watch all processes, or some (-p, --comm, --cgroup)",
		 "Shows page faults, memory mappings and file descriptors of every process, or of "
		 "the chosen ones, every INTERVAL seconds (1), COUNT times or until Ctrl-C. Map "
		 "counts and file descriptors are compared with their limits in the kernel, when "
		 "they cross 50, 80 or 95 %. On a terminal it is a live view (see KEYS), elsewhere "
		 "plain text."},
	[CMD_RUN] = {"run", "[OPTIONS] -- CMD [ARG...]", "run a command and watch it to its end",
		     "Attaches its probes, starts CMD, and follows it and its children from the "
		     "first instruction to the end. Prints a summary to standard error and exits "
		     "with the status of CMD."},
	[CMD_DIAGNOSE] =
		{"diagnose", "[OPTIONS] -p PID",
		 "say what is wrong with a process, which code caused it, and the fix",
		 "Watches processes and their children for 3 seconds (-d), reads once what they "
		 "hold (/proc/PID/maps and fd, bounded; never smaps), and gives a verdict: each "
		 "finding with its evidence, the calls and user stacks that caused the growth, "
		 "when a limit will be reached, where the limit was set, and what to do. Where the "
		 "flight recorder (faultscope blackbox) runs or ran since boot, its records are "
		 "evaluated too: findings K01 to K12. With --replay it evaluates a recording. "
		 "Exits 3 with a finding of severity warning or above (or of --min-severity), 7 "
		 "when there is none but something was lost or not measured, else 0."},
	[CMD_HOST] =
		{"host", "[OPTIONS] [INTERVAL [COUNT]]",
		 "say whether this machine is short of memory, and what uses it",
		 "Watches the machine for 3 seconds (-d) and answers on one screen whether it is "
		 "short of memory: whether and since when tasks wait for memory; memory, swap, "
		 "commit, cgroups and tmpfs against their limits; which programs hold memory and "
		 "grow; which process the OOM killer would choose next; and the findings. With "
		 "INTERVAL it repeats, COUNT times or until Ctrl-C. Without the right to use BPF "
		 "it "
		 "reads only /proc. Exits 3 with a finding of severity warning or above (or of "
		 "--min-severity), 7 when there is none but something was lost or not measured, "
		 "else 0."},
	[CMD_DOCTOR] =
		{"doctor", "[OPTIONS]", "say which probes work here, and what each one costs",
		 "Loads and attaches every probe. For each it prints the attach type in use, the "
		 "attach types that failed with the kernel's errors, what is lost without it, and "
		 "its cost on this machine, which it measures in half a second by attaching and "
		 "detaching probes in turn. Then it lists the limits of this machine, where they "
		 "were set, and how to raise them. Exits 0 when all probes work, 6 when a required "
		 "probe (state, scan or lifecycle) is unavailable, 7 when another probe is. Probes "
		 "of the flight recorder are shown, but do not change the exit status."},
	[CMD_EXPLAIN] =
		{"explain", "[ID...|TEXT|-]",
		 "explain a finding or an error message, and what to do",
		 "With ids, as M01: prints the long text of each finding: what it means, how it is "
		 "detected, how to confirm it by hand, the workaround, the fix, what looks alike, "
		 "and where it happened. With TEXT, as \"unable to mmap 320 bytes\", EMFILE or "
		 "\"exit code 137\", or with - and a log on standard input: lists the findings "
		 "that the message may stand for, the most likely first, each with a command that "
		 "confirms it. Without an argument: lists all ids. Needs no root. Exits 1 when no "
		 "known "
		 "message is similar."},
	[CMD_TRIAGE] =
		{"triage", "[OPTIONS] FILE...|-",
		 "read a kernel crash log: what happened, and which module is suspect",
		 "Reads any log that may hold a kernel crash, of any machine, without root and "
		 "without kernel symbols: dmesg, console, syslog, journal, /dev/kmsg, pstore (a "
		 "directory is read as a whole and its parts are ordered), compressed or not; - is "
		 "standard input. Says what happened and by which mechanism, quotes the decisive "
		 "lines, ranks the suspects with reasons, and says what to do next. Several files "
		 "are treated as one crash. Exits 0 when there is no crash, 3 when there is one, 1 "
		 "when a file cannot be read, 7 when no crash is found but the input is empty or "
		 "incomplete."},
	[CMD_BLACKBOX] =
		{"blackbox", "[OPTIONS] [run | arm | status | read [FILE...]]",
		 "the flight recorder: record what precedes a kernel crash",
		 "Stores records in places that survive a crash. run (the default) is a daemon. It "
		 "records bad accesses that the kernel survives, "
		 "corruption reports, modules, hardware errors and memory errors, in records of at "
		 "most 512 bytes, in every place of this machine that survives a crash. arm says "
		 "which places this machine has, enables those that can be enabled, and names the "
		 "boot argument or setting for more. status shows the recorder and its losses. "
		 "read "
		 "prints what survived: of FILEs (a ring file, pmsg, a trace, a log, a memory "
		 "dump), or of all places. Exits 0; 3 when read finds a critical record, 1 when "
		 "nothing can be read, 7 when there is no record or some were lost."},
	[CMD_EXPORT] =
		{"export", "[OPTIONS] [INTERVAL]",
		 "serve metrics by workload to Prometheus, or write them to a file",
		 "Serves page faults, mappings, file descriptors and swap by workload (container "
		 "of "
		 "a pod, container, systemd unit, session, else program) on /metrics: as text, "
		 "OpenMetrics or protobuf, over HTTP or HTTPS. Each scrape is one scan of all "
		 "processes by a BPF iterator; no file of /proc/PID but cgroup is read, and no "
		 "label is a pid. The number of series is bounded: see --limit.*. SIGHUP reads "
		 "certificates and users again. After the start it drops its privileges and most "
		 "system calls."},
	[CMD_RECORD] =
		{"record", "[OPTIONS] [PID[,PID...]] -o FILE",
		 "record processes to a small file, for days if necessary",
		 "Records all processes every 10 seconds, or the given ones every second "
		 "(--interval), until Ctrl-C, for -d, or up to --max-size. In the name of FILE %p "
		 "is the process (or faultscope's own pid), %h the host, %t the time in UTC. An "
		 "existing file is kept unless --force is given. The file is written scan by scan, "
		 "so that a crash loses at most the last one. What processes hold (/proc/PID/maps "
		 "and fd, bounded; never smaps) is read at the beginning and at the end. --redact "
		 "removes names of the host and of files, paths and addresses."},
	[CMD_INFO] =
		{"info", "[OPTIONS] FILE", "say what a recording holds, and what is missing in it",
		 "Reads a recording to its end: where, when and how it was made, how many scans, "
		 "processes and events it has, what the kernel side lost, its size, and what is "
		 "damaged. Exits 1 if the recording is damaged."},
	[CMD_REPLAY] =
		{"replay", "[OPTIONS] FILE", "show a recording in the live view, or as text",
		 "Shows a recording as if it were this machine: on a terminal at its own pace, "
		 "with "
		 "the keys of the live view (--speed 10 is ten times as fast, 0 does not wait), "
		 "elsewhere at once. Needs no root."},
	[CMD_REPORT] =
		{"report", "[OPTIONS] FILE",
		 "make a report of a recording, for people or for tools",
		 "Writes a recording in the format that --format or the suffix of the -o file "
		 "names: html is one page that needs no network, the others are for profilers, "
		 "tracers, spreadsheets and Prometheus (see FORMATS). Needs no root."},
	[CMD_DIFF] = {"diff", "[OPTIONS] A B", "say what grew between two recordings",
		      "Compares the ends of two recordings: by workload (page faults per second, "
		      "mappings, file descriptors, memory), by user stack and kind, and by what "
		      "processes hold, the largest growth first. Needs no root."},
	[CMD_SCHEMA] =
		{"schema", "", "print the JSON Schema of the JSON output",
		 "Prints the schema (JSON Schema 2020-12) that every line of --json follows."},
	[CMD_COMPLETION] =
		{"completion", "bash|zsh|fish", "print a completion script for a shell",
		 "Prints a script to source, or to install where the shell looks for it."},
	[CMD_MAN] = {"man", "[COMMAND]", "print a manual page",
		     "Prints the manual page of faultscope, or of one command, in man(7) format."},
};

const char *command_name(enum command command)
{
	return command_rows[command].name;
}

const struct example_row example_rows[] = {
#define EXAMPLE(command, line, what) {CMD_##command, line, what},
#include "cli/examples.def"
};
const size_t nr_example_rows = sizeof(example_rows) / sizeof(example_rows[0]);

bool command_has(enum command command, const char *option)
{
	for (size_t i = 0; i < nr_option_rows; i++)
		if (option_rows[i].commands >> command & 1 && !strcmp(option_rows[i].name, option))
			return true;
	return false;
}
