// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "collect/precursor_names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"

#define NULL_BYTES 65536 /* addresses below 64 KiB are members of a structure at NULL */

static const struct {
	enum bb_class class;
	enum bb_severity severity;
} sorts[NR_PRECURSORS] = {
	[PRE_FAULT] = {BB_FAULT, BB_WARNING},
	[PRE_FIXED] = {BB_FIXUP, BB_WARNING},
	[PRE_PROBE] = {BB_PROBE, BB_INFO},
	[PRE_PROTECTION] = {BB_FAULT, BB_CRITICAL},
	[PRE_REPORT] = {BB_REPORT, BB_WARNING},
	[PRE_MODULE_LOAD] = {BB_MODULE, BB_INFO},
	[PRE_MODULE_FREE] = {BB_MODULE, BB_INFO},
	[PRE_MCE] = {BB_HARDWARE, BB_WARNING},
	[PRE_EDAC] = {BB_HARDWARE, BB_WARNING},
	[PRE_AER] = {BB_HARDWARE, BB_WARNING},
	[PRE_MEMORY_FAILURE] = {BB_HARDWARE, BB_WARNING},
	[PRE_IOMMU] = {BB_IOMMU, BB_WARNING},
	[PRE_PANIC] = {BB_PANIC, BB_CRITICAL},
};

static void put_name(const struct namer *n, struct bb_record *r, const char *key,
		     const char *module_key, __u64 ip)
{
	char name[128], module[BB_MODULE_NAME];

	if (!ip)
		return;
	if (!kernel_names_find(&n->names, &n->modules, ip, name, sizeof(name), module)) {
		bb_put_hex(r, key, ip);
		return;
	}
	bb_put(r, key, name);
	if (*module && module_key)
		bb_put(r, module_key, module);
}

/*
 * Names a return address by the byte before it, as the kernel's %pB does. The reason is a call that
 * does not return, such as panic(): its return address may already be in the next function.
 */
static bool find_return(const struct namer *n, __u64 ip, char *ret, size_t size,
			char ret_module[BB_MODULE_NAME])
{
	char *offset;

	if (!kernel_names_find(&n->names, &n->modules, ip - 1, ret, size, ret_module))
		return false;
	offset = strrchr(ret, '+');
	if (offset)
		snprintf(offset, size - (offset - ret), "+0x%lx",
			 strtoul(offset + 1, NULL, 16) + 1);
	return true;
}

/*
 * Names the region of an address by the memory layout of x86-64. On other architectures, only
 * distinguishes user and kernel addresses.
 */
static const char *region_of(__u64 address)
{
	if (address < NULL_BYTES)
		return "null";
	if (!(address >> 63))
		return address >> 47 && address < 1ULL << 56 ? "non_canonical_or_user" : "user";
#if defined(__x86_64__)
	if (address >= 0xffffffffa0000000ULL && address < 0xffffffffff000000ULL)
		return "module";
	if (address >= 0xffffffff80000000ULL)
		return "image";
	if (address < 0xff00000000000000ULL)
		return "non_canonical";
#endif
	return "kernel";
}

static const char *access_of(__u64 error_code)
{
	return error_code & 16 ? "exec" : error_code & 2 ? "write" : "read";
}

/*
 * The address may be in a vmalloc or ioremap area that a driver freed. If so, adds this area, and
 * how long ago it was freed.
 */
static void put_area(const struct namer *n, struct bb_record *r, const struct freed_area *a,
		     __u64 now_ns)
{
	if (!a->bytes)
		return;
	bb_put(r, "area", a->flags & 1 ? "ioremap" : "vmalloc");
	bb_put_hex(r, "area_start", a->start);
	bb_put_u64(r, "area_bytes", a->bytes);
	put_name(n, r, "area_owner", "area_module", a->owner);
	put_name(n, r, "area_freer", "freer_module", a->freer);
	bb_put_u64(r, "area_freed_us_ago", (now_ns - a->freed_ns) / 1000);
}

static void put_was(const struct namer *n, struct bb_record *r, __u64 address, __u64 now_ns)
{
	const struct bb_module *was = bb_module_of(&n->modules, address);

	if (!was)
		return;
	bb_put(r, was->unloaded_ns ? "freed_module" : "data_of", was->name);
	if (was->unloaded_ns)
		bb_put_u64(r, "unloaded_ms_ago", (now_ns - was->unloaded_ns) / 1000000);
}

/*
 * Returns the index of the faulting instruction. Frames before it are those of the fault handler.
 */
static size_t first_frame(const struct precursor_record *p, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (p->stack[i] == p->ip)
			return i;
	return 0;
}

