// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <string.h>

#include "base/array.h"
#include "triage/facts.h"

static bool is_taint(struct str word)
{
	for (size_t i = 0; i < word.n; i++)
		if (word.s[i] < 'A' || word.s[i] > 'Z')
			return false;
	return word.n > 0;
}

/* Returns whether the word is a kernel release: "6.1.0-56-amd64", "2.6.24-rc3", "5.14.0+". */
static bool is_release(struct str word)
{
	return is_digit(str_at(word, 0)) && str_has(str_first(word, 4), ".");
}

/* Parses text after a comm: "Not tainted 6.1.0 #1", "Tainted: G OE 6.1.0", or "(2.6.24)". */
static void take_taint(struct incident *e, struct str s)
{
	struct str from = s;

	if (str_starts(s, "Not tainted")) {
		s = str_from(s, 11);
	} else if (str_starts(s, "Tainted:")) {
		struct str letters;

		s = str_from(s, 8);
		letters = str_trim(s);
		while (s.n) {
			from = s;
			if (!is_taint(str_word(&s)))
				break;
			if (!e->taint.n)
				e->taint.s = letters.s;
			e->taint.n = s.s - letters.s;
		}
		s = from;
	}
	for (int i = 0; i < 6 && s.n; i++) {
		struct str word = str_word(&s);

		if (str_at(word, 0) == '(')
			word = str_from(word, 1);
		if (!is_release(word))
			continue;
		while (word.n && (word.s[word.n - 1] == ')' || word.s[word.n - 1] == ','))
			word.n--;
		e->kernel = word;
		return;
	}
}

static long taint_at(struct str s)
{
	long at = str_find(s, "Not tainted");

	return at < 0 ? str_find(s, "Tainted:") : at;
}

/*
 * Notices that another CPU's report began before this one ended. With CONFIG_PRINTK_CALLER, the
 * lines of the CPUs are apart. Reports of hangs and locks list several tasks.
 */
static void find_interleaving(struct incident *e, struct str s, const struct captures *c)
{
	uint64_t pid;
	long at = str_find(s, "PID: ");

	if (e->caller != -1 || e->ended || e->panicked || !e->fatal || !e->has_pid || !c->has_cpu ||
	    at < 0 || !str_decimal(str_from(s, at + 5), &pid))
		return;
	if (pid != e->pid && e->has_cpu && c->cpu != e->cpu)
		e->interleaved = true;
}

/* Parses "CPU: 1 UID: 0 PID: 4070 Comm: x Not tainted …": lib/dump_stack.c. */
static bool take_cpu(struct incident *e, struct str s)
{
	struct captures c = {};
	struct str rest;
	long at, end;

	if (!match("CPU: %C ", s, &c) && !match("CPU %C", s, &c) && !str_starts(s, "Pid: ") &&
	    !str_starts(s, "PID: "))
		return false;
	at = str_find(s, "omm: ");
	if (at < 0)
		return false;
	if (e->kernel.n) {
		find_interleaving(e, s, &c);
		return true;
	}
	if (c.has_cpu) {
		e->cpu = c.cpu;
		e->has_cpu = true;
	}
	rest = str_from(s, at + 5);
	end = taint_at(rest);
	if (!e->comm.n)
		e->comm = str_trim(str_first(rest, end < 0 ? 16 : (size_t)end));
	at = str_find(e->comm, " Kdump: ");
	if (at > 0)
		e->comm = str_first(e->comm, at);
	memset(&c, 0, sizeof(c));
	at = str_find(s, "PID: ");
	if (at < 0)
		at = str_find(s, "Pid: ");
	if (at >= 0 && str_decimal(str_from(s, at + 5), &c.pid)) {
		e->pid = c.pid;
		e->has_pid = true;
	}
	if (end >= 0)
		take_taint(e, str_from(rest, end));
	return true;
}

