// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Tests what a collector writes to a recording, and which records it adds on a live machine: fields
 * of later versions, redaction, failures of the recording, kernel symbols and mounts.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "collect/collector.h"
#include "collect/files/mountinfo.h"
#include "collect/pressure/pressure_reader.h"
#include "fixture.h"
#include "model/pressure.h"
#include "tap.h"

#define LATER_KIND 5000 /* a kind of record that only later versions know */
#define LATER	   77	/* value of the fields that only later versions know */
#define KERNEL_IP  0xffffffff81000010ULL

static struct model m;
static struct collector c;

static void begin(bool live)
{
	begin_model(&m, NULL);
	c = (struct collector){.m = &m, .live = live};
	c.names.foreign = true;
}

static void end(void)
{
	collector_free(&c);
	model_free(&m);
}

static void begin_recording(unsigned long long bytes_most)
{
	char error[256];

	if (recorder_open_capped(fixture_path("recording"), true, bytes_most, &c.rec, error,
				 sizeof(error)))
		abort();
}

/* ---- what a recording contains ---- */

static struct {
	size_t fields, later_kinds, kernel_faults, symbols;
	uint64_t later, later_of_symbol; /* values of the later fields; 0: the field is not there */
	bool symbol_first;
	char comm[COMM_LEN], exe[256];
} got;

static uint64_t extra_of(const struct record *h)
{
	uint64_t value = 0;

	memcpy(&value, (const char *)h + h->len, h->extra < 8 ? h->extra : 8);
	return value;
}

static int read_record(void *ctx, const struct record *h)
{
	(void)ctx;
	got.fields += h->kind == RECORD_FIELD;
	got.later_kinds += h->kind == LATER_KIND;
	if (h->kind == RECORD_KERNEL_FAULT) {
		got.kernel_faults++;
		got.later = extra_of(h);
		got.symbol_first = got.symbols;
	}
	if (h->kind == RECORD_SYMBOL) {
		got.symbols++;
		got.later_of_symbol = extra_of(h);
	}
	if (h->kind == RECORD_NAMES)
		memcpy(got.exe, ((const struct names_record *)h)->exe, sizeof(got.exe));
	return 0;
}

/* Ends the recording, and reads it. */
static void read_recording(void)
{
	struct tick_record tick = tick_record(9 * SECOND);
	struct sink sink = {.take = read_record};
	struct source *src = NULL;
	char error[512];
	int err = 0;

	memset(&got, 0, sizeof(got));
	collector_take(&c, &tick.h);
	if (recorder_close(c.rec) || replay_open(fixture_path("recording"), &src, error, 512))
		abort();
	c.rec = NULL;
	while (!err)
		err = src->ops->look(src, &sink);
	src->ops->close(src);
}

static struct field_record later_field(uint32_t of, const char *record)
{
	struct field_record f = RECORD(field_record, RECORD_FIELD, 0);

	f.of = of;
	f.type = VALUE_UNSIGNED;
	f.size = 8;
	f.count = 1;
	snprintf(f.record, sizeof(f.record), "%s", record);
	strcpy(f.name, "later");
	return f;
}

/* Takes the records of a later version: a kind with a field, and two kinds with a further field. */
static void take_later(void)
{
	struct field_record field[] = {later_field(LATER_KIND, "later"),
				       later_field(RECORD_KERNEL_FAULT, "kernel_fault"),
				       later_field(RECORD_SYMBOL, "symbol")};
	struct {
		struct kernel_fault_record r;
		uint64_t later;
	} fault = {.r = kernel_fault_record(10, KERNEL_IP, false), .later = LATER};
	struct {
		struct record h;
		uint64_t later;
	} later = {.h = {LATER_KIND, sizeof(later.h), SECOND, 8}, .later = LATER};

	fault.r.h.extra = sizeof(fault.later);
	for (size_t i = 0; i < 3; i++)
		ok(!collector_take(&c, &field[i].h), "a field of a later version is taken");
	ok(!collector_take(&c, &later.h), "so is a kind of record");
	ok(!collector_take(&c, &fault.r.h), "and a known kind with a further field");
	is_u64(m.events, 1, "it counts as one without that field");
}

