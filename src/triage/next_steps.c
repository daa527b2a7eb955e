// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "triage/next_steps.h"

/* Returns whether a shell takes a name literally. Names with other characters may run programs. */
static bool is_plain(struct str s)
{
	for (size_t i = 0; i < s.n; i++)
		if (!is_letter(s.s[i]) && !is_digit(s.s[i]) && !strchr("_-.+~", s.s[i]))
			return false;
	return s.n > 0 && s.s[0] != '-';
}

static struct str release_of(const struct diagnosis *v)
{
	return is_plain(v->event->kernel) ? v->event->kernel : STR("RELEASE");
}

static const struct frame *place_of(const struct diagnosis *v)
{
	const struct incident *e = v->event;

	/* The function at fault is more useful than the helper that it called. */
	if (v->functions && v->frame.size)
		return &v->frame;
	return e->has_ip && v->in_kernel_code && e->ip.size ? &e->ip : NULL;
}

static bool by_line(const struct diagnosis *v, struct buf *b)
{
	const struct frame *f = place_of(v);
	struct str r = release_of(v);

	if (!f || !is_plain(f->function))
		return false;
	if (f->module.n && is_plain(f->module))
		buf_printf(b, "find the source line: faddr2line %.*s.ko %.*s+0x%x/0x%x",
			   STR_ARG(f->module), STR_ARG(f->function), f->offset, f->size);
	else
		buf_printf(b,
			   "find the source line: faddr2line /usr/lib/debug/boot/vmlinux-%.*s "
			   "%.*s+0x%x/0x%x",
			   STR_ARG(r), STR_ARG(f->function), f->offset, f->size);
	return true;
}

static bool by_trace(const struct diagnosis *v, struct buf *b)
{
	struct str r = release_of(v);

	if (v->event->nr_frames < 2)
		return false;
	buf_printf(b,
		   "decode the whole trace: decode_stacktrace.sh /usr/lib/debug/boot/vmlinux-%.*s "
		   "/usr/lib/debug/lib/modules/%.*s < LOG",
		   STR_ARG(r), STR_ARG(r));
	return true;
}

static bool by_kind(const struct diagnosis *v, struct buf *b)
{
	buf_puts(b, v->next);
	return *v->next;
}

static bool by_page(const struct diagnosis *v, struct buf *b)
{
	if (*v->page)
		buf_printf(b, "read more about this kind of report: faultscope explain %s", v->page);
	return *v->page;
}

static bool by_mechanism(const struct diagnosis *v, struct buf *b)
{
	buf_puts(b, mechanism_next(v->mechanism));
	if (*mechanism_next(v->mechanism))
		return true;
	if (v->kind == KIND_HANG) {
		buf_puts(b, "show blocked tasks and held locks while it hangs: "
			    "echo w > /proc/sysrq-trigger; "
			    "echo d > /proc/sysrq-trigger");
		return true;
	}
	return false;
}

static bool by_module(const struct diagnosis *v, struct buf *b)
{
	struct str m = v->suspects ? v->suspect[0].module : (struct str){};

	if (v->culprit_unknown || v->suspect[0].cut || !is_plain(m) || str_is(m, "vmlinux") ||
	    v->hardware)
		return false;
	buf_printf(b, "boot without the module: modprobe.blacklist=%.*s on the kernel command line",
		   STR_ARG(m));
	return true;
}

static bool by_report(const struct diagnosis *v, struct buf *b)
{
	if (v->functions || v->event->nr_frames || v->hardware)
		return false;
	buf_puts(b, "find more of the log: journalctl -k -b -1, /sys/fs/pstore, a serial "
		    "console");
	return true;
}

bool remedy_at(const struct diagnosis *v, size_t i, struct buf *b)
{
	static bool (*const steps[])(const struct diagnosis *v, struct buf *b) = {
		by_line, by_trace, by_kind, by_mechanism, by_module, by_report, by_page,
	};
	size_t found = 0;

	for (size_t s = 0; s < sizeof(steps) / sizeof(steps[0]); s++) {
		size_t before = b->len;

		if (!steps[s](v, b))
			continue;
		if (found++ == i)
			return true;
		b->len = before;
		if (b->s)
			b->s[before] = 0;
	}
	return false;
}
