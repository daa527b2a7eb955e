// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Fuzzes the writers of metrics pages. The input bytes become request headers and the names of
 * programs, cgroups, pods and kernel functions. Each output format must stay well-formed. The first
 * byte is the number of workloads. The other bytes are divided among them.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "page_check.h"
#include "render/prom/prom.h"
#include "serve/gzip.h"

#define WORKLOADS_MAX 8

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct place {
	struct model m;
	struct census c;
	struct node n;
};

static char *text_of(const uint8_t *data, size_t size)
{
	char *s = calloc(1, size + 1);

	if (!s)
		abort();
	memcpy(s, data, size);
	return s;
}

static void add_workload(struct place *p, uint32_t pid, const char *text)
{
	struct process_record r = {.h = {RECORD_PROCESS, sizeof(r), 1},
				   .subject = {pid, pid, 0},
				   .g = {.map_count = 7, .fds = 3, .fd_soft = 10}};
	struct signal_record signal = {.h = {RECORD_SIGNAL, sizeof(signal), 2},
				       .subject = r.subject,
				       .signal = 11,
				       .code = 1};
	struct kernel_fault_record fault = {.h = {RECORD_KERNEL_FAULT, sizeof(fault), 2},
					    .subject = r.subject,
					    .ip = pid,
					    .count = 1};
	struct identity_names names = {
		.namespace = text, .pod = text, .container = text, .comm = text};
	struct identity id = {};
	struct workload w;

	strncpy(r.g.comm, text, sizeof(r.g.comm) - 1);
	memcpy(signal.comm, r.g.comm, sizeof(signal.comm));
	memcpy(fault.comm, r.g.comm, sizeof(fault.comm));
	workload_of(text, &w);
	identity_make(&w, &names, pid & 1 ? COLLAPSE_DEFAULT : 0, &id);
	/* A third of the names are unchanged input bytes, which may be invalid UTF-8. */
	if (pid % 3 == 0)
		snprintf(id.name, sizeof(id.name), "%.*s", (int)sizeof(id.name) - 1, text);
	snprintf(id.cgroup, sizeof(id.cgroup), "%.*s", (int)sizeof(id.cgroup) - 1, text);
	id.serial = pid;
	census_take(&p->c, &r, &id, 10);
	node_take(&p->n, &r, &id);
	node_signal(&p->n, &signal, &id, text);
	node_kernel_fault(&p->n, &fault, text, text);
}

static void check(struct place *p, const struct exposition_format *format)
{
	struct buf b = {};
	struct exposition e = {.format = format, .b = &b};
	struct prom_view v = {
		.m = &p->m, .c = &p->c, .n = &p->n, .self = {.libbpf = "1"}, .native = true};
	bool open = format == &exposition_openmetrics;

	prom_render(&e, &v);
	if (b.failed || (format == &exposition_protobuf ? !page_is_protobuf(&b)
							: page_text_error(&b, open) != NULL))
		abort();
	buf_free(&b);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct census_limits limits = {
		.workloads = 5, .series = 500, .series_each = 20};
	size_t n = size ? data[0] % WORKLOADS_MAX + 1 : 1, each;
	struct place *p = calloc(1, sizeof(*p));

	if (!p || model_init(&p->m) || census_init(&p->c, &limits) || node_init(&p->n, &p->c))
		abort();
	if (size)
		data++, size--;
	each = size / n;
	for (size_t i = 0; i < n; i++) {
		char *text = text_of(data + i * each, each);

		add_workload(p, i + 1, text);
		exposition_negotiate(text);
		gzip_accepted(text);
		/* The kernel version in a recording may be any text. */
		snprintf(p->m.host.kernel, sizeof(p->m.host.kernel), "%.*s",
			 (int)sizeof(p->m.host.kernel) - 1, text);
		free(text);
	}
	census_update(&p->c, 100, 65530);
	check(p, &exposition_text);
	check(p, &exposition_openmetrics);
	check(p, &exposition_protobuf);
	node_free(&p->n);
	census_free(&p->c);
	model_free(&p->m);
	free(p);
	return 0;
}
