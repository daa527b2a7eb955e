// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Tests how a program is attached: by which function of libbpf, and to what, as its section and its
 * type say. The programs and libbpf are those of this test.
 */
#define _GNU_SOURCE
#include <bpf/libbpf.h>
#include <errno.h>

#include "probe/parallel_load.h"
#include "tap.h"

struct bpf_program {
	const char *name, *section;
	enum bpf_prog_type type;
};

const char *bpf_program__section_name(const struct bpf_program *prog)
{
	return prog->section;
}

enum bpf_prog_type bpf_program__type(const struct bpf_program *prog)
{
	return prog->type;
}

static char attached[160]; /* the call that attached a program */

static struct bpf_link *note(const char *how, const struct bpf_program *prog, const char *a,
			     const char *b)
{
	snprintf(attached, sizeof(attached), "%s %s %s %s", how, prog->name, a, b);
	return (struct bpf_link *)attached;
}

struct bpf_link *bpf_program__attach(const struct bpf_program *prog)
{
	return note("any", prog, "", "");
}

struct bpf_link *bpf_program__attach_trace(const struct bpf_program *prog)
{
	return note("trace", prog, "", "");
}

struct bpf_link *bpf_program__attach_raw_tracepoint(const struct bpf_program *prog,
						    const char *name)
{
	return note("raw", prog, name, "");
}

struct bpf_link *bpf_program__attach_tracepoint(const struct bpf_program *prog,
						const char *category, const char *name)
{
	return note("tracepoint", prog, category, name);
}

struct bpf_link *bpf_program__attach_kprobe(const struct bpf_program *prog, bool at_return,
					    const char *function)
{
	return note("kprobe", prog, at_return ? "return" : "entry", function);
}

#define CATEGORY_63 "123456789-123456789-123456789-123456789-123456789-123456789-123"

static void test_attaching(void)
{
	static const struct {
		const char *section;
		enum bpf_prog_type type;
		const char *want; /* NULL: an error */
		bool typed;
	} rows[] = {
		{"tp_btf/fork", BPF_PROG_TYPE_RAW_TRACEPOINT, "trace p  ", true},
		{"tp_btf", BPF_PROG_TYPE_RAW_TRACEPOINT, "raw p  ", false},
		{"tp_btfs/x", BPF_PROG_TYPE_RAW_TRACEPOINT, "raw p x ", false},
		{"raw_tp/fork", BPF_PROG_TYPE_RAW_TRACEPOINT, "raw p fork ", false},
		{"tp/sched/fork", BPF_PROG_TYPE_TRACEPOINT, "tracepoint p sched fork", false},
		{"tp/a/b/c", BPF_PROG_TYPE_TRACEPOINT, "tracepoint p a b/c", false},
		{"tp/sched", BPF_PROG_TYPE_TRACEPOINT, NULL, false},
		{"tp", BPF_PROG_TYPE_TRACEPOINT, NULL, false},
		{"tp/" CATEGORY_63 "/x", BPF_PROG_TYPE_TRACEPOINT, "tracepoint p " CATEGORY_63 " x",
		 false},
		{"tp/" CATEGORY_63 "4/x", BPF_PROG_TYPE_TRACEPOINT, NULL, false},
		{"fentry/f", BPF_PROG_TYPE_TRACING, "trace p  ", false},
		{"fexit/f", BPF_PROG_TYPE_TRACING, "trace p  ", false},
		{"kprobe/f", BPF_PROG_TYPE_KPROBE, "kprobe p entry f", false},
		{"kretprobe/f", BPF_PROG_TYPE_KPROBE, "kprobe p return f", false},
		{"perf_event", BPF_PROG_TYPE_PERF_EVENT, "any p  ", false},
		{"syscall", BPF_PROG_TYPE_SYSCALL, "any p  ", false},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct bpf_program one = {"p", rows[i].section, rows[i].type}, *prog = &one;
		struct bpf_link *link;

		attached[0] = 0;
		errno = 0;
		link = parallel_load_attach(prog);
		is_str(attached, rows[i].want ? rows[i].want : "", rows[i].section);
		ok(rows[i].want ? link != NULL : !link && errno == EINVAL, "its result");
		ok(parallel_load_is_typed(prog) == rows[i].typed, "by a type: %d", rows[i].typed);
	}
}

int main(void)
{
	test_attaching();
	return tap_done();
}