static void put_stack(const struct namer *n, struct bb_record *r, const struct precursor_record *p)
{
	size_t frames = p->stack_bytes > 0 ? p->stack_bytes / sizeof(p->stack[0]) : 0;
	char list[BB_TEXT_MAX] = "", by[128] = "", by_module[BB_MODULE_NAME] = "";
	size_t used = 0;

	for (size_t first = first_frame(p, frames), i = first; i < frames && i < PRE_STACK; i++) {
		char name[128], module[BB_MODULE_NAME];
		__u64 ip = p->stack[i];

		if (!ip || !(i == first ? kernel_names_find(&n->names, &n->modules, ip, name,
							    sizeof(name), module)
					: find_return(n, ip, name, sizeof(name), module)))
			continue;
		if (*module && !*by_module) {
			memcpy(by_module, module, sizeof(module));
			memcpy(by, name, sizeof(name));
		}
		if (used + strlen(name) + strlen(module) + 4 < sizeof(list))
			used += snprintf(list + used, sizeof(list) - used,
					 *module ? "%s%s[%s]" : "%s%s", used ? "<" : "", name,
					 module);
	}
	if (*by_module) {
		bb_put(r, "by", by);
		bb_put(r, "by_module", by_module);
	}
	if (used)
		bb_put_cut(r, "stack", list);
}

static void put_task(struct bb_record *r, const struct precursor_record *p)
{
	char comm[COMM_LEN + 1] = {};

	memcpy(comm, p->comm, COMM_LEN);
	bb_put(r, "comm", comm);
	bb_put_u64(r, "pid", p->tid);
	bb_put_u64(r, "cpu", p->cpu);
}

/* Adds the code bytes as a kernel oops does, with the faulting instruction in < and >. */
static void put_code(struct bb_record *r, const struct precursor_record *p)
{
	char text[4 * PRE_CODE] = "";
	size_t used = 0;

	for (int i = 0; i < PRE_CODE; i++)
		used += snprintf(text + used, sizeof(text) - used,
				 i == PRE_CODE_AT ? "<%02x>" : "%02x", p->code[i]);
	bb_put(r, "code", text);
}

static void fault_record(const struct namer *n, const struct precursor_record *p,
			 struct bb_record *r)
{
	if (p->verdict == VERDICT_FATAL)
		r->severity = BB_CRITICAL;
	if (p->what == PRE_FAULT || p->what == PRE_PROTECTION)
		bb_put(r, "verdict", p->verdict == VERDICT_FATAL ? "fatal" : "suspected");
	bb_put(r, "access", p->what == PRE_PROTECTION ? "protection" : access_of(p->error_code));
	bb_put_hex(r, "address", p->address);
	bb_put(r, "region", region_of(p->address));
	put_name(n, r, "symbol", "module", p->ip);
	put_task(r, p);
	bb_put_hex(r, "error", p->error_code);
	put_was(n, r, p->address, p->h.t_ns);
	put_area(n, r, &p->area, p->h.t_ns);
	if (p->ip && p->regs[17])
		put_code(r, p);
	put_stack(n, r, p);
}

static void registers_record(const struct precursor_record *p, struct bb_record *r)
{
	/* names in the order of struct pt_regs on x86-64 */
	static const char *const names[PRE_REGS] = {"r15", "r14", "r13", "r12", "bp",	 "bx",
						    "r11", "r10", "r9",	 "r8",	"ax",	 "cx",
						    "dx",  "si",  "di",	 "oax", "flags", "sp"};

	r->class = BB_REGISTERS;
	bb_put_hex(r, "ip", p->ip);
	for (int i = 0; i < PRE_REGS; i++)
		if (i != 15)
			bb_put_hex(r, names[i], p->regs[i]);
}

static bool has_registers(const struct precursor_record *p)
{
	return (p->what == PRE_FAULT || p->what == PRE_PROTECTION) && p->regs[17];
}

static void module_record(struct namer *n, const struct precursor_record *p, struct bb_record *r)
{
	struct bb_module one = {.loaded_ns = p->h.t_ns};
	bool gone = p->what == PRE_MODULE_FREE;
	char srcversion[33] = {};

	memcpy(one.name, p->text, BB_MODULE_NAME - 1);
	memcpy(srcversion, p->text + 64, sizeof(srcversion) - 1);
	for (int i = 0; i < BB_MODULE_PARTS; i++) {
		one.start[i] = p->arg[2 * i];
		one.bytes[i] = p->arg[2 * i + 1];
	}
	bb_put(r, "event", gone ? "unloaded" : "loaded");
	bb_module_put(r, &one);
	if (p->error_code)
		bb_put_hex(r, "taints", p->error_code);
	if (*srcversion)
		bb_put(r, "srcversion", srcversion);
	if (gone)
		bb_module_gone(&n->modules, &one, p->h.t_ns);
	else
		bb_module_loaded(&n->modules, &one);
	n->stale |= !gone;
}

static void report_record(const struct namer *n, const struct precursor_record *p,
			  struct bb_record *r)
{
	static const char *const detectors[] = {"kfence", "kasan", "warning"};

