/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * serve: passwords against their bcrypt hashes, which takes tens of milliseconds each by design.
 * A process of its own does it, without any right; its verdicts are remembered, as long as the
 * hashes stay.
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
	int fd; /* readable when a verdict has come; -1: there is none */
	pid_t pid;
	uint32_t last; /* number of the last question */
	unsigned char secret[32];
	unsigned char good[VERIFY_CACHED][VERIFY_DIGEST_BYTES]; /* of what was found to fit */
	size_t nr_good, next_good;
};

enum verdict_known { VERDICT_BAD, VERDICT_GOOD, VERDICT_PENDING };

/* Forks: to be called early, while there is little to share. -errno. */
int verify_open(struct verifier *v);

/*
 * VERDICT_GOOD where this was found before. Else VERDICT_PENDING, and the answer comes under this
 * number; VERDICT_BAD where it cannot even be asked.
 */
enum verdict_known verify_ask(struct verifier *v, const char *hash, const char *password,
			      uint32_t *ret_number);

/* Takes an answer that has come: false where there is none. */
bool verify_take(struct verifier *v, uint32_t *ret_number, bool *ret_good);

void verify_forget(struct verifier *v); /* all verdicts */
void verify_close(struct verifier *v);

#endif
