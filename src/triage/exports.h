/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* triage: which kernel functions many modules call, counted in real module trees. */
#ifndef FS_TRIAGE_EXPORTS_H
#define FS_TRIAGE_EXPORTS_H

#include "triage/str.h"

/*
 * Returns how many modules import a function of `module`. If `module` is empty, the function is
 * built in: it then counts whoever exports it, because each kernel builds in other modules. Returns
 * 0 for functions that few modules import.
 */
unsigned int export_importers(struct str function, struct str module);

/* Returns how many modules use functions of a module; 0: few, so that it is no library. */
unsigned int provider_importers(struct str module);

/*
 * Returns whether a library imports functions of another library, directly or indirectly. If this
 * other library calls it, the call is a callback.
 */
bool provider_uses(struct str library, struct str other);

#endif
