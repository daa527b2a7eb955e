// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Tests what `blackbox arm` finds and enables on a machine. The files of the machine and the BPF
 * programs are those of this test.
 */
#define _GNU_SOURCE
#include <sys/stat.h>

#include "blackbox/ring_record.h"
#include "command_output.h"
#include "crash/blackbox_arm.h"
#include "made_precursors.h"
#include "own_machine.h"
#include "recorder/record_sinks.h"
#include "tap.h"

#define ALL	 0 /* --keep is not given */
#define RING	 "/mnt/ring"
#define TRACING	 "/sys/kernel/tracing"
#define INSTANCE TRACING "/instances/boot_map"
#define PROC	 "/proc/sys/kernel"

static void run(unsigned int sinks)
{
	struct options o = {.colour = WHEN_NEVER, .width = 200};

	o.blackbox.record_sinks = sinks;
	o.blackbox.file = RING;
	run_command(blackbox_arm, &o);
	if (got.status || *got.err)
		ok(false, "status %d: %s", got.status, got.err);
}

/* Returns the text of a row, without the lines below it. */
static const char *row(const char *name)
{
	static char text[400];
	char begin[64];
	const char *at;

	snprintf(begin, sizeof(begin), "\n%-22s ", name);
	at = strncmp(got.out, begin + 1, strlen(begin + 1)) ? strstr(got.out, begin) : got.out - 1;
	snprintf(text, sizeof(text), "%s", at ? at + strlen(begin) : "no row");
	text[strcspn(text, "\n")] = 0;
	return text;
}

static bool advises(const char *text)
{
	return strstr(got.out, text) != NULL;
}

static void is_content(const char *path, const char *want, const char *name)
{
	char text[4096] = "";

	io_read(AT_FDCWD, path, text, sizeof(text));
	is_str(text, want, name);
}

static void test_nothing(void)
{
	run(ALL);
	is_str(row("file"), RING ", made by run", "the ring file");
	is_str(row("pmsg"), "no /dev/pmsg0", "pmsg");
	ok(advises("modprobe ramoops"), "how to have it");
	is_str(row("instance"), "no trace instance boot_map", "the trace instance");
	is_str(row("map"), "with run; no kdump, so no dump to find it in", "the map");
	ok(advises("apt-get install kdump-tools"), "how to have a dump");
	is_str(row("pstore"), "no backend", "pstore");
	is_str(row("kernel.panic"), "not in this kernel", "a setting");
	is_str(row("slub_debug="), "not set", "an option of the kernel");
	ok(advises("slub_debug=FZPU") && advises("page_owner=on"), "what options are for");
	ok(!strncmp(row("probes"), "this kernel has no BTF", 22), "probes");
}

/* ---- an address for memory that survives a reboot ---- */

static const struct {
	const char *table;
	uint64_t want;
	const char *name;
} tables[] = {
	{"00001000-0009ffff : System RAM\n"
	 "00100000-7fffffff : System RAM\n"
	 "  01000000-01ffffff : Kernel code\n"
	 "c0000000-ffffffff : PCI Bus 0000:00\n"
	 "100000000-27fffffff : System RAM\n",
	 0x7c000000, "the end of the largest range below 4 GiB"},
	{"80000000-ffffffff : System RAM\n", 0xfc000000, "a range up to 4 GiB"},
	{"80000000-100000000 : System RAM\n", 0, "one that ends behind them"},
	{"10000000-14000000 : System RAM\n", 0x10000000, "64 MiB"},
	{"10000000-13fffffe : System RAM\n", 0, "less"},
	{"11000000-15ffffff : System RAM\n", 0, "80 MiB that have no multiple of 64 MiB"},
	{"11000000-17ffffff : System RAM\n", 0x14000000, "112 MiB that have one"},
	{"10000000-1fffffff : System RAM\n20000000-2fffffff : System RAM\n", 0x2c000000,
	 "of two equal ranges, the higher one"},
	{"20000000-3fffffff : System RAM\n40000000-4fffffff : System RAM\n", 0x3c000000,
	 "of two ranges, the larger one"},
	{"  10000000-1fffffff : System RAM\n", 0, "a part of another range"},
	{"00000000-00000000 : System RAM\n", 0, "addresses that are hidden"},
};

