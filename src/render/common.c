// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "render/render.h"

static const struct renderer *const renderers[] = {&text_renderer, &json_renderer,
						   &folded_renderer};

const struct renderer *renderer_at(size_t i)
{
	return i < sizeof(renderers) / sizeof(renderers[0]) ? renderers[i] : NULL;
}

const struct renderer *renderer_find(const char *name)
{
	for (size_t i = 0; renderer_at(i); i++)
		if (!strcmp(renderer_at(i)->name, name))
			return renderer_at(i);
	return NULL;
}

double view_seconds(const struct view *v, uint64_t t_ns)
{
	return t_ns > v->m->origin_ns ? (t_ns - v->m->origin_ns) / 1e9 : 0;
}

/* include/linux/mm.h; arch/x86/include/asm/trap_pf.h */
#define VM_READ	 1
#define VM_WRITE 2
#define VM_EXEC	 4
#define PF_WRITE 2
#define PF_INSTR 16

/* Within what one call may move the stack pointer, alloca() and large frames too. */
static bool is_near_stack(const struct fs_signal_record *r)
{
	return r->sp && r->address + (64 << 10) >= r->sp && r->address <= r->sp + (64 << 10);
}

/* A mapping is there, and does not allow it. */
static const char *denied_class(const struct fs_signal_record *r)
{
	if (r->area != FS_AREA_FOUND)
		return "protection";
	if (!(r->area_flags & (VM_READ | VM_WRITE | VM_EXEC)))
		return is_near_stack(r) ? "guard page" : "no access";
	if (r->error_code & PF_INSTR && !(r->area_flags & VM_EXEC))
		return "no-exec";
	if (r->error_code & PF_WRITE && !(r->area_flags & VM_WRITE))
		return "read-only";
	return "protection";
}

const char *signal_class(const struct fs_signal_record *r)
{
	if (r->signal == SIGBUS)
		return r->code == BUS_ADRERR   ? "past end of file" /* or no room behind the page */
		       : r->code == BUS_ADRALN ? "misaligned"
					       : "hardware poison";
	if (r->code == SI_KERNEL)
		return "non-canonical"; /* a general protection fault gives no address */
	if (!r->address)
		return "null";
	if (r->address < 65536)
		return "near-null";
	if (r->address >> 63)
		return "kernel address";
	if (r->code != SEGV_ACCERR)
		return is_near_stack(r) ? "stack overflow" : "unmapped";
	return denied_class(r);
}

void workload_name(const char *cgroup, const char *comm, char *ret, size_t size)
{
	const char *last = cgroup ? strrchr(cgroup, '/') : NULL;

	if (!last || !last[1]) {
		snprintf(ret, size, "%s", comm);
		return;
	}
	/* a bare container id: as much of it as people use */
	if (strspn(last + 1, "0123456789abcdef") >= 32)
		snprintf(ret, size, "%.12s", last + 1);
	else
		snprintf(ret, size, "%s", last + 1);
}