bool identity_take(struct incident *e, struct str s)
{
	struct captures c = {};
	long at;

	if (take_cpu(e, s))
		return true;
	if (match("Hardware name: %*", s, &c)) {
		if (!e->hardware.n)
			e->hardware = str_from(s, 15);
		return true;
	}
	if (str_starts(s, "Workqueue: ")) {
		if (!e->workqueue.n)
			e->workqueue = str_trim(str_from(s, 11));
		return true;
	}
	if (match("Process %W (pid: %P", s, &c) || match("Process: %W (pid: %P", s, &c)) {
		if (!e->comm.n)
			e->comm = c.comm;
		e->pid = c.pid;
		e->has_pid = true;
		return true;
	}
	/* The line after "INFO: task …" begins with the kernel's taint. */
	if (e->kind == KIND_HANG && !e->kernel.n && taint_at(s) == 0) {
		take_taint(e, s);
		return true;
	}
	/* i386 and ppc print the kernel release on other lines than x86-64 does. */
	if (str_starts(s, "EFLAGS:") && !e->kernel.n && str_find(s, "(") > 0)
		take_taint(e, str_from(s, str_find(s, "(")));
	at = taint_at(s);
	if (at >= 0 && !e->kernel.n &&
	    (str_starts(s, "EIP:") || str_starts(s, "REGS:") || str_starts(s, "CPU:") ||
	     str_starts(s, "TASK"))) {
		take_taint(e, str_from(s, at));
		return !str_starts(s, "EIP:");
	}
	return false;
}

static struct module *module_add(struct incident *e)
{
	struct module *m =
		array_grow(e->module, e->nr_modules, &e->room_modules, MODULES_MAX, sizeof(*m));

	if (!m) {
		e->lost_modules++;
		return NULL;
	}
	e->module = m;
	m = &e->module[e->nr_modules++];
	memset(m, 0, sizeof(*m));
	return m;
}

/* Stores a module, "labnic(OE+)", and its flags. Returns false if the word is not a module. */
static bool module_word(struct incident *e, struct str word, bool gone)
{
	struct module *m;
	size_t n = 0;

	while (is_letter(str_at(word, n)) || is_digit(str_at(word, n)) || str_at(word, n) == '_' ||
	       str_at(word, n) == '-')
		n++;
	if (!n || n > 64 || (n < word.n && word.s[n] != '(' && word.s[n] != ']'))
		return false;
	m = module_add(e);
	if (!m)
		return true;
	m->name = str_first(word, n);
	m->gone = gone;
	if (str_at(word, n) == '(') {
		m->flags = str_from(word, n + 1);
		for (size_t i = 0; i < m->flags.n; i++) {
			m->loading |= m->flags.s[i] == '+';
			m->unloading |= m->flags.s[i] == '-';
			if (m->flags.s[i] == ')' || m->flags.s[i] == '+' || m->flags.s[i] == '-') {
				m->loading |= str_at(m->flags, i) == '+';
				m->flags.n = i;
			}
		}
	}
	return true;
}

static void module_list(struct incident *e, struct str s)
{
	while (s.n) {
		struct str word = str_word(&s);

		if (!word.n)
			break;
		if (str_starts(word, "[last")) {
			word = str_word(&s); /* skip "unloaded:" */
			word = str_word(&s);
			if (word.n && module_word(e, word, true) && e->nr_modules)
				e->module[e->nr_modules - 1].cut = !s.n && !str_has(word, "]");
			break;
		}
		if (!module_word(e, word, false))
			break;
	}
}

/* Returns whether a line has only names of modules: printk breaks the module list at 1 kB. */
static bool is_continued(struct str s)
{
	int words = 0;

	while (s.n) {
		struct str word = str_word(&s);

		if (!word.n)
			break;
		if (str_starts(word, "[last"))
			return words > 0;
		for (size_t i = 0; i < word.n; i++)
			if (!is_letter(word.s[i]) && !is_digit(word.s[i]) &&
			    !strchr("_()+-", word.s[i]))
				return false;
		words++;
	}
	return words >= 2;
}

bool modules_take(struct reading *r, struct str text, uint32_t line)
{
	struct str s = str_trim(text);

	if (str_starts(s, "Modules linked in:")) {
		r->section = SECTION_MODULES;
		if (r->e->modules_line)
			return true;
		r->e->modules_line = line + 1;
		module_list(r->e, str_from(s, 18));
		return true;
	}
	if (str_starts(s, "Unloaded tainted modules:")) {
		struct str rest = str_from(s, 25), word;

		while ((word = str_word(&rest)).n) {
			long colon = str_find(word, ":");

			if (!module_word(r->e, str_first(word, colon < 0 ? word.n : (size_t)colon),
					 true))
				break;
		}
		return true;
	}
	if (str_starts(s, "[last unloaded:") && r->section == SECTION_MODULES) {
		module_list(r->e, s);
		return true;
	}
	if (r->section != SECTION_MODULES || r->e->modules_line != line || !is_continued(s))
		return false;
	module_list(r->e, s);
	r->e->modules_line = line + 1;
	return true;
}
