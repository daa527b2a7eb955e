/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What a session may still do: given up after the first look, and told by `doctor`. */
#ifndef FS_SESSION_DROP_PRIVILEGES_H
#define FS_SESSION_DROP_PRIVILEGES_H

#include "render/doctor_report.h"
#include "session/session.h"

/* Of live_scan_is_confined(). */
#define LOOKS_WITHIN                                                                               \
	"processes outside of it are not looked at here (from Linux 6.7 on they are): share the "  \
	"host's, by docker --pid=host or Kubernetes' hostPID"

/* All is attached, opened and named: the rest needs next to no rights. */
void privileges_drop(struct session *s);

/* In a pid namespace: names of those processes that our own /proc shows, and a word on pids. */
void privileges_name_namespace(struct session *s);

/* For `doctor`: what is left, and why. Points into `s`. */
void privileges_report(const struct session *s, struct report_rights *ret);

#endif
