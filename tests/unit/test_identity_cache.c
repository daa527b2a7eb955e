// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Tests the cache of workload identities: which names an identity gets, when missing names are
 * looked up again, which entry is evicted, and how a pattern changes names.
 */
#include "fakeroot.h"

#include "collect/names/identity_cache.h"
#include "tap.h"

#define SECOND 1000000000ULL
#define ID     "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define POD    "11111111-2222-3333-4444-555555555555"
#define POD_AT "/kubepods/burstable/pod" POD
#define LOG    "var/log/containers/web-0_shop_app-" ID ".log"
#define WAYS   4 /* entries of which one is evicted for a new one */

static struct fakeroot root;
static struct known_table table;

static void begin(void)
{
	root = fakeroot_make();
	table = (struct known_table){.root = root.fd};
	if (known_init(&table))
		abort();
}

static void end(void)
{
	known_free(&table);
	ok(!table.known, "the cache is freed");
	fakeroot_free(&root);
}

static struct known *find_at(const char *path, const char *comm, uint64_t t_ns)
{
	struct member m = {.comm = comm, .t_ns = t_ns};

	return known_find(&table, path, &m);
}

/* The names of a cgroup: from files, from the path, or from the program. */
static void test_names(void)
{
	static const struct {
		const char *path, *comm;
		const char *file, *text;
		const char *pod, *container; /* names of the identity */
		bool waits;		     /* a name is missing, and may be known later */
		const char *name;
	} rows[] = {
		{"/system.slice/a.service", "x", NULL, NULL, "", "", false, "a unit"},
		{"", "x", NULL, NULL, "", "", false, "a program"},
		{POD_AT "/" ID, "x", NULL, NULL, "", "", true, "a container without names"},
		{POD_AT "/" ID, "x", LOG, "", "web-0", "app", false, "a container with a log"},
		{POD_AT "/" ID, "x", "var/log/pods/shop_web-0_" POD "/app/0.log", "", "web-0",
		 "app", true, "a container whose name is guessed"},
		{POD_AT "/" ID, "pause", "var/log/pods/shop_web-0_" POD "/app/0.log", "", "web-0",
		 "pause", false, "the pause container of a pod"},
		{POD_AT "/" ID, "paused", "var/log/pods/shop_web-0_" POD "/app/0.log", "", "web-0",
		 "app", true, "a program with a similar name"},
		{POD_AT "/" ID, "pause", LOG, "", "web-0", "app", false,
		 "a program named pause in a container with a log"},
		{POD_AT "/" ID, "pause", NULL, NULL, "", "pause", true,
		 "the pause container of a pod without names"},
		{POD_AT, "x", NULL, NULL, "", "", true, "a pod without names"},
		{POD_AT, "pause", "var/log/pods/shop_web-0_" POD "/app/0.log", "", "web-0", "",
		 false, "a pod with names"},
		{"/docker/" ID, "x", "var/lib/docker/containers/" ID "/config.v2.json",
		 "{\"Name\":\"/web\"}", "", "web", false, "a container of docker"},
		{"/docker/" ID, "pause", NULL, NULL, "", "", false,
		 "a container of docker without a name"},
		{"/docker/" ID, "x", LOG, "", "web-0", "app", false,
		 "a container with a log of a pod"},
		{"/user.slice/user-1000.slice/user@1000.service/docker/" ID, "x",
		 "var/lib/docker/containers/" ID "/config.v2.json", "{\"Name\":\"/web\"}", "", "",
		 false, "a container in a cgroup of a user"},
		{"/user.slice/user-1000.slice/user@1000.service/docker/" ID, "x", LOG, "", "", "",
		 false, "a log does not count for a cgroup of a user"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct known *k;

		begin();
		if (rows[i].file)
			fake_file(&root, rows[i].file, "%s", rows[i].text);
		k = find_at(rows[i].path, rows[i].comm, SECOND);
		ok(!strcmp(k->id.pod, rows[i].pod) && !strcmp(k->id.container, rows[i].container),
		   "%s: pod \"%s\", container \"%s\"", rows[i].name, k->id.pod, k->id.container);
		is_u64(k->waits, rows[i].waits, "whether a name is missing");
		is_str(k->id.cgroup, rows[i].path, "its cgroup");
		ok(k->id.serial, "its serial number");
		end();
	}
}

/* A state file is read if the log files tell no name, or only a guess. */
static void test_state_files(void)
{
	static const char state[] =
		"{\"annotations\":{\"io.kubernetes.cri.sandbox-namespace\":\"shop\","
		"\"io.kubernetes.cri.sandbox-name\":\"web-1\",\"io.kubernetes.cri.container-name\":"
		"\"of-state\",\"io.kubernetes.cri.sandbox-uid\":\"" POD "\"}}";
	static const struct {
		const char *log;
		const char *pod, *container;
		const char *name;
	} rows[] = {
		{NULL, "web-1", "of-state", "no log"},
		{"var/log/pods/shop_web-0_" POD "/app/0.log", "web-1", "of-state", "a guess"},
		{LOG, "web-0", "app", "the log of the container"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct known *k;

		begin();
		fake_file(&root,
			  "run/containerd/io.containerd.runtime.v2.task/k8s.io/" ID "/config.json",
			  "%s", state);
		if (rows[i].log)
			fake_file(&root, rows[i].log, "%s", "");
		k = find_at(POD_AT "/" ID, "x", SECOND);
		is_str(k->id.pod, rows[i].pod, rows[i].name);
		is_str(k->id.container, rows[i].container, "the container");
		is_str(k->id.namespace, "shop", "the namespace");
		ok(!k->waits, "no name is missing");
		k = find_at("/user.slice/user-1000.slice/user@1000.service/cri-containerd-" ID
			    ".scope",
			    "x", SECOND);
		is_str(k->id.container, "", "a cgroup of a user gets no name of a pod");
		end();
	}
}

/* Programs have entries of their own: by name, and one for all kernel threads. */
static void test_programs(void)
{
	struct member thread = {.comm = "kworker/0:1", .kernel_thread = true, .t_ns = SECOND},
		      other = {.comm = "ksoftirqd/0", .kernel_thread = true, .t_ns = SECOND},
		      nameless = {.t_ns = SECOND};
	struct known *k;

	begin();
	k = find_at("", "cron", SECOND);
	is_str(k->id.name, "cron", "a program");
	is_u64(k->id.kind, KIND_COMM, "its kind");
	ok(find_at("", "cron", SECOND) == k, "the same program has one entry");
	ok(find_at("", "cro", SECOND) != k, "another program has another entry");
	ok(find_at("/cron", "cron", SECOND) != k, "a cgroup of its name has another entry");
	is_str(known_find(&table, "", &thread)->id.cgroup, "", "a kernel thread has no cgroup");
	ok(known_find(&table, "", &thread) == known_find(&table, "", &other),
	   "all kernel threads have one entry");
	ok(strcmp(known_find(&table, "", &thread)->id.name, "kworker/0:1"),
	   "which has not the name of one of them");
	ok(known_find(&table, "", &nameless)->id.name[0], "a program without a name");
	k = find_at("/system.slice/a.service", "cron", SECOND);
	is_str(k->id.name, "a.service", "a cgroup does not depend on the program");
	ok(find_at("/system.slice/a.service", "other", SECOND) == k, "it has one entry");
	end();
}

/* Entries share sets of four. A new entry takes the place of the least recently used one. */
static void test_eviction(void)
{
	char path[WAYS + 1][64];
	struct known *k[WAYS + 1], *first = NULL;
	uint64_t serial;
	int n = 0;

	begin();
	for (unsigned int i = 0; n < WAYS; i++) {
		snprintf(path[n], sizeof(path[n]), "/system.slice/u%u.service", i);
		k[n] = find_at(path[n], "x", SECOND);
		if (!first)
			first = table.known + (k[n] - table.known) / WAYS * WAYS;
		n += k[n] >= first && k[n] < first + WAYS;
	}
	for (int i = 0; i < WAYS; i++)
		for (int j = 0; j < i; j++)
			ok(k[i] != k[j], "each of four paths has an entry of its own");
	serial = k[1]->id.serial;
	ok(find_at(path[0], "x", SECOND) == k[0], "the oldest one is used again");
	for (unsigned int i = 100000;; i++) {
		snprintf(path[WAYS], sizeof(path[WAYS]), "/system.slice/u%u.service", i);
		k[WAYS] = find_at(path[WAYS], "x", SECOND);
		if (k[WAYS] >= first && k[WAYS] < first + WAYS)
			break;
	}
	ok(k[WAYS] == k[1], "a fifth path takes the place of the least recently used one");
	is_str(k[1]->id.cgroup, path[WAYS], "its cgroup");
	for (int i = 0; i < WAYS; i++)
		if (i != 1)
			ok(find_at(path[i], "x", SECOND) == k[i] && !strcmp(k[i]->key, path[i]),
			   "the others stay");
	k[0] = find_at(path[1], "x", SECOND);
	ok(k[0] == k[WAYS], "the evicted path evicts the fifth one in turn");
	is_u64(k[0]->id.serial, serial, "it has the serial number that it had");
	end();
}

/* Missing names are looked up after 1 s, then after 2 s more, and so on, at most 300 s apart. */
static void test_refresh(void)
{
	static const uint64_t pause[] = {1, 1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300};
	uint64_t t = 10;
	struct known *k;

	begin();
	k = find_at(POD_AT "/" ID, "x", t * SECOND);
	for (size_t i = 0; i < sizeof(pause) / sizeof(pause[0]); i++) {
		struct member m = {.comm = "x"};

		is_u64(k->retry_ns, (t + pause[i]) * SECOND, "time of the next lookup");
		m.t_ns = k->retry_ns - 1;
		known_refresh(&table, k, &m);
		is_u64(k->retry_ns, (t + pause[i]) * SECOND, "no lookup before it");
		m.t_ns++;
		known_refresh(&table, k, &m);
		t += pause[i];
		ok(k->waits && k->used == table.uses, "the names are still missing");
	}
	fake_file(&root, LOG, "%s", "");
	k = find_at(POD_AT "/" ID, "x", k->retry_ns);
	is_str(k->id.pod, "web-0", "the names are there");
	ok(!k->waits, "nothing is missing");
	fake_remove(&root, LOG);
	k = find_at(POD_AT "/" ID, "x", 100000 * SECOND);
	is_str(k->id.pod, "web-0", "they are not looked up again");
	end();
}

static void test_patterns(void)
{
	static const struct {
		const char *pattern, *name, *want;
	} rows[] = {
		{"[0-9]+", "shard-7-of-12", "shard-*-of-*"},
		{"[0-9]", "shard-12", "shard-**"},
		{"^a", "aab", "*ab"},
		{"a$", "aba", "ab*"},
		{"b", "abc", "a*c"},
		{"x*", "axxb", "a*b"},
		{"x*", "xx", "*"},
		{".*", "abc", "*"},
		{"none", "abc", "abc"},
		{"abc", "abc", "*"},
		{"-[a-z0-9]{5}$", "web-x2x9v", "web*"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct identity id = {};
		regex_t pattern;

		if (regcomp(&pattern, rows[i].pattern, REG_EXTENDED))
			abort();
		strcpy(id.name, rows[i].name);
		identity_rename_by(&pattern, &id);
		is_str(id.name, rows[i].want, rows[i].pattern);
		regfree(&pattern);
	}
}

static void test_kinds(void)
{
	static const struct {
		const char *path;
		enum workload_kind want;
	} rows[] = {
		{POD_AT "/" ID, KIND_POD},
		{"/docker/" ID, KIND_CONTAINER},
		{"/system.slice/a.service", KIND_UNIT},
		{"/user.slice/user-1000.slice/session-3.scope", KIND_SESSION},
		{"/", KIND_COMM},
		{"", KIND_COMM},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		is_u64(path_kind(rows[i].path), rows[i].want, rows[i].path);
}

int main(void)
{
	test_names();
	test_state_files();
	test_programs();
	test_eviction();
	test_refresh();
	test_patterns();
	test_kinds();
	return tap_done();
}
