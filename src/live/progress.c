// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "live/progress.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/units.h"
#include "probe/host_facts.h"
#include "live/terminal.h"

#define QUIET_NS 2000000000ULL
#define EVERY_NS 200000000ULL

void progress_begin(struct progress *p, const char *what)
{
	*p = (struct progress){.what = what,
			       .began_ns = host_monotonic_ns(),
			       .on = terminal_can_redraw(STDERR_FILENO)};
}

void progress_format(const char *what, double done, double total, double seconds, char *ret,
		     unsigned int size)
{
	double share = total > 0 ? done / total : 0;
	struct number_text left = as_span(seconds);

	if (share > 1)
		share = 1;
	if (share > 0)
		left = as_span(seconds / share - seconds);
	if (total <= 0)
		snprintf(ret, size, "%s: for %s", what, left.s);
	else if (share > 0)
		snprintf(ret, size, "%s: %.0f %%, %s left", what, 100 * share, left.s);
	else
		snprintf(ret, size, "%s: 0 %%", what);
}

void progress_at(struct progress *p, double done, double total)
{
	uint64_t now = p->on ? host_monotonic_ns() : 0;
	char text[120];

	if (!p->on || now - p->began_ns < QUIET_NS || now - p->told_ns < EVERY_NS)
		return;
	progress_format(p->what, done, total, (now - p->began_ns) / 1e9, text, sizeof(text));
	/* a single write(2), so that other output cannot come in between */
	dprintf(STDERR_FILENO, "\r\033[Kfaultscope: %s", text);
	p->told_ns = now;
	p->shown = true;
}

void progress_end(struct progress *p)
{
	if (p->shown)
		dprintf(STDERR_FILENO, "\r\033[K");
	p->shown = false;
	p->on = false;
}
