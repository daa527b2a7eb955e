// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#define _GNU_SOURCE
#include "crash/blackbox_arm.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/io.h"
#include "base/output_file.h"
#include "crash/blackbox_places.h"
#include "probe/precursors.h"
#include "recorder/record_sinks.h"
#include "cli/messages.h"
#include "crash/surviving_logs.h"

#define INSTANCES "/sys/kernel/tracing/instances/"

static int write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC), err = 0;

	if (fd < 0)
		return -errno;
	if (write(fd, text, strlen(text)) < 0)
		err = -errno;
	close(fd);
	return err;
}

static bool read_line(const char *path, char *ret, size_t size)
{
	FILE *f = fopen(path, "re");
	bool any = f && fgets(ret, size, f);

	if (f)
		fclose(f);
	if (any)
		ret[strcspn(ret, "\n")] = 0;
	return any;
}

static void instance_path(const struct options *o, const char *below, char *ret, size_t size)
{
	snprintf(ret, size, INSTANCES "%s/%s", o->blackbox.instance ?: BLACKBOX_INSTANCE, below);
}

/* Returns whether all records in the trace instance were written in earlier boots. */
static bool is_of_before(const struct triage_files *files)
{
	struct bb_found f = {};
	uint8_t now[BB_BOOT_BYTES];
	char id[64];
	bool before = false;

	if (!files->n || !read_line("/proc/sys/kernel/random/boot_id", id, sizeof(id)) ||
	    !bb_boot_id(id, now))
		return false;
	if (!survivors_scan(&f, files)) {
		before = f.n > 0;
		for (size_t i = 0; i < f.n; i++)
			before &= memcmp(f.record[i].boot_id, now, sizeof(now)) != 0;
	}
	bb_found_free(&f);
	return before;
}

static int save_trace(const struct options *o, const struct triage_files *files)
{
	struct output_file f;
	char path[512];
	int err;

	survivors_trace_path(o, path, sizeof(path));
	err = output_file_open(&f, path, 0600);
	if (err)
		return err;
	err = io_write(f.fd, files->input[0].data, files->input[0].size);
	if (!err && fsync(f.fd))
		err = -errno;
	return output_file_end(&f, err);
}

/*
 * Saves the trace of the previous boot. Returns 0 if the trace is saved or there is nothing to
 * save, else -errno.
 */
static int save_before(const struct options *o)
{
	struct triage_files files = {};
	char path[512];
	int err;

	instance_path(o, "trace", path, sizeof(path));
	err = triage_files_add(&files, path);
	if (!err && is_of_before(&files))
		err = save_trace(o, &files);
	triage_files_free(&files);
	return err;
}

int arm_instance(const struct options *o)
{
	static const char *const events[] = {"printk/console", "module/module_load",
					     "module/module_free", "error_report/error_report_end",
					     "bpf_trace/bpf_trace_printk"};
	char path[512], below[128];
	int err;

	instance_path(o, "trace_marker", path, sizeof(path));
	if (access(path, W_OK))
		return -errno;
	err = save_before(o);
	if (err)
		return err;
	for (size_t i = 0; i < sizeof(events) / sizeof(events[0]) && !err; i++) {
		snprintf(below, sizeof(below), "events/%s/enable", events[i]);
		instance_path(o, below, path, sizeof(path));
		if (!access(path, W_OK)) /* an event may be missing in this kernel */
			err = write_file(path, "1");
	}
	instance_path(o, "tracing_on", path, sizeof(path));
	return err ?: write_file(path, "1");
}

/* ---- places for records ---- */

struct finding_row {
	char state[160];
	const char *more; /* advice on how to configure this place for records; NULL: none */
	char own[400];	  /* text buffer for `more` */
};

#define LOW_END	    (1ull << 32) /* memory below this address is accessible to all firmware */
#define SPARE_BYTES (64ull << 20)

/*
 * Returns an address for a memory area that survives reboots, in the largest RAM range below 4 GiB.
 * Returns 0 if there is none, or if the kernel hides the addresses.
 */
static uint64_t spare_address(void)
{
	FILE *f = fopen("/proc/iomem", "re");
	uint64_t start, end, best = 0, most = SPARE_BYTES;
	char line[160];

	while (f && fgets(line, sizeof(line), f)) {
		uint64_t at;

		if (*line == ' ' || !strstr(line, "System RAM") ||
		    sscanf(line, "%" SCNx64 "-%" SCNx64, &start, &end) != 2 || end >= LOW_END ||
		    end - start < most)
			continue;
		at = (end + 1 - SPARE_BYTES) & ~(SPARE_BYTES - 1);
		if (at < start) /* a small range may have no such multiple */
			continue;
		most = end - start;
		best = at;
	}
	if (f)
		fclose(f);
	return best;
}

/* Address of free RAM in advice, and where it comes from. */
struct advised {
	char address[24];
	const char *from;
};