/* The advice names free RAM of this machine. If there is none, it says where to look for it. */
static void test_addresses(void)
{
	char text[64];

	for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++) {
		unsigned long long want = tables[i].want;

		machine_cover("/proc/iomem", tables[i].table);
		run(ALL);
		snprintf(text, sizeof(text),
			 want ? "memmap=12M$0x%llx trace" : "memmap=12M$ADDRESS", want);
		ok(advises(text), "%s", tables[i].name);
		snprintf(text, sizeof(text),
			 want ? "ramoops.mem_address=0x%llx " : "mem_address=ADDRESS",
			 want + (16 << 20));
		ok(advises(text), "and pstore 16 MiB behind it");
		ok(advises("see System RAM in /proc/iomem") == !want, "and where it comes from");
		ok(!advises("$0x0 "), "never the start of RAM");
	}
}

/* ---- what is there ---- */

static void make_directories(const char *path)
{
	char copy[256];

	snprintf(copy, sizeof(copy), "%s/", path);
	for (char *slash = copy + 1; (slash = strchr(slash, '/')); slash++) {
		*slash = 0;
		mkdir(copy, 0755);
		*slash = '/';
	}
}

static void make(const char *directory, const char *name, const char *text)
{
	char path[256];

	make_directories(directory);
	snprintf(path, sizeof(path), "%s/%s", directory, name);
	machine_must(machine_write(path, text), path);
}

static void test_places(void)
{
	make("/dev", "pmsg0", "");
	make("/mnt", "ring", "");
	make("/sys/kernel", "kexec_crash_loaded", "1\n");
	make("/sys/module/pstore/parameters", "backend", "(null)\n");
	make("/sys/module/kfence/parameters", "sample_interval", "0\n");
	make(PROC, "panic_on_oops", "0\n");
	make(PROC, "panic", "10\n");
	make(PROC, "hung_task_timeout_secs", "00\n");
	machine_cover("/proc/cmdline", "ro xpage_owner=1 slub_debug=P quiet\n");
	run(ALL);
	is_str(row("pmsg"), "on", "pmsg");
	ok(!advises("modprobe ramoops"), "needs nothing");
	is_str(row("file"), RING, "a ring file that is there");
	is_str(row("map"), "with run; kdump is loaded", "the map");
	ok(!advises("kdump-tools"), "needs nothing");
	is_str(row("pstore"), "no backend", "pstore without a backend");
	ok(advises("ramoops.mem_address="), "how to have one");
	is_str(row("kernel.panic_on_oops"), "0", "a setting that is off");
	ok(advises("for more: sysctl kernel.panic_on_oops=1"), "what it is for");
	is_str(row("kernel.panic"), "10", "a setting that is on");
	ok(!advises("sysctl kernel.panic=10"), "needs nothing");
	is_str(row("kernel.hung_task_timeout"), "00", "another text than 0");
	ok(!advises("hung_task_timeout_secs=120"), "needs nothing");
	is_str(row("kfence"), "0", "a parameter of a module");
	ok(advises("echo 100 > /sys/module/kfence"), "what it is for");
	is_str(row("slub_debug="), "slub_debug=P", "an option of the kernel");
	ok(!advises("slub_debug=FZPU"), "needs nothing");
	is_str(row("page_owner="), "not set", "an option with another prefix is not meant");
	make("/sys/module/pstore/parameters", "backend", "efi\n");
	run(ALL);
	is_str(row("pstore"), "on: efi; read by: blackbox read, triage", "pstore with a backend");
	ok(!advises("ramoops.mem_address="), "needs nothing");
}

static void test_kmsg(void)
{
	make(PROC, "printk_devkmsg", "ratelimit\n");
	run(1u << SINK_FILE);
	is_str(row("kmsg"), "/dev/kmsg; kernel.printk_devkmsg=ratelimit", "not requested");
	ok(advises("printk.devkmsg=on"), "advice");
	is_content(PROC "/printk_devkmsg", "ratelimit\n", "the setting stays");
	/* a longer text would keep its end, as this is no file of /proc */
	make(PROC, "printk_devkmsg", "--\n");
	run(1u << SINK_KMSG);
	is_str(row("kmsg"), "/dev/kmsg; kernel.printk_devkmsg=on", "requested");
	is_content(PROC "/printk_devkmsg", "on\n", "it is on now");
	make(PROC, "printk_devkmsg", "on\n");
	run(ALL);
	is_str(row("kmsg"), "/dev/kmsg; kernel.printk_devkmsg=on", "it is on already");
	ok(!advises("printk.devkmsg=on: else"), "needs nothing");
}

