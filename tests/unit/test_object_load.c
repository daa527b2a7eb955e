// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Tests how the programs of a BPF object are loaded and attached: with which type, in which order
 * and in which file, which ones wait, and what is told of one that the kernel rejects. The kernel
 * is played; its types are needed.
 */
#define _GNU_SOURCE
#include "played_kernel.h"
#include <bpf/btf.h>
#include <pthread.h>

#include "probe/load_log.h"
#include "probe/object.h"
#include "tap.h"

#define PLACEHOLDER 2  /* instructions of a program that waits */
#define SMALL	    60 /* libbpf itself loads shorter programs, unless they need a type */

static struct object o;
static long cpus;	     /* that are online; 0: those of this machine */
static unsigned int threads; /* that were started */

long sysconf(int name)
{
	static long (*real)(int);

	if (!real)
		real = (long (*)(int))dlsym(RTLD_NEXT, "sysconf");
	return name == _SC_NPROCESSORS_ONLN && cpus ? cpus : real(name);
}

int pthread_create(pthread_t *ret, const pthread_attr_t *attr, void *(*start)(void *), void *ctx)
{
	int (*real)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *) =
		(int (*)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *))dlsym(
			RTLD_NEXT, "pthread_create");

	threads++;
	return real(ret, attr, start, ctx);
}

/* Mappings of the object's maps after the load, and which of them fails. */
static struct {
	char name[16];
	size_t bytes;
	int rights;
} mapped[8];
static size_t mappings;
static const char *unmappable; /* name of a map that cannot be mapped */

void *mmap(void *at, size_t bytes, int rights, int flags, int fd, off_t from)
{
	/* libbpf itself maps settings at a given address */
	const struct played *p = flags == MAP_SHARED && fd >= 0 ? played_by_fd(fd) : NULL;

	if (p && unmappable && played_is(p->name, unmappable)) {
		errno = EAGAIN;
		return MAP_FAILED;
	}
	if (p && mappings < 8) {
		snprintf(mapped[mappings].name, sizeof(mapped[0].name), "%.15s", p->name);
		mapped[mappings].bytes = from ? 0 : bytes;
		mapped[mappings++].rights = rights;
	}
	return (void *)played_real(SYS_mmap, at, bytes, rights, flags, fd, from);
}

/* Opens an object, of which no program is selected. Returns false if the kernel has no types. */
static bool begin(enum object_build build)
{
	struct bpf_program *prog;

	played_begin();
	load_log_begin();
	if (object_open(&o, build, NULL) || !object_read_types(&o))
		return false;
	bpf_object__for_each_program (prog, o.obj)
		bpf_program__set_autoload(prog, false);
	return true;
}

/* What the kernel is asked for, by the section of a program. */
static const struct kind {
	const char *section;
	__u32 type, attach;
	const char *prefix; /* of the name of the type that it is attached by; NULL: by none */
} kinds[] = {
	{"tp_btf/", BPF_PROG_TYPE_TRACING, BPF_TRACE_RAW_TP, "btf_trace_"},
	{"raw_tp/", BPF_PROG_TYPE_RAW_TRACEPOINT, 0, NULL},
	{"tp/", BPF_PROG_TYPE_TRACEPOINT, 0, NULL},
	{"perf_event", BPF_PROG_TYPE_PERF_EVENT, 0, NULL},
	{"syscall", BPF_PROG_TYPE_SYSCALL, 0, NULL},
	{"fentry/", BPF_PROG_TYPE_TRACING, BPF_TRACE_FENTRY, ""},
	{"fexit/", BPF_PROG_TYPE_TRACING, BPF_TRACE_FEXIT, ""},
	{"kprobe/", BPF_PROG_TYPE_KPROBE, 0, NULL},
	{"kretprobe/", BPF_PROG_TYPE_KPROBE, 0, NULL},
	{"iter/", BPF_PROG_TYPE_TRACING, BPF_TRACE_ITER, "bpf_iter_"},
};
#define KINDS (sizeof(kinds) / sizeof(kinds[0]))

static struct btf *types; /* of this kernel */

/* Returns the id of the type of a program; 0: this kernel has none. */
static int type_of(const struct bpf_program *prog, const struct kind *k)
{
	const char *slash = strchr(bpf_program__section_name(prog), '/');
	char name[128];
	int id;

	snprintf(name, sizeof(name), "%s%s", k->prefix, slash ? slash + 1 : "");
	id = btf__find_by_name_kind(
		types, name, k->attach == BPF_TRACE_RAW_TP ? BTF_KIND_TYPEDEF : BTF_KIND_FUNC);
	return id > 0 ? id : 0;
}