static void test_later_version(void)
{
	static struct redaction redaction;

	begin(false);
	begin_recording(0);
	take_later();
	read_recording();
	ok(got.later_kinds == 1 && got.kernel_faults == 1, "both are recorded");
	is_u64(got.fields, 3, "with the descriptions of their fields");
	is_u64(got.later, LATER, "and the value of the further field");
	ok(!c.rec_error, "without an error");
	end();

	redaction_begin(&redaction);
	begin(false);
	c.redaction = &redaction;
	begin_recording(0);
	take_later();
	read_recording();
	is_u64(got.later_kinds, 0, "a kind that nobody can redact is not recorded");
	is_u64(got.kernel_faults, 1, "a known kind is");
	is_u64(got.later, 0, "without the field that nobody can redact");
	end();

	begin(false);
	withholding_begin(&c.withholding, false);
	begin_recording(0);
	take_later();
	read_recording();
	is_u64(got.kernel_faults, 1, "the record is stored, also where data are withheld");
	is_u64(got.later, 0, "without a field that may have such data");
	end();

	begin(false);
	take_later();
	ok(!c.rec_error, "without a recording they are passed over");
	end();
}

static const char kallsyms[] = "ffffffff81000000 T startup\n"
			       "ffffffffc0001000 t do_it\t[nfs]\n";

/* The address of a kernel fault gets a name on a live machine, before the fault itself. */
static void test_symbols(void)
{
	struct kernel_fault_record fault = kernel_fault_record(10, KERNEL_IP, false);

	begin(true);
	c.symbols.f = fmemopen((void *)kallsyms, sizeof(kallsyms) - 1, "r");
	begin_recording(0);
	take_later();
	ok(!collector_take(&c, &fault.h), "a second fault at this address");
	fault.ip = 0xffffffffc0001004;
	ok(!collector_take(&c, &fault.h), "a fault in a module");
	is_str(model_symbol(&m, KERNEL_IP)->symbol, "startup+0x10", "the name of an address");
	is_str(model_symbol(&m, fault.ip)->symbol, "do_it+0x4", "the name of another one");
	is_str(model_symbol(&m, fault.ip)->module, "nfs", "its module");
	is_u64(m.events, 3, "each fault is an event");
	read_recording();
	is_u64(got.symbols, 2, "each name is recorded once");
	is_u64(got.kernel_faults, 3, "with the faults");
	ok(got.symbol_first, "the name comes first");
	is_u64(got.later_of_symbol, 0, "it has no field of the fault's record");
	end();

	begin(false);
	c.symbols.f = fmemopen((void *)kallsyms, sizeof(kallsyms) - 1, "r");
	collector_take(&c, &fault.h);
	ok(!model_symbol(&m, fault.ip), "names of this kernel are not those of a recording");
	is_u64(m.events, 1, "the fault is an event, too");
	end();

	begin(true);
	c.symbols.f = fmemopen((void *)kallsyms, sizeof(kallsyms) - 1, "r");
	fault.ip = 16;
	collector_take(&c, &fault.h);
	ok(!model_symbol(&m, 16), "an address below all functions has no name");
	is_u64(m.events, 1, "the fault is an event");
	end();
}

/* A failure of the recording is kept for the caller, and the measurement continues. */
static void test_failed_recording(void)
{
	struct refused_record r = refused_record(10, CALL_OPEN, EMFILE), unknown = r;
	struct tick_record tick = tick_record(2 * SECOND);

	begin(false);
	begin_recording(0);
	unknown.h.kind = LATER_KIND;
	is_u64(-collector_take(&c, &unknown.h), 0, "a kind of record that was not described");
	is_u64(-c.rec_error, EINVAL, "cannot be recorded");
	is_u64(-collector_take(&c, &r.h), 0, "a later record is taken");
	is_u64(-c.rec_error, EINVAL, "the error is kept");
	is_u64(m.events, 1, "the model has the later record");
	recorder_discard(c.rec);
	end();

	begin(false);
	begin_recording(1);
	is_u64(-collector_take(&c, &r.h), 0, "a record");
	is_u64(-collector_take(&c, &tick.h), 0, "a scan for which the recording has no room");
	is_u64(-c.rec_error, EOVERFLOW, "the recording is full");
	is_u64(m.tick.h.t_ns, 2 * SECOND, "the model has the scan");
	recorder_discard(c.rec);
	end();
}

/* ---- the ring in memory and the state ---- */

static int keep_exe(void *ctx, const struct record *h)
{
	*(size_t *)ctx += 1;
	return read_record(NULL, h);
}

