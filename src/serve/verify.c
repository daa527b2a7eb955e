// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#define _GNU_SOURCE
#include "serve/verify.h"

#include <crypt.h>
#include <errno.h>
#include <gnutls/crypto.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define SECCOMP_STRICT 1 /* SECCOMP_MODE_STRICT: only read, write and exit are permitted */
#define NICE	       10

struct question {
	uint32_t number;
	char hash[VERIFY_HASH_BYTES], password[VERIFY_PASSWORD_BYTES];
	/* key of the result in the cache; the answer contains it too */
	unsigned char digest[VERIFY_DIGEST_BYTES];
};

struct answer {
	uint32_t number;
	uint32_t good;
	unsigned char digest[VERIFY_DIGEST_BYTES];
};

/*
 * Returns whether two strings are equal. The run time depends only on the lengths of the strings.
 */
static bool is_same(const char *a, const char *b)
{
	size_t len = strlen(a);
	unsigned char diff = len != strlen(b);

	for (size_t i = 0; i < len && b[i]; i++)
		diff |= a[i] ^ b[i];
	return !diff;
}

static void work(int fd)
{
	static struct crypt_data data; /* 32 KiB, which only this process needs */
	struct question q;

	while (read(fd, &q, sizeof(q)) == sizeof(q)) {
		struct answer v = {.number = q.number};
		const char *made;

		q.hash[sizeof(q.hash) - 1] = q.password[sizeof(q.password) - 1] = 0;
		made = crypt_rn(q.password, q.hash, &data, sizeof(data));
		v.good = made && is_same(made, q.hash);
		memcpy(v.digest, q.digest, sizeof(v.digest));
		explicit_bzero(&q, sizeof(q));
		if (write(fd, &v, sizeof(v)) != sizeof(v))
			break;
	}
	syscall(SYS_exit, 0);
}

static void become_worker(int fd)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	prctl(PR_SET_NAME, "faultscope-pass");
	setpriority(PRIO_PROCESS, 0, NICE);
	if (dup2(fd, 0) == 0)
		syscall(SYS_close_range, 1, ~0U, 0);
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		_exit(1);
/* strict mode would kill AddressSanitizer, which maps memory at any time */
#ifndef __SANITIZE_ADDRESS__
	if (prctl(PR_SET_SECCOMP, SECCOMP_STRICT))
		_exit(1);
#endif
	work(0);
}

int verify_open(struct verifier *v)
{
	int pair[2], err;

	memset(v, 0, sizeof(*v));
	v->fd = -1;
	if (getrandom(v->secret, sizeof(v->secret), 0) != sizeof(v->secret))
		return -EIO;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair))
		return -errno;
	v->pid = fork();
	if (v->pid < 0) {
		err = -errno;
		close(pair[0]);
		close(pair[1]);
		return err;
	}
	if (!v->pid) {
		/*
		 * Ctrl-C sends SIGINT to this process too; ignore it, because the parent decides
		 * when this process ends
		 */
		signal(SIGINT, SIG_IGN);
		become_worker(pair[1]);
	}
	close(pair[1]);
	v->fd = pair[0];
	return 0;
}

/*
 * Computes the HMAC that identifies hash and password in the cache. Returns false if the HMAC could
 * not be computed.
 */
static bool digest_of(const struct verifier *v, const char *hash, const char *password,
		      unsigned char ret[VERIFY_DIGEST_BYTES])
{
	unsigned char text[VERIFY_HASH_BYTES + VERIFY_PASSWORD_BYTES] = {};
	bool made;

	memcpy(text, hash, strlen(hash));
	memcpy(text + VERIFY_HASH_BYTES, password, strlen(password));
	made = !gnutls_hmac_fast(GNUTLS_MAC_SHA256, v->secret, sizeof(v->secret), text,
				 sizeof(text), ret);
	explicit_bzero(text, sizeof(text));
	return made;
}

enum verdict_known verify_ask(struct verifier *v, const char *hash, const char *password,
			      uint32_t *ret_number)
{
	struct question q = {};
	ssize_t sent;

	if (strlen(hash) >= VERIFY_HASH_BYTES || strlen(password) >= VERIFY_PASSWORD_BYTES ||
	    !digest_of(v, hash, password, q.digest))
		return VERDICT_BAD;
	for (size_t i = 0; i < v->nr_good; i++)
		if (!memcmp(v->good[i], q.digest, sizeof(q.digest)))
			return VERDICT_GOOD;
	if (v->fd < 0)
		return VERDICT_BAD;
	q.number = ++v->last;
	strcpy(q.hash, hash);
	strcpy(q.password, password);
	sent = send(v->fd, &q, sizeof(q), MSG_DONTWAIT | MSG_NOSIGNAL);
	explicit_bzero(&q, sizeof(q));
	if (sent != sizeof(q))
		return VERDICT_BAD;
	*ret_number = v->last;
	return VERDICT_PENDING;
}

bool verify_take(struct verifier *v, uint32_t *ret_number, bool *ret_good)
{
	struct answer one;
	ssize_t n;

	if (v->fd < 0)
		return false;
	n = recv(v->fd, &one, sizeof(one), MSG_DONTWAIT);
	if (n == 0) {
		close(v->fd); /* the password process has ended: reject all later passwords */
		v->fd = -1;
	}
	if (n != sizeof(one))
		return false;
	if (one.good) {
		memcpy(v->good[v->next_good], one.digest, sizeof(one.digest));
		v->next_good = (v->next_good + 1) % VERIFY_CACHED;
		if (v->nr_good < VERIFY_CACHED)
			v->nr_good++;
	}
	*ret_number = one.number;
	*ret_good = one.good;
	return true;
}

void verify_forget(struct verifier *v)
{
	memset(v->good, 0, sizeof(v->good));
	v->nr_good = v->next_good = 0;
}

void verify_close(struct verifier *v)
{
	if (v->fd >= 0)
		close(v->fd);
	if (v->pid > 0) {
		kill(v->pid, SIGKILL);
		waitpid(v->pid, NULL, 0);
	}
	v->fd = -1;
	v->pid = 0;
}