static bool is_of(const struct bpf_program *prog, const struct kind *k)
{
	const char *section = bpf_program__section_name(prog);

	return !strncmp(section, k->section, strlen(k->section)) &&
	       (!k->prefix || type_of(prog, k));
}

#define SELECTED_MAX 32

static struct {
	struct bpf_program *prog;
	const struct kind *kind;
	size_t instructions; /* before the load */
} selected[SELECTED_MAX];
static size_t selections;

/* Selects the longest and the shortest program of each kind. */
static void select_all(void)
{
	selections = 0;
	for (size_t k = 0; k < KINDS; k++) {
		struct bpf_program *prog, *most = NULL, *least = NULL;

		bpf_object__for_each_program (prog, o.obj) {
			size_t n = bpf_program__insn_cnt(prog);

			if (!is_of(prog, &kinds[k]))
				continue;
			if (!most || n > bpf_program__insn_cnt(most))
				most = prog;
			if (!least || n < bpf_program__insn_cnt(least))
				least = prog;
		}
		for (int i = 0; i < 2; i++) {
			prog = i ? least : most;
			if (!prog || (i && least == most))
				continue;
			bpf_program__set_autoload(prog, true);
			selected[selections].prog = prog;
			selected[selections].instructions = bpf_program__insn_cnt(prog);
			selected[selections++].kind = &kinds[k];
		}
	}
}

/* Returns the program that libbpf's file of a program is. */
static const struct played *loaded(size_t i)
{
	return played_by_fd(bpf_program__fd(selected[i].prog));
}

static const char *name_of(size_t i)
{
	return bpf_program__name(selected[i].prog);
}

static void is_whole(size_t i)
{
	const struct played *p = loaded(i);
	const struct kind *k = selected[i].kind;

	if (!ok(p && p->kind == PLAYED_PROGRAM && played_is(p->name, name_of(i)), "%s is loaded",
		name_of(i)))
		return;
	/* libbpf adds instructions for helpers that an old kernel lacks, and for missing fields */
	ok(p->instructions >= selected[i].instructions && p->instructions > PLACEHOLDER,
	   "with its %u instructions", p->instructions);
	ok(p->type == k->type && p->attach == k->attach, "as %s", k->section);
	is_u64(p->id, k->prefix ? type_of(selected[i].prog, k) : 0, "with the id of its type");
	is_u64(!!(p->flags & BPF_F_SLEEPABLE), k->type == BPF_PROG_TYPE_SYSCALL,
	       "only a system call may sleep");
}

static void test_at_once(enum object_build build)
{
	size_t fds = played_fds(), longest = 0, same = 0;

	if (!begin(build))
		return;
	select_all();
	ok(selections > 5, "%zu programs are selected", selections);
	if (!ok(!object_load(&o, false, NULL, NULL), "they are loaded: %s", load_log()))
		return;
	ok(!object_has_rest(&o) && !object_load_rest(&o), "none waits");
	for (size_t i = 0; i < selections; i++)
		is_whole(i);
	for (unsigned int i = 0; i < played_n; i++) {
		if (played[i].kind != PLAYED_PROGRAM || played[i].instructions <= PLACEHOLDER)
			continue;
		for (size_t s = 0; s < selections; s++)
			if (played_is(played[i].name, name_of(s))) {
				same++;
				break;
			}
		longest = played[i].instructions > longest ? played[i].instructions : longest;
	}
	is_u64(same, selections, "each is loaded once");
	ok(longest > SMALL, "the longest has %zu instructions", longest);
	object_close(&o);
	is_u64(played_fds(), fds, "no file is left");
}

static bool is_first(void *ctx, const struct bpf_program *prog)
{
	return bpf_program__section_name(prog)[0] == *(const char *)ctx;
}

