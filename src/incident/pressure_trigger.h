/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * incident: a trigger of the kernel for memory pressure (Documentation/accounting/psi.rst). The
 * kernel wakes the reader, so that waiting costs nothing.
 */
#ifndef FS_INCIDENT_PRESSURE_TRIGGER_H
#define FS_INCIDENT_PRESSURE_TRIGGER_H

/* All tasks of the machine waited for memory for this time, within this window. */
#define PRESSURE_STALL_MS  300
#define PRESSURE_WINDOW_MS 2000

/*
 * Opens the trigger; call it before privileges are dropped. Returns a descriptor that becomes ready
 * for EPOLLPRI, or -errno: -EOPNOTSUPP without CONFIG_PSI or with psi=0. The caller closes it.
 */
int pressure_trigger_open(void);

#endif
