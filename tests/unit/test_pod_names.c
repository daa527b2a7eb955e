// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Tests the names of pods and containers that are found in the names of log files, and how many
 * entries of a directory are read. readdir() is replaced for the latter.
 */
#include "fakeroot.h"

#include <dirent.h>
#include <dlfcn.h>

#include "collect/names/pod_names.h"
#include "open_files.h"
#include "tap.h"

#define ID	   "0123456789abcdef"
#define UID	   "11111111-2222-3333-4444-555555555555"
#define LOGS	   "var/log/containers/"
#define PODS	   "var/log/pods/"
#define MOST	   16384 /* number of entries that are read */
#define NAME(name) LOGS name "-" ID ".log"

static struct fakeroot root;
static long other_entries = -1; /* number of entries before the log file; -1: the real ones */

struct dirent *readdir(DIR *d)
{
	static struct dirent *(*real)(DIR *);
	static struct dirent made;

	if (!real)
		real = (struct dirent * (*)(DIR *)) dlsym(RTLD_NEXT, "readdir");
	if (other_entries < 0)
		return real(d);
	strcpy(made.d_name, other_entries-- ? "other.log" : "web_shop_app-" ID ".log");
	if (made.d_name[0] == 'w')
		other_entries = 1L << 40;
	return &made;
}

static void find(const char *uid, const char *id, struct pod_names *ret)
{
	size_t before = open_fds();

	memset(ret, 0x55, sizeof(*ret));
	pod_names_find(root.fd, uid, id, ret);
	if (open_fds() != before)
		ok(false, "a directory was left open");
}

static bool is_found(const struct pod_names *n, const char *namespace, const char *pod,
		     const char *container, bool guessed)
{
	return !strcmp(n->namespace, namespace) && !strcmp(n->pod, pod) &&
	       !strcmp(n->container, container) && n->guessed == guessed && !n->family[0];
}

static const struct {
	const char *path[3]; /* files */
	const char *uid, *id;
	const char *namespace, *pod, *container;
	bool guessed;
	const char *name;
} rows[] = {
	/* files of containers */
	{{NAME("web-0_shop_app")}, "", ID, "shop", "web-0", "app", false, "a container"},
	{{NAME("web-0_shop_app")}, UID, ID, "shop", "web-0", "app", false, "a container of a pod"},
	{{NAME("web_shop_my-app")}, "", ID, "shop", "web", "my-app", false, "a name with a dash"},
	{{NAME("w_s_a")}, "", ID, "s", "w", "a", false, "names of one character"},
	{{NAME("web_shop_a_b")}, "", ID, "shop", "web", "a_b", false, "a third underscore"},
	{{NAME("web_shop")}, "", ID, "", "", "", false, "one underscore"},
	{{NAME("web")}, "", ID, "", "", "", false, "no underscore"},
	{{NAME(".web_shop_app")}, "", ID, "", "", "", false, "a hidden file"},
	{{LOGS "web_shop_app-" ID ".txt"}, "", ID, "", "", "", false, "no log"},
	{{LOGS "web_shop_app-" ID}, "", ID, "", "", "", false, "no suffix"},
	{{LOGS "web_shop_app-" ID ".log.1"}, "", ID, "", "", "", false, "an older log"},
	{{LOGS "web_shop_app-" ID "0.log"}, "", ID, "", "", "", false, "a longer id"},
	{{LOGS "web_shop_app-0" ID ".log"}, "", ID, "", "", "", false, "an id before it"},
	{{LOGS "web_shop_app" ID ".log"}, "", ID, "", "", "", false, "no dash"},
	{{NAME("web_shop_app")}, "", "", "", "", "", false, "no id"},
	{{NAME("web_shop_app")}, "", "0123", "", "", "", false, "a part of an id"},
	{{LOGS "x_y_z-77.log", NAME("web_shop_app")},
	 "",
	 ID,
	 "shop",
	 "web",
	 "app",
	 false,
	 "a log of another container"},
	/* directories of pods */
	{{PODS "shop_web-0_" UID "/app/0.log"},
	 UID,
	 ID,
	 "shop",
	 "web-0",
	 "app",
	 true,
	 "the only container of a pod"},
	{{PODS "shop_web-0_" UID "/app/0.log"},
	 UID,
	 "",
	 "shop",
	 "web-0",
	 "",
	 false,
	 "a pod without a container id"},
	{{PODS "shop_web-0_" UID "/app/0.log"}, "", ID, "", "", "", false, "no UID"},
	{{PODS "shop_web-0_" UID "/app/0.log", PODS "shop_web-0_" UID "/proxy/0.log"},
	 UID,
	 ID,
	 "shop",
	 "web-0",
	 "",
	 true,
	 "two containers"},
	{{PODS "shop_web-0_" UID "/app/0.log", PODS "shop_web-0_" UID "/proxy/0.log",
	  PODS "shop_web-0_" UID "/init/0.log"},
	 UID,
	 ID,
	 "shop",
	 "web-0",
	 "",
	 true,
	 "three containers"},
	{{PODS "shop_web-0_" UID "/app.log"},
	 UID,
	 ID,
	 "shop",
	 "web-0",
	 "",
	 true,
	 "a file is no container"},
	{{PODS "shop_web-0_" UID "/.app/0.log"},
	 UID,
	 ID,
	 "shop",
	 "web-0",
	 "",
	 true,
	 "a hidden directory is no container"},
	{{PODS "shop_web-0_" UID "/app/0.log", PODS "shop_web-0_" UID "/x.log"},
	 UID,
	 ID,
	 "shop",
	 "web-0",
	 "app",
	 true,
	 "a container and a file"},
	{{PODS "shop_a_b_" UID "/app/0.log"},
	 UID,
	 ID,
	 "shop",
	 "a_b",
	 "app",
	 true,
	 "a pod with an underscore"},
	{{PODS "shop_" UID "/app/0.log"}, UID, ID, "", "", "", false, "one underscore"},
	{{PODS UID "/app/0.log"}, UID, ID, "", "", "", false, "no underscore"},
	{{PODS "shop_web-0_" UID "x/app/0.log"}, UID, ID, "", "", "", false, "a longer UID"},
	{{PODS "shop_web-0_x" UID "/app/0.log"}, UID, ID, "", "", "", false, "a UID in another"},
	/* both */
	{{PODS "a_b_" UID "/c/0.log", NAME("web-0_shop_app")},
	 UID,
	 ID,
	 "shop",
	 "web-0",
	 "app",
	 false,
	 "the log of a container is certain"},
	{{PODS "a_b_" UID "/c/0.log", LOGS "web-0_shop_app-77.log"},
	 UID,
	 ID,
	 "a",
	 "b",
	 "c",
	 true,
	 "the log of another container"},
	{{NULL}, UID, ID, "", "", "", false, "no directories"},
};

