// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <stdio.h>

#include "base/sha1.h"
#include "triage/judge.h"
#include "triage/library.h"

/* number of functions in the stack hash; even a truncated trace often has two */
#define STACK_FUNCTIONS 2

static void add(char *to, size_t size, struct str s)
{
	size_t used = strlen(to);

	for (size_t i = 0; i < s.n && used + 1 < size; i++)
		if (s.s[i] > ' ' && s.s[i] < 0x7f)
			to[used++] = s.s[i];
	to[used] = 0;
}

/* Names a crash FS_<MECHANISM>_<R|W|X>_<module>!<function>, in the same way for any log format. */
static void name_bucket(struct diagnosis *v)
{
	static const char *const letters[] = {"", "R_", "W_", "X_"};
	const char *mechanism = verdict_mechanism(v);
	struct str module = v->functions ? frame_module(&v->frame) : v->module;
	size_t at;

	snprintf(v->bucket, sizeof(v->bucket), "FS_");
	for (at = 3; *mechanism && at < 40; mechanism++)
		v->bucket[at++] =
			*mechanism >= 'a' && *mechanism <= 'z' ? *mechanism - 32 : *mechanism;
	v->bucket[at++] = '_';
	v->bucket[at] = 0;
	add(v->bucket, sizeof(v->bucket), str_of(letters[v->access]));
	for (uint32_t i = 0; i < v->suspects && !module.n && *v->subject; i++)
		if (!str_is(v->suspect[i].module, "hardware"))
			module = v->suspect[i].module;
	add(v->bucket, sizeof(v->bucket), module.n ? module : STR("unknown"));
	add(v->bucket, sizeof(v->bucket), STR("!"));
	add(v->bucket, sizeof(v->bucket),
	    v->functions  ? v->function[0]
	    : *v->subject ? str_of(v->subject)
			  : STR("unknown"));
}

void judge_bucket(struct diagnosis *v)
{
	const struct incident *e = v->event;
	char text[512];

	name_bucket(v);
	snprintf(text, sizeof(text), "%s|%.*s+0x%x", v->bucket, STR_ARG(e->ip.function),
		 e->ip.offset);
	sha1_hex(text, strlen(text), v->exact);
	snprintf(text, sizeof(text), "%s", kind_name(v->kind));
	if (*v->subject) {
		add(text, sizeof(text), STR("|"));
		add(text, sizeof(text), str_of(v->subject));
	}
	for (uint32_t i = 0; i < v->functions && i < STACK_FUNCTIONS; i++) {
		add(text, sizeof(text), STR("|"));
		add(text, sizeof(text), v->function[i]);
	}
	sha1_hex(text, strlen(text), v->stack);
}
