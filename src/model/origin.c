// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "model/origin.h"

#include <inttypes.h>
#include <string.h>

#include "base/units.h"

const char *origin_name(enum origin_from from)
{
	static const char *const names[NR_ORIGINS] = {
		[ORIGIN_UNKNOWN] = "unknown", [ORIGIN_KERNEL] = "kernel",
		[ORIGIN_BOOT] = "boot",	      [ORIGIN_FILE] = "file",
		[ORIGIN_MANAGER] = "systemd", [ORIGIN_RUNTIME] = "container_runtime",
		[ORIGIN_PROCESS] = "process", [ORIGIN_HAND] = "hand",
		[ORIGIN_OUTSIDE] = "outside", [ORIGIN_NOBODY] = "nobody",
	};

	return names[from];
}

static void write_line(const struct origin_line *l, struct buf *b)
{
	buf_printf(b, "%s:%u: %s", l->file, l->line, l->text);
}

static void write_value(const struct limit *l, uint64_t value, struct buf *b)
{
	if (l->bytes && value != LIMIT_NONE)
		put_bytes(b, value);
	else
		put_limit(b, value);
}

static void write_container(const struct workload *w, struct buf *b)
{
	buf_printf(b, "%s", runtime_name(w->runtime));
	if (w->container[0])
		buf_printf(b, " for %.12s", w->container);
	if (w->pod[0])
		buf_printf(b, ", pod %s", w->pod);
}

static void write_machine(const struct origin *o, struct buf *b)
{
	const struct limit *l = o->limit;

	switch (o->from) {
	case ORIGIN_KERNEL:
		buf_puts(b, "the kernel: its default");
		break;
	case ORIGIN_BOOT:
		buf_printf(b, "the kernel's command line: %s", o->line.text);
		break;
	case ORIGIN_FILE:
		write_line(&o->line, b);
		break;
	case ORIGIN_MANAGER:
		buf_puts(b, "systemd: it raises it at boot, since version 240");
		break;
	case ORIGIN_OUTSIDE:
		buf_puts(b, "the host or its kernel (not visible in this container)");
		break;
	case ORIGIN_HAND:
		if (o->line.line) {
			buf_puts(b, "hand, or a program, since: ");
			write_line(&o->line, b);
		} else if (l->initial == LIMIT_COMPUTED) {
			buf_puts(b,
				 "the kernel, from the machine's size at boot, or since by hand: "
				 "no file sets it");
		} else {
			buf_puts(b,
				 "hand, or a program: no file sets it (the kernel's default is ");
			write_value(l, l->initial, b);
			buf_puts(b, ")");
		}
		break;
	default:
		buf_puts(b, "a place that cannot be read here");
	}
	if (o->unread && o->from != ORIGIN_KERNEL)
		buf_printf(b, " (%u %s not read)", o->unread, as_words(o->unread, "file{|s}").s);
}

static void write_process(const struct origin_process *p, struct buf *b)
{
	buf_printf(b, "%s (pid %u)", p->comm, p->pid);
}

/* Writes which process has the limit: the process itself or an ancestor. */
static void write_holder(const struct origin *o, struct buf *b)
{
	if (!o->generations) {
		buf_puts(b, "itself");
		return;
	}
	write_process(&o->holder, b);
	buf_printf(b, ", %u %s up", o->generations, as_words(o->generations, "parent{|s}").s);
}

/* Writes who may have changed the limit: the parent, o->holder, or a caller of prlimit(). */
static void write_changed(const struct origin *o, struct buf *b)
{
	const struct origin_process *p = &o->above;

	write_holder(o, b);
	if (o->raised) {
		buf_puts(b, ": it raised the soft limit to the hard one");
		return;
	}
	buf_puts(b, ", or the process that started it");
	if (p->pid && p->known) {
		buf_puts(b, ": its parent ");
		write_process(p, b);
		buf_puts(b, " has ");
		write_value(o->limit, p->soft, b);
		if (p->hard != o->holder.hard) {
			buf_puts(b, ", hard ");
			write_value(o->limit, p->hard, b);
		}
	}
	if (o->line.line) {
		buf_puts(b, "; not ");
		write_line(&o->line, b);
	}
}

static void write_giver(const struct origin *o, struct buf *b)
{
	switch (o->from) {
	case ORIGIN_KERNEL:
		buf_puts(b, "the kernel: its default");
		break;
	case ORIGIN_FILE:
		if (o->at_holder.unit[0] && strstr(o->line.file, "systemd"))
			buf_printf(b, "%s: ", o->at_holder.unit);
		write_line(&o->line, b);
		break;
	case ORIGIN_MANAGER:
		buf_printf(b, "%s: systemd's default for units", o->at_holder.unit);
		break;
	case ORIGIN_RUNTIME:
		write_container(&o->at_holder, b);
		break;
	case ORIGIN_OUTSIDE:
		buf_puts(b, "the process that started this container");
		break;
	default:
		buf_puts(b, "a place that cannot be read here");
	}
}

static void write_rlimit(const struct origin *o, struct buf *b)
{
	if (!o->holder.pid) {
		buf_puts(b, "unknown: the process has ended");
		return;
	}
	if (!o->known)
		buf_puts(b, "(it is gone; of its parent:) ");
	if (o->from == ORIGIN_PROCESS) {
		write_changed(o, b);
		return;
	}
	if (o->generations) {
		write_holder(o, b);
		buf_puts(b, ", which has it from ");
	}
	write_giver(o, b);
}

static void write_cgroup(const struct origin *o, struct buf *b)
{
	if (o->from == ORIGIN_NOBODY) {
		buf_puts(b, "no cgroup of the hierarchy");
		return;
	}
	switch (o->from) {
	case ORIGIN_FILE:
		buf_printf(b, "%s: ", o->at_holder.unit);
		write_line(&o->line, b);
		break;
	case ORIGIN_MANAGER:
		buf_printf(b, "%s: systemd's default for units", o->at_holder.unit);
		break;
	case ORIGIN_RUNTIME:
		write_container(&o->at_holder, b);
		break;
	case ORIGIN_OUTSIDE:
		buf_puts(b, "the process that started this container");
		break;
	case ORIGIN_HAND:
		buf_puts(b, "the process that created the cgroup, or a later change");
		break;
	default:
		buf_puts(b, "a place that cannot be read here");
		return;
	}
	buf_printf(b, ", in %s/%s", o->dir, o->file);
	if (o->levels)
		buf_printf(b, ", %u %s up", o->levels, as_words(o->levels, "level{|s}").s);
}

void origin_describe(const struct origin *o, struct buf *b)
{
	switch (o->limit->kind) {
	case LIMIT_OF_MACHINE:
		write_machine(o, b);
		break;
	case LIMIT_OF_PROCESS:
		write_rlimit(o, b);
		break;
	case LIMIT_OF_CGROUP:
		write_cgroup(o, b);
		break;
	}
}