/* ---- trace instance ---- */

#define NOW    "11111111-2222-3333-4444-555555555555"
#define BEFORE "66666666-7777-8888-9999-000000000000"

/* Writes a trace with a record of a boot. Returns its text. */
static const char *put_trace(const char *boot)
{
	static char text[BB_LINE_MAX + 64];
	struct bb_record r = {.sequence = 1, .class = BB_START};
	char line[BB_LINE_MAX];

	if (boot && !bb_boot_id(boot, r.boot_id))
		abort();
	bb_encode_line(&r, line);
	snprintf(text, sizeof(text), "# tracer: nop\n1.0: x: %s\n", boot ? line : "no record");
	make(INSTANCE, "trace", text);
	return text;
}

static void test_instance(void)
{
	char saved[BB_LINE_MAX + 64];

	make(PROC "/random", "boot_id", NOW "\n");
	make(INSTANCE, "trace_marker", "");
	run(ALL);
	is_str(row("instance"), "an instance, but in memory that a reboot clears", "no last boot");
	ok(advises("trace_instance=boot_map@"), "how to have one");
	make(INSTANCE, "last_boot_info", "");
	make(INSTANCE, "tracing_on", "0");
	make(INSTANCE "/events/printk/console", "enable", "0");
	make(INSTANCE "/events/bpf_trace/bpf_trace_printk", "enable", "0");
	strcpy(saved, put_trace(BEFORE));
	run(1u << SINK_FILE);
	is_str(row("instance"), "there, and off", "not requested");
	is_content(INSTANCE "/tracing_on", "0", "it stays off");
	ok(access(RING ".trace", F_OK), "nothing is saved");
	run(ALL);
	is_str(row("instance"), "on", "the instance");
	ok(!advises("trace_instance=boot_map@"), "needs nothing");
	is_content(INSTANCE "/tracing_on", "1", "tracing is on");
	is_content(INSTANCE "/events/printk/console/enable", "1", "the first event");
	is_content(INSTANCE "/events/bpf_trace/bpf_trace_printk/enable", "1", "and the last");
	is_content(RING ".trace", saved, "the trace of the boot before is saved");
	put_trace(NOW);
	run(ALL);
	is_content(RING ".trace", saved, "and a trace of this boot does not replace it");
	put_trace(NULL);
	run(ALL);
	is_content(RING ".trace", saved, "nor one without a record");
	unlink(INSTANCE "/trace");
	make(INSTANCE, "tracing_on", "0");
	run(ALL);
	is_str(row("instance"), "there, and off: No such file or directory",
	       "a trace that cannot be read");
	is_content(INSTANCE "/tracing_on", "0", "is not written over");
}

/* ---- probes ---- */

static void test_probes(void)
{
	make("/sys/kernel/btf", "vmlinux", "x");
	made_begin();
	named("black_mce")->fails = true;
	run(ALL);
	ok(!strncmp(row("probe mce"), "unavailable: tp/black_mce: No such file", 39),
	   "a probe that does not work: %s", row("probe mce"));
	ok(!strncmp(row("probe aer"), "on: ", 4), "one that works: %s", row("probe aer"));
	for (size_t h = 0; h < nr_precursor_hooks; h++) {
		bool is = !strcmp(precursor_hooks[h].name, "mce");

		if (advises(precursor_hooks[h].lost) != is)
			ok(false, "what is lost without %s", precursor_hooks[h].name);
	}
	is_str(row("hold"), "no row", "a panic waits for the recorder");
	cpus = 1;
	run(ALL);
	is_str(row("hold"), "a panic does not wait for the recorder", "with one CPU, it does not");
	ok(advises("for more: a second CPU"), "it needs more");
	loads = false;
	run(ALL);
	is_str(row("probe aer"), "no row", "programs that cannot be loaded");
	ok(strcmp(row("probes"), "no row") != 0, "say why: %s", row("probes"));
}

int main(void)
{
	if (!machine_enter()) {
		ok(true, "# SKIP user namespaces are not permitted");
		return tap_done();
	}
	machine_empty("/sys/kernel");
	machine_empty("/sys/module");
	machine_empty("/proc/sys/kernel");
	machine_empty("/dev");
	machine_cover("/proc/iomem", "");
	machine_cover("/proc/cmdline", "");
	made_begin();
	test_nothing();
	test_addresses();
	test_places();
	test_kmsg();
	test_instance();
	test_probes();
	return tap_done();
}