static struct advised advise(uint64_t above)
{
	uint64_t at = spare_address();
	struct advised a = {"ADDRESS", "see System RAM in /proc/iomem"};

	if (at) {
		snprintf(a.address, sizeof(a.address), "0x%" PRIx64, at + above);
		a.from = "here that one";
	}
	return a;
}

static bool is_asked(const struct options *o, enum sink_id id)
{
	return !o->blackbox.record_sinks || o->blackbox.record_sinks >> id & 1;
}

static void look_instance(const struct options *o, struct finding_row *ret)
{
	struct advised a = advise(0);
	char path[512];
	int err;

	instance_path(o, "trace_marker", path, sizeof(path));
	snprintf(
		ret->own, sizeof(ret->own),
		"boot with memmap=12M$%s trace_instance=boot_map@%s:12M (6.12; an address of free "
		"RAM, %s), or reserve_mem=12M:4096:trace trace_instance=boot_map@trace, which does "
		"not always find it again",
		a.address, a.address, a.from);
	ret->more = ret->own;
	if (access(path, F_OK)) {
		snprintf(ret->state, sizeof(ret->state), "no trace instance %s",
			 o->blackbox.instance ?: BLACKBOX_INSTANCE);
		return;
	}
	instance_path(o, "last_boot_info", path, sizeof(path));
	if (access(path, F_OK)) {
		snprintf(ret->state, sizeof(ret->state),
			 "an instance, but in memory that a reboot clears");
		return;
	}
	ret->more = NULL;
	err = is_asked(o, SINK_MARKER) ? arm_instance(o) : 0;
	snprintf(ret->state, sizeof(ret->state), "%s%s%s",
		 is_asked(o, SINK_MARKER) && !err ? "on" : "there, and off", err ? ": " : "",
		 err ? strerror(-err) : "");
}

static void look_pmsg(const struct options *o, struct finding_row *ret)
{
	bool there = !access("/dev/pmsg0", W_OK);

	snprintf(ret->state, sizeof(ret->state), "%s", there ? "on" : "no /dev/pmsg0");
	if (!there)
		ret->more = "a kernel with CONFIG_PSTORE_PMSG, and: modprobe ramoops "
			    "mem_address=… mem_size=… pmsg_size=65536";
}

/*
 * Reports on pstore. Even without the recorder, pstore keeps the kernel log of a crash up to its
 * last line.
 */
static void look_pstore(struct finding_row *ret)
{
	static const char unset[] = "(null)"; /* content of the file if there is no backend */
	struct advised a = advise(16 << 20);
	char backend[64] = "";

	read_line("/sys/module/pstore/parameters/backend", backend, sizeof(backend));
	if (*backend && strcmp(backend, unset) != 0) {
		snprintf(ret->state, sizeof(ret->state), "on: %s; read by: blackbox read, triage",
			 backend);
		return;
	}
	snprintf(ret->state, sizeof(ret->state), "no backend");
	snprintf(ret->own, sizeof(ret->own),
		 "boot with memmap=1M$%s ramoops.mem_address=%s ramoops.mem_size=0x100000 "
		 "ramoops.record_size=0x20000 ramoops.ecc=1 (an address of free RAM, %s), and: "
		 "echo ramoops > /etc/modules-load.d/ramoops.conf",
		 a.address, a.address, a.from);
	ret->more = ret->own;
}

static void look_kmsg(const struct options *o, struct finding_row *ret)
{
	static const char path[] = "/proc/sys/kernel/printk_devkmsg";
	char mode[32] = "";

	read_line(path, mode, sizeof(mode));
	if (strcmp(mode, "on") && is_asked(o, SINK_KMSG) && !write_file(path, "on"))
		read_line(path, mode, sizeof(mode));
	snprintf(ret->state, sizeof(ret->state), "/dev/kmsg; kernel.printk_devkmsg=%s", mode);
	if (strcmp(mode, "on"))
		ret->more =
			"boot with printk.devkmsg=on: else the kernel drops lines that come fast";
}

static void look_map(const struct options *o, struct finding_row *ret)
{
	char loaded[8] = "";

	read_line("/sys/kernel/kexec_crash_loaded", loaded, sizeof(loaded));
	snprintf(ret->state, sizeof(ret->state), "with run; %s",
		 *loaded == '1' ? "kdump is loaded" : "no kdump, so no dump to find it in");
	if (*loaded != '1')
		ret->more = "apt-get install kdump-tools, and boot with crashkernel=256M";
}

static void look_file(const struct options *o, struct finding_row *ret)
{
	const char *file = o->blackbox.file ?: BLACKBOX_FILE;

	snprintf(ret->state, sizeof(ret->state), "%s%s", file,
		 access(file, F_OK) ? ", made by run" : "");
	ret->more =
		"holds what was synced: a panic waits a second for it (probe panic), but not for "
		"a disk whose lock or interrupt the dying CPU has, nor on a machine of one CPU";
}