	bb_put(r, "detector", p->arg[0] < 3 ? detectors[p->arg[0]] : "unknown");
	if (p->arg[0] < 2) {
		r->severity = BB_CRITICAL;
		bb_put_hex(r, "address", p->ip);
	} else {
		put_name(n, r, "symbol", "module", p->ip);
	}
	put_task(r, p);
	put_stack(n, r, p);
}

static void put_code_address(const struct namer *n, __u64 ip, struct buf *b)
{
	char name[128], module[BB_MODULE_NAME];

	/* an address in a module without a symbol is shown as a number, as in kernel logs */
	if (find_return(n, ip, name, sizeof(name), module) && *name != '+')
		buf_puts(b, name);
	else
		buf_printf(b, "0x%llx", (unsigned long long)ip);
	if (*module)
		buf_printf(b, " [%s]", module);
}

/*
 * Adds an argument of panic(). It is shown as a code address, as the first word of a string, or as
 * a number.
 */
static void put_argument(const struct namer *n, const struct precursor_record *p, int i,
			 char conversion, struct buf *b)
{
	__u64 value = i < 3 ? p->arg[i] : 0;

	if (conversion == 's')
		buf_printf(b, "%.*s", i ? 0 : PRE_WORD_BYTES - 1, p->text + PRE_WORD_AT);
	else if (conversion == 'd' || conversion == 'i' || conversion == 'u')
		buf_printf(b, "%lld", (long long)value);
	else if (conversion == 'p')
		put_code_address(n, value, b);
	else
		buf_printf(b, "%llx", (unsigned long long)value);
}

/* Formats panic()'s message as printk() does, with the arguments that the BPF program copied. */
static void put_formatted(const struct namer *n, const struct precursor_record *p, struct buf *b)
{
	char format[PRE_WORD_AT + 1] = {};
	const char *s = format;

	memcpy(format, p->text, PRE_WORD_AT);
	format[strcspn(format, "\n")] = 0;
	for (int i = 0; *s;) {
		size_t plain = strcspn(s, "%");

		buf_add(b, s, plain);
		s += plain;
		if (!*s)
			break;
		s += 1 + strspn(s + 1, "0123456789.#+- hlzj");
		if (*s == '%')
			buf_putc(b, '%');
		else
			put_argument(n, p, i++, *s, b);
		s += *s ? 1 : 0;
		if (s[-1] == 'p') /* skip the rest of %pB, %pS … */
			s += strspn(s, "BSsfF");
	}
}

static void panic_record(const struct namer *n, const struct precursor_record *p,
			 struct bb_record *r)
{
	struct buf b = {};

	buf_puts(&b, "Kernel panic - not syncing: ");
	put_formatted(n, p, &b);
	bb_put_u64(r, "us", p->h.t_ns / 1000);
	bb_put(r, "line", b.s ?: "");
	put_task(r, p);
	put_stack(n, r, p);
	buf_free(&b);
}

static void hardware_record(const struct precursor_record *p, struct bb_record *r)
{
	static const char *const what[NR_PRECURSORS] = {[PRE_MCE] = "mce",
							[PRE_EDAC] = "edac",
							[PRE_AER] = "aer",
							[PRE_MEMORY_FAILURE] = "memory_failure",
							[PRE_IOMMU] = "iommu"};
	char text[sizeof(p->text)];

	memcpy(text, p->text, sizeof(text));
	text[sizeof(text) - 1] = 0;
	bb_put(r, "event", what[p->what]);
	for (int i = 0; i < 3; i++) {
		const char key[] = {'a', '0' + i, 0};

		bb_put_hex(r, key, p->arg[i]);
	}
	if (*text)
		bb_put(r, "device", text);
}

size_t precursor_records(struct namer *n, const struct precursor_record *p, struct bb_record *ret)
{
	struct bb_record *r = &ret[0];

	if (p->what >= NR_PRECURSORS)
		return 0;
	*r = (struct bb_record){.boot_ns = p->h.t_ns,
				.class = sorts[p->what].class,
				.severity = sorts[p->what].severity,
				.count = p->count};
	switch (p->what) {
	case PRE_MODULE_LOAD:
	case PRE_MODULE_FREE:
		r->count = 1;
		module_record(n, p, r);
		return 1;
	case PRE_REPORT:
		report_record(n, p, r);
		return 1;
	case PRE_PANIC:
		panic_record(n, p, r);
		return 1;
	case PRE_FAULT:
	case PRE_FIXED:
	case PRE_PROBE:
	case PRE_PROTECTION:
		fault_record(n, p, r);
		break;
	default:
		hardware_record(p, r);
		return 1;
	}
	if (!has_registers(p))
		return 1;
	ret[1] = (struct bb_record){.boot_ns = p->h.t_ns, .count = p->count};
	registers_record(p, &ret[1]);
	return 2;
}

void precursor_again(const struct namer *n, __u64 ip, __u64 count, struct bb_record *ret)
{
	*ret = (struct bb_record){.class = BB_FIXUP, .severity = BB_WARNING, .count = count};
	bb_put(ret, "how", "again");
	put_name(n, ret, "symbol", "module", ip);
}
