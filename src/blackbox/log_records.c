// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "blackbox/log_records.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define FIELD	   200
#define PAGE_BYTES 4096

static void stamp(struct buf *b, const struct bb_record *r)
{
	buf_printf(b, "[%12.6f] ", r->boot_ns / 1e9);
}

static bool is_of(const struct bb_record *r, const uint8_t boot_id[BB_BOOT_BYTES])
{
	return !memcmp(r->boot_id, boot_id, BB_BOOT_BYTES);
}

/* Writes a code location such as "f+0x12 [module]", as the kernel does. */
static void write_place(struct buf *b, const char *symbol, const char *module)
{
	buf_printf(b, "%s", symbol);
	if (*module)
		buf_printf(b, " [%s]", module);
	buf_putc(b, '\n');
}

static void write_registers(struct buf *b, const struct bb_record *r)
{
	static const char *const names[] = {"ax", "bx", "cx", "dx", "si", "di", "bp"};
	uint64_t value;
	char key[16];

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (bb_get_u64(r, names[i], &value)) {
			stamp(b, r);
			buf_printf(b, "R%c%c: %016" PRIx64 "\n", names[i][0] - 32, names[i][1] - 32,
				   value);
		}
	for (int i = 8; i < 16; i++) {
		snprintf(key, sizeof(key), "r%d", i);
		if (!bb_get_u64(r, key, &value))
			continue;
		stamp(b, r);
		buf_printf(b, "R%02d: %016" PRIx64 "\n", i, value);
	}
}

/* Writes code bytes such as "8b7040<...>" as "8b 70 40 <...>", the kernel's format. */
static void write_code(struct buf *b, const struct bb_record *r)
{
	char code[FIELD];
	size_t n;

	if (!bb_get(r, "code", code, sizeof(code)))
		return;
	stamp(b, r);
	buf_puts(b, "Code:");
	for (const char *s = code; *s; s += n) {
		n = *s == '<' ? 4 : 2;
		if (strnlen(s, n) < n)
			break;
		buf_printf(b, " %.*s", (int)n, s);
	}
	buf_putc(b, '\n');
}

static void write_stack(struct buf *b, const struct bb_record *r)
{
	char stack[BB_TEXT_MAX + 1], *next;

	if (!bb_get(r, "stack", stack, sizeof(stack)))
		return;
	stamp(b, r);
	buf_puts(b, "Call Trace:\n");
	for (char *one = stack; one && *one; one = next) {
		char *module = strchr(one, '[');

		next = strchr(one, '<');
		if (next)
			*next++ = 0;
		if (module && next && module > next)
			module = NULL;
		if (module)
			*module++ = 0;
		if (module && strchr(module, ']'))
			*strchr(module, ']') = 0;
		stamp(b, r);
		buf_putc(b, ' ');
		write_place(b, one, module ?: "");
	}
}

static void write_header(struct buf *b, const struct bb_record *r)
{
	char access[16] = "", address[32] = "0", symbol[FIELD] = "", module[FIELD] = "",
	     comm[32] = "";
	uint64_t at = 0, error = 0, pid = 0, cpu = 0;

	bb_get(r, "access", access, sizeof(access));
	bb_get_u64(r, "address", &at);
	bb_get_u64(r, "error", &error);
	bb_get_u64(r, "pid", &pid);
	bb_get_u64(r, "cpu", &cpu);
	bb_get(r, "comm", comm, sizeof(comm));
	bb_get(r, "symbol", symbol, sizeof(symbol));
	bb_get(r, "module", module, sizeof(module));
	snprintf(address, sizeof(address), "%016" PRIx64, at);
	stamp(b, r);
	if (!strcmp(access, "protection")) {
		buf_printf(b,
			   "general protection fault, probably for non-canonical address 0x%s: "
			   "%04" PRIx64 " [#1]\n",
			   address + (at ? 0 : 15), error);
	} else {
		buf_printf(b,
			   at < PAGE_BYTES ? "BUG: kernel NULL pointer dereference, address: %s\n"
					   : "BUG: unable to handle page fault for address: %s\n",
			   address);
		stamp(b, r);
		buf_printf(b, "#PF: supervisor %s in kernel mode\n",
			   error & 16  ? "instruction fetch"
			   : error & 2 ? "write access"
				       : "read access");
		stamp(b, r);
		buf_printf(b, "#PF: error_code(0x%04" PRIx64 ") - %s\n", error,
			   error & 1 ? "permissions violation" : "not-present page");
		stamp(b, r);
		buf_printf(b, "Oops: %04" PRIx64 " [#1]\n", error);
	}
	stamp(b, r);
	buf_printf(b, "CPU: %" PRIu64 " PID: %" PRIu64 " Comm: %s\n", cpu, pid, comm);
	stamp(b, r);
	buf_puts(b, "RIP: 0010:");
	write_place(b, symbol, module);
}

/*
 * Returns the index of the last fault record of a boot if the log has no oops for that fault, else
 * -1.
 */
static long fault_alone(const struct bb_found *f, const uint8_t boot_id[BB_BOOT_BYTES])
{
	long fault = -1;

	for (size_t i = 0; i < f->n; i++) {
		const struct bb_record *r = &f->record[i];

		if (!is_of(r, boot_id))
			continue;
		if (r->class == BB_FAULT)
			fault = i;
		if (r->class == BB_OOPS || (r->class == BB_FIXUP && fault >= 0))
			/* the log has an oops for this fault, or the kernel survived the fault */
			return -1;
		if (r->class == BB_STOP)
			fault = -1;
	}
	return fault;
}

static void write_fault(struct buf *b, const struct bb_found *f, size_t fault)
{
	const struct bb_record *r = &f->record[fault];

	write_header(b, r);
	write_code(b, r);
	if (fault + 1 < f->n && r[1].class == BB_REGISTERS)
		write_registers(b, &r[1]);
	write_stack(b, r);
}

/*
 * Returns whether `r` is the record of a panic that a BPF program made before the kernel logged the
 * panic.
 */
static bool is_panic_itself(const struct bb_record *r)
{
	uint64_t level;

	return r->class == BB_PANIC && !bb_get_u64(r, "level", &level);
}

static void write_line(struct buf *b, const struct bb_record *r)
{
	char line[BB_TEXT_MAX + 1];
	uint64_t us;

	if (bb_get(r, "line", line, sizeof(line)) && bb_get_u64(r, "us", &us))
		buf_printf(b, "[%5" PRIu64 ".%06" PRIu64 "] %s\n", us / 1000000, us % 1000000,
			   line);
}

void bb_relog(struct buf *b, const struct bb_found *f, const uint8_t boot_id[BB_BOOT_BYTES])
{
	long fault = fault_alone(f, boot_id);
	bool told = fault >= 0; /* true: the records contain the cause of a panic */

	for (size_t i = 0; i < f->n; i++) {
		const struct bb_record *r = &f->record[i];

		if (!is_of(r, boot_id) || is_panic_itself(r))
			continue;
		told |= r->class == BB_OOPS;
		write_line(b, r);
	}
	if (fault >= 0)
		write_fault(b, f, fault);
	for (size_t i = 0; i < f->n; i++) {
		const struct bb_record *r = &f->record[i];

		if (!is_of(r, boot_id) || !is_panic_itself(r))
			continue;
		write_line(b, r);
		if (!told)
			write_stack(b, r);
	}
}
