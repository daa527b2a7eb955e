// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Tests which lines of limits.conf apply to a user, and which of them decides: limits.conf(5). */
#include "fakeroot.h"

#include "collect/limits/origin_pam.h"
#include "tap.h"

static const struct user ann = {.uid = 1000,
				.gid = 1001,
				.name = "ann",
				.groups = 2,
				/* the third group is behind the last one */
				.group = {{.gid = 1001, .name = "ann"},
					  {.gid = 50, .name = "dev"},
					  {.gid = 51, .name = "old"}}},
			 root = {.uid = 0, .gid = 0, .name = "root"},
			 unknown = {.uid = 7, .gid = UINT32_MAX};

static const struct {
	const struct user *user;
	const char *text;
	const char *want; /* soft and hard limit; "-": no line */
} rows[] = {
	/* users */
	{&ann, "ann - nofile 5\n", "5:5"},
	{&ann, "an - nofile 5\nanna - nofile 5\n", "-:-"},
	{&ann, "1000 - nofile 5\n", "-:-"},
	{&ann, "1000:1000 - nofile 5\n", "5:5"},
	{&ann, "999:1000 - nofile 5\n", "5:5"},
	{&ann, "1000:1001 - nofile 5\n", "5:5"},
	{&ann, "998:999 - nofile 5\n", "-:-"},
	{&ann, "1001:1002 - nofile 5\n", "-:-"},
	{&ann, "1000: - nofile 5\n", "5:5"},
	{&ann, "1001: - nofile 5\n", "-:-"},
	{&ann, ":1000 - nofile 5\n", "5:5"},
	{&ann, ":1001 - nofile 5\n", "-:-"},
	{&ann, ":999 - nofile 5\n", "-:-"},
	{&ann, "x:1000 - nofile 5\n", "-:-"},
	{&ann, "1000:x - nofile 5\n", "-:-"},
	/* groups */
	{&ann, "@dev - nofile 5\n", "5:5"},
	{&ann, "@ann - nofile 5\n", "5:5"},
	{&ann, "@de - nofile 5\n", "-:-"},
	{&ann, "@ - nofile 5\n", "-:-"},
	{&ann, "@old - nofile 5\n", "-:-"},
	{&ann, "@1001:1001 - nofile 5\n", "5:5"},
	{&ann, "@1001: - nofile 5\n", "5:5"},
	{&ann, "@:1001 - nofile 5\n", "5:5"},
	{&ann, "@1002: - nofile 5\n", "-:-"},
	{&ann, "@50:50 - nofile 5\n", "-:-"},
	{&ann, "@1000:1000 - nofile 5\n", "-:-"},
	/* root has lines of its own, but is neither in groups nor a wildcard */
	{&root, "root - nofile 5\n", "5:5"},
	{&root, "0:10 - nofile 5\n", "5:5"},
	{&root, "* - nofile 5\n@root - nofile 5\n@0:10 - nofile 5\n", "-:-"},
	/* a user that passwd does not have */
	{&unknown, "* - nofile 5\n", "5:5"},
	{&unknown, "7:7 - nofile 5\n", "5:5"},
	{&unknown, "@0: - nofile 5\n", "-:-"},
	/* a user's line decides before one of a group, and that before the wildcard */
	{&ann, "ann - nofile 1\n@dev - nofile 2\n* - nofile 3\n", "1:1"},
	{&ann, "* - nofile 3\n@dev - nofile 2\nann - nofile 1\n", "1:1"},
	{&ann, "@dev - nofile 2\n* - nofile 3\n", "2:2"},
	{&ann, "* - nofile 3\n@dev - nofile 2\n", "2:2"},
	{&ann, "1000: - nofile 1\n@dev - nofile 2\n", "1:1"},
	/* the last of equal lines decides */
	{&ann, "ann - nofile 1\nann - nofile 2\n", "2:2"},
	{&ann, "ann - nofile 1\n1000: - nofile 2\n", "2:2"},
	{&ann, "@dev - nofile 1\n@ann - nofile 2\n", "2:2"},
	{&ann, "* - nofile 1\n* - nofile 2\n", "2:2"},
	/* soft and hard limits have lines of their own */
	{&ann, "ann soft nofile 1\nann hard nofile 2\n", "1:2"},
	{&ann, "ann hard nofile 2\n", "-:2"},
	{&ann, "ann soft nofile 1\n* - nofile 3\n", "1:3"},
	{&ann, "ann hard nofile 2\n* - nofile 3\n", "3:2"},
	{&ann, "ann both nofile 1\n", "-:-"},
	/* lines that do not count */
	{&ann, "#ann - nofile 1\n\n \nann - nproc 1\nann - nofile\nann -\nann\n", "-:-"},
	{&ann, "  ann \t -  nofile\t1  \n", "1:1"},
	{&ann, "ann - nofile 1 2\n", "1:1"},
};

static void test_scan(void)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct pam_limit s = {.user = rows[i].user, .item = "nofile"};
		char said[160];

		pam_scan(&s, "f", (struct span){rows[i].text, strlen(rows[i].text)});
		snprintf(said, sizeof(said), "%s:%s", s.soft.line ? s.soft.value : "-",
			 s.hard.line ? s.hard.value : "-");
		ok(!strcmp(said, rows[i].want), "user %u: %s, want %s: %.*s", rows[i].user->uid,
		   said, rows[i].want, (int)strcspn(rows[i].text, "\n"), rows[i].text);
	}
}

/* limits.conf comes first, then the files of limits.d in the order of their names. */
static void test_files(void)
{
	struct fakeroot r = fakeroot_make();
	struct files f = {.root = r.fd};
	struct pam_limit s = {.user = &ann, .item = "nofile"};

	fake_file(&r, "etc/security/limits.d/20.conf", "# a comment\nann soft nofile 2\n");
	fake_file(&r, "etc/security/limits.d/10.conf", "ann soft nofile 1\n");
	fake_file(&r, "etc/security/limits.d/30.txt", "ann soft nofile 3\n");
	fake_file(&r, "etc/security/limits.conf", "ann - nofile 9\n");
	pam_find(&f, &s);
	is_str(s.soft.file, "/etc/security/limits.d/20.conf", "the file of the soft limit");
	is_u64(s.soft.line, 2, "its line");
	is_str(s.soft.text, "ann soft nofile 2", "its text");
	is_str(s.hard.file, "/etc/security/limits.conf", "the file of the hard limit");
	is_str(s.hard.value, "9", "its value");
	is_u64(f.unread, 0, "all files were read");
	fakeroot_free(&r);
}

int main(void)
{
	test_scan();
	test_files();
	return tap_done();
}
