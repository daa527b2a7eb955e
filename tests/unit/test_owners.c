// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Tests the search in the list of who made pages resident, against a search in all entries, and the
 * mappings of this process.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "resident/mappings.h"
#include "resident/owners.h"
#include "resident/page_ranges.h"
#include "sums.h"

#define ENTRIES 60
#define HUGE	(1u << FS_RESIDENT_HUGE_SHIFT)

static struct owner_entry entry[ENTRIES];

static int order(const void *a, const void *b)
{
	const struct owner_entry *x = a, *y = b;

	if (x->key.pid != y->key.pid)
		return x->key.pid < y->key.pid ? -1 : 1;
	if (x->key.unit != y->key.unit)
		return x->key.unit < y->key.unit ? -1 : 1;
	return x->key.number < y->key.number ? -1 : x->key.number > y->key.number;
}

/* Makes a sorted list with different keys. Returns its length. */
static size_t make_entries(uint64_t *dice)
{
	size_t n = 0;

	for (int i = 0; i < ENTRIES; i++) {
		struct owner_entry e = {};
		bool known = false;

		e.key.pid = 1 + roll(dice) % 3;
		e.key.unit = roll(dice) % 4 ? FS_RESIDENT_PAGE : FS_RESIDENT_HUGE;
		e.key.number = roll(dice) % (e.key.unit == FS_RESIDENT_HUGE ? 4 : 4 * HUGE);
		e.is.start_ns = 1 + roll(dice) % 2;
		e.is.since_ns = roll(dice) % 5;
		e.is.how = roll(dice) % 3; /* enum fs_resident_how */
		e.is.frame = roll(dice) % 8;
		for (size_t k = 0; k < n; k++)
			known |= !order(&entry[k], &e);
		if (!known)
			entry[n++] = e;
	}
	qsort(entry, n, sizeof(entry[0]), order);
	return n;
}

/* Returns whether an entry is of a page that the process had at that time. */
static bool is_had(const struct owner_entry *e, const struct owner_process *of)
{
	return e->key.pid == of->pid && e->is.start_ns == of->start_ns &&
	       e->key.unit == FS_RESIDENT_PAGE &&
	       !(e->is.how == FS_RESIDENT_LEFT && e->is.frame <= of->at_ns);
}

static uint64_t distance(const struct owner_entry *e, uint64_t page)
{
	return e->key.number > page ? e->key.number - page : page - e->key.number;
}

static void test_search(void)
{
	uint64_t dice = 1, found = 0, wrong = 0, near = 0, within = 0, left = 0;

	for (int round = 0; round < 3000; round++) {
		struct owners o = {.entry = entry, .n = make_entries(&dice)};
		const struct owner_process of = {1 + roll(&dice) % 3, 1 + roll(&dice) % 2,
						 roll(&dice) % 3 ? OWNER_NOW : roll(&dice) % 8};
		uint64_t since = roll(&dice) % 5;
		uint64_t page = roll(&dice) % 2 && o.n ? entry[roll(&dice) % o.n].key.number
						       : roll(&dice) % (4 * HUGE);
		struct owner_entry *want = NULL, *nearest = NULL, *got;
		bool later = false;

		for (size_t i = 0; i < o.n; i++) {
			struct owner_entry *e = &entry[i];

			left += e->is.how == FS_RESIDENT_LEFT;
			if (!is_had(e, &of) || e->key.number / HUGE != page / HUGE)
				continue;
			if (e->key.number == page)
				want = e;
			if (!nearest || distance(e, page) < distance(nearest, page))
				nearest = e;
			later |= e->is.since_ns > since;
		}
		wrong += owners_find(&o, &of, FS_RESIDENT_PAGE, page) != want;
		found += want != NULL;
		wrong += owners_within(&o, &of, page / HUGE, since) != later;
		within += later;
		got = owners_nearest(&o, &of, page);
		wrong += got != nearest;
		near += got != NULL;
	}
	is_u64(wrong, 0, "the right entries are found");
	ok(found > 100 && near > found && within > 100 && left > 100,
	   "%" PRIu64 " found, %" PRIu64 " near, %" PRIu64 " left", found, near, left);
}

static struct owner_entry *nearest_of(const struct owners *o, uint32_t pid, uint64_t start_ns,
				      uint64_t page)
{
	const struct owner_process of = {pid, start_ns, OWNER_NOW};

	return owners_nearest(o, &of, page);
}

