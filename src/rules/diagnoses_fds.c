// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* F01 and on: file descriptors. */
#include "rules/diagnoses.h"

#define LIST_FDS                                                                                   \
	"$ ls -l /proc/PID/fd | awk '{print $NF}' | sed 's/[0-9][0-9]*/#/g' | sort | uniq -c | "   \
	"sort -n | tail\n"
#define FD_LIMIT   "$ ls /proc/PID/fd | wc -l; grep 'open files' /proc/PID/limits\n"
#define RAISE_SOFT "$ prlimit --pid PID --nofile=65536:\n"

const struct diagnosis diagnoses_fds[] = {
	{
		.id = "F01",
		.severity = SEVERITY_CRITICAL,
		.title = "a descriptor was refused: RLIMIT_NOFILE",
		.about =
			{
				[ABOUT_MEANS] = "The process has as many descriptors open as its "
						"soft limit allows: \"Too many open files\" "
						"(EMFILE). Files, sockets, pipes, epoll, timers "
						"and memfds all count. Accepting, connecting and "
						"even loading a library fail now.",
				[ABOUT_MEASURED] =
					"A call that makes a descriptor ended in EMFILE, and no "
					"number below the limit was free in the process's table at "
					"that moment (calls that make two need two).",
				[ABOUT_CONFIRM] =
					FD_LIMIT "What they are, numbers folded:\n" LIST_FDS,
				[ABOUT_GAIN] = RAISE_SOFT
				"raises the soft limit of the running process, up to its hard one "
				"without root; lasting: LimitNOFILE= of the unit, ulimit -n in the "
				"script. Programs that use select() break above 1024 (F07), and "
				"some close all numbers up to the limit (F06).",
				[ABOUT_FIX] =
					"If the kinds above grow without end, it is a leak: F08, "
					"F09. If they follow load, the limit was too low for it.",
				[ABOUT_ALIKE] =
					"EMFILE of inotify_init with descriptors to spare (F03). "
					"ENFILE is the host's limit (F02). Descriptors that arrive "
					"in messages are dropped without an error (F04).",
			},
		.sources = "pytorch/pytorch#11201 iovisor/bcc#3655 ValveSoftware/Proton#32",
	},
	{
		.id = "F02",
		.severity = SEVERITY_CRITICAL,
		.title = "a descriptor was refused: fs.file-max",
		.about =
			{
				[ABOUT_MEANS] = "The host has no more open files to give (ENFILE): "
						"every process without CAP_SYS_ADMIN fails, sudo "
						"and new logins among them.",
				[ABOUT_MEASURED] =
					"A call ended in ENFILE with the first figure of "
					"fs.file-nr at or above fs.file-max. ENFILE of pipe() may "
					"also be the user's pipe buffers "
					"(fs.pipe-user-pages-hard): then it stays unknown.",
				[ABOUT_CONFIRM] =
					"$ sysctl fs.file-nr fs.file-max\n$ faultscope --sort "
					"fds.count 1 1 | head -20\nA shell of root that is already "
					"open still works: root may pass the limit.",
				[ABOUT_GAIN] = "$ sysctl -w fs.file-max=4000000\nAn open file "
					       "costs some 250 bytes to 1 KiB of kernel memory.",
				[ABOUT_FIX] = "The hog at the top of the list, and a limit for it: "
					      "fs.nr_open and LimitNOFILE= below file-max, so that "
					      "one process cannot take all.",
				[ABOUT_ALIKE] = "EMFILE (F01): one process alone. Files that are "
						"mapped but closed count here and not there.",
			},
		.sources = "leptonai/gpud#224 pgsty/pigsty#698",
	},
	{
		.id = "F03",
		.severity = SEVERITY_CRITICAL,
		.title = "a descriptor was refused: inotify instances",
		.about =
			{
				[ABOUT_MEANS] =
					"inotify_init says \"Too many open files\", but means "
					"fs.inotify.max_user_instances: 128 for all processes of a "
					"user by default. Desktops, IDEs, tail -f, kubectl logs -f "
					"and file watchers in containers share it.",
				[ABOUT_MEASURED] = "inotify_init ended in EMFILE while the process "
						   "had descriptor numbers free below its limit. "
						   "Instances are counted for a user in a user "
						   "namespace; the count itself cannot be read.",
				[ABOUT_CONFIRM] =
					"$ find /proc/[0-9]*/fd -lname anon_inode:inotify "
					"2>/dev/null | cut -d/ -f3 | sort | uniq -c | sort -n | "
					"tail\n$ sysctl fs.inotify.max_user_instances",
				[ABOUT_GAIN] =
					"$ sysctl -w fs.inotify.max_user_instances=8192\nHost-wide "
					"in effect; an idle instance costs little.",
				[ABOUT_FIX] = "A program that makes an instance for each file: it "
					      "needs one, with many watches.",
				[ABOUT_ALIKE] = "ENOSPC of inotify_add_watch: max_user_watches. "
						"EMFILE of other calls: F01.",
			},
		.sources =
			"gorakhargosh/watchdog#155 fsnotify/fsnotify#287 pop-os/cosmic-files#429",
	},
	{
		.id = "F04",
		.severity = SEVERITY_CRITICAL,
		.title = "descriptors passed to it were dropped",
		.about =
			{
				[ABOUT_MEANS] =
					"recvmsg succeeded, but descriptors that came with the "
					"message (SCM_RIGHTS) were thrown away: no number was free "
					"for them. The sender knows nothing of it; the receiver "
					"sees MSG_CTRUNC, if it looks. Python says \"received 0 "
					"items of ancdata\".",
				[ABOUT_MEASURED] = "recvmsg returned success with MSG_CTRUNC set "
						   "in its message, and no descriptor number below "
						   "RLIMIT_NOFILE was free.",
				[ABOUT_CONFIRM] = FD_LIMIT,
				[ABOUT_GAIN] = RAISE_SOFT,
				[ABOUT_FIX] = "As of F01. In PyTorch: the sharing strategy "
					      "file_system sends names instead of descriptors "
					      "(M03). In programs: test msg_flags for MSG_CTRUNC.",
				[ABOUT_ALIKE] = "MSG_CTRUNC with numbers free: the receiver's "
						"control buffer was too small for what was sent.",
			},
		.sources = "pytorch/pytorch#973 ShawnDEvans/smbmap#85 rr-debugger/rr#3870 "
			   "freeunitorg/freeunit#264",
	},
	{
		.id = "F05",
		.severity = SEVERITY_CRITICAL,
		.title = "accept spins at the descriptor limit",
		.about =
			{
				[ABOUT_MEANS] =
					"A server at its descriptor limit cannot accept, the "
					"connection stays in the queue, and poll reports it again "
					"at once: the process burns a CPU on accept and EMFILE, "
					"and clients hang instead of being turned away.",
				[ABOUT_MEASURED] = "accept ends in EMFILE 1,000 times a second or "
						   "more (98,000 in ten seconds were seen) while "
						   "the process uses 5 % of a CPU or more, "
						   "with no descriptor left below its limit.",
				[ABOUT_CONFIRM] = "$ strace -c -f -e trace=accept,accept4 -p "
						  "PID\n$ ss -ltn\nRecv-Q of the listener at its "
						  "Send-Q: the queue is full.",
				[ABOUT_GAIN] = RAISE_SOFT
				"The spin ends with the first descriptor that is free.",
				[ABOUT_FIX] =
					"Back off for some milliseconds after EMFILE; or keep a "
					"spare descriptor: close it, accept, close the connection, "
					"open it again. Limit connections below the descriptor "
					"limit. And F08, F09 if connections are never closed.",
				[ABOUT_ALIKE] = "A busy server that accepts successfully.",
			},
		.sources = "oven-sh/bun#32705 libuv/libuv#690 yesodweb/wai#928 nodejs/node#45242",
	},
	{
		.id = "F06",
		.severity = SEVERITY_WARNING,
		.title = "a daemon closes a million descriptors that are not open",
		.about =
			{
				[ABOUT_MEANS] =
					"Old programs close every possible number before they "
					"exec. With LimitNOFILE=infinity (2^30) that takes minutes "
					"at full CPU: rpm, slapd, MySQL or Python 2 in a container "
					"that starts in ten minutes instead of one second.",
				[ABOUT_MEASURED] =
					"More than a million close calls of one process that ended "
					"in EBADF, with RLIMIT_NOFILE of 2^20 or more.",
				[ABOUT_CONFIRM] = "$ grep 'open files' /proc/PID/limits\n$ timeout "
						  "2 strace -c -f -e trace=close -p PID",
				[ABOUT_GAIN] = "$ prlimit --pid PID --nofile=1024:524288\nshortens "
					       "a loop that has not asked for the limit yet; else "
					       "start it again under ulimit -n 1024.",
				[ABOUT_FIX] =
					"LimitNOFILE=1024:524288 in containerd's and "
					"docker's units (as newer releases have it); --ulimit "
					"nofile=1024:524288. Programs: close_range().",
				[ABOUT_ALIKE] =
					"A close of one number again and again: a double close, "
					"which is a bug that can hit another's descriptor.",
			},
		.sources = "containerd/containerd#7566 moby/moby#38814 moby/moby#44547 "
			   "facebook/watchman#1130",
	},
	{
		.id = "F07",
		.severity = SEVERITY_CRITICAL,
		.title = "a descriptor of 1024 or more in a select() call",
		.about =
			{
				[ABOUT_MEANS] = "fd_set has room for numbers below 1024. A higher "
						"one writes beyond it: onto the stack. With "
						"fortified builds the program aborts (\"bit out of "
						"range\", \"buffer overflow detected\"), without "
						"them it is silently damaged.",
				[ABOUT_MEASURED] =
					"select or pselect6 with more than 1024 as its first "
					"argument, while the table of descriptors has numbers "
					"beyond: only then does the kernel read and write past a "
					"set. Or abort() of a program that uses select and had "
					"more than 1,024 descriptors open, as a fortified FD_SET "
					"does. What the sets are made for cannot be read.",
				[ABOUT_CONFIRM] = "$ ls /proc/PID/fd | sort -n | tail -1\n$ strace "
						  "-f -e trace=select,pselect6 -p PID 2>&1 | head",
				[ABOUT_GAIN] =
					"Fewer descriptors: a lower limit makes it fail cleanly "
					"with EMFILE:\n$ prlimit --pid PID --nofile=1024:",
				[ABOUT_FIX] = "poll() or epoll instead of select(); upgrade the "
					      "library that calls it.",
				[ABOUT_ALIKE] = "A program that allocates larger sets itself may "
						"pass more than 1024 lawfully.",
			},
		.sources = "esnet/iperf#1604 microsoft/omi#625 collectd/collectd#3322 "
			   "weechat/weechat#465",
	},
	{
		.id = "F08",
		.severity = SEVERITY_WARNING,
		.title = "descriptors of one kind leak",
		.about =
			{
				[ABOUT_MEANS] = "One kind of descriptor is made and not closed: "
						"eventfd, epoll, pidfd, memfd, sync_file or dmabuf "
						"of graphics, perf events, BPF maps. It ends in "
						"F01, after hours or days.",
				[ABOUT_MEASURED] =
					"The count of one kind only rises, often in bursts with "
					"some action, while the others stand still; calls that "
					"make it exceed what was closed.",
				[ABOUT_CONFIRM] =
					LIST_FDS "Twice, some minutes apart: the kind that grew is "
						 "the one. Who makes it:\n$ strace -f -k -e "
						 "trace=eventfd2,epoll_create1,memfd_create,pidfd_"
						 "open,timerfd_create -p PID",
				[ABOUT_GAIN] = RAISE_SOFT "It moves the end; a restart does too.",
				[ABOUT_FIX] =
					"Close it where its owner ends, on the way of errors too; "
					"close-on-exec, so that children do not inherit it.",
				[ABOUT_ALIKE] = "A pool or cache that fills to a size and stays.",
			},
		.sources = "noctalia-dev/noctalia#2274 waydroid/waydroid#2357 "
			   "storaged-project/udisks#324 inspektor-gadget/inspektor-gadget#491",
	},
	{
		.id = "F09",
		.severity = SEVERITY_WARNING,
		.title = "sockets in CLOSE_WAIT: the peer closed, the program did not",
		.about =
			{
				[ABOUT_MEANS] =
					"The other side has closed the connection, and the kernel "
					"waits for this program to close its end. It never times "
					"out: each costs a descriptor until the process ends.",
				[ABOUT_MEASURED] = "The number of sockets rises, and more than "
						   "half of its TCP sockets are in CLOSE_WAIT.",
				[ABOUT_CONFIRM] =
					"$ ss -tnp state close-wait | grep pid=PID | awk '{print "
					"$4}' | sort | uniq -c | sort -n | tail\nThe peer that "
					"leads the list tells which client or pool it is.",
				[ABOUT_GAIN] = RAISE_SOFT
				"To be rid of those there are without a restart, as root:\n$ ss -K "
				"state close-wait dst PEER\n(needs CONFIG_INET_DIAG_DESTROY; the "
				"program sees an error on them).",
				[ABOUT_FIX] =
					"Read until end of file and close; close on errors and "
					"timeouts too; give the pool a check of idle connections. "
					"Kernel settings (tcp_fin_timeout, keepalive) do not help: "
					"the state waits for the program.",
				[ABOUT_ALIKE] = "TIME_WAIT holds no descriptor. FIN_WAIT2: the "
						"other side did not close.",
			},
		.sources = "prometheus/node_exporter#627 prometheus/node_exporter#244 "
			   "OpenSmalltalk/opensmalltalk-vm#684",
	},
	{
		.id = "F10",
		.severity = SEVERITY_INFO,
		.title = "descriptors and mappings grow together: how tensors are shared",
		.about =
			{
				[ABOUT_MEANS] =
					"The ratio of the two is a fingerprint of how data is "
					"shared. One descriptor for each mapping: descriptors are "
					"passed (PyTorch's file_descriptor), and the descriptor "
					"limit comes first. Mappings alone: by name (file_system), "
					"and the map count is what ends.",
				[ABOUT_MEASURED] =
					"Growth of fds.count by growth of maps.count in the same "
					"time: near 1, or near 0, while mappings grow. Measured: "
					"20,000 descriptors with 21,725 mappings in one strategy, "
					"16 with 65,531 in the other.",
				[ABOUT_CONFIRM] =
					"$ faultscope -p PID 1\nand compare how fds and maps grow.",
				[ABOUT_GAIN] = "Whichever limit is nearer: F12 or M25.",
				[ABOUT_FIX] = "As of M03.",
				[ABOUT_ALIKE] = "Databases that map and keep a descriptor for each "
						"file (M09) have a ratio of 1 too; the names tell.",
			},
		.sources = "pytorch/pytorch#60626",
	},
	{
		.id = "F11",
		.severity = SEVERITY_WARNING,
		.title = "Wine's esync: an eventfd for each object",
		.about =
			{
				[ABOUT_MEANS] =
					"With esync Wine makes an eventfd for each synchronization "
					"object of Windows. Games make hundreds of thousands; then "
					"\"eventfd: Too many open files\", a crash or a freeze.",
				[ABOUT_MEASURED] = "Nine of ten descriptors are eventfds, in a "
						   "process named *.exe or wineserver.",
				[ABOUT_CONFIRM] = FD_LIMIT "$ ls -l /proc/PID/fd | grep -c eventfd",
				[ABOUT_GAIN] = "A hard limit of a million: "
					       "DefaultLimitNOFILE=1024:1048576 in "
					       "/etc/systemd/system.conf and user.conf, nofile in "
					       "/etc/security/limits.conf; then log in again.",
				[ABOUT_FIX] = "fsync (WINEFSYNC=1, futex_waitv since Linux 5.16) "
					      "or ntsync (6.14) instead of esync: neither needs "
					      "descriptors in such numbers.",
				[ABOUT_ALIKE] = "The map count of games (M12): another limit, "
						"another message.",
			},
		.sources = "ValveSoftware/Proton#32 lutris/lutris#1612",
	},
	{
		.id = "F12",
		.severity = SEVERITY_CRITICAL,
		.title = "descriptors are near RLIMIT_NOFILE",
		.about =
			{
				[ABOUT_MEANS] =
					"The process has used 50 % (info), 80 % (warning) or 95 % "
					"(critical) of the descriptors that its soft limit allows. "
					"At 100 % calls fail with EMFILE (F01), and passed "
					"descriptors are dropped (F04).",
				[ABOUT_MEASURED] =
					"Open descriptors, counted in the kernel at every look and "
					"at the calls that make them, against the soft "
					"RLIMIT_NOFILE. A level is left again five points below "
					"its threshold. Of a process that ended, the title has the "
					"highest count and the severity follows from the last one.",
				[ABOUT_CONFIRM] = FD_LIMIT,
				[ABOUT_GAIN] = RAISE_SOFT,
				[ABOUT_FIX] =
					"What they are (F01), and whether one kind grows (F08, "
					"F09). With a limit of some twenty any shell script is "
					"near it: that is the limit, not the script.",
				[ABOUT_ALIKE] = "Open files of the host (fs.file-nr): all "
						"processes together.",
			},
		.sources = "",
	},
	{
		.id = "F13",
		.severity = SEVERITY_CRITICAL,
		.title = "descriptors grow towards RLIMIT_NOFILE",
		.about =
			{
				[ABOUT_MEANS] = "At its present rate the process runs out of "
						"descriptors within the hour (warning) or within "
						"five minutes (critical, if several cycles or 98 % "
						"of the way show that it goes on).",
				[ABOUT_MEASURED] = "A line through high-water marks of the count "
						   "(Theil-Sen: the median of all slopes), with an "
						   "interval. Where the fit is poor no time is "
						   "given, and this finding does not open.",
				[ABOUT_CONFIRM] = "$ faultscope -p PID 10\nand watch fds; what "
						  "grows:\n" LIST_FDS,
				[ABOUT_GAIN] = RAISE_SOFT,
				[ABOUT_FIX] = "As of F08 and F09.",
				[ABOUT_ALIKE] = "Load that rises: connections come and go, and the "
						"growth ends with it.",
			},
		.sources = "",
	},
	{
		.id = "F14",
		.severity = SEVERITY_CRITICAL,
		.title = "open files of the host are near fs.file-max",
		.about =
			{
				[ABOUT_MEANS] =
					"All processes together have 50 % (info), 80 % (warning) "
					"or 95 % (critical) of the files open that the kernel "
					"gives. At 100 % every process without CAP_SYS_ADMIN is "
					"refused with ENFILE (F02): logins, cron and sudo too.",
				[ABOUT_MEASURED] =
					"The first figure of fs.file-nr against fs.file-max, at "
					"every look. An open file counts once however many "
					"descriptors share it, and as long as it is mapped. A "
					"level is left again five points below its threshold.",
				[ABOUT_CONFIRM] = "$ sysctl fs.file-nr fs.file-max",
				[ABOUT_GAIN] =
					"$ sysctl -w fs.file-max=4000000\nAn open file costs some "
					"250 bytes to 1 KiB of kernel memory. Recent systemd sets "
					"it to the highest there is when it starts: a low one was "
					"set by somebody.",
				[ABOUT_FIX] =
					"Who holds them:\n$ faultscope --sort fds.count 1 1\nand "
					"there, what of: F08, F09.",
				[ABOUT_ALIKE] = "RLIMIT_NOFILE (F12) of one process, and "
						"fs.nr_open, which only bounds that limit.",
			},
		.sources = "",
	},
	{
		.id = "F15",
		.severity = SEVERITY_CRITICAL,
		.title = "open files of the host grow towards fs.file-max",
		.about =
			{
				[ABOUT_MEANS] =
					"At their present rate the open files of all processes "
					"reach fs.file-max within the hour (warning) or within "
					"five minutes (critical, if several cycles or 98 % of the "
					"way show that it goes on).",
				[ABOUT_MEASURED] =
					"The first figure of fs.file-nr, from 10 % of the limit "
					"on: a line through its high-water marks (Theil-Sen: the "
					"median of all slopes), with an interval. Where the fit is "
					"poor no time is given, and this finding does not open.",
				[ABOUT_CONFIRM] = "$ sysctl fs.file-nr\nTwice, a minute apart.",
				[ABOUT_GAIN] = "$ sysctl -w fs.file-max=4000000",
				[ABOUT_FIX] =
					"As of F14. Where no process grows, many short-lived ones "
					"start faster than they end:\n$ ps -e --no-headers | wc -l",
				[ABOUT_ALIKE] = "A burst of connections: it ends, and the count "
						"falls again.",
			},
		.sources = "",
	},
};

const size_t nr_diagnoses_fds = sizeof(diagnoses_fds) / sizeof(diagnoses_fds[0]);
