// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "serve/tls_names.h"

#include <errno.h>
#include <gnutls/gnutls.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"

#define ANY_VERSION "NORMAL:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2"

struct suite {
	const char *name;
	gnutls_kx_algorithm_t kx;
	gnutls_cipher_algorithm_t cipher;
	gnutls_mac_algorithm_t mac;
	gnutls_protocol_t since;
};

/*
 * Gets the nth cipher suite. Returns false after the last suite. ret->name is NULL if this build
 * lacks the suite.
 */
static bool suite_at(gnutls_priority_t priority, unsigned int nth, struct suite *ret)
{
	unsigned int index;
	int err = gnutls_priority_get_cipher_suite_index(priority, nth, &index);

	ret->name = NULL;
	if (err == GNUTLS_E_UNKNOWN_CIPHER_SUITE)
		return true; /* this build of GnuTLS lacks the suite */
	if (err)
		return false;
	ret->name = gnutls_cipher_suite_info(index, NULL, &ret->kx, &ret->cipher, &ret->mac,
					     &ret->since);
	return true;
}

static bool ends(const char *s, const char *with)
{
	size_t n = strlen(s), m = strlen(with);

	return n >= m && !strcmp(s + n - m, with);
}

/*
 * Returns whether a suite has an IANA name. GnuTLS spells names in another way:
 * TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA is TLS_ECDHE_RSA_AES_128_CBC_SHA1, and the digest behind
 * CHACHA20_POLY1305 is omitted.
 */
static bool is_named(const struct suite *s, const char *iana)
{
	static const char with[] = "_WITH_", digest[] = "_SHA256";
	const char *at = strstr(iana, with);
	size_t n = s->name ? strlen(s->name) : 0;
	char name[128];

	snprintf(name, sizeof(name), "%.*s%s%s", (int)(at ? at - iana : 0), iana, at ? "_" : "",
		 at ? at + strlen(with) : iana);
	if (ends(name, "_SHA"))
		array_append(name, sizeof(name), "1");
	if (!n || strncmp(s->name, name, n))
		return false;
	return !name[n] || (ends(s->name, "_POLY1305") && !strcmp(name + n, digest));
}

static bool find_suite(gnutls_priority_t all, const char *iana, struct suite *ret)
{
	for (unsigned int i = 0; suite_at(all, i, ret); i++)
		if (is_named(ret, iana))
			return true;
	return false;
}

/* Appends ":+NAME" unless the priority string already has it. */
static void add(char *priority, const char *name)
{
	char word[64];
	const char *at;

	snprintf(word, sizeof(word), ":+%s", name);
	at = strstr(priority, word);
	if (at && (!at[strlen(word)] || at[strlen(word)] == ':'))
		return;
	array_append(priority, PRIORITY_BYTES, word);
}

/*
 * Enables the ciphers, key exchanges and MACs of the configured suites, because a GnuTLS priority
 * string cannot contain whole suites.
 */
static int add_suites(const struct web_config *c, gnutls_priority_t all, char *priority,
		      char *error, size_t size)
{
	array_append(priority, PRIORITY_BYTES, ":-KX-ALL:-CIPHER-ALL:-MAC-ALL");
	for (size_t i = 0; i < c->cipher_suites; i++) {
		struct suite s;

		if (!find_suite(all, c->cipher_suite[i], &s)) {
			snprintf(error, size, "cipher_suites: %.64s is unknown or insecure",
				 c->cipher_suite[i]);
			return -EINVAL;
		}
		if (s.since < GNUTLS_TLS1_3)
			add(priority, gnutls_kx_get_name(s.kx));
		add(priority, gnutls_cipher_get_name(s.cipher));
		add(priority, gnutls_mac_get_name(s.mac));
	}
	return 0;
}

static bool is_wanted(const struct web_config *c, const struct suite *s)
{
	for (size_t i = 0; i < c->cipher_suites; i++)
		if (is_named(s, c->cipher_suite[i]))
			return true;
	return false;
}

/*
 * Rejects a priority string that enables more suites than configured. GnuTLS enables each
 * combination of the ciphers, key exchanges and MACs in the string.
 */
static int check_suites(const struct web_config *c, const char *priority, char *error, size_t size)
{
	gnutls_priority_t p;
	unsigned int suites = 0;
	int err = 0;

	if (gnutls_priority_init(&p, priority, NULL)) {
		snprintf(error, size, "cipher_suites: none of these suites can be used");
		return -EINVAL;
	}
	for (struct suite s; !err && suite_at(p, suites, &s); suites++)
		if (s.name && s.since < GNUTLS_TLS1_3 && !is_wanted(c, &s)) {
			snprintf(error, size,
				 "cipher_suites: these suites would also enable %s: add it, or "
				 "remove the suites whose cipher or key exchange it shares",
				 s.name);
			err = -EINVAL;
		}
	gnutls_priority_deinit(p);
	if (!err && !suites) {
		snprintf(error, size, "cipher_suites: none of these suites can be used");
		err = -EINVAL;
	}
	return err;
}

static int add_curves(const struct web_config *c, char *priority, char *error, size_t size)
{
	static const struct {
		const char *go, *name;
	} curves[] = {
		{"CurveP256", "GROUP-SECP256R1"},
		{"CurveP384", "GROUP-SECP384R1"},
		{"CurveP521", "GROUP-SECP521R1"},
		{"X25519", "GROUP-X25519"},
	};

	if (c->curves)
		array_append(priority, PRIORITY_BYTES, ":-GROUP-ALL");
	for (size_t i = 0; i < c->curves; i++) {
		size_t k = 0;

		while (k < sizeof(curves) / sizeof(curves[0]) &&
		       strcmp(curves[k].go, c->curve[i]) != 0)
			k++;
		if (k == sizeof(curves) / sizeof(curves[0])) {
			snprintf(error, size, "curve_preferences: %.64s is unknown", c->curve[i]);
			return -EINVAL;
		}
		add(priority, curves[k].name);
	}
	return 0;
}

int tls_priority(const struct web_config *c, char ret[PRIORITY_BYTES], char *error, size_t size)
{
	char priority[PRIORITY_BYTES];
	gnutls_priority_t all;
	int err = 0;

	array_copy(priority, sizeof(priority),
		   c->tls13_only ? "NORMAL:-VERS-ALL:+VERS-TLS1.3" : ANY_VERSION);
	if (c->cipher_suites) {
		if (gnutls_priority_init(&all, ANY_VERSION, NULL))
			return -EINVAL;
		err = add_suites(c, all, priority, error, size);
		gnutls_priority_deinit(all);
		if (!err)
			err = check_suites(c, priority, error, size);
	}
	if (!err)
		err = add_curves(c, priority, error, size);
	if (!err)
		strcpy(ret, priority);
	return err;
}
