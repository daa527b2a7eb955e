/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Loads a BPF object, attaches all programs in it, prints "ready" and waits for a signal. */
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int fail(const char *what, int error)
{
	fprintf(stderr, "empty: %s: %s\n", what, strerror(error < 0 ? -error : error));
	return 1;
}

int main(int argc, char **argv)
{
	struct bpf_object *object;
	struct bpf_program *program;
	int error;

	if (argc != 2) {
		fprintf(stderr, "usage: empty OBJECT\n");
		return 2;
	}
	object = bpf_object__open(argv[1]);
	if (!object)
		return fail(argv[1], errno);
	error = bpf_object__load(object);
	if (error)
		return fail("load", error);
	bpf_object__for_each_program(program, object)
		if (!bpf_program__attach(program))
			return fail(bpf_program__name(program), errno);
	puts("ready");
	fflush(stdout);
	pause();
	return 0;
}
