// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Tests which file of systemd sets a key of a unit: the directories and their order, drop-ins,
 * templates, the configuration of the manager, and what a file's lines mean. See systemd.unit(5)
 * and systemd-system.conf(5).
 */
#include "fakeroot.h"

#include "collect/limits/origin_unit.h"
#include "open_files.h"
#include "tap.h"

#define KEY	  "LimitNOFILE"
#define MOST_DIRS 16

static struct fakeroot root;
static struct files f;

static void begin(void)
{
	root = fakeroot_make();
	f = (struct files){.root = root.fd};
}

static void end(void)
{
	is_u64(f.unread, 0, "each file could be read");
	fakeroot_free(&root);
}

/* Writes a unit file whose third line sets the key. */
static void put(const char *dir, const char *name, const char *value)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/%s", dir + 1, name);
	fake_file(&root, path, "[Service]\n\n" KEY "=%s\n", value);
}

static void drop(const char *dir, const char *name)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/%s", dir + 1, name);
	fake_remove(&root, path);
}

/* Returns the path of the file that sets the key of a unit; "": none. */
static const char *file_of(const struct workload *w, const char *unit)
{
	static struct origin_line line, was;
	size_t before = open_fds();
	bool found;

	memset(&line, 0x55, sizeof(line));
	was = line;
	found = unit_find(&f, w, unit, KEY, &line);
	if (open_fds() != before)
		ok(false, "a file was left open");
	if (found)
		return line.file;
	ok(!memcmp(&line, &was, sizeof(line)), "without a line, nothing is returned");
	return "";
}

static const char *const system_dirs[MOST_DIRS] = {
	"/etc/systemd/system.control", "/run/systemd/system.control",
	"/run/systemd/transient",      "/run/systemd/generator.early",
	"/etc/systemd/system",	       "/etc/systemd/system.attached",
	"/run/systemd/system",	       "/run/systemd/system.attached",
	"/run/systemd/generator",      "/usr/local/lib/systemd/system",
	"/usr/lib/systemd/system",     "/lib/systemd/system",
	"/run/systemd/generator.late",
};

static const char *const user_dirs[MOST_DIRS] = {
	"/home/ann/.config/systemd/user.control",
	"/run/user/1000/systemd/user.control",
	"/run/user/1000/systemd/transient",
	"/home/ann/.config/systemd/user",
	"/etc/systemd/user",
	"/run/user/1000/systemd/user",
	"/run/systemd/user",
	"/home/ann/.local/share/systemd/user",
	"/usr/local/lib/systemd/user",
	"/usr/lib/systemd/user",
	"/lib/systemd/user",
};

/* In each directory there is a file of this name. The first one is used, until it is removed. */
static void test_order(const struct workload *w, const char *const *dirs, const char *name)
{
	char want[256];

	begin();
	fake_file(&root, "etc/passwd", "ann:x:1000:1000::/home/ann:/bin/sh\n");
	for (size_t i = 0; dirs[i]; i++)
		put(dirs[i], name, "1");
	for (size_t i = 0; dirs[i]; i++) {
		snprintf(want, sizeof(want), "%s/%s", dirs[i], name);
		is_str(file_of(w, "app.service"), want, "the first of the files that are left");
		drop(dirs[i], name);
	}
	is_str(file_of(w, "app.service"), "", "none is left");
	end();
}

static void test_directories(void)
{
	static const char *const names[] = {"app.service", "app.service.d/a.conf",
					    "service.d/a.conf"};
	const struct workload system = {.uid = 1000}, user = {.user_manager = true, .uid = 1000};

	for (size_t i = 0; i < 3; i++) {
		test_order(&system, system_dirs, names[i]);
		test_order(&user, user_dirs, names[i]);
	}
}

/* Without a home directory, only the other directories of a user's manager are read. */
static void test_unknown_home(void)
{
	const struct workload w = {.user_manager = true, .uid = 1000};

	begin();
	put("/.config/systemd/user", "app.service", "1");
	put("/%h/.config/systemd/user", "app.service", "1");
	put("/home/ann/.config/systemd/user", "app.service", "1");
	put("/etc/systemd/system", "app.service", "1");
	is_str(file_of(&w, "app.service"), "", "no directory of this user");
	put("/run/user/1000/systemd/transient", "app.service", "1");
	is_str(file_of(&w, "app.service"), "/run/user/1000/systemd/transient/app.service",
	       "a directory by the number of the user");
	end();
}

/* A file of an instance comes before the file of its template; drop-ins of both are read. */
static void test_templates(void)
{
	const struct workload w = {};

	begin();
	put("/etc/systemd/system", "a@.service", "1");
	is_str(file_of(&w, "a@7.service"), "/etc/systemd/system/a@.service", "the template");
	is_str(file_of(&w, "a.service"), "", "no unit of this template");
	put("/usr/lib/systemd/system", "a@7.service", "1");
	is_str(file_of(&w, "a@7.service"), "/usr/lib/systemd/system/a@7.service", "the instance");
	is_str(file_of(&w, "a@8.service"), "/etc/systemd/system/a@.service", "another instance");
	put("/lib/systemd/system", "a@.service.d/x.conf", "1");
	is_str(file_of(&w, "a@7.service"), "/lib/systemd/system/a@.service.d/x.conf",
	       "a drop-in of the template comes after the file");
	put("/lib/systemd/system", "a@7.service.d/w.conf", "1");
	is_str(file_of(&w, "a@7.service"), "/lib/systemd/system/a@.service.d/x.conf",
	       "drop-ins are read in the order of their names");
	put("/lib/systemd/system", "a@7.service.d/y.conf", "1");
	is_str(file_of(&w, "a@7.service"), "/lib/systemd/system/a@7.service.d/y.conf",
	       "the last name is used");
	end();

	begin();
	put("/etc/systemd/system", "a-.service", "1");
	is_str(file_of(&w, "a-b.service"), "", "a prefix has drop-ins, but no file");
	put("/etc/systemd/system", "a-.service.d/x.conf", "1");
	is_str(file_of(&w, "a-b.service"), "/etc/systemd/system/a-.service.d/x.conf",
	       "a drop-in of a prefix");
	is_str(file_of(&w, "a-b.slice"), "", "a unit of another type");
	is_str(file_of(&w, "ab.service"), "", "a unit without a dash");
	end();
}

