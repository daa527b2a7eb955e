// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "model/identity.h"

#include <ctype.h>
#include <stddef.h>
#include <string.h>

#include "base/array.h"
#include "base/buf.h"
#include "base/hash.h"

const char *workload_kind_name(enum workload_kind kind)
{
	static const char *const names[] = {
		[KIND_POD] = "pod",	    [KIND_CONTAINER] = "container", [KIND_UNIT] = "unit",
		[KIND_SESSION] = "session", [KIND_COMM] = "comm",
	};

	return names[kind];
}

/* Returns whether a path is that of a user's session scope, systemd manager, or slice. */
static bool is_session(const struct workload *w)
{
	return w->of_user &&
	       (!w->unit[0] || (!strncmp(w->unit, "session-", 8) && is_unit(w->unit, "scope")) ||
		(!w->user_manager && !strncmp(w->unit, "user@", 5)));
}

enum workload_kind workload_kind_of(const struct workload *w)
{
	if (w->pod[0])
		return KIND_POD;
	if (w->runtime != RUNTIME_NONE)
		return KIND_CONTAINER;
	if (is_session(w))
		return KIND_SESSION;
	return w->unit[0] ? KIND_UNIT : KIND_COMM;
}

void label_copy(char *ret, size_t size, const char *s)
{
	size_t to = 0;

	while (*s) {
		uint32_t code;
		int len = utf8_decode(s, &code);
		bool good = len && !utf8_is_unsafe(code);

		if (to + (good ? len : 1) >= size)
			break;
		if (good)
			memcpy(ret + to, s, len);
		else
			ret[to] = '?';
		to += good ? len : 1;
		s += len ? len : 1;
	}
	ret[to] = 0;
}

void identity_rename(struct identity *id, const char *name)
{
	label_copy(id->name, sizeof(id->name), *name ? name : "?");
	if (id->name[0] == '~')
		id->name[0] = '_'; /* '~' is reserved for faultscope's own names */
}

static void put_number(char *ret, size_t size, uint32_t n)
{
	char digits[DIGITS_MOST + 1] = {};

	array_append(ret, size, digits_before(digits + DIGITS_MOST, n));
}

static void append_id(char *ret, size_t size, const char *id)
{
	char cut[SHORT_ID + 1];

	array_copy(cut, sizeof(cut), id);
	array_append(ret, size, cut);
}

static const char *runtime_label(enum runtime r)
{
	return r == RUNTIME_UNNAMED  ? "container"
	       : r == RUNTIME_NSPAWN ? "nspawn"
				     : runtime_name(r);
}

static bool has_id(const struct workload *w)
{
	return w->runtime != RUNTIME_LXC && w->runtime != RUNTIME_NSPAWN;
}

/* Writes a pod's name such as "shop/cart/app", or "pod/UID/ID" if names are not known. */
static void name_pod(const struct workload *w, const struct identity_names *n,
		     unsigned int collapse, struct identity *id, char *ret, size_t size)
{
	char pod[LABEL_BYTES * 2];

	if (n->namespace && n->pod) {
		label_copy(id->namespace, sizeof(id->namespace), n->namespace);
		label_copy(id->pod, sizeof(id->pod), n->pod);
		pod_collapse(n->pod, collapse, pod, sizeof(pod));
		array_append(ret, size, id->namespace);
		array_append(ret, size, "/");
		array_append(ret, size, pod);
	} else {
		array_append(ret, size, "pod/");
		array_append(ret, size, w->pod);
	}
	if (!n->container && !w->container[0])
		return; /* the process is in the pod's own cgroup, not in a container */
	array_append(ret, size, "/");
	if (n->container)
		array_append(ret, size, n->container);
	else
		append_id(ret, size, w->container);
}

static void name_container(const struct workload *w, const struct identity_names *n, char *ret,
			   size_t size)
{
	size_t task = strlen(w->task);

	array_append(ret, size, task ? "ecs" : runtime_label(w->runtime));
	array_append(ret, size, "/");
	if (task) {
		if (n->family)
			array_append(ret, size, n->family);
		else
			append_id(ret, size, w->task);
		array_append(ret, size, "/");
	}
	if (n->container)
		array_append(ret, size, n->container);
	else if (task && !strncmp(w->container, w->task, task)) /* AWS Fargate: TASK-NUMBER */
		append_id(ret, size, w->container + task + 1);
	else if (has_id(w))
		append_id(ret, size, w->container);
	else
		array_append(ret, size, w->container);
}

static void name_unit(const struct workload *w, unsigned int collapse, char *ret, size_t size)
{
	char unit[LABEL_BYTES * 2];

	if (w->user_manager) {
		array_append(ret, size, "user@");
		put_number(ret, size, w->uid);
		array_append(ret, size, "/");
	}
	array_copy(unit, sizeof(unit), w->unit);
	unit_unescape(unit);
	unit_collapse(unit, collapse, ret + strlen(ret), size - strlen(ret));
}

static void name_session(const struct workload *w, unsigned int collapse, char *ret, size_t size)
{
	array_append(ret, size, "user-");
	put_number(ret, size, w->uid);
	array_append(ret, size, ".slice");
	if (!(collapse & COLLAPSE_TRANSIENT) && w->unit[0]) {
		array_append(ret, size, "/");
		array_append(ret, size, w->unit);
	}
}

/* Names a program by its comm, changed so that it does not look like a path or a systemd unit. */
static void name_comm(const struct identity_names *n, char *ret, size_t size)
{
	static const char *const types[] = {"service", "scope", "slice", "socket", "mount", "swap"};

	array_append(ret, size, n->kernel_thread ? "kthreadd" : n->comm ? n->comm : "");
	for (char *s = ret; (s = strchr(s, '/'));)
		*s = '_';
	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		if (is_unit(ret, types[i]))
			*strrchr(ret, '.') = '_';
}

void identity_make(const struct workload *w, const struct identity_names *names,
		   unsigned int collapse, struct identity *ret)
{
	char name[LABEL_BYTES * 3] = "";

	memset(ret, 0, sizeof(*ret));
	/* the runtime may name a pod that the cgroup path does not contain */
	ret->kind = names->namespace && names->pod ? KIND_POD : workload_kind_of(w);
	label_copy(ret->pod_uid, sizeof(ret->pod_uid), w->pod[0] ? w->pod : w->task);
	if (w->runtime != RUNTIME_NONE && has_id(w))
		label_copy(ret->container_id, sizeof(ret->container_id), w->container);
	if (names->container)
		label_copy(ret->container, sizeof(ret->container), names->container);
	else if (w->runtime != RUNTIME_NONE && !has_id(w))
		label_copy(ret->container, sizeof(ret->container), w->container);
	switch (ret->kind) {
	case KIND_POD:
		name_pod(w, names, collapse, ret, name, sizeof(name));
		break;
	case KIND_CONTAINER:
		name_container(w, names, name, sizeof(name));
		break;
	case KIND_UNIT:
		name_unit(w, collapse, name, sizeof(name));
		break;
	case KIND_SESSION:
		name_session(w, collapse, name, sizeof(name));
		break;
	default:
		name_comm(names, name, sizeof(name));
	}
	identity_rename(ret, name);
}

void identity_seal(struct identity *id)
{
	uint64_t hash;

	id->serial = 0;
	hash = hash64_bytes(HASH64_BEGIN, id, sizeof(*id));
	id->serial = hash ? hash : 1;
}
