// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "probe/variables.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "probe/kernel_symbols.h"

#define TABLE_MAX (64 << 20) /* many times the size of /proc/kallsyms with all modules */
#define TWICE	  (~0ULL)    /* value of a name that occurs more than once */
#define MODULE	  '\t'	     /* stands between a symbol and its module */

static const char *const symbols[] = {
#define X(id, symbol, offset, size) symbol,
	VARIABLES(X)
#undef X
};

static void take(const char *name, size_t len, __u64 address, __u64 *ret)
{
	for (size_t i = 0; i < NR_VARIABLES; i++)
		if (!strncmp(symbols[i], name, len) && !symbols[i][len])
			ret[i] = ret[i] ? TWICE : address;
}

static void take_symbol(void *ctx, const struct kernel_symbol *s)
{
	if (strchr("dDbB", s->kind) && !memchr(s->name, MODULE, s->len))
		take(s->name, s->len, kernel_symbol_address(s), ctx);
}

void variables_parse(const char *table, size_t size, __u64 ret[NR_VARIABLES])
{
	memset(ret, 0, NR_VARIABLES * sizeof(ret[0]));
	kernel_symbols_each(table, size, take_symbol, ret);
	for (size_t i = 0; i < NR_VARIABLES; i++)
		if (ret[i] == TWICE)
			ret[i] = 0;
}

/*
 * Reads the table up to its first symbol of a module, since all modules and BPF programs come after
 * the kernel itself (kernel/kallsyms.c). For each BPF program, the kernel walks its list of all BPF
 * programs. Returns NULL if there is no memory.
 */
static char *read_table(int fd, size_t *ret_size)
{
	size_t size = 0, room = 1 << 20;
	char *table = malloc(room);
	ssize_t n = 0;

	while (table && room < TABLE_MAX) {
		n = read(fd, table + size, room - size);
		if (n <= 0)
			break;
		size += n;
		if (memchr(table + size - n, MODULE, n))
			break;
		if (size == room) {
			char *more = realloc(table, room * 2);

			if (!more)
				break;
			table = more;
			room *= 2;
		}
	}
	*ret_size = size;
	return table;
}

static void *read_addresses(void *arg)
{
	struct variables *v = arg;
	size_t size;
	char *table = read_table(v->fd, &size);

	if (table) {
		variables_parse(table, size, v->address);
		call_functions_parse(table, size, &v->functions);
	}
	free(table);
	return NULL;
}

void variables_begin(struct variables *v)
{
	memset(v, 0, sizeof(*v));
	/* the kernel shows addresses by the rights that a file was opened with */
	v->fd = open("/proc/kallsyms", O_RDONLY | O_CLOEXEC);
	v->reads = v->fd >= 0 && !pthread_create(&v->thread, NULL, read_addresses, v);
	if (v->fd >= 0 && !v->reads)
		close(v->fd);
}

void variables_end(struct variables *v)
{
	if (!v->reads)
		return;
	pthread_join(v->thread, NULL);
	close(v->fd);
	v->reads = false;
}

void variables_take(struct variables *v, __u64 ret[NR_VARIABLES])
{
	variables_end(v);
	memcpy(ret, v->address, sizeof(v->address));
}
