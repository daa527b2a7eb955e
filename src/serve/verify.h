/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * serve: checks passwords against bcrypt hashes. By design, each check takes tens of milliseconds,
 * so a separate process without privileges checks passwords. Pairs of hash and password that
 * matched are cached until verify_forget().
 */
#ifndef FS_SERVE_VERIFY_H
#define FS_SERVE_VERIFY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define VERIFY_HASH_BYTES     128
#define VERIFY_PASSWORD_BYTES 256
#define VERIFY_CACHED	      64
#define VERIFY_DIGEST_BYTES   32

struct verifier {
	/*
	 * socket to the password process; readable when an answer has arrived; -1: there is no
	 * process
	 */
	int fd;
	pid_t pid;
	uint32_t last; /* number of the last password check that was started */
	unsigned char secret[32];
	/* HMACs of the pairs of hash and password that have matched */
	unsigned char good[VERIFY_CACHED][VERIFY_DIGEST_BYTES];
	size_t nr_good, next_good;
};

enum verdict_known { VERDICT_BAD, VERDICT_GOOD, VERDICT_PENDING };

/*
 * Starts the password process. Call this function early, while this process has little memory that
 * the new process would share. Returns 0 or -errno.
 */
int verify_open(struct verifier *v);

/*
 * Checks a pair of hash and password. Returns VERDICT_GOOD if the pair is in the cache. Otherwise
 * asks the password process, and returns VERDICT_PENDING: the answer will carry *ret_number.
 * Returns VERDICT_BAD if the process cannot be asked.
 */
enum verdict_known verify_ask(struct verifier *v, const char *hash, const char *password,
			      uint32_t *ret_number);

/* Receives a result from the password process. Returns false if no result has arrived. */
bool verify_take(struct verifier *v, uint32_t *ret_number, bool *ret_good);

void verify_forget(struct verifier *v); /* clears the cache */
void verify_close(struct verifier *v);

#endif
