// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <string.h>

#include "cli/options_table.h"

const struct command_row command_rows[NR_COMMANDS] = {
	[CMD_WATCH] = {"", "[OPTIONS] [INTERVAL [COUNT]]",
		       "watch all processes, or those that -p, --comm or --cgroup selects",
		       "Shows page faults, memory mappings and file descriptors of all "
		       "processes, or of the chosen processes. The values are shown every "
		       "INTERVAL seconds (default: 1), COUNT times or until Ctrl-C. BPF programs "
		       "compare the numbers of mappings and file descriptors with their limits. "
		       "They report at once when a number crosses 50, 80 or 95 % of its limit. "
		       "On a terminal, the output is a live view (see KEYS); otherwise it is "
		       "plain text."},
	[CMD_RUN] = {"run", "[OPTIONS] -- CMD [ARG...]", "run a command and watch it to its end",
		     "Attaches the probes, starts CMD, and watches CMD and its children from the "
		     "first instruction to the end. Prints a summary to standard error and exits "
		     "with the status of CMD."},
	[CMD_DIAGNOSE] =
		{"diagnose", "[OPTIONS] -p PID",
		 "say what is wrong with a process, which code caused it, and the fix",
		 "Watches processes and their children for 3 seconds (see -d). Reads their "
		 "mappings and file descriptors once, from /proc/PID/maps and /proc/PID/fd. It "
		 "limits how much it reads, and never reads smaps. Then diagnose gives a "
		 "verdict: each finding with its evidence, the calls and user stacks that caused "
		 "the growth, when a limit will be reached, where the limit was set, and what to "
		 "do. If the flight recorder (faultscope blackbox) has run since boot, diagnose "
		 "also evaluates its records (findings K01 to K12). With --replay, diagnose "
		 "evaluates a recording. The exit status is 3 if there is a finding of severity "
		 "warning or above (or of --min-severity or above). If there is no such finding, "
		 "the exit status is 7 if data was lost or not measured, else 0."},
	[CMD_MEMORY] =
		{"memory", "[OPTIONS] -p PID | --cgroup PATH | -- CMD [ARG...]",
		 "say which code holds the resident memory of a process",
		 "Watches processes and their children, or the processes of a cgroup, for 10 "
		 "seconds (see -d), or runs a command and watches it to its end. Shows the call "
		 "stacks that made their memory resident. faultscope sees each page fault of a "
		 "random part of all pages, and reads which of these pages are in memory or in "
		 "swap. Memory that was freed is not counted. Each value has a 95 % confidence "
		 "interval. Memory that was resident before the watch began is shown by mapping. "
		 "The kernel's own totals stand beside the sum."},
	[CMD_HOST] = {"host", "[OPTIONS] [INTERVAL [COUNT]]",
		      "say whether this machine is short of memory, and what uses it",
		      "Watches the machine for 3 seconds (see -d) and says on one screen whether "
		      "it is short of memory. Shows whether tasks wait for memory, and since "
		      "when. Compares memory, swap, committed memory, cgroups and tmpfs with "
		      "their limits. Shows which programs use memory and grow, which process the "
		      "OOM killer would choose next, and the findings. With INTERVAL, host "
		      "prints the answer again every INTERVAL seconds, COUNT times or until "
		      "Ctrl-C. Without the right to use BPF, it reads only /proc. The exit "
		      "status is 3 if there is a finding of severity warning or above (or of "
		      "--min-severity or above). If there is no such finding, the exit status is "
		      "7 if data was lost or not measured, else 0."},
	[CMD_DOCTOR] =
		{"doctor", "[OPTIONS]", "say which probes work here, and what each one costs",
		 "Loads and attaches every probe. For each probe, doctor prints the attach type "
		 "in use, and the attach types that failed, with the errors of the kernel. It "
		 "also prints the values that are lost without the probe, and the cost of the "
		 "probe on this machine. doctor measures the costs in half a second, by "
		 "attaching and detaching the probes in turn. Then doctor lists the limits of "
		 "this machine, where they were set, and how to raise them. The exit status is 0 "
		 "if all probes work, 6 if a required probe (state, scan or lifecycle) is "
		 "unavailable, and 7 if another probe is unavailable. Probes of the flight "
		 "recorder are shown, but do not change the exit status."},
	[CMD_EXPLAIN] =
		{"explain", "[ID...|TEXT|-]",
		 "explain a finding or an error message, and what to do",
		 "With ids such as M01, explain prints the long text of each finding: its "
		 "meaning, how it is detected, how to confirm it by hand, the workaround, the "
		 "fix, similar problems, and public reports of it. With TEXT such as \"unable to "
		 "mmap 320 bytes\", EMFILE or \"exit code 137\", it lists the findings that the "
		 "message may stand for, the most likely first. If a command can confirm a "
		 "finding, explain prints this command. With -, explain reads a log from "
		 "standard input, and lists the findings for each message of the log. Without an "
		 "argument, it lists all ids. explain needs no root. The exit status is 1 if no "
		 "known message is similar."},
	[CMD_TRIAGE] =
		{"triage", "[OPTIONS] FILE...|-",
		 "read a kernel crash log: what happened, and which module is suspect",
		 "Reads any log that may contain a kernel crash: dmesg, console, syslog, "
		 "journal, /dev/kmsg or pstore, compressed or not, and memory dumps (vmcore). The "
		 "log may come from any "
		 "machine; neither root nor kernel symbols are needed. If FILE is a directory, "
		 "triage reads all files in it, and puts the parts of a log in order; - is "
		 "standard input. triage says what happened and by which mechanism, quotes the "
		 "log lines that prove it, ranks the suspects with reasons, and says what to do "
		 "next. Several files are read as logs of one crash. The exit status is 0 if "
		 "there is no crash, 3 if there is a crash, and 1 if a file cannot be read. It "
		 "is 7 if no crash is found but the input is empty or incomplete."},
	[CMD_BLACKBOX] =
		{"blackbox", "[OPTIONS] [run | arm | status | read [FILE...]]",
		 "the flight recorder: record what precedes a kernel crash",
		 "Keeps records in places that survive a crash. run (the default) is a daemon. "
		 "The daemon records bad accesses that the kernel survives, corruption reports, "
		 "changes of modules, hardware errors and memory errors. Each record has at most "
		 "512 bytes and is written to every place of this machine that survives a crash. "
		 "arm lists these places, enables those that can be enabled, and names the boot "
		 "argument or setting for the others. status shows whether the recorder runs, "
		 "and what it has lost. read prints the records that survived in each FILE (a "
		 "ring file, pmsg, a trace, a log, a memory dump). Without FILE, read searches "
		 "all places. The exit status is 3 if read finds a critical record, 1 if nothing "
		 "can be read, 7 if there is no record or some records were lost, else 0."},
	[CMD_OOM] =
		{"oom", "[OPTIONS] [FILE...]",
		 "explain an OOM kill: which limit, who held the memory, what would have helped",
		 "Prints one page for an OOM kill: the limit that was reached, the process that "
		 "requested memory, what the cgroup or the machine held at that moment, the "
		 "processes that held it, the memory of the last minutes, what is to blame, and "
		 "what would have helped. export and oom --watch store the page of each kill, so "
		 "that it remains when the container is gone. Without FILE, oom prints the page of "
		 "the newest stored kill. With FILE, oom prints the pages of all kills in a stored "
		 "page or in a recording. Kills by programs such as systemd-oomd and earlyoom are "
		 "reported too, with the name of the program. The exit status is 0 if a kill was "
		 "shown, 1 if a file cannot be read, and 7 if no kill is stored. With --watch, it "
		 "is 0."},
	[CMD_EXPORT] =
		{"export", "[OPTIONS] [INTERVAL]",
		 "serve metrics by workload to Prometheus, or write them to a file",
		 "Serves page faults, mappings, file descriptors and swap by workload on "
		 "/metrics, as text, OpenMetrics or protobuf, over HTTP or HTTPS. A workload is "
		 "a container of a pod, a container, a systemd unit, a session or else a "
		 "program. Each scrape is one scan of all processes by a BPF iterator. Of the "
		 "files in /proc/PID, only cgroup is read, unless --export.resident is given. No "
		 "label contains a pid. The number of series is bounded: see --limit.*. On "
		 "SIGHUP, export reads its certificates and users again. After its start, export "
		 "drops its privileges, and installs a filter that forbids most system calls."},
	[CMD_RECORD] =
		{"record", "[OPTIONS] [PID[,PID...]] -o FILE",
		 "record processes to a small file, for days if necessary",
		 "Records all processes every 10 seconds, or the given processes every second "
		 "(see --interval). It stops at Ctrl-C, after the time of -d, or at the size of "
		 "--max-size. In the name of FILE, %p stands for the pid of the process (or of "
		 "faultscope), %h for the host, %t for the time in UTC. An existing file is kept "
		 "unless --force is given. The file is written scan by scan, so that a crash "
		 "loses at most the last scan. At the beginning and at the end, record reads the "
		 "mappings and file descriptors of processes from /proc/PID/maps and "
		 "/proc/PID/fd. It limits how much it reads, and never reads smaps. --redact "
		 "removes the host name, file names, paths and addresses."},
	[CMD_INFO] =
		{"info", "[OPTIONS] FILE",
		 "say what a recording contains, and what is missing in it",
		 "Reads a recording to its end. Prints where, when and how the recording was "
		 "made, and how many scans, processes and events it has. Also prints how many "
		 "events the BPF programs lost, the size of the file, and what is damaged. The "
		 "exit status is 1 if the recording is damaged."},
	[CMD_REPLAY] = {"replay", "[OPTIONS] FILE", "show a recording in the live view, or as text",
			"Shows a recording as if it were measured now. On a terminal, the "
			"recording plays at the recorded speed, with the keys of the live view. "
			"--speed 10 is ten times the recorded speed, --speed 0 is as fast as "
			"possible. If the output is no terminal, the whole recording is printed "
			"at once. Needs no root."},
	[CMD_REPORT] =
		{"report", "[OPTIONS] FILE",
		 "make a report of a recording, for people or for tools",
		 "Converts a recording to another format. The option --format, or the suffix of "
		 "the -o file, selects the format. html is one page that needs no network; the "
		 "other formats are for profilers, tracers, spreadsheets and Prometheus (see "
		 "FORMATS). Needs no root."},
	[CMD_DIFF] = {"diff", "[OPTIONS] A B", "say what grew between two recordings",
		      "Compares the ends of two recordings. Shows what grew in each workload "
		      "(page faults per second, mappings, file descriptors, memory), which user "
		      "stacks caused the growth, and which mappings and file descriptors "
		      "processes hold. The largest growth comes first. Needs no root."},
	[CMD_INCIDENTS] =
		{"incidents", "[OPTIONS] [ACTION [N...]]",
		 "list and read what led to serious events",
		 "export and record --ring keep the last minutes in memory, and write them to a "
		 "file when something serious happens: an incident. The actions are list, show, "
		 "open, report, compare and delete. list (the default) prints one line for each "
		 "incident, the newest first. show prints the facts of an incident. open shows it "
		 "in the live view, paused at the moment of its trigger. report prints "
		 "its report, in any format of faultscope report. compare prints what changed in "
		 "the last two minutes before it. delete removes incidents. N is a number of the "
		 "list, or a file name; 1, the default, is the newest incident. An incident is an "
		 "ordinary recording, which every command that reads recordings accepts. The exit "
		 "status is 7 if no incident is stored."},
	[CMD_SNAPSHOT] =
		{"snapshot", "[OPTIONS] [REASON]",
		 "store an incident now",
		 "Asks the faultscope that runs on this machine with a ring in memory (export or "
		 "record --ring) to write an incident now, and prints the name of the file. The "
		 "file is complete some seconds later (see --incident.after of export). REASON "
		 "becomes the title of the incident. SIGUSR1 does the same. The exit status is 4 "
		 "if no such faultscope runs."},
	[CMD_SETTINGS] =
		{"settings", "[OPTIONS] [KEY=VALUE...]",
		 "set up the live view",
		 "The live view keeps what its keys change: the theme, the order of rows, the "
		 "columns, the tree, command lines and ended processes. The file is "
		 "$XDG_CONFIG_HOME/faultscope/settings, or else ~/.config/faultscope/settings. It "
		 "has lines KEY = VALUE, and comments that begin with #. settings prints each "
		 "setting, its value, where the value comes from (the default, the file, the "
		 "environment or an option), and the allowed values. KEY=VALUE changes the file. "
		 "Options and the variable NO_COLOR have priority over the file. A file or "
		 "directory that another user could change is not used: root uses only root's "
		 "settings, also under sudo. The exit status is 1 if the file cannot be used or "
		 "has lines that are not used."},
	[CMD_MCP] =
		{"mcp", "",
		 "let an AI agent examine this host (Model Context Protocol)",
		 "Serves the Model Context Protocol on standard input and output: an agent starts "
		 "this command and calls its tools. The tools are diagnose, host, explain, doctor, "
		 "oom, incidents, incident, report and triage. They only read: no tool changes "
		 "anything. Each tool runs the command of that name with --json. It returns the "
		 "findings with their evidence, and what was not measured, in at most 32 KiB. "
		 "Names of programs and files are marked as data, since they may contain text that "
		 "looks like an instruction."},
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