/* Programs that are not needed at once wait, if libbpf leaves them to faultscope. */
static void test_later(void)
{
	size_t fds = played_fds(), waiting = 0;
	char now = 't';

	if (!begin(OBJECT_FULL))
		return;
	select_all();
	if (!ok(!object_load(&o, false, is_first, &now), "some are loaded: %s", load_log()))
		return;
	ok(object_has_rest(&o), "the others wait");
	for (size_t i = 0; i < selections; i++) {
		const char *section = bpf_program__section_name(selected[i].prog);
		const struct played *p = loaded(i);
		bool is_long = selected[i].instructions >= SMALL;

		if (*section == now)
			is_whole(i);
		else if (is_long)
			ok(p && p->instructions == PLACEHOLDER, "%s waits", section);
		waiting += p && p->instructions == PLACEHOLDER;
	}
	ok(waiting > 0, "%zu wait", waiting);
	is_u64(object_load_rest(&o), 0, "then these are loaded");
	ok(!object_has_rest(&o), "none waits");
	for (size_t i = 0; i < selections; i++)
		is_whole(i);
	object_close(&o);
	is_u64(played_fds(), fds, "no file is left");
	if (!begin(OBJECT_FULL))
		return;
	select_all();
	object_load(&o, false, is_first, &now);
	object_close(&o);
	is_u64(played_fds(), fds, "nor if they are never loaded");
}

static void test_rejected(void)
{
	for (int later = 0; later < 2; later++) {
		char now = later ? '-' : 't', want[128];
		size_t fds = played_fds(), i = 0;
		int err;

		if (!begin(OBJECT_FULL))
			return;
		select_all();
		while (i < selections && strncmp(selected[i].kind->section, "tp_btf", 6) != 0)
			i++;
		if (i == selections)
			return;
		/* the placeholder has the same name, and is loaded first */
		played_fail(PLAYED_PROGRAM, name_of(i), 1, EACCES);
		err = object_load(&o, false, is_first, &now);
		if (later) {
			ok(!err && object_has_rest(&o), "the rejected program waits");
			err = object_load_rest(&o);
		}
		ok(err == -EACCES, "the kernel rejects a program: %d", err);
		ok(!object_has_rest(&o), "nothing waits any more");
		snprintf(want, sizeof(want),
			 "libbpf: prog '%s': BPF program load failed: Permission denied\n",
			 name_of(i));
		ok(strstr(load_log(), want) != NULL, "it is named");
		snprintf(want, sizeof(want),
			 "libbpf: prog '%s': -- BEGIN PROG LOAD LOG --\n0: (95) exit\n",
			 name_of(i));
		ok(strstr(load_log(), want) && strstr(load_log(), "processed 1 insns\n-- END PROG"),
		   "with the verifier's reason: %s", load_log());
		object_close(&o);
		is_u64(played_fds(), fds, "no file is left");
	}
}

/* The longest program begins first, so that no thread begins with it when the others end. */
static void test_order(void)
{
	unsigned int first = 0, last = UINT32_MAX;
	size_t jobs = 0;
	bool ordered = true;

	if (!begin(OBJECT_FULL))
		return;
	select_all();
	cpus = 1;
	threads = 0;
	ok(!object_load(&o, false, NULL, NULL), "programs are loaded");
	is_u64(threads, 0, "one CPU needs no other thread");
	for (unsigned int i = 0; i < played_n; i++)
		if (played[i].kind == PLAYED_PROGRAM && played[i].instructions == PLACEHOLDER)
			first = i + 1;
	for (unsigned int i = first; i < played_n; i++) {
		if (played[i].kind != PLAYED_PROGRAM)
			continue;
		ordered &= played[i].instructions <= last;
		last = played[i].instructions;
		jobs++;
	}
	ok(jobs > 3 && ordered, "%zu programs, the longest first", jobs);
	object_close(&o);
	for (cpus = 2; cpus <= 128; cpus *= 8) {
		if (!begin(OBJECT_FULL))
			return;
		select_all();
		threads = 0;
		object_load(&o, false, NULL, NULL);
		is_u64(threads, cpus < 4 ? cpus - 1 : 3, "a thread for each CPU, up to four");
		object_close(&o);
	}
	cpus = 0;
}

static void test_attaching(void)
{
	if (!begin(OBJECT_FULL))
		return;
	select_all();
	if (!ok(!object_load(&o, false, NULL, NULL), "programs are loaded"))
		return;
	for (size_t i = 0; i < selections; i++) {
		const struct bpf_program *prog = selected[i].prog;
		const char *section = bpf_program__section_name(prog), *at = strchr(section, '/');
		bool raw = !strncmp(section, "raw_tp/", 7), typed = !strncmp(section, "tp_btf/", 7);
		unsigned int before = played_n;
		struct bpf_link *link;

		ok(parallel_load_is_typed(prog) == typed, "%s: by a type: %d", section, typed);
		ok(object_is_typed(&o, name_of(i)) == (selected[i].kind->prefix != NULL),
		   "needs types: %d", selected[i].kind->prefix != NULL);
		if (!raw && !typed)
			continue;
		link = parallel_load_attach(selected[i].prog);
		if (!ok(link && played_n == before + 1, "%s is attached", section))
			continue;
		is_str(played[before].name, raw ? at + 1 : "", "to this tracepoint");
		is_u64(played[before].program, bpf_program__fd(prog), "its program");
		bpf_link__destroy(link);
	}
	ok(!object_is_typed(&o, "no_such_program"), "a program that is missing needs none");
	object_close(&o);
}

