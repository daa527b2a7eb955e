// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "render/text/empty_renderer.h"

const struct renderer silent_renderer = {
	.name = "silent",
	.open = render_nothing,
	.event = render_no_event,
	.finding = render_no_finding,
	.frame = render_nothing,
	.close = render_nothing,
};
