// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "rules/remedy_parts.h"

static bool within_hard(const struct remedies *all)
{
	return all->o->known && (all->o->hard == LIMIT_NONE || all->want <= all->o->hard);
}

/*
 * If the new hard RLIMIT_NOFILE is above fs.nr_open, first adds a command that raises fs.nr_open.
 * Without this command setrlimit() fails, even for root.
 */
static void raise_ceiling(const struct remedies *all, struct buf *c)
{
	if (all->o->most && all->want > all->o->most)
		buf_printf(c, "sysctl -w fs.nr_open=%" PRIu64 " && ", all->want);
}

static void set_running(struct remedies *all)
{
	const struct limit *l = all->o->limit;
	bool within = within_hard(all);
	char command[COMMAND_BYTES];
	struct buf c = BUF_IN(command);

	raise_ceiling(all, &c);
	buf_printf(&c, "prlimit --pid %u --%s=", all->f->pid, l->word);
	put_wanted(all, 1, "unlimited", &c);
	buf_puts(&c, ":");
	if (!within)
		put_wanted(all, 1, "unlimited", &c);
	remedy_add(all, REMEDY_WORKAROUND, false,
		   within ? "now, for this process and processes that it starts later; the user "
			    "of the process may run this command"
			  : "now, for this process and processes that it starts later; as root, "
			    "because the value is above the hard limit",
		   &c);
}

static void set_in_shell(struct remedies *all)
{
	const struct limit *l = all->o->limit;
	char command[COMMAND_BYTES];
	struct buf c = BUF_IN(command);

	if (within_hard(all)) {
		buf_printf(&c, "ulimit -S%c ", l->letter);
		put_wanted(all, l->ulimit_by, "unlimited", &c);
	} else {
		raise_ceiling(all, &c);
		buf_printf(&c, "prlimit --pid $$ --%s=", l->word);
		put_wanted(all, 1, "unlimited", &c);
		buf_puts(&c, ":");
		put_wanted(all, 1, "unlimited", &c);
	}
	remedy_add(all, REMEDY_WORKAROUND, false,
		   within_hard(all) ? "in the shell that starts the program"
				    : "in the shell that starts the program; as root, because the "
				      "value is above the hard limit",
		   &c);
}

/* Writes "soft:hard" for an option that sets both limits. Never lowers the hard limit. */
static void put_pair(const struct remedies *all, const char *none, struct buf *c)
{
	bool keep = within_hard(all);

	put_wanted(all, 1, none, c);
	buf_puts(c, ":");
	if (keep && all->o->hard == LIMIT_NONE)
		buf_puts(c, none);
	else if (keep)
		buf_printf(c, "%" PRIu64, all->o->hard);
	else
		put_wanted(all, 1, none, c);
}

/* Adds a command that writes a systemd drop-in for the unit, and restarts the unit. */
static void put_drop_in(const struct remedies *all, const struct workload *w, const char *unit,
			struct buf *c)
{
	const struct limit *l = all->o->limit;
	const char *home = w->user_manager ? "~/.config/systemd/user/" : "/etc/systemd/system/";
	const char *user = w->user_manager ? " --user" : "";
	char dir_text[COMMAND_BYTES];
	struct buf dir = BUF_IN(dir_text);

	buf_printf(&dir, "%s.d", unit);
	buf_printf(c, "mkdir -p %s", home);
	buf_shell(c, dir.s);
	buf_printf(c, " && printf '[Service]\\n%s=", l->unit_key);
	put_pair(all, "infinity", c);
	buf_printf(c, "\\n' > %s", home);
	buf_shell(c, dir.s);
	buf_printf(c, "/zz-%s.conf && systemctl%s daemon-reload && systemctl%s restart ", l->word,
		   user, user);
	buf_shell(c, unit);
	c->failed |= dir.failed;
	buf_free(&dir);
}

