// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <inttypes.h>
#include <string.h>

#include "rules/remedy_parts.h"

static bool in_container(const struct origin *o)
{
	return o->outside || o->workload.runtime != RUNTIME_NONE;
}

static void set_now(struct remedies *all)
{
	const struct origin *o = all->o;
	char command[COMMAND_BYTES];
	struct buf c = BUF_IN(command);

	buf_printf(&c, "sysctl -w %s=%" PRIu64, o->limit->name, all->want);
	remedy_add(all, REMEDY_WORKAROUND, false,
		   in_container(o) ? "now, until the next boot. Run the command on the host, not "
				     "in the container: the limit applies to every process and "
				     "container of the host"
				   : "now, until the next boot, for every process and container "
				     "of the host",
		   &c);
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/*
 * Returns true if the line that sets the limit sets nothing else and is in a file that belongs to
 * the administrator (in /etc). A command can then edit the line in place.
 */
static bool can_edit(const struct origin_line *l)
{
	return l->line && !l->glob && !strncmp(l->file, "/etc/", 5);
}

static void edit_line(struct remedies *all, struct buf *c)
{
	const struct origin_line *l = &all->o->line;

	buf_printf(c, "sed -i '%us/.*/%s = %" PRIu64 "/' ", l->line, all->o->limit->name,
		   all->want);
	buf_shell(c, l->file);
	buf_puts(c, " && sysctl -p ");
	buf_shell(c, l->file);
}

/*
 * Writes a command that creates a file in sysctl.d. sysctl reads these files in the order of their
 * names, and keeps the last value. The name of the new file must therefore come after that of the
 * file that sets the limit now.
 */
static void add_file(struct remedies *all, struct buf *c)
{
	const struct limit *l = all->o->limit;
	const char *other = base_name(all->o->line.file);
	char name_text[COMMAND_BYTES];
	struct buf name = BUF_IN(name_text);

	buf_printf(&name, "99-%s.conf", l->key);
	if (!name.failed && strcmp(other, name.s) >= 0) {
		buf_clear(&name);
		buf_printf(&name, "zz-%s.conf", l->key);
	}
	buf_printf(c, "echo '%s = %" PRIu64 "' > /etc/sysctl.d/%s && sysctl -p /etc/sysctl.d/%s",
		   l->name, all->want, name.s, name.s);
	c->failed |= name.failed;
	buf_free(&name);
}

static void set_for_good(struct remedies *all)
{
	char command[COMMAND_BYTES];
	struct buf c = BUF_IN(command);

	if (can_edit(&all->o->line))
		edit_line(all, &c);
	else
		add_file(all, &c);
	remedy_add(all, REMEDY_WORKAROUND, true,
		   in_container(all->o) ? "permanently, for every process and container; run the "
					  "command on the host"
					: "permanently, for every process and container of the "
					  "host",
		   &c);
}

/*
 * Suggests a privileged initContainer. Pods and containers can only set sysctls that belong to a
 * namespace, and none of these limits does.
 */
static void set_for_pod(struct remedies *all)
{
	const struct limit *l = all->o->limit;
	char command[COMMAND_BYTES];
	struct buf c = BUF_IN(command);

	buf_printf(&c,
		   "initContainers: [{name: set-%s, image: busybox, securityContext: {privileged: "
		   "true}, command: [sysctl, -w, %s=%" PRIu64 "]}]",
		   strrchr(l->path, '/') + 1, l->name, all->want);
	remedy_add(all, REMEDY_WORKAROUND, true,
		   "permanently, on each node, by a DaemonSet or this privileged initContainer of "
		   "the pod; securityContext.sysctls does not accept this limit, because it "
		   "applies to the whole host",
		   &c);
}

void remedy_machine(struct remedies *all)
{
	const struct origin *o = all->o;

	set_now(all);
	if (o->workload.pod[0])
		set_for_pod(all);
	else if (o->workload.runtime == RUNTIME_DOCKER || o->workload.runtime == RUNTIME_PODMAN)
		remedy_add(all, REMEDY_CHECK, false,
			   "--sysctl of docker and podman does not accept this limit, because it "
			   "applies to the whole host",
			   NULL);
	set_for_good(all);
}
