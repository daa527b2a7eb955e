// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Tests labels of workloads: what fits, what is replaced, and what tells workloads apart. */
#include "model/identity.h"
#include "tap.h"

static const char *copied(const char *s)
{
	static char ret[9];

	memset(ret, 'x', sizeof(ret));
	label_copy(ret, 8, s);
	return ret[8] == 'x' ? ret : "written behind its end";
}

static void test_copy(void)
{
	is_str(copied(""), "", "nothing");
	is_str(copied("1234567"), "1234567", "a text that just fits");
	is_str(copied("12345678"), "1234567", "a longer one is cut");
	is_str(copied("12345\xc3\xa4"), "12345\xc3\xa4", "a character of two bytes that fits");
	is_str(copied("123456\xc3\xa4"), "123456", "and one that does not");
	is_str(copied("1234\xe2\x82\xac"), "1234\xe2\x82\xac", "a character of three bytes");
	is_str(copied("12345\xe2\x82\xac"), "12345", "one that does not fit");
	is_str(copied("12345\xe2\x82\xac"
		      "6"),
	       "12345", "ends the text");
	is_str(copied("123456\xff"), "123456?", "a byte that is no character is one byte");
	is_str(copied("1234567\xff"), "1234567", "which must fit, too");
	is_str(copied("a\nb\x7f"), "a?b?", "controls are replaced");
	is_str(copied("\xe2\x80\xae"
		      "a"),
	       "?a", "and what hides text");
	is_str(copied("\xe2\x82"
		      "a"),
	       "??a", "a cut character: each of its bytes");
}

static void test_rename(void)
{
	struct identity id = {};

	identity_rename(&id, "");
	is_str(id.name, "?", "no name");
	identity_rename(&id, "~other");
	is_str(id.name, "_other", "a name that faultscope uses itself");
	identity_rename(&id, "a~");
	is_str(id.name, "a~", "elsewhere the character stays");
}

static void test_kinds(void)
{
	struct workload w = {};

	ok(workload_kind_of(&w) == KIND_COMM, "a program");
	strcpy(w.unit, "a.service");
	ok(workload_kind_of(&w) == KIND_UNIT, "a unit");
	w.of_user = true;
	ok(workload_kind_of(&w) == KIND_UNIT, "a unit of a user");
	strcpy(w.unit, "session-1.scope");
	ok(workload_kind_of(&w) == KIND_SESSION, "a session");
	strcpy(w.unit, "session-1.service");
	ok(workload_kind_of(&w) == KIND_UNIT, "a service with such a name");
	strcpy(w.unit, "user@7.service");
	ok(workload_kind_of(&w) == KIND_SESSION, "a user's manager");
	w.user_manager = true;
	ok(workload_kind_of(&w) == KIND_UNIT, "a unit below it with such a name");
	w.unit[0] = 0;
	ok(workload_kind_of(&w) == KIND_SESSION, "the slice of a user");
	w.runtime = RUNTIME_UNNAMED;
	ok(workload_kind_of(&w) == KIND_CONTAINER, "a container");
	strcpy(w.pod, "x");
	ok(workload_kind_of(&w) == KIND_POD, "a pod");
	is_str(workload_kind_name(KIND_POD), "pod", "the first name");
	is_str(workload_kind_name(KIND_COMM), "comm", "the last one");
}

static void test_seal(void)
{
	struct identity a = {.kind = KIND_UNIT}, b = {.kind = KIND_UNIT};

	identity_rename(&a, "x");
	identity_rename(&b, "x");
	b.serial = 77;
	identity_seal(&a);
	identity_seal(&b);
	ok(a.serial && a.serial == b.serial, "equal identities have equal numbers");
	strcpy(b.pod_uid, "1");
	identity_seal(&b);
	ok(b.serial && a.serial != b.serial, "others have others");
}

static void test_names(void)
{
	static const struct {
		const char *comm, *name;
		bool kernel;
	} rows[] = {
		{"bash", "bash"},
		{"a/b", "a_b"},
		{"x.socket", "x_socket"},
		{"x.mount", "x_mount"},
		{"x.swap", "x_swap"},
		{"x.slice", "x_slice"},
		{"x.target", "x.target"},
		{".scope", ".scope"},
		{"x.y.scope", "x.y_scope"},
		{NULL, "?"},
		{"kworker/0", "kthreadd", true},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct identity_names n = {.comm = rows[i].comm, .kernel_thread = rows[i].kernel};
		struct workload w = {};
		struct identity id;

		identity_make(&w, &n, COLLAPSE_DEFAULT, &id);
		is_str(id.name, rows[i].name, "the name of a program");
		ok(id.kind == KIND_COMM && !id.pod[0] && !id.container[0] && !id.container_id[0],
		   "and nothing else");
	}
}

int main(void)
{
	test_copy();
	test_rename();
	test_kinds();
	test_seal();
	test_names();
	return tap_done();
}