static void set_in_unit(struct remedies *all)
{
	const struct workload *w = &all->o->at_holder;
	char say[256];
	char command[COMMAND_BYTES];
	struct buf c = BUF_IN(command);

	put_drop_in(all, w, w->unit, &c);
	snprintf(say, sizeof(say), "permanently, by a drop-in for %.128s; this restarts the unit%s",
		 w->unit, w->unit_inside ? ", in the container, whose systemd runs it" : "");
	remedy_add(all, REMEDY_WORKAROUND, true, say, &c);
}

static void set_in_pam(struct remedies *all)
{
	const struct limit *l = all->o->limit;
	uint32_t uid = all->o->holder.uid;
	char command[COMMAND_BYTES];
	struct buf c = BUF_IN(command);

	buf_puts(&c, "echo '");
	/* limits.conf takes a uid only as a range (":UID"), and root only by name */
	if (uid)
		buf_printf(&c, ":%u", uid);
	else
		buf_puts(&c, "root");
	buf_printf(&c, " %s %s ", within_hard(all) ? "soft" : "-", l->word);
	put_wanted(all, l->ulimit_by, "unlimited", &c);
	buf_printf(&c, "' > /etc/security/limits.d/zz-%s.conf", l->word);
	remedy_add(all, REMEDY_WORKAROUND, true, "permanently, from this user's next login on", &c);
}

/*
 * Suggests an option of `run`: a container gets its resource limits when it is created, and they
 * cannot be changed later.
 */
static void set_at_run(struct remedies *all, const char *program)
{
	const struct limit *l = all->o->limit;
	char say[256];
	char command[COMMAND_BYTES], value_text[COMMAND_BYTES];
	struct buf c = BUF_IN(command), value = BUF_IN(value_text);

	if (l == &limit_table[LIMIT_AS]) {
		snprintf(say, sizeof(say),
			 "permanently: call ulimit in the container's entry point; %s has no "
			 "option for this limit",
			 program);
		remedy_add(all, REMEDY_WORKAROUND, true, say, NULL);
		return;
	}
	buf_printf(&c, "%s run --ulimit %s=", program, l->word);
	put_pair(all, "-1", &c);
	buf_puts(&c, " ...");
	put_wanted(all, 1, "-1", &value);
	snprintf(say, sizeof(say),
		 "permanently, by recreating the container (`update` cannot change it); in "
		 "compose: ulimits: {%s: %s}",
		 l->word, value.s);
	buf_free(&value);
	remedy_add(all, REMEDY_WORKAROUND, true, say, &c);
}

/*
 * Returns whether KEP-5758 proposes a field for a limit, securityContext.ulimits of a container.
 * The enhancement was not part of Kubernetes 1.37 (kubernetes/website pull request 56292); its
 * implementation, kubernetes/kubernetes pull request 137023, has these limits.
 */
static bool is_proposed(const struct limit *l)
{
	static const char *const words[] = {"nofile", "memlock", "core", "nice", "rtprio", "stack"};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (!strcmp(l->word, words[i]))
			return true;
	return false;
}

/*
 * Suggests to change the container runtime on the node: Kubernetes has no setting for resource
 * limits, so containers get those of the runtime.
 */
static void set_on_node(struct remedies *all)
{
	const struct limit *l = all->o->limit;
	const struct workload none = {};
	char command[COMMAND_BYTES];
	struct buf c = BUF_IN(command);

	if (all->o->workload.runtime == RUNTIME_CRIO) {

		buf_printf(&c, "printf '[crio.runtime]\\ndefault_ulimits = [\"%s=", l->word);
		put_pair(all, "-1", &c);
		buf_printf(&c,
			   "\"]\\n' > /etc/crio/crio.conf.d/zz-%s.conf && systemctl restart crio",
			   l->word);
	} else {
		put_drop_in(all, &none,
			    all->o->workload.runtime == RUNTIME_DOCKER ? "docker.service"
								       : "containerd.service",
			    &c);
	}
	remedy_add(all, REMEDY_WORKAROUND, true,
		   is_proposed(l)
			   ? "permanently, on each node; then recreate the pod. Kubernetes up to "
			     "1.37 has no setting for this limit (KEP-5758 proposes "
			     "securityContext.ulimits): containers get the limit of the container "
			     "runtime. Up to the hard limit, ulimit in the entry point is enough"
			   : "permanently, on each node; then recreate the pod. Kubernetes has no "
			     "setting for this limit: containers get the limit of the container "
			     "runtime. Up to the hard limit, ulimit in the entry point is enough",
		   &c)
		->scope = SCOPE_HOST;
}

