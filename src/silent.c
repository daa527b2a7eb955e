// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "silent.h"

static void say_nothing(struct buf *b, const struct view *v)
{
}

static void say_no_event(struct buf *b, const struct view *v, const union event *e)
{
}

static void say_no_finding(struct buf *b, const struct view *v, const struct finding *f)
{
}

const struct renderer silent_renderer = {
	.name = "silent",
	.open = say_nothing,
	.event = say_no_event,
	.finding = say_no_finding,
	.frame = say_nothing,
	.close = say_nothing,
};
