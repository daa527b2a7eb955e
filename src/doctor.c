// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <stdio.h>
#include <string.h>

#include "privileges.h"
#include "probe/limits.h"
#include "render/json_out.h"
#include "session.h"

/* Ways to get a descriptor that pass no call we hook: they show in the count, not in `by_call`. */
static const char *const only_counted[] = {
	"io_uring (openat, accept, socket)",
	"ioctl (KVM, DRM and dma-buf, loop, perf, userfaultfd)",
	"clone with CLONE_PIDFD",
	"seccomp listeners",
	"recvmmsg with SCM_RIGHTS",
	"inheritance over fork and exec; closing by exec and close_range",
	"32-bit calls: socketcall, ipc, and the mmap (90) that takes a structure",
};

static const char *const state_names[] = {"off", "on", "blind"};

static void say_text(struct buf *b, const struct model *m, const struct source *src,
		     const struct fs_limits *l)
{
	buf_printf(b, "faultscope %s on %s (%s)\n\nhooks\n", m->host.version, m->host.kernel,
		   m->host.arch);
	for (size_t i = 0; i < m->hooks; i++) {
		const struct hook_view *v = &m->hook[i];
		const struct hook *h = &hooks[hook_find(v->name)];

		buf_printf(b, "  %-13s tier %u  %-6s %-14s %s\n", v->name, v->tier,
			   state_names[v->state % 3], v->mechanism, h->feeds);
		if (v->why[0])
			buf_printf(b, "  %-13s         tried: %s\n", "", v->why);
		if (v->state == FS_HOOK_ON && live_hooks(src)[i].used->differs)
			buf_printf(b, "  %-13s         note: %s\n", "",
				   live_hooks(src)[i].used->differs);
		if (v->state == FS_HOOK_BLIND)
			buf_printf(b, "  %-13s         lost: %s\n", "", h->lost);
	}
	buf_puts(b, "\ndescriptors seen as a count, not by call\n");
	for (size_t i = 0; i < sizeof(only_counted) / sizeof(only_counted[0]); i++)
		buf_printf(b, "  %s\n", only_counted[i]);
	buf_puts(b, "\nlimits of this machine\n");
	buf_printf(b, "  vm.max_map_count                %llu\n",
		   (unsigned long long)l->max_map_count);
	buf_printf(b, "  fs.file-max                     %llu (%llu in use)\n",
		   (unsigned long long)l->file_max, (unsigned long long)l->file_nr);
	buf_printf(b, "  fs.nr_open                      %llu\n", (unsigned long long)l->nr_open);
	buf_printf(b, "  fs.inotify.max_user_instances   %llu\n",
		   (unsigned long long)l->inotify_instances);
	buf_printf(b, "  vm.overcommit_memory            %llu (%llu of %llu MiB committed)\n",
		   (unsigned long long)l->overcommit_memory,
		   (unsigned long long)l->committed_bytes >> 20,
		   (unsigned long long)l->commit_limit_bytes >> 20);
	buf_printf(b, "  swap                            %llu MiB\n",
		   (unsigned long long)l->swap_total_bytes >> 20);
}

static void say_json(struct buf *b, const struct session *s, const struct model *m,
		     const struct fs_limits *l)
{
	struct json j;

	json_begin(&j, b);
	json_text(&j, "type", "doctor");
	json_text(&j, "version", m->host.version);
	json_text(&j, "kernel", m->host.kernel);
	json_array(&j, "hooks");
	for (size_t i = 0; i < m->hooks; i++) {
		const struct hook_view *v = &m->hook[i];
		const struct hook *h = &hooks[hook_find(v->name)];

		json_object(&j, NULL);
		json_text(&j, "name", v->name);
		json_count(&j, "tier", v->tier);
		json_text(&j, "state", state_names[v->state % 3]);
		json_text_or_null(&j, "mechanism", v->mechanism[0] ? v->mechanism : NULL);
		json_text(&j, "tried", v->why);
		json_array(&j, "alternates");
		for (const struct hook_alternate *a = h->alternate; a->mechanism; a++)
			json_text(&j, NULL, a->mechanism);
		json_end_array(&j);
		json_object(&j, "differs");
		for (const struct hook_alternate *a = h->alternate; a->mechanism; a++)
			if (a->differs)
				json_text(&j, a->mechanism, a->differs);
		json_end(&j);
		json_text(&j, "lost_without", h->lost);
		json_end(&j);
	}
	json_end_array(&j);
	json_array(&j, "only_counted");
	for (size_t i = 0; i < sizeof(only_counted) / sizeof(only_counted[0]); i++)
		json_text(&j, NULL, only_counted[i]);
	json_end_array(&j);
	json_object(&j, "limits");
	json_count(&j, "max_map_count", l->max_map_count);
	json_count(&j, "file_max", l->file_max);
	json_count(&j, "nr_open", l->nr_open);
	json_count(&j, "inotify_instances", l->inotify_instances);
	json_end(&j);
	privileges_say_json(&j, s);
	json_finish(&j);
}

int command_doctor(const struct options *o)
{
	struct buf b = {};
	struct session s;
	bool blind;
	int err = session_begin(&s, o);

	s.renderer = &text_renderer;
	s.mute = true; /* only the report below */
	strcpy(s.mode, "targets");
	if (!err)
		err = session_open_live(&s, false, TIER_ALL);
	if (!err)
		err = session_start(&s);
	if (err) {
		s.status = err;
		return session_end(&s);
	}
	blind = !model_hook_on(&s.m, "look") || !model_hook_on(&s.m, "life");
	if (o->format == &json_renderer)
		say_json(&b, &s, &s.m, &s.m.tick.limits);
	else
		say_text(&b, &s.m, s.src, &s.m.tick.limits);
	if (o->format != &json_renderer)
		privileges_say(&b, &s);
	fwrite(b.s, 1, b.len, stdout);
	buf_free(&b);
	s.m.last_ns = 0; /* no summary: nothing was measured */
	err = session_end(&s);
	return err ? err : blind ? EXIT_KERNEL_LACKS : EXIT_DONE;
}