static void set_in_lxc(struct remedies *all)
{
	const struct limit *l = all->o->limit;
	char say[256];
	char command[COMMAND_BYTES], value_text[COMMAND_BYTES];
	struct buf c = BUF_IN(command), value = BUF_IN(value_text);

	put_wanted(all, 1, "unlimited", &value);
	buf_puts(&c, "lxc config set ");
	buf_shell(&c, all->o->workload.container);
	buf_printf(&c, " limits.kernel.%s=%s", l->word, value.s);
	snprintf(say, sizeof(say),
		 "permanently, from the container's next start on (incus has the same setting; "
		 "plain lxc has lxc.prlimit.%s = %s in the container's config)",
		 l->word, value.s);
	c.failed |= value.failed;
	buf_free(&value);
	remedy_add(all, REMEDY_WORKAROUND, true, say, &c);
}

static void set_in_nspawn(struct remedies *all)
{
	char name_text[COMMAND_BYTES], command[COMMAND_BYTES];
	struct buf name = BUF_IN(name_text), c = BUF_IN(command);

	buf_printf(&name, "/etc/systemd/nspawn/%s.nspawn", all->o->workload.container);
	buf_printf(&c, "printf '[Exec]\\n%s=", all->o->limit->unit_key);
	put_wanted(all, 1, "infinity", &c);
	buf_puts(&c, "\\n' >> ");
	put_word(&c, &name);
	remedy_add(all, REMEDY_WORKAROUND, true,
		   "permanently, from the container's next start "
		   "on",
		   &c);
}

static void set_in_container(struct remedies *all)
{
	const struct workload *w = &all->o->workload;

	if (w->pod[0])
		set_on_node(all);
	else if (w->runtime == RUNTIME_LXC)
		set_in_lxc(all);
	else if (w->runtime == RUNTIME_NSPAWN)
		set_in_nspawn(all);
	else if (w->runtime == RUNTIME_PODMAN)
		set_at_run(all, "podman");
	else if (w->runtime == RUNTIME_CONTAINERD)
		set_at_run(all, "nerdctl");
	else
		set_at_run(all, "docker");
}

static bool is_login(const struct origin *o)
{
	return (o->from == ORIGIN_FILE && strstr(o->line.file, "/security/")) ||
	       !strncmp(o->at_holder.unit, "session-", 8);
}

/* Adds the permanent change for the place where the process's limit was set. */
static void set_for_good(struct remedies *all)
{
	const struct origin *o = all->o;

	if (o->workload.runtime != RUNTIME_NONE && !o->workload.unit_inside)
		set_in_container(all);
	else if (is_login(o))
		set_in_pam(all);
	else if (is_unit(o->at_holder.unit, "service"))
		set_in_unit(all);
}

static void check(struct remedies *all)
{
	char command[COMMAND_BYTES];
	struct buf c = BUF_IN(command);

	if (all->o->limit == &limit_table[LIMIT_NOFILE])
		buf_printf(&c,
			   "ls -l /proc/%u/fd | awk '{print $NF}' | sort | uniq -c | sort -n | "
			   "tail",
			   all->f->pid);
	else
		buf_printf(&c, "prlimit --pid %u --%s", all->f->pid, all->o->limit->word);
	remedy_add(all, REMEDY_CHECK, false, "show what counts towards the limit", &c);
}

void remedy_process(struct remedies *all)
{
	if (all->f->pid && !all->f->gone)
		set_running(all);
	else
		set_in_shell(all);
	set_for_good(all);
	if (all->f->pid && !all->f->gone)
		check(all);
}
