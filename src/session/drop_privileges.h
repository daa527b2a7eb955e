/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Drops privileges after the first scan, and reports to `doctor` which privileges remain. */
#ifndef FS_SESSION_DROP_PRIVILEGES_H
#define FS_SESSION_DROP_PRIVILEGES_H

#include "render/doctor_report.h"
#include "session/session.h"

/*
 * Warning to print if live_scan_is_confined() is true: the scan sees only processes of this pid
 * namespace.
 */
#define LOOKS_WITHIN                                                                               \
	"processes outside of it are not looked at here (from Linux 6.7 on they are): share the "  \
	"host's, by docker --pid=host or Kubernetes' hostPID"

/*
 * Drops all capabilities but `kept` (CAP_*), which reads or changes the store of a service, whose
 * owner is another user. For commands that measure nothing.
 */
void privileges_drop_to_store(int kept);

/* Drops the privileges that are not needed once probes are attached and output files are open. */
void privileges_drop(struct session *s);

/*
 * In a pid namespace, learns the names of the processes in /proc. Warns that pids in /proc differ
 * from those in records.
 */
void privileges_name_namespace(struct session *s);

/* Fills the remaining privileges for `doctor`, and why they are kept. `ret` points into `s`. */
void privileges_report(const struct session *s, struct report_rights *ret);

#endif