static void test_tell(void)
{
	static struct redaction redaction;
	struct process_record p = process_record(10, 1, SECOND);
	struct names_record n = RECORD(names_record, RECORD_NAMES, SECOND);
	size_t records = 0;
	struct sink sink = {.take = keep_exe, .ctx = &records};

	redaction_begin(&redaction);
	begin(false);
	n.subject = p.subject;
	strcpy(n.exe, "/home/alice/server");
	collector_take(&c, &p.h);
	is_u64(collector_pass(&c, &n.h), 0, "a record of user space is passed on");
	is_str(model_find(&m, &p.subject)->exe, "/home/alice/server", "to the model");
	is_u64(collector_tell(&c, &sink), 0, "the state is told");
	is_str(got.exe, "/home/alice/server", "as it is");
	ok(records > 3, "in several records");
	c.redaction = &redaction;
	records = 0;
	is_u64(collector_tell(&c, &sink), 0, "the state is told for a redacted recording");
	is_str(got.exe, "server", "without directories");
	is_str(model_find(&m, &p.subject)->exe, "/home/alice/server", "the model keeps them");
	ok(records > 3, "in as many records");
	end();
}

/* ---- files without space ---- */

/* Returns the device of a tmpfs of this machine as the kernel has it; 0: there is none. */
static uint64_t tmpfs_device(void)
{
	char line[4096];
	struct mount_line mount;
	uint64_t device = 0;
	struct stat st;
	FILE *f = fopen("/proc/self/mountinfo", "re");

	while (f && !device && fgets(line, sizeof(line), f))
		if (mountinfo_parse((struct span){line, strcspn(line, "\n")}, &mount) &&
		    text_is(mount.type, "tmpfs") && text_is(mount.point, "/dev/shm") &&
		    !stat("/dev/shm", &st) &&
		    mountinfo_device(major(st.st_dev), minor(st.st_dev)) == mount.device)
			device = mount.device;
	if (f)
		fclose(f);
	return device;
}

static size_t mounts(void)
{
	return m.pressure ? m.pressure->mounts : 0;
}

static void test_full_files(void)
{
	uint64_t device = tmpfs_device();
	struct signal_record s = RECORD(signal_record, RECORD_SIGNAL, SECOND);
	struct refused_record r = refused_record(10, CALL_OPEN, ENOSPC);

	if (!device) {
		ok(true, "# SKIP /dev/shm is no tmpfs");
		return;
	}
	s.subject = r.subject;
	s.file_device = r.space.device = device;
	s.file.flags = FILE_KNOWN;
	s.signal = SIGSEGV;
	begin(true);
	collector_take(&c, &s.h);
	is_u64(mounts(), 0, "SIGSEGV has nothing to do with the space of a file system");
	s.signal = SIGBUS;
	s.file.flags = 0;
	collector_take(&c, &s.h);
	is_u64(mounts(), 0, "SIGBUS in memory of no file neither");
	s.file.flags = FILE_KNOWN;
	collector_take(&c, &s.h);
	is_u64(mounts(), 1, "SIGBUS in a file: its file system is measured");
	is_u64(m.events, 3, "each signal is an event");
	end();
	begin(false);
	collector_take(&c, &s.h);
	collector_take(&c, &r.h);
	is_u64(mounts(), 0, "for a recording no file system of this machine is measured");
	end();
	begin(true);
	collector_take(&c, &r.h);
	is_u64(mounts(), 1, "a call that found no space: the file system is measured");
	is_u64(m.events, 1, "the call is an event");
	end();
}

/* The kernel reports no limit of mounts, so that it is read from /proc. */
static void test_counts(void)
{
	struct refused_record r = refused_record(10, CALL_MOUNT, ENOSPC);
	const struct counted_objects *counted;

	r.counted =
		(struct counted_objects){.what = COUNTED_MOUNTS, .used = 5, .limit = UINT64_MAX};
	for (int live = 0; live < 2; live++) {
		begin(live);
		collector_take(&c, &r.h);
		counted = &m.event[0].refused.counted;
		ok((counted->limit != UINT64_MAX) == live && counted->used == 5,
		   live ? "this machine's limit is read" : "a recording's is not");
		end();
	}
}

int main(void)
{
	test_later_version();
	test_symbols();
	test_failed_recording();
	test_tell();
	test_full_files();
	test_counts();
	return tap_done();
}