static void (*const looks[NR_SINKS])(const struct options *o, struct finding_row *ret) = {
	[SINK_MAP] = look_map,	 [SINK_MARKER] = look_instance, [SINK_PMSG] = look_pmsg,
	[SINK_KMSG] = look_kmsg, [SINK_FILE] = look_file,
};

/*
 * Settings with which the kernel leaves more information about a crash, or detects an error
 * earlier.
 */
static const struct {
	const char *path, *name, *more;
} settings[] = {
	{"/proc/sys/kernel/panic_on_oops", "kernel.panic_on_oops",
	 "sysctl kernel.panic_on_oops=1 ends at the first oops; 0 lives on, at a risk"},
	{"/proc/sys/kernel/panic", "kernel.panic",
	 "sysctl kernel.panic=10 reboots by itself: memory then survives"},
	{"/sys/module/kfence/parameters/sample_interval", "kfence",
	 "echo 100 > /sys/module/kfence/parameters/sample_interval finds use after free early"},
	{"/proc/sys/kernel/hung_task_timeout_secs", "kernel.hung_task_timeout",
	 "sysctl kernel.hung_task_timeout_secs=120 reports tasks that hang, with their stack"},
};

/*
 * Options of the kernel command line with which reports have more details. `prefix` begins the
 * option in /proc/cmdline.
 */
static const struct {
	const char *prefix, *name, *more;
} options[] = {
	{"slub_debug", "slub_debug=",
	 "boot with slub_debug=FZPU,CACHE: reports of a cache then have the stacks of allocation "
	 "and free; all caches (slub_debug=FZPU) cost much time and memory"},
	{"page_owner", "page_owner=",
	 "boot with page_owner=on: reports of bad pages then have the stack of the allocation"},
};

static void write_row(struct buf *b, const char *name, const char *state, const char *survives,
		      const char *more)
{
	buf_printf(b, "%-22s %s\n", name, state);
	if (survives)
		buf_printf(b, "%-22s survives: %s\n", "", survives);
	if (more)
		buf_printf(b, "%-22s for more: %s\n", "", more);
}

static void write_settings(struct buf *b)
{
	for (size_t i = 0; i < sizeof(settings) / sizeof(settings[0]); i++) {
		char value[64] = "0";
		bool there = read_line(settings[i].path, value, sizeof(value));

		write_row(b, settings[i].name, there ? value : "not in this kernel", NULL,
			  there && !strcmp(value, "0") ? settings[i].more : NULL);
	}
}

/* Returns the word of the kernel command line that sets an option; NULL: none does. */
static const char *option_word(char *line, const char *prefix)
{
	char *rest = NULL;

	for (char *word = strtok_r(line, " ", &rest); word; word = strtok_r(NULL, " ", &rest))
		if (!strncmp(word, prefix, strlen(prefix)))
			return word;
	return NULL;
}

static void write_options(struct buf *b)
{
	for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++) {
		char line[4096] = "";
		const char *word;

		read_line("/proc/cmdline", line, sizeof(line));
		word = option_word(line, options[i].prefix);
		write_row(b, options[i].name, word ?: "not set", NULL,
			  word ? NULL : options[i].more);
	}
}

/* Lists which probes work. For each probe that does not work, says what is lost without it. */
static void write_hooks(struct buf *b, const struct options *o)
{
	struct precursors *p = NULL;
	char error[512] = "";

	if (precursors_open(&p, o->btf, error, sizeof(error))) {
		write_row(b, "probes", *error ? error : "cannot be attached", NULL, NULL);
		return;
	}
	for (size_t h = 0; h < nr_precursor_hooks; h++) {
		const struct precursor_hook *hook = &precursor_hooks[h];
		const char *refused = precursors_refused(p, h);
		char name[48];

		snprintf(name, sizeof(name), "probe %s", hook->name);
		buf_printf(b, "%-22s %s%s\n", name,
			   refused ? "unavailable: " : "on: ", refused ?: hook->feeds);
		if (refused)
			buf_printf(b, "%-22s lost: %s\n", "", hook->lost);
	}
	if (!precursors_holds(p))
		write_row(b, "hold", "a panic does not wait for the recorder", NULL,
			  "a second CPU, and a kernel of 5.17 or later");
	precursors_close(p);
}

int blackbox_arm(const struct options *o)
{
	struct finding_row pstore = {};
	struct buf b = {};
	int status;

	for (int i = NR_SINKS; i--;) {
		struct finding_row row = {};

		looks[i](o, &row);
		write_row(&b, sink_rows[i].name, row.state, sink_rows[i].survives, row.more);
	}
	look_pstore(&pstore);
	write_row(&b, "pstore", pstore.state, "a panic and a warm reboot: the kernel's log of it",
		  pstore.more);
	write_settings(&b);
	write_options(&b);
	write_hooks(&b, o);
	status = say_all(o, &b);
	buf_free(&b);
	return status;
}