/* Lines of a file, the value that they set, and the number of its line. */
static void test_lines(void)
{
	static const struct {
		const char *text, *value;
		unsigned int line; /* 0: the file does not set the key */
	} rows[] = {
		{KEY "=1", "1", 1},
		{"[Service]\n" KEY "=1\n", "1", 2},
		{"[Service]\n\n  " KEY " =  1 : 2 \n", "1 : 2", 3},
		{"[Unit]\n" KEY "=1\n", "", 0},
		{"[Install]\n" KEY "=1\n", "", 0},
		{"[X-]\n" KEY "=1\n", "", 0},
		{"[X-Mine]\n" KEY "=1\n", "", 0},
		{"[XMine]\n" KEY "=1\n", "1", 2},
		{"[X\n" KEY "=1\n", "1", 2},
		{"[Unit]\n[Service]\n" KEY "=1\n", "1", 3},
		{"[Service]\n" KEY "=1\n[Unit]\n" KEY "=2\n", "1", 2},
		{"[Unit] x\n" KEY "=1\n", "1", 2},
		{"[Service]\n" KEY "=1\n" KEY "=2\n", "2", 3},
		{"[Service]\n" KEY "=1\n" KEY "=\n", "", 0},
		{"[Service]\n" KEY "=\n" KEY "=3\n", "3", 3},
		{"[Service]\n" KEY "\n", "", 0},
		{"[Service]\n" KEY "X=1\nX" KEY "=1\n" KEY " X=1\n", "", 0},
		{"[Service]\n#" KEY "=1\n;" KEY "=1\n # " KEY "=1\n", "", 0},
		/* lines that continue */
		{"[Service]\nExecStart=a \\\n" KEY "=1\n", "", 0},
		{"[Service]\nExecStart=a \\\nb\n" KEY "=1\n", "1", 4},
		{"[Service]\nExecStart=a \\\nb \\\n" KEY "=1\n", "", 0},
		{"[Service]\nExecStart=a \\\n# c\n" KEY "=1\n", "", 0},
		{"[Service]\nExecStart=a \\\n# c \\\nb\n" KEY "=1\n", "1", 5},
		{"[Service]\n# c \\\n" KEY "=1\n", "1", 3},
		{"[Service]\nExecStart=a \\\n\n" KEY "=1\n", "1", 4},
		{"[Service]\nExecStart=a \\\n[Unit]\n" KEY "=1\n", "1", 4},
		{"", "", 0},
		{"\n\n", "", 0},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct unit_limit s = {.key = KEY};

		unit_scan(&s, "/file", (struct span){rows[i].text, strlen(rows[i].text)});
		is_u64(s.line.line, rows[i].line, "number of the line");
		if (!rows[i].line)
			continue;
		is_str(s.line.value, rows[i].value, "its value");
		is_str(s.line.file, "/file", "its file");
	}
}

static const char *default_file(const struct workload *w)
{
	static struct origin_line line;
	size_t before = open_fds();
	bool found = unit_find_default(&f, w, KEY, &line);

	if (open_fds() != before)
		ok(false, "a file was left open");
	return found ? line.file : "";
}

/* The first system.conf is read, and then all drop-ins, of which the first ones mask others. */
static void test_defaults(void)
{
	static const char *const dirs[] = {"/etc/systemd", "/run/systemd", "/usr/local/lib/systemd",
					   "/usr/lib/systemd", "/lib/systemd"};
	static const char *const managers[] = {"system.conf", "user.conf"};
	char want[128], name[64];

	for (int user = 0; user < 2; user++)
		for (int drop_in = 0; drop_in < 2; drop_in++) {
			const struct workload w = {.user_manager = user},
					      other = {.user_manager = !user};

			begin();
			snprintf(name, sizeof(name), "%s%s", managers[user],
				 drop_in ? ".d/a.conf" : "");
			for (size_t i = 0; i < 5; i++)
				put(dirs[i], name, "1");
			is_str(default_file(&other), "", "the other manager has other files");
			for (size_t i = 0; i < 5; i++) {
				snprintf(want, sizeof(want), "%s/%s", dirs[i], name);
				is_str(default_file(&w), want,
				       "the first of the files that are left");
				drop(dirs[i], name);
			}
			is_str(default_file(&w), "", "none is left");
			end();
		}
	begin();
	put("/etc/systemd", "system.conf", "1");
	put("/lib/systemd", "system.conf.d/a.conf", "1");
	is_str(default_file(&(struct workload){}), "/lib/systemd/system.conf.d/a.conf",
	       "a drop-in comes after the file");
	fake_file(&root, "lib/systemd/system.conf.d/b.conf", "[Manager]\n" KEY "=\n");
	is_str(default_file(&(struct workload){}), "", "an empty value clears the key");
	end();
	begin();
	fake_file(&root, "etc/systemd/system.conf", "[Manager]\n");
	put("/run/systemd", "system.conf", "1");
	is_str(default_file(&(struct workload){}), "", "the first file hides the second one");
	end();
}

int main(void)
{
	test_directories();
	test_unknown_home();
	test_templates();
	test_lines();
	test_defaults();
	return tap_done();
}
