// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#define _GNU_SOURCE
#include <crypt.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
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

/* The longest hash and the longest password that are asked about. */
static void test_lengths(void)
{
	static const struct {
		size_t hash, password;
		bool asked;
	} rows[] = {
		{VERIFY_HASH_BYTES - 1, 1, true},  {VERIFY_HASH_BYTES, 1, false},
		{VERIFY_HASH_BYTES + 1, 1, false}, {1, VERIFY_PASSWORD_BYTES - 1, true},
		{1, VERIFY_PASSWORD_BYTES, false}, {1, VERIFY_PASSWORD_BYTES + 1, false},
	};
	struct verifier v;

	if (verify_open(&v))
		abort();
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char hash[VERIFY_HASH_BYTES + 2] = "", password[VERIFY_PASSWORD_BYTES + 2] = "";
		uint32_t number = 0, last = v.last;

		memset(hash, 'h', rows[i].hash);
		memset(password, 'p', rows[i].password);
		ok(verify_ask(&v, hash, password, &number) ==
			   (rows[i].asked ? VERDICT_PENDING : VERDICT_BAD),
		   "a hash of %zu bytes and a password of %zu", rows[i].hash, rows[i].password);
		is_u64(number, rows[i].asked ? last + 1 : 0, "its number");
		if (rows[i].asked)
			ok(verdict(&v, number) == 0, "it does not fit");
	}
	verify_close(&v);
}

/* The last 64 pairs that fit are remembered. */
static void test_remembered(void)
{
	static char hash[VERIFY_CACHED + 1][64];
	bool good = true, known = true;
	struct verifier v;
	uint32_t number;
	char word[16];

	if (verify_open(&v))
		abort();
	for (int i = 0; i <= VERIFY_CACHED; i++) {
		snprintf(word, sizeof(word), "w%d", i);
		snprintf(hash[i], sizeof(hash[i]), "%s",
			 crypt(word, "$2b$04$abcdefghijklmnopqrstuu"));
	}
	for (int i = 0; i < VERIFY_CACHED; i++) {
		snprintf(word, sizeof(word), "w%d", i);
		good &= verify_ask(&v, hash[i], word, &number) == VERDICT_PENDING &&
			verdict(&v, number) == 1;
	}
	ok(good, "many passwords fit");
	for (int i = 0; i < VERIFY_CACHED; i++) {
		snprintf(word, sizeof(word), "w%d", i);
		known &= verify_ask(&v, hash[i], word, &number) == VERDICT_GOOD;
	}
	ok(known, "all of them are remembered");
	snprintf(word, sizeof(word), "w%d", VERIFY_CACHED);
	ok(verify_ask(&v, hash[VERIFY_CACHED], word, &number) == VERDICT_PENDING &&
		   verdict(&v, number) == 1,
	   "one more fits");
	ok(verify_ask(&v, hash[VERIFY_CACHED], word, &number) == VERDICT_GOOD, "is remembered");
	ok(verify_ask(&v, hash[1], "w1", &number) == VERDICT_GOOD, "like the second one");
	ok(verify_ask(&v, hash[0], "w0", &number) == VERDICT_PENDING && verdict(&v, number) == 1,
	   "but the first one is asked about again");
	ok(verify_ask(&v, hash[1], "w1", &number) == VERDICT_PENDING, "in the place of the second");
	verify_close(&v);
}

/* Without its process, only remembered passwords are good. */
static void test_dead(const char *hash)
{
	uint32_t number = 7;
	struct verifier v;
	bool good = true;
	int fd;

	if (verify_open(&v))
		abort();
	fd = v.fd;
	ok(!verify_take(&v, &number, &good) && number == 7, "no answer without a question");
	ok(v.fd == fd && fcntl(fd, F_GETFD) & FD_CLOEXEC, "the process is there");
	ok(verify_ask(&v, hash, "open sesame", &number) == VERDICT_PENDING &&
		   verdict(&v, number) == 1,
	   "a password fits");
	kill(v.pid, SIGKILL);
	ok(verdict(&v, number) == -1 && v.fd == -1, "the process has ended");
	ok(fcntl(fd, F_GETFD) == -1 && errno == EBADF, "its socket is closed");
	ok(!verify_take(&v, &number, &good), "no answer will come");
	ok(verify_ask(&v, hash, "open sesam", &number) == VERDICT_BAD, "a new password is bad");
	ok(verify_ask(&v, hash, "open sesame", &number) == VERDICT_GOOD, "the other is good");
	verify_close(&v);
	ok(v.fd == -1 && !v.pid, "closed");
	verify_close(&v);
	ok(v.fd == -1 && !v.pid, "twice");
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
	test_lengths();
	test_dead(crypt("open sesame", "$2b$04$abcdefghijklmnopqrstuu"));
	test_remembered();
	return tap_done();
}
