/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * model: removes the variable parts of names, so that all pods of one set, or transient units of
 * one kind, have one name.
 */
#ifndef FS_MODEL_COLLAPSE_H
#define FS_MODEL_COLLAPSE_H

#include <stddef.h>

#define LABEL_BYTES 201 /* maximum bytes of a workload name, including its NUL */

/* Kinds of variable parts that are removed from names. */
#define COLLAPSE_REPLICAS  1u /* random parts of pod names (ReplicaSet, DaemonSet, Job) */
#define COLLAPSE_JOBS	   2u /* time in pod names of CronJobs */
#define COLLAPSE_TRANSIENT 4u /* numbers, random parts and peer addresses in names of units */
#define COLLAPSE_INSTANCES 8u /* instance names of a template: postgresql@15-main.service */
#define COLLAPSE_DEFAULT   (COLLAPSE_REPLICAS | COLLAPSE_JOBS | COLLAPSE_TRANSIENT)

/*
 * Removes the variable parts of a pod name: "cart-7d9f8b6c5d-x2x9v" becomes "cart",
 * "backup-29231040-x2x9v" becomes "backup". `collapse` has COLLAPSE_* flags.
 */
void pod_collapse(const char *pod, unsigned int collapse, char *ret, size_t size);

/*
 * Replaces the variable parts of a unit name: "app-gimp-4211.scope" becomes "app-gimp-#.scope",
 * "sshd@3-10.0.0.1:22-10.0.0.2:4.service" becomes "sshd@#…".
 */
void unit_collapse(const char *unit, unsigned int collapse, char *ret, size_t size);

#endif