static void test_files(void)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct pod_names got;

		root = fakeroot_make();
		for (int k = 0; k < 3 && rows[i].path[k]; k++)
			fake_file(&root, rows[i].path[k], "%s", "");
		find(rows[i].uid, rows[i].id, &got);
		ok(is_found(&got, rows[i].namespace, rows[i].pod, rows[i].container,
			    rows[i].guessed),
		   "%s: \"%s\" \"%s\" \"%s\"%s", rows[i].name, got.namespace, got.pod,
		   got.container, got.guessed ? ", guessed" : "");
		fakeroot_free(&root);
	}
}

static void test_many_entries(void)
{
	static const struct {
		long others;
		const char *want;
	} bounds[] = {{0, "app"}, {MOST - 1, "app"}, {MOST, ""}};
	char path[256];
	struct pod_names got;

	root = fakeroot_make();
	fake_path(&root, LOGS, path, sizeof(path));
	for (size_t i = 0; i < 3; i++) {
		other_entries = bounds[i].others;
		find("", ID, &got);
		other_entries = -1;
		is_str(got.container, bounds[i].want, "a log behind other entries");
	}
	fakeroot_free(&root);
}

/* Names that are longer than their field are cut. */
static void test_long_names(void)
{
	char path[400], namespace[100];
	struct pod_names got;

	root = fakeroot_make();
	memset(namespace, 'n', sizeof(namespace));
	for (int len = 63; len <= 64; len++) {
		snprintf(path, sizeof(path), LOGS "web_%.*s_app-" ID ".log", len, namespace);
		fake_file(&root, path, "%s", "");
		find("", ID, &got);
		is_u64(strlen(got.namespace), 63, "a long namespace");
		is_str(got.container, "app", "its container");
		fake_remove(&root, path);
	}
	fakeroot_free(&root);
}

int main(void)
{
	test_files();
	test_many_entries();
	test_long_names();
	return tap_done();
}
