// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "fixture.h"
#include "rules/rules.h"
#include "tap.h"

#define PID    77
#define MILLIS 1000000ULL

static struct model m;
static struct findings fs;
static struct fs_process_record now;
static uint64_t now_s;

static void begin(void)
{
	begin_model(&m, NULL);
	memset(&fs, 0, sizeof(fs));
	now = process_record(PID, 1, 0);
	now_s = 1;
}

static void end(void)
{
	findings_free(&fs);
	model_free(&m);
}

static void look(void)
{
	struct fs_tick_record t = tick_record(++now_s * SECOND);

	model_next_window(&m);
	findings_next_window(&fs);
	now.h.t_ns = now_s * SECOND - 1000;
	now.g.min_flt++;
	model_take(&m, &now.h);
	model_take(&m, &t.h);
	findings_judge(&fs, &m);
}

/* So many faults of a class in this second, each as long. */
static void serve(enum fs_fault_class class, uint64_t n, uint64_t ns)
{
	now.c.served[class].band[3] += n;
	now.c.served[class].stall_ns += n * ns;
	if (ns > now.c.served_max_ns[class])
		now.c.served_max_ns[class] = ns;
}

static const struct finding *open_of(const char *id)
{
	const struct finding *f = finding_open(&fs, id, &now.subject);

	return f && f->open ? f : NULL;
}

static size_t all_open(void)
{
	size_t n = 0;

	for (size_t i = 0; i < fs.n; i++)
		n += fs.f[i].open;
	return n;
}

static void madvise_calls(uint64_t n)
{
	now.c.map_call[FS_CALL_MADVISE - FS_CALL_MMAP].calls += n;
}

static void wait_compacting(uint64_t n, uint64_t ns)
{
	now.c.wait[FS_WAIT_COMPACTION].count += n;
	now.c.wait[FS_WAIT_COMPACTION].ns += n * ns;
	now.c.wait[FS_WAIT_COMPACTION].in_faults_ns += n * ns;
}

/* What a second of each trouble is like. */
static void compact(void)
{
	wait_compacting(20, 5 * MILLIS);
	serve(FS_CLASS_COMPACTED, 20, 6 * MILLIS);
}

static void purge(void)
{
	madvise_calls(500);
	serve(FS_CLASS_ANONYMOUS, 50000, 1000);
}

static void read_at_random(void)
{
	serve(FS_CLASS_FILE_MAJOR, 1000, MILLIS / 2);
	now.c.fault_read_bytes += 1000 * 32 * 4096;
}

static void handle(void)
{
	serve(FS_CLASS_UFFD, 100, MILLIS);
}

static void hang(void)
{
	serve(FS_CLASS_FILE_MAJOR, 1, 3000 * MILLIS);
}

/* The same in small, or with what makes it well. */
static void grow(void)
{
	purge();
	now.g.rss_anon_pages += 50000;
}

static void scan(void)
{
	serve(FS_CLASS_FILE_MAJOR, 1000, MILLIS / 2);
	serve(FS_CLASS_FILE_MINOR, 1000, 1000);
	now.c.fault_read_bytes += 1000 * 32 * 4096;
}

static void touch(void)
{
	serve(FS_CLASS_ANONYMOUS, 200000, 700);
	serve(FS_CLASS_HUGE, 1000, MILLIS / 10);
	serve(FS_CLASS_COW, 5000, 1000);
	serve(FS_CLASS_UFFD, 2, MILLIS);
	wait_compacting(1, MILLIS);
}

static void test_kinds(void)
{
	static const struct {
		const char *what, *id;
		void (*second)(void);
	} cases[] = {
		{"compaction inside of faults", "P08", compact},
		{"given back and touched again", "P11", purge},
		{"given back, but growing", NULL, grow},
		{"a file at random", "P14", read_at_random},
		{"a file from begin to end", NULL, scan},
		{"a handler in user space", "P15", handle},
		{"a fault of three seconds", "P16", hang},
		{"work that touches memory", NULL, touch},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		begin();
		look();
		is_u64(all_open(), 0, "a process as it was found");
		for (int s = 0; s < 3; s++) {
			cases[i].second();
			look();
		}
		if (cases[i].id)
			ok(open_of(cases[i].id) && all_open() == 1, "%s: %s alone", cases[i].what,
			   cases[i].id);
		else
			is_u64(all_open(), 0, cases[i].what);
		for (int s = 0; s < 5; s++)
			look();
		ok(!cases[i].id || open_of(cases[i].id), "held for a while");
		for (int s = 0; s < 10; s++)
			look();
		is_u64(all_open(), 0, "and then no more");
		end();
	}
}

static void test_fork(void)
{
	struct fs_process_record child = process_record(PID + 1, 9 * SECOND, 0);
	const struct finding *f;

	begin();
	look();
	serve(FS_CLASS_COW, 20000, 2000);
	look();
	is_u64(all_open(), 0, "copies without a child are writes to what was read-only");
	child.h.t_ns = now_s * SECOND + 1;
	child.g.ppid = PID;
	child.g.flags = FS_PROC_BORN;
	model_take(&m, &child.h);
	serve(FS_CLASS_COW, 20000, 2000);
	look();
	f = open_of("P09");
	ok(f && all_open() == 1, "beside a child that shares them: P09");
	ok(f && f->nr_evidence == 2 && strstr(f->evidence[1].value, "proc78[78]"), "which one");
	end();
}

int main(void)
{
	test_kinds();
	test_fork();
	return tap_done();
}
