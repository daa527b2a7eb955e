// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Tests P25: forked children that copy the memory of their parent. */
#include "finding_text.h"
#include "rules_fixture.h"
#include "tap.h"

#define PARENT	 50
#define CHILDREN 4
#define MIB	 (1ULL << 20)
#define PAGES(mib) ((mib)*MIB / 4096)

static struct process_record parent, child[CHILDREN];
static uint64_t total_mib = 64 << 10, free_mib = 32 << 10;

static void begin_family(uint64_t parent_mib)
{
	begin(NULL);
	parent = process_record(PARENT, 1, 0);
	parent.g.rss_anon_pages = PAGES(parent_mib);
	strcpy(parent.g.comm, "python3");
	for (uint32_t i = 0; i < CHILDREN; i++) {
		child[i] = process_record(PARENT + 1 + i, 9 * SECOND, 0);
		child[i].g.ppid = PARENT;
		child[i].g.flags = PROC_BORN;
		strcpy(child[i].g.comm, "python3");
	}
}

/* Ends a scan in which each child has copied `mib` MiB since its fork. */
static void copied(uint64_t mib)
{
	struct tick_record t = tick_record(now += SECOND);

	next_window();
	t.limits.mem_total_bytes = total_mib * MIB;
	t.limits.mem_available_bytes = free_mib * MIB;
	parent.h.t_ns = now - 2000;
	model_take(&m, &parent.h);
	for (uint32_t i = 0; i < CHILDREN; i++) {
		child[i].h.t_ns = now - 1000;
		child[i].g.min_flt++;
		child[i].c.served[CLASS_COW].band[2] = PAGES(mib);
		model_take(&m, &child[i].h);
	}
	model_take(&m, &t.h);
	findings_judge(&fs, &m);
}

static const struct finding *p25(void)
{
	const struct finding *found = NULL;
	size_t n = 0;

	for (size_t i = 0; i < fs.n; i++)
		if (fs.f[i].open && !strcmp(fs.f[i].rule->id, "P25")) {
			found = &fs.f[i];
			n++;
		}
	ok(n < 2, "not more than one child tells");
	return found;
}

static const char *evidence_of(const struct finding *f, const char *field)
{
	for (size_t i = 0; f && i < f->nr_evidence; i++)
		if (!strcmp(f->evidence[i].field, field))
			return evidence_value_str(&f->evidence[i]);
	return "";
}

static void test_thresholds(void)
{
	const struct finding *f;

	begin_family(150);
	copied(31);
	ok(!p25(), "124 MiB of all children are not reported");
	copied(32);
	f = p25();
	ok(f && f->severity == SEVERITY_INFO, "128 MiB are, as info");
	ok(f && strstr(f->title, "4 forked children of python3[50]"), "%s", f ? f->title : "");
	is_str(evidence_of(f, "copied by all children"), "128 MiB", "the sum");
	is_str(evidence_of(f, "most copied by one child, of the parent's memory"), "32.0 MiB",
	       "the share of the parent's memory");
	is_str(evidence_of(f, "memory that they still share"), "472 MiB", "and the rest");
	is_str(evidence_of(f, "growth of the copies"), "4.00 MiB/s", "and the growth");
	ok(*evidence_of(f, "what copies"), "reference counts of CPython");
	ok(f && strstr(remedy_str(f, f->nr_remedies - 1), "each worker fewer saves about 32.0 MiB"),
	   "what fewer workers save");
	copied(100);
	f = p25();
	is_str(evidence_of(f, "copied by all children"), "400 MiB", "the same child goes on");
	end();

	begin_family(200);
	copied(39);
	ok(!p25(), "less than a fifth of the parent's memory is not reported");
	copied(40);
	ok(p25(), "a fifth is");
	end();
}

/* The child that the finding is about ends before the others. */
static void test_end_of_one(void)
{
	size_t n = 0;

	begin_family(150);
	fs.keep_cleared = true;
	copied(100);
	ok(p25(), "all children are reported");
	for (int i = 0; i < CHILDREN; i++)
		if (p25() && child[i].subject.pid == p25()->subject.pid)
			child[i].g.flags |= PROC_FINAL;
	copied(100);
	copied(101);
	for (size_t i = 0; i < fs.n; i++)
		n += !strcmp(fs.f[i].rule->id, "P25");
	ok(n == 1, "those that are left are not reported again: %zu", n);
	copied(140);
	ok(p25() && strstr(p25()->title, "3 forked children"), "unless they copy more");
	end();
}

static void test_severity(void)
{
	const struct finding *f;

	total_mib = 1600;
	free_mib = 1500;
	begin_family(60);
	copied(40);
	f = p25();
	ok(f && f->severity == SEVERITY_INFO, "a tenth of the memory is info");
	copied(41);
	f = p25();
	ok(f && f->severity == SEVERITY_WARNING, "more is a warning");
	end();

	total_mib = 64 << 10;
	free_mib = 600;
	begin_family(400);
	copied(80);
	copied(90);
	f = p25();
	ok(f && f->severity == SEVERITY_WARNING, "the rest does not fit into the free memory");
	is_str(evidence_of(f, "at this rate, memory is full in"), "15 s", "when");
	free_mib = 1240;
	copied(91);
	f = p25();
	ok(f && f->severity == SEVERITY_INFO, "what they still share just fits");
	is_str(evidence_of(f, "at this rate, memory is full in"), "", "no forecast then");
	end();
	free_mib = 32 << 10;
}

static void test_who(void)
{
	const struct finding *f;

	begin_family(100);
	for (int i = 0; i < CHILDREN; i++)
		child[i].g.execs = 1;
	copied(90);
	ok(!p25(), "after exec() nothing is shared");
	end();

	begin_family(100);
	for (int i = 0; i < CHILDREN; i++)
		child[i].g.flags = 0;
	copied(90);
	ok(!p25(), "the fork was not seen: what was copied is not known");
	end();

	begin_family(100);
	for (int i = 0; i < CHILDREN; i++)
		child[i].g.flags |= PROC_SHARES_MM;
	copied(90);
	ok(!p25(), "vfork() copies nothing");
	end();

	begin_family(100);
	for (int i = 0; i < CHILDREN; i++)
		child[i].g.ppid = 7;
	strcpy(child[0].g.comm, "worker");
	copied(90);
	f = p25();
	ok(f && strstr(f->title, "4 forked children have copied 360 MiB"), "a parent not watched");
	is_str(evidence_of(f, "memory that they still share"), "", "has no known rest");
	end();

	begin_family(100);
	copied(90);
	f = p25();
	ok(f, "all four");
	child[f && f->subject.pid == PARENT + 3].g.flags |= PROC_FINAL;
	copied(95);
	f = p25();
	is_str(evidence_of(f, "copied by all children"), "360 MiB",
	       "a child that ends frees its copies: the peak stays");
	end();
}

int main(void)
{
	test_thresholds();
	test_end_of_one();
	test_severity();
	test_who();
	return tap_done();
}
