// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "pacing.h"

#include <poll.h>
#include <unistd.h>

#include "probe/host.h"

void pacing_wait(struct session *s, double *speed)
{
	struct pollfd keys = {.fd = s->redraws ? STDIN_FILENO : -1, .events = POLLIN};
	double left = *speed ? model_window_seconds(&s->m) / *speed * 1000 : 0;
	bool halted = false;
	char key;

	while (!s->done && (left > 0 || halted)) {
		uint64_t from = host_monotonic_ns();
		int wait = halted ? -1 : left < 1000 ? (int)left + 1 : 1000;

		if (poll(&keys, 1, wait) > 0) {
			if (read(STDIN_FILENO, &key, 1) != 1)
				keys.fd = -1, halted = false;
			else if (key == 'q' || key == 'Q')
				s->done = true;
			else if (key == ' ')
				halted = !halted;
			else if (key == '+' || key == '-') {
				*speed *= key == '+' ? 2 : 0.5;
				left *= key == '+' ? 0.5 : 2;
			}
		}
		if (!halted)
			left -= (host_monotonic_ns() - from) / 1e6;
	}
}
