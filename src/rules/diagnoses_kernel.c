// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* K01 and on: what precedes crashes of the kernel. */
#include "rules/diagnoses.h"

const struct diagnosis diagnoses_kernel[] = {
	{
		.id = "K01",
		.severity = SEVERITY_CRITICAL,
		.title = "the kernel touched a bad address",
		.about =
			{
				[ABOUT_MEANS] =
					"Code of the kernel or of a driver accessed an address "
					"that it has no business with: in the kernel's half and "
					"not mapped, or in the user's half outside a user copy. "
					"Such an access either survives by an exception table "
					"entry, and nobody hears of it, or it is the oops itself. "
					"One that survived may be the near miss before a crash.",
				[ABOUT_MEASURED] =
					"A page fault in kernel mode at such an address, with the "
					"instruction it came from. Probing reads that survive by "
					"design (copy_from_kernel_nofault and kin, BPF's reads) "
					"are only counted, as kernel_probe.",
				[ABOUT_CONFIRM] =
					"$ dmesg | grep -A30 -E 'BUG:|Oops|general protection'\n$ "
					"cat /proc/sys/kernel/tainted; lsmod\nThe symbol and "
					"module of the finding tell whose code it was.",
				[ABOUT_GAIN] = "Unload or stop using the module named, before it "
					       "crashes the machine; save what is open. With "
					       "kernel.panic_on_oops=0 an oops kills one process "
					       "instead of the host, at the risk of damaged state.",
				[ABOUT_FIX] = "Another version of the driver, or back to the one "
					      "before. To find the bug: a kernel with KASAN or "
					      "KFENCE, slub_debug for the cache concerned.",
				[ABOUT_ALIKE] =
					"Faults of user copies: copy_to_user and copy_from_user "
					"touch user pages in kernel mode all the time; they count "
					"as faults.kernel and are normal.",
			},
		.sources = "",
	},
	{
		.id = "K02",
		.severity = SEVERITY_CRITICAL,
		.title = "the kernel died of a bad address",
		.about =
			{
				[ABOUT_MEANS] =
					"A bad access of the kernel that no exception table entry "
					"made good: the oops itself. Its sort tells the bug: a "
					"field of NULL, memory that was freed, a module or a range "
					"that is gone, a user pointer that was never copied, code "
					"or constants written to.",
				[ABOUT_MEASURED] =
					"At the fault's entry, before a line of the oops: address, "
					"access, registers, the instruction's bytes, the stack. "
					"What no exception table is asked about is fatal at once, "
					"as on a CPU with SMAP a user address outside a user copy.",
				[ABOUT_CONFIRM] =
					"$ faultscope blackbox read\n$ faultscope triage --ring "
					"/var/lib/faultscope/blackbox.ring\nThe last record of "
					"class fault before the end is the one.",
				[ABOUT_GAIN] =
					"Boot without the module named: modprobe.blacklist=NAME on "
					"the kernel command line.",
				[ABOUT_FIX] = "Another version of the driver. To find the bug: "
					      "KASAN, KFENCE, slub_debug for the cache concerned.",
				[ABOUT_ALIKE] = "A record that says suspected and is followed by "
						"one of class fixup was survived: see K01.",
			},
		.sources = "NVIDIA/open-gpu-kernel-modules#1107",
	},
	{
		.id = "K03",
		.severity = SEVERITY_CRITICAL,
		.title = "a module was touched after it was unloaded",
		.about =
			{
				[ABOUT_MEANS] =
					"An instruction or an address is in memory that was a "
					"module's until it was unloaded: a timer, work, notifier "
					"or file that its exit left registered.",
				[ABOUT_MEASURED] = "The recorder keeps a journal of modules with "
						   "all their ranges; the kernel itself keeps the "
						   "last name alone. The verdict tells whose the "
						   "address was and how long ago it went.",
				[ABOUT_CONFIRM] =
					"$ faultscope blackbox read | grep 'event=unloaded'\nThe "
					"record of the fault has freed_module and unloaded_ms_ago.",
				[ABOUT_GAIN] = "Leave the module loaded until the next boot: "
					       "without rmmod nothing is freed.",
				[ABOUT_FIX] = "Undo in module_exit() all that module_init() "
					      "registered: timer_shutdown_sync(), "
					      "cancel_work_sync(), unregister_*().",
				[ABOUT_ALIKE] =
					"A module that was loaded into the same place since: then "
					"the address is in code again, of another.",
			},
		.sources = "",
	},
	{
		.id = "K04",
		.severity = SEVERITY_CRITICAL,
		.title = "a pointer that was read out of freed memory",
		.about =
			{
				[ABOUT_MEANS] = "The address is a pattern that the kernel writes "
						"over what is freed or removed from a list: it "
						"came out of an object after its end.",
				[ABOUT_MEASURED] =
					"Patterns of list poison, slab poison and red zones, in "
					"the address or in the register that it was computed from.",
				[ABOUT_CONFIRM] =
					"$ faultscope triage --explain crash.log\nThe rule that "
					"fired names the pattern and the register.",
				[ABOUT_GAIN] =
					"Boot with slub_debug=FZP for the cache that the suspect "
					"uses: it fails sooner, nearer to the cause.",
				[ABOUT_FIX] = "Fix who keeps the pointer beyond the free: KASAN "
					      "prints both stacks.",
				[ABOUT_ALIKE] =
					"A bit flip in a good pointer: then one bit differs from "
					"another register, and memory is suspect.",
			},
		.sources = "openzfs/zfs#16438",
	},
	{
		.id = "K05",
		.severity = SEVERITY_CRITICAL,
		.title = "access beyond or after a mapped range",
		.about =
			{
				[ABOUT_MEANS] = "The address is in, or just behind, a range of "
						"vmalloc or ioremap that a driver had: used after "
						"it was given back, or overrun.",
				[ABOUT_MEASURED] =
					"Ranges that drivers give back are kept with who asked for "
					"them, who gave them back and when, the last 512 of them.",
				[ABOUT_CONFIRM] = "$ grep DRIVER /proc/vmallocinfo\n$ faultscope "
						  "blackbox read | grep area_owner",
				[ABOUT_GAIN] = "Do not unload or rebind the driver while its "
					       "device is in use.",
				[ABOUT_FIX] = "Stop what uses the range before iounmap() or "
					      "vfree(): interrupts, timers, work.",
				[ABOUT_ALIKE] =
					"A stack that overflowed into its guard page: that is K09.",
			},
		.sources = "",
	},
	{
		.id = "K06",
		.severity = SEVERITY_CRITICAL,
		.title = "the kernel reported corruption",
		.about =
			{
				[ABOUT_MEANS] =
					"KASAN, KFENCE or a check of the kernel's own found memory "
					"that was used wrongly. What follows may be anything.",
				[ABOUT_MEASURED] =
					"The tracepoint error_report_end with the stack of the "
					"task, and the lines of the report as they were logged.",
				[ABOUT_CONFIRM] = "$ dmesg | grep -B2 -A40 -E 'BUG: K|WARNING:'\n$ "
						  "faultscope blackbox read",
				[ABOUT_GAIN] = "Save what is open and reboot: memory is not what "
					       "it should be.",
				[ABOUT_FIX] = "The report names who allocated, who freed and who "
					      "used: start with who used.",
				[ABOUT_ALIKE] = "A WARN that says no more than that something is "
						"unusual; its text tells.",
			},
		.sources = "",
	},
	{
		.id = "K07",
		.severity = SEVERITY_CRITICAL,
		.title = "pages or their counts are corrupt",
		.about =
			{
				[ABOUT_MEANS] = "Bad page state, bad page map or a bad rss "
						"counter: the kernel's books of memory are wrong. "
						"A panic often follows in minutes or hours.",
				[ABOUT_MEASURED] =
					"The lines 'BUG: Bad ...' in the log, and taint B.",
				[ABOUT_CONFIRM] =
					"$ dmesg | grep 'BUG: Bad'\n$ cat /proc/sys/kernel/tainted",
				[ABOUT_GAIN] = "Stop the load and reboot in order, before the file "
					       "systems are affected.",
				[ABOUT_FIX] = "Test the memory (memtest86+); then suspect drivers "
					      "that map memory into programs.",
				[ABOUT_ALIKE] = "One such line of one process after a driver's "
						"update: rather the driver than the memory.",
			},
		.sources = "openzfs/zfs#3309 openzfs/zfs#16438",
	},
	{
		.id = "K08",
		.severity = SEVERITY_WARNING,
		.title = "an allocation failed, then NULL was used",
		.about =
			{
				[ABOUT_MEANS] = "A driver's allocation of pages failed, and soon "
						"after the same driver used a null pointer: it "
						"does not look at what it got.",
				[ABOUT_MEASURED] =
					"The line 'page allocation failure' and a fault near "
					"address 0 in the same module within a minute.",
				[ABOUT_CONFIRM] = "$ dmesg | grep -A25 'page allocation failure'",
				[ABOUT_GAIN] = "$ sysctl vm.min_free_kbytes\nA higher value keeps "
					       "more free for such requests.",
				[ABOUT_FIX] = "Have the driver check, and ask for less at once: "
					      "order 0 with a scatter list, or kvmalloc().",
				[ABOUT_ALIKE] = "An allocation failure alone is no bug: most "
						"callers can do without.",
			},
		.sources = "",
	},
	{
		.id = "K09",
		.severity = SEVERITY_CRITICAL,
		.title = "a kernel stack overflowed",
		.about =
			{
				[ABOUT_MEANS] =
					"The stack of a task in the kernel, 16 KiB, was used up: "
					"endless recursion, or great arrays on the stack.",
				[ABOUT_MEASURED] = "A fault or double fault in the page below the "
						   "stack, and functions that repeat in the trace.",
				[ABOUT_CONFIRM] = "$ faultscope triage --explain crash.log\nThe "
						  "verdict names the function that repeats.",
				[ABOUT_GAIN] = "Leave out one layer: a file system on a device on "
					       "a network often is what makes it too deep.",
				[ABOUT_FIX] = "Take large arrays off the stack; make the recursion "
					      "a loop.",
				[ABOUT_ALIKE] =
					"A wild pointer that happens to lie near the stack.",
			},
		.sources = "",
	},
	{
		.id = "K10",
		.severity = SEVERITY_WARNING,
		.title = "a GPU's own memory fault",
		.about =
			{
				[ABOUT_MEANS] = "The GPU, not the CPU, touched an address that it "
						"must not: Xid 31 or 13 of NVIDIA, a page fault of "
						"gfxhub or mmhub of amdgpu.",
				[ABOUT_MEASURED] =
					"Lines of the driver in the log, as records of class gpu.",
				[ABOUT_CONFIRM] = "$ dmesg | grep -E 'NVRM: Xid|gfxhub|mmhub'",
				[ABOUT_GAIN] = "Run the program without its newest kernels, or on "
					       "another GPU of the machine.",
				[ABOUT_FIX] = "The same address again and again is software; many "
					      "addresses on one GPU alone are hardware.",
				[ABOUT_ALIKE] = "Xid 43 or 45: only that a program ended.",
			},
		.sources = "pytorch/pytorch#51382",
	},
	{
		.id = "K11",
		.severity = SEVERITY_CRITICAL,
		.title = "the hardware reported errors before",
		.about =
			{
				[ABOUT_MEANS] =
					"A machine check, an error of a DIMM or of PCI Express "
					"came before the crash: the crash may be no software's.",
				[ABOUT_MEASURED] = "Tracepoints mce_record, mc_event, aer_event "
						   "and memory_failure_event where the kernel has "
						   "them, and the log.",
				[ABOUT_CONFIRM] = "$ ras-mc-ctl --errors\n$ dmesg | grep -E "
						  "'Hardware Error|EDAC|PCIe Bus Error'",
				[ABOUT_GAIN] = "Take the DIMM or card named out of use.",
				[ABOUT_FIX] = "Replace it; update firmware.",
				[ABOUT_ALIKE] =
					"Corrected errors of a rate that the vendor calls normal.",
			},
		.sources = "",
	},
	{
		.id = "K12",
		.severity = SEVERITY_INFO,
		.title = "a module came shortly before",
		.about =
			{
				[ABOUT_MEANS] = "A module from outside the kernel's tree, "
						"proprietary, unsigned or loaded by force came "
						"within minutes before the first sign of trouble.",
				[ABOUT_MEASURED] = "The journal of modules with times, and each "
						   "change of /proc/sys/kernel/tainted.",
				[ABOUT_CONFIRM] = "$ faultscope blackbox read | grep -E "
						  "'event=loaded|added='",
				[ABOUT_GAIN] = "Unload it, or boot without it.",
				[ABOUT_FIX] = "Back to its version before; report with srcversion, "
					      "which the record has.",
				[ABOUT_ALIKE] = "A module that is loaded at each boot came shortly "
						"before everything.",
			},
		.sources = "abrt/abrt#539",
	},
};

const size_t nr_diagnoses_kernel = sizeof(diagnoses_kernel) / sizeof(diagnoses_kernel[0]);
