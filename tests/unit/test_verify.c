// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#define _GNU_SOURCE
#include <crypt.h>
#include <errno.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include "serve/verify.h"
#include "serve/web_libraries.h"
#include "tap.h"

/*
 * Returns the result (1 or 0) for the request `wanted`. Returns -1 if the last result belongs to
 * another request.
 */
static int verdict(struct verifier *v, uint32_t wanted)
{
	struct pollfd p = {.fd = v->fd, .events = POLLIN};
	uint32_t number;
	bool good;

	if (poll(&p, 1, -1) != 1 || !verify_take(v, &number, &good) || number != wanted)
		return -1;
	return good;
}

int main(void)
{
	const char *hash = crypt("open sesame", "$2b$04$abcdefghijklmnopqrstuu");
	uint32_t first, second, third;
	struct verifier v;
	char other[64];
	pid_t pid;

	if (!ok(!web_libraries_load() && !config_libraries_load(), "the libraries are installed"))
		return tap_done();

	ok(!verify_open(&v), "a process of its own");
	pid = v.pid;
	ok(verify_ask(&v, hash, "open sesame", &first) == VERDICT_PENDING, "asked");
	ok(verdict(&v, first) == 1, "the password fits");
	ok(verify_ask(&v, hash, "open sesame", &second) == VERDICT_GOOD, "that is remembered");
	ok(verify_ask(&v, hash, "open sesam", &second) == VERDICT_PENDING, "another is asked");
	ok(verdict(&v, second) == 0, "and does not fit");
	ok(verify_ask(&v, hash, "open sesam", &third) == VERDICT_PENDING && third != second,
	   "which is not remembered, and has another number");
	ok(verdict(&v, third) == 0, "it does not fit again");
	snprintf(other, sizeof(other), "%s", hash);
	other[strlen(other) - 1] ^= 1;
	ok(verify_ask(&v, other, "open sesame", &third) == VERDICT_PENDING,
	   "a verdict is of one hash alone");
	ok(verdict(&v, third) == 0, "with another it does not fit");
	verify_forget(&v);
	ok(verify_ask(&v, hash, "open sesame", &third) == VERDICT_PENDING,
	   "forgotten, asked again");
	ok(verdict(&v, third) == 1, "and it fits");
	verify_close(&v);
	ok(waitpid(pid, NULL, WNOHANG) == -1 && errno == ECHILD, "its process has ended");
	return tap_done();
}
