/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Loads programs of a BPF object, attaches them, prints "ready" and waits for a signal. */
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int fail(const char *what, int error)
{
	fprintf(stderr, "empty: %s: %s\n", what, strerror(error < 0 ? -error : error));
	return 1;
}

static bool is_wanted(const struct bpf_program *program, char **names)
{
	for (; *names; names++)
		if (!strcmp(bpf_program__name(program), *names))
			return true;
	return false;
}

int main(int argc, char **argv)
{
	struct bpf_object *object;
	struct bpf_program *program;
	int error, attached = 0;

	if (argc < 3) {
		fprintf(stderr, "usage: empty OBJECT PROGRAM...\n");
		return 2;
	}
	object = bpf_object__open(argv[1]);
	if (!object)
		return fail(argv[1], errno);
	bpf_object__for_each_program(program, object)
		bpf_program__set_autoload(program, is_wanted(program, argv + 2));
	error = bpf_object__load(object);
	if (error)
		return fail("load", error);
	bpf_object__for_each_program(program, object) {
		if (!bpf_program__autoload(program))
			continue;
		if (!bpf_program__attach(program))
			return fail(bpf_program__name(program), errno);
		attached++;
	}
	if (attached != argc - 2)
		return fail("a program is not in the object", ENOENT);
	puts("ready");
	fflush(stdout);
	pause();
	return 0;
}