/* A probe is left out if the kernel lacks the function or tracepoint of one of its programs. */
static void test_targets(void)
{
	const char *names[3] = {NULL, NULL, NULL};
	const char *lacking = NULL, *there = NULL;
	struct bpf_program *prog;
	size_t wrong = 0;

	if (!begin(OBJECT_FULL))
		return;
	bpf_object__for_each_program (prog, o.obj) {
		const char *section = bpf_program__section_name(prog);
		const char *name = bpf_program__name(prog);

		for (size_t k = 0; k < KINDS; k++) {
			bool typed = kinds[k].prefix && kinds[k].attach != BPF_TRACE_ITER, lacks;

			if (strncmp(section, kinds[k].section, strlen(kinds[k].section)) != 0)
				continue;
			lacks = typed && !type_of(prog, &kinds[k]);
			if (object_lacks_target(&o, name, types) != lacks && ++wrong)
				ok(false, "%s %s: lacks its target: %d", section, name, lacks);
			if (lacks)
				lacking = name;
			else if (typed)
				there = name;
		}
	}
	is_u64(wrong, 0, "targets that are there, by the kernel's types");
	names[0] = there;
	ok(there && !object_lacks_one(&o, names, 3, types), "a probe with one program");
	ok(!object_lacks_one(&o, names, 0, types), "one without programs");
	names[1] = lacking;
	if (lacking) {
		ok(object_lacks_one(&o, names, 3, types), "its second program lacks a target");
		ok(!object_lacks_one(&o, names, 1, types), "only programs of the probe count");
	}
	object_close(&o);
}

/* An object that is loaded again takes over the maps of the one before. */
static void test_adopting(void)
{
	size_t fds = played_fds();
	struct object before;
	struct bpf_map *map;
	size_t same = 0, maps = 0;

	if (!begin(OBJECT_HASH))
		return;
	if (!ok(!object_load(&o, false, NULL, NULL), "an object without programs"))
		return;
	before = o;
	memset(&o, 0, sizeof(o));
	if (!ok(!object_open(&o, OBJECT_HASH, NULL) && object_read_types(&o), "a second one"))
		return;
	is_u64(object_adopt(&o, &before), 0, "takes over its maps");
	bpf_object__for_each_map(map, o.obj)
	{
		const char *name = bpf_map__name(map);
		struct bpf_map *old = object_map(&before, name);
		struct stat st, was;

		if (!strncmp(name, ".rodata", 7)) {
			ok(bpf_map__fd(map) < 0, "%s is its own", name);
			continue;
		}
		if (!old || bpf_map__fd(old) < 0)
			continue;
		maps++;
		same += !fstat(bpf_map__fd(map), &st) && !fstat(bpf_map__fd(old), &was) &&
			st.st_ino == was.st_ino;
	}
	ok(maps > 10, "%zu maps", maps);
	is_u64(same, maps, "are the same ones");
	object_close(&before);
	object_close(&o);
	is_u64(played_fds(), fds, "no file is left");
}

/* ---- memory of maps ---- */

static const struct {
	const char *name;
	size_t bytes;
	int rights;
} mappings_of_growth[] = {
	{".data.shared", sizeof(struct fs_shared), PROT_READ | PROT_WRITE},
	{"growth", 256 * sizeof(struct growth), PROT_READ},
	{"growth_spares", GROWTH_MAX * sizeof(struct fs_spare), PROT_READ | PROT_WRITE},
};

