// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <string.h>

#include "cli/options_table.h"

const struct command_row command_rows[NR_COMMANDS] = {
	[CMD_WATCH] = {"", "[OPTIONS] [INTERVAL [COUNT]]",
		       "watch all processes, or those that -p, --comm or --cgroup selects",
		       "Shows page faults, memory mappings and file descriptors of every process, "
		       "or of the chosen ones, every INTERVAL seconds (default: 1), COUNT times or "
		       "until Ctrl-C. BPF programs compare map counts and file descriptors with "
		       "their limits, and report at once when one crosses 50, 80 or 95 %. On a "
		       "terminal the output is a live view (see KEYS), elsewhere plain text."},
	[CMD_RUN] = {"run", "[OPTIONS] -- CMD [ARG...]", "run a command and watch it to its end",
		     "Attaches the probes, starts CMD, and watches CMD and its children from the "
		     "first instruction to the end. Prints a summary to standard error and exits "
		     "with the status of CMD."},
	[CMD_DIAGNOSE] =
		{"diagnose", "[OPTIONS] -p PID",
		 "say what is wrong with a process, which code caused it, and the fix",
		 "Watches processes and their children for 3 seconds (see -d). Reads their "
		 "mappings and file descriptors once, from /proc/PID/maps and fd (bounded; never "
		 "from smaps). Then gives a verdict: each finding with its evidence, the calls and "
		 "user stacks that caused the growth, when a limit will be reached, where the "
		 "limit was set, and what to do. Where the flight recorder (faultscope blackbox) "
		 "runs or ran since boot, diagnose also evaluates its records (findings K01 to "
		 "K12). With --replay, diagnose evaluates a recording. Exits 3 if there is a "
		 "finding of severity warning or above (or of --min-severity or above), 7 if there "
		 "is no such finding but data was lost or not measured, else 0."},
	[CMD_HOST] = {"host", "[OPTIONS] [INTERVAL [COUNT]]",
		      "say whether this machine is short of memory, and what uses it",
		      "Watches the machine for 3 seconds (see -d) and says on one screen whether "
		      "it is short of memory. Shows whether and since when tasks wait for memory; "
		      "how memory, swap, commit, cgroups and tmpfs compare with their limits; "
		      "which programs use memory and grow; which process the OOM killer would "
		      "choose next; and the findings. With INTERVAL it prints the answer again "
		      "every INTERVAL seconds, COUNT times or until Ctrl-C. Without the right to "
		      "use BPF it reads only /proc. Exits 3 if there is a finding of severity "
		      "warning or above (or of --min-severity or above), 7 if there is no such "
		      "finding but data was lost or not measured, else 0."},
	[CMD_DOCTOR] =
		{"doctor", "[OPTIONS]", "say which probes work here, and what each one costs",
		 "Loads and attaches every probe. For each probe it prints the attach type in use, "
		 "the attach types that failed with the kernel's errors, the values that are lost "
		 "without the probe, and its cost on this machine. The costs are measured in half "
		 "a second, by attaching and detaching probes in turn. Then doctor lists the "
		 "limits of this machine, where they were set, and how to raise them. Exits 0 when "
		 "all probes work, 6 when a required probe (state, scan or lifecycle) is "
		 "unavailable, 7 when another probe is unavailable. Probes of the flight recorder "
		 "are shown, but do not change the exit status."},
	[CMD_EXPLAIN] =
		{"explain", "[ID...|TEXT|-]",
		 "explain a finding or an error message, and what to do",
		 "With ids such as M01, prints the long text of each finding: its meaning, how it "
		 "is detected, how to confirm it by hand, the workaround, the fix, similar "
		 "problems, and public reports of it. With TEXT such as \"unable to mmap 320 "
		 "bytes\", EMFILE or \"exit code 137\", or with - and a log on standard input, "
		 "lists the findings that the message may stand for, the most likely first, each "
		 "with a command that confirms it. Without an argument, lists all ids. Needs no "
		 "root. Exits 1 when no known message is similar."},
	[CMD_TRIAGE] =
		{"triage", "[OPTIONS] FILE...|-",
		 "read a kernel crash log: what happened, and which module is suspect",
		 "Reads any log that may contain a kernel crash: dmesg, console, syslog, journal, "
		 "/dev/kmsg or pstore, compressed or not. The log may come from any machine; "
		 "neither root nor kernel symbols are needed. A directory is read as a whole and "
		 "its parts are ordered; - is standard input. Says what happened and by which "
		 "mechanism, quotes the decisive lines, ranks the suspects with reasons, and says "
		 "what to do next. Several files are read as logs of one crash. Exits 0 when there "
		 "is no crash, 3 when there is one, 1 when a file cannot be read, 7 when no crash "
		 "is found but the input is empty or incomplete."},
	[CMD_BLACKBOX] =
		{"blackbox", "[OPTIONS] [run | arm | status | read [FILE...]]",
		 "the flight recorder: record what precedes a kernel crash",
		 "Keeps records in places that survive a crash. run (the default) is a daemon. The "
		 "daemon records bad accesses that the kernel survives, corruption reports, "
		 "changes of modules, hardware errors and memory errors. Each record has at most "
		 "512 bytes and is written to every place of this machine that survives a crash. "
		 "arm lists these places, enables those that can be enabled, and names the boot "
		 "argument or setting for the others. status shows the recorder and its losses. "
		 "read prints the records that survived in FILEs (a ring file, pmsg, a trace, a "
		 "log, a memory dump), or in all places. Exits 0; 3 when read finds a critical "
		 "record, 1 when nothing can be read, 7 when there is no record or some records "
		 "were lost."},
	[CMD_EXPORT] =
		{"export", "[OPTIONS] [INTERVAL]",
		 "serve metrics by workload to Prometheus, or write them to a file",
		 "Serves page faults, mappings, file descriptors and swap by workload on /metrics, "
		 "as text, OpenMetrics or protobuf, over HTTP or HTTPS. A workload is a container "
		 "of a pod, a container, a systemd unit, a session or else a program. Each scrape "
		 "is one scan of all processes by a BPF iterator. Of the files in /proc/PID, only "
		 "cgroup is read. No label contains a pid. The number of series is bounded: see "
		 "--limit.*. SIGHUP reads certificates and users again. After its start, export "
		 "drops its privileges and forbids itself most system calls."},
	[CMD_RECORD] =
		{"record", "[OPTIONS] [PID[,PID...]] -o FILE",
		 "record processes to a small file, for days if necessary",
		 "Records all processes every 10 seconds, or the given processes every second (see "
		 "--interval). It stops at Ctrl-C, after the time of -d, or at the size of "
		 "--max-size. In the name of FILE, %p stands for the pid of the process (or of "
		 "faultscope), %h for the host, %t for the time in UTC. An existing file is kept "
		 "unless --force is given. The file is written scan by scan, so that a crash loses "
		 "at most the last scan. The mappings and file descriptors of processes are read "
		 "at the beginning and at the end (from /proc/PID/maps and fd, bounded; never from "
		 "smaps). --redact removes the host name, file names, paths and addresses."},
	[CMD_INFO] =
		{"info", "[OPTIONS] FILE", "say what a recording holds, and what is missing in it",
		 "Reads a recording to its end. Prints where, when and how the recording was made, "
		 "how many scans, processes and events it has, how many events the kernel side "
		 "lost, its size, and what is damaged. Exits 1 if the recording is damaged."},
	[CMD_REPLAY] = {"replay", "[OPTIONS] FILE", "show a recording in the live view, or as text",
			"Shows a recording as if it were measured now. On a terminal it plays at "
			"the recorded speed, with the keys of the live view (--speed 10 is ten "
			"times as fast, 0 does not wait). If the output is no terminal, the "
			"recording is printed at once. Needs no root."},
	[CMD_REPORT] =
		{"report", "[OPTIONS] FILE",
		 "make a report of a recording, for people or for tools",
		 "Converts a recording to the format that --format, or the suffix of the -o file, "
		 "selects. html is one page that needs no network; the other formats are for "
		 "profilers, tracers, spreadsheets and Prometheus (see FORMATS). Needs no root."},
	[CMD_DIFF] = {"diff", "[OPTIONS] A B", "say what grew between two recordings",
		      "Compares two recordings, each at its end: by workload (page faults per "
		      "second, mappings, file descriptors, memory), by user stack and kind, and by "
		      "the mappings and file descriptors that processes hold. The largest growth "
		      "comes first. Needs no root."},
	[CMD_SCHEMA] =
		{"schema", "", "print the JSON Schema of the JSON output",
		 "Prints the schema (JSON Schema 2020-12) that every line of --json follows."},
	[CMD_COMPLETION] = {"completion", "bash|zsh|fish", "print a completion script for a shell",
			    "Prints a completion script. Source it, or install it where the shell "
			    "looks for such scripts."},
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
