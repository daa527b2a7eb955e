// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Tests names of containers: from files of Docker, and from the arguments of Podman's monitor. */
#include "fakeroot.h"

#include "collect/names/container_names.h"
#include "tap.h"

#define ID    "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define OTHER "1123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

static struct fakeroot root;

/* Writes arguments, which are separated by blanks here and by NULs in the file. */
static void put_arguments(unsigned int pid, const char *arguments)
{
	char name[64], path[256];
	FILE *f;

	snprintf(name, sizeof(name), "proc/%u/cmdline", pid);
	f = fopen(fake_path(&root, name, path, sizeof(path)), "w");
	for (; f && *arguments; arguments++)
		putc(*arguments == ' ' ? 0 : *arguments, f);
	if (!f || fclose(f))
		exit(1);
}

static const char *name_of(enum runtime runtime, uint32_t pid)
{
	struct workload w = {.runtime = runtime, .container = ID};
	static char name[32];

	strcpy(name, "none");
	return container_name_find(root.fd, &w, pid, name, sizeof(name)) ? name : NULL;
}

static void test_arguments(void)
{
	static const struct {
		const char *arguments, *want, *name;
	} rows[] = {
		{"/usr/bin/conmon -c " ID " -n web ", "web", "a name at the end"},
		{"/usr/bin/conmon -n web -c " ID " ", "web", "a name before the ID"},
		{"/usr/bin/conmon -n web -c " ID, "web", "arguments without a last NUL"},
		{"/usr/bin/conmon -c " ID " -n ", NULL, "an option without a value"},
		{"/usr/bin/conmon -n web -c ", NULL, "no value of the ID"},
		{"/usr/bin/conmon -c " ID " -n  -x ", NULL, "an empty name"},
		{"/usr/bin/conmon -c " ID " -nn web ", NULL, "a longer option"},
		{"/usr/bin/conmon -c " OTHER " -n web ", NULL, "another container"},
		{"/usr/bin/conmon -c " ID "0 -n web ", NULL, "an ID that begins like this one"},
		{"/usr/bin/other -c " ID " -n web ", NULL, "another program"},
		{"conmon", NULL, "no options"},
		{"", NULL, "no arguments"},
	};

	fake_process(&root, 10, 9, "web", 0, "");
	fake_process(&root, 9, 1, "conmon", 0, "");
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		put_arguments(9, rows[i].arguments);
		is_str(name_of(RUNTIME_PODMAN, 10), rows[i].want, rows[i].name);
	}
	put_arguments(9, "/usr/bin/conmon -c " ID " -n web ");
	is_str(name_of(RUNTIME_PODMAN, 9), "web", "the monitor itself");
	is_str(name_of(RUNTIME_PODMAN, 0), NULL, "no process");
	is_str(name_of(RUNTIME_CONTAINERD, 10), NULL, "another runtime");
	is_str(name_of(RUNTIME_DOCKER, 10), NULL, "Docker has a file");
}

/* The process and its seven next ancestors are searched for the monitor, but not process 1. */
static void test_ancestors(void)
{
	for (unsigned int pid = 20; pid < 40; pid++)
		fake_process(&root, pid, pid == 20 ? 1 : pid - 1, "web", 0, "");
	put_arguments(20, "/usr/bin/conmon -c " ID " -n far ");
	is_str(name_of(RUNTIME_PODMAN, 27), "far", "seven levels above");
	is_str(name_of(RUNTIME_PODMAN, 28), NULL, "eight levels above");
	fake_process(&root, 50, 2, "web", 0, "");
	fake_process(&root, 2, 1, "conmon", 0, "");
	put_arguments(2, "/usr/bin/conmon -c " ID " -n low ");
	is_str(name_of(RUNTIME_PODMAN, 50), "low", "process 2");
	fake_process(&root, 1, 0, "conmon", 0, "");
	fake_process(&root, 51, 1, "web", 0, "");
	put_arguments(1, "/usr/bin/conmon -c " ID " -n init ");
	is_str(name_of(RUNTIME_PODMAN, 51), NULL, "process 1 is no monitor");
	fake_process(&root, 52, 53, "web", 0, "");
	is_str(name_of(RUNTIME_PODMAN, 52), NULL, "a parent that has ended");
}

static void test_docker(void)
{
	static const struct {
		const char *text, *want, *name;
	} rows[] = {
		{"{\"Name\":\"/web\"}", "web", "a name without its slash"},
		{"{\"Name\":\"/w\"}", "w", "a name of one letter"},
		{"{\"Name\":\"/\"}", NULL, "an empty name"},
		{"{\"Name\":\"web\"}", NULL, "no slash"},
		{"{\"Name\":\"\"}", NULL, "nothing"},
		{"{\"Other\":\"/web\"}", NULL, "no name"},
		{"", NULL, "an empty file"},
		{"{\"Name\":\"/0123456789012345678901234567890123\"}",
		 "0123456789012345678901234567890", "a long name is cut"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		fake_file(&root, "var/lib/docker/containers/" ID "/config.v2.json", "%s",
			  rows[i].text);
		is_str(name_of(RUNTIME_DOCKER, 0), rows[i].want, rows[i].name);
	}
	is_str(name_of(RUNTIME_PODMAN, 0), NULL, "the file is not Podman's");
}

int main(void)
{
	root = fakeroot_make();
	test_arguments();
	test_ancestors();
	test_docker();
	fakeroot_free(&root);
	return tap_done();
}