static void test_nearest(void)
{
	struct owners o = {.entry = entry, .n = 3};
	static const uint64_t page[] = {10, 20, HUGE + 1};

	memset(entry, 0, sizeof(entry));
	for (int i = 0; i < 3; i++) {
		entry[i].key.pid = 1;
		entry[i].key.unit = FS_RESIDENT_PAGE;
		entry[i].key.number = page[i];
	}
	ok(nearest_of(&o, 1, 0, 14) == &entry[0], "the nearer one is below");
	ok(nearest_of(&o, 1, 0, 15) == &entry[0], "of two with equal distance, the lower one");
	ok(nearest_of(&o, 1, 0, 16) == &entry[1], "the nearer one is above");
	ok(nearest_of(&o, 1, 0, 9) == &entry[0], "only one is above");
	ok(nearest_of(&o, 1, 0, HUGE - 1) == &entry[1], "the other is in another range");
	ok(nearest_of(&o, 1, 0, HUGE) == &entry[2], "the first page of a range");
	ok(!nearest_of(&o, 1, 0, 2 * HUGE), "a range without an entry");
	ok(!nearest_of(&o, 2, 0, 10), "another process");
	ok(!nearest_of(&o, 1, 1, 10), "another start");
}

static const struct mapping *mapping_of(const struct mappings *m, const void *at)
{
	uint64_t page = (uintptr_t)at >> PAGE_SHIFT;

	for (size_t i = 0; i < m->n; i++)
		if (page >= m->one[i].from && page < m->one[i].to)
			return &m->one[i];
	return NULL;
}

static void test_mappings(void)
{
	static const char name[] = "/tmp/test owners.XXXXXX";
	size_t bytes = 3 * PAGE_BYTES;
	struct mappings m = {};
	const struct mapping *one;
	char path[64], data[16];
	int fd, null = open("/dev/zero", O_RDWR | O_CLOEXEC), shared = memfd_create("mine", 0);
	void *anonymous, *file, *device, *memory;

	strcpy(path, name);
	fd = mkstemp(path);
	if (fd < 0 || ftruncate(fd, bytes) || ftruncate(shared, bytes))
		abort();
	anonymous = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	/* its neighbours have other rights, so that they are not the same mapping */
	mprotect((char *)anonymous + PAGE_BYTES, PAGE_BYTES, PROT_READ);
	file = mmap(NULL, bytes, PROT_READ, MAP_PRIVATE, fd, 0);
	device = mmap(NULL, bytes, PROT_READ, MAP_PRIVATE, null, 0);
	memory = mmap(NULL, bytes, PROT_READ, MAP_SHARED, shared, 0);
	is_u64(-mappings_read(&m, getpid()), 0, "the mappings of this process are read");
	one = mapping_of(&m, (char *)anonymous + PAGE_BYTES);
	ok(one && one->to - one->from == 1, "the bounds of a mapping of one page");
	ok(one && one->kind == HOLDING_ANONYMOUS && !one->filed && !one->file[0],
	   "it is anonymous");
	one = mapping_of(&m, file);
	ok(one && one->filed && !one->device && one->to - one->from == 3, "a mapping of a file");
	is_str(one ? one->file : "", strrchr(path, '/') + 1, "its name, with a space");
	one = mapping_of(&m, memory);
	ok(one && one->filed && !one->device, "shared memory");
	one = mapping_of(&m, device);
	ok(one && !one->device, "/dev/zero has memory of the process");
	one = mapping_of(&m, data);
	ok(one && one->kind == HOLDING_STACK && !one->filed, "the stack");
	for (size_t i = 0; i < m.n; i++)
		if (i && m.one[i].from < m.one[i - 1].to)
			ok(false, "mapping %zu begins before the end of the one before it", i);
	ok(m.n && m.one[m.n - 1].to < 1ULL << 51, "[vsyscall] is left out");
	mappings_free(&m);
	ok(!m.one && !m.n, "they are freed");
	munmap(anonymous, bytes);
	munmap(file, bytes);
	munmap(device, bytes);
	munmap(memory, bytes);
	unlink(path);
	close(fd);
	close(null);
	close(shared);
}

/* Reads the mappings of a process that has ended. */
static void test_ended(void)
{
	struct mappings m = {};
	pid_t pid = fork();

	if (!pid)
		_exit(0);
	waitid(P_PID, pid, NULL, WEXITED | WNOWAIT);
	is_u64(-mappings_read(&m, pid), ESRCH, "a process that has ended has no mappings");
	waitpid(pid, NULL, 0);
	is_u64(-mappings_read(&m, pid), ESRCH, "nor one that is gone");
	mappings_free(&m);
}

int main(void)
{
	test_search();
	test_nearest();
	test_mappings();
	test_ended();
	return tap_done();
}