/* Memory is mapped that programs share: for growth, also the first rows, and the free ones. */
static void test_mappings(void)
{
	for (size_t want = 1; want <= 3; want += 2) {
		size_t fds = played_fds();

		if (!begin(OBJECT_FULL))
			return;
		mappings = 0;
		is_u64(object_load(&o, want == 3, NULL, NULL), 0, "an object is loaded");
		is_u64(mappings, want, "maps that are mapped");
		for (size_t i = 0; i < want && i < mappings; i++)
			ok(played_is(mapped[i].name, mappings_of_growth[i].name) &&
				   mapped[i].bytes == mappings_of_growth[i].bytes &&
				   mapped[i].rights == mappings_of_growth[i].rights,
			   "%s", mapped[i].name);
		ok(o.shared && !o.config && (o.growth != NULL) == (want == 3) &&
			   (o.spares != NULL) == (want == 3) &&
			   o.growth_rows == (want == 3 ? 256 : 0),
		   "they can be used, and the settings no more");
		ok(!o.types.btf && !*o.types.path, "the kernel's types are not needed any more");
		ok(o.shared->stacks_for_all && o.shared->stacks_for_samples, "stacks are granted");
		object_close(&o);
		is_u64(played_fds(), fds, "no file is left");
	}
	for (size_t i = 0; i < 3; i++) {
		size_t fds = played_fds();

		if (!begin(OBJECT_FULL))
			return;
		unmappable = mappings_of_growth[i].name;
		is_u64(-object_load(&o, true, NULL, NULL), EAGAIN, unmappable);
		unmappable = NULL;
		ok((o.shared != NULL) == (i > 0) && (o.growth != NULL) == (i > 1) && !o.spares,
		   "what was mapped before");
		object_close(&o);
		is_u64(played_fds(), fds, "no file is left");
	}
}

static bool is_for_growth(const char *map)
{
	static const char *const names[] = {
		"astray",	  "told",	   "growth_places",  "growth_holders",
		"growth",	  "growth_spares", "owners",	     "unwind_procs",
		"unwind_areas",	  "unwind_pages",  "unwind_rules",   "unwind_rows",
		"unwind_pythons", "told_codes",	   "walk_scratches", "call_sites"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(map, names[i]))
			return true;
	return false;
}

/* Maps that are not needed have one entry. */
static void test_small_maps(enum object_build build)
{
	for (int needed = 0; needed < 4; needed++) {
		bool growth = needed & 1, resident = needed & 2;
		__u32 was[256], n = 0, small = 0, wrong = 0;
		struct bpf_map *map;

		if (!begin(build))
			return;
		bpf_object__for_each_map(map, o.obj) was[n++ % 256] = bpf_map__max_entries(map);
		o.config->resident.on = resident;
		if (!ok(!object_load(&o, growth, NULL, NULL), "loaded: %s", load_log()))
			return;
		n = 0;
		bpf_object__for_each_map(map, o.obj)
		{
			const char *name = bpf_map__name(map);
			__u32 before = was[n++ % 256];
			bool shrinks = (!growth && is_for_growth(name)) ||
				       (!resident && !strcmp(name, "resident"));

			small += shrinks;
			/* libbpf sets the size of events of each CPU itself */
			if (before && bpf_map__max_entries(map) != (shrinks ? 1 : before))
				wrong++;
		}
		ok(!wrong && (build == OBJECT_HASH || (small > 0) == (needed < 3)),
		   "growth %d, resident pages %d: %u small maps, %u of a wrong size", growth,
		   resident, small, wrong);
		object_close(&o);
	}
}

/* Maps of an object before keep their size. */
static void test_adopted_size(void)
{
	struct bpf_program *prog;
	struct object before;
	__u32 rows;

	if (!begin(OBJECT_FULL) || object_load(&o, true, NULL, NULL))
		return;
	before = o;
	memset(&o, 0, sizeof(o));
	if (!ok(!object_open(&o, OBJECT_FULL, NULL) && object_read_types(&o), "a second object"))
		return;
	bpf_object__for_each_program (prog, o.obj)
		bpf_program__set_autoload(prog, false);
	rows = bpf_map__max_entries(object_map(&o, "growth"));
	is_u64(object_adopt(&o, &before), 0, "takes over maps");
	ok(!object_load(&o, false, NULL, NULL), "is loaded without growth: %s", load_log());
	is_u64(bpf_map__max_entries(object_map(&o, "growth")), rows, "keeps the table of growth");
	object_close(&before);
	object_close(&o);
}

int main(void)
{
	types = btf__load_vmlinux_btf();
	if (libbpf_get_error(types) || !begin(OBJECT_FULL)) {
		ok(true, "# SKIP no types of the kernel");
		object_close(&o);
		btf__free(types);
		return tap_done();
	}
	object_close(&o);
	test_at_once(OBJECT_FULL);
	test_at_once(OBJECT_HASH);
	test_later();
	test_rejected();
	test_order();
	test_attaching();
	test_targets();
	test_adopting();
	test_mappings();
	test_small_maps(OBJECT_FULL);
	test_small_maps(OBJECT_HASH);
	test_adopted_size();
	btf__free(types);
	return tap_done();
}
