// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Tests the priority strings for GnuTLS: exactly the versions, suites and curves of the
 * configuration, and why others are refused.
 */
#include <errno.h>

#include "serve/tls_names.h"
#include "serve/web_libraries.h"
#include "tap.h"

#define BOTH   "NORMAL:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2"
#define NEW    "NORMAL:-VERS-ALL:+VERS-TLS1.3"
#define SUITES ":-KX-ALL:-CIPHER-ALL:-MAC-ALL"
#define CURVES ":-GROUP-ALL"

struct row {
	const char *suite[4], *curve[5];
	bool tls13_only;
	const char *want; /* the priority string, or the begin of an error message */
};

static const struct row good[] = {
	{{}, {}, false, BOTH},
	{{}, {}, true, NEW},
	{{}, {"CurveP256"}, false, BOTH CURVES ":+GROUP-SECP256R1"},
	{{}, {"CurveP384"}, false, BOTH CURVES ":+GROUP-SECP384R1"},
	{{}, {"CurveP521"}, true, NEW CURVES ":+GROUP-SECP521R1"},
	{{}, {"X25519"}, false, BOTH CURVES ":+GROUP-X25519"},
	{{},
	 {"X25519", "CurveP521", "CurveP256", "CurveP521"},
	 false,
	 BOTH CURVES ":+GROUP-X25519:+GROUP-SECP521R1:+GROUP-SECP256R1"},
	{{"TLS_AES_256_GCM_SHA384"}, {}, false, BOTH SUITES ":+AES-256-GCM:+AEAD"},
	{{"TLS_AES_256_GCM_SHA384"}, {}, true, NEW SUITES ":+AES-256-GCM:+AEAD"},
	{{"TLS_AES_128_GCM_SHA256", "TLS_AES_256_GCM_SHA384"},
	 {"X25519"},
	 true,
	 NEW SUITES ":+AES-128-GCM:+AEAD:+AES-256-GCM" CURVES ":+GROUP-X25519"},
	{{"TLS_CHACHA20_POLY1305_SHA256"}, {}, true, NEW SUITES ":+CHACHA20-POLY1305:+AEAD"},
	{{"TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256"},
	 {},
	 false,
	 BOTH SUITES ":+ECDHE-RSA:+AES-128-GCM:+AEAD"},
	{{"TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384", "TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384"},
	 {},
	 false,
	 BOTH SUITES ":+ECDHE-ECDSA:+AES-256-GCM:+AEAD:+ECDHE-RSA"},
	{{"TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA"},
	 {},
	 false,
	 BOTH SUITES ":+ECDHE-RSA:+AES-128-CBC:+SHA1"},
	{{"TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256"},
	 {},
	 false,
	 BOTH SUITES ":+ECDHE-RSA:+CHACHA20-POLY1305:+AEAD"},
	{{"TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305"},
	 {},
	 false,
	 BOTH SUITES ":+ECDHE-RSA:+CHACHA20-POLY1305:+AEAD"},
};

#define ALSO "cipher_suites: these suites would also enable "
#define NONE "cipher_suites: none of these suites can be used"

static const struct row bad[] = {
	{{}, {"CurveP255"}, false, "curve_preferences: CurveP255 is unknown"},
	{{}, {"X25519", "x25519"}, false, "curve_preferences: x25519 is unknown"},
	{{"TLS_MADE_UP"}, {}, false, "cipher_suites: TLS_MADE_UP is unknown or insecure"},
	{{"TLS_AES_256_GCM_SHA384", "TLS_AES_256_GCM_SHA38"},
	 {},
	 false,
	 "cipher_suites: TLS_AES_256_GCM_SHA38 is unknown"},
	{{"TLS_AES_256_GCM"}, {}, false, "cipher_suites: TLS_AES_256_GCM is unknown"},
	{{"TLS_AES_256_GCM_SHA3844"}, {}, false, "cipher_suites: TLS_AES_256_GCM_SHA3844 is"},
	{{"TLS_AES_256_GCM_SHA384_SHA256"}, {}, false, "cipher_suites: TLS_AES_256_GCM_SHA384_S"},
	{{"TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA384"}, {}, false, "cipher_suites: TLS_ECDHE"},
	{{"TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA12"}, {}, false, "cipher_suites: TLS_ECDHE_RSA"},
	{{"TLS_RSA_WITH_RC4_128_SHA"}, {}, false, "cipher_suites: TLS_RSA_WITH_RC4_128_SHA is"},
	{{"_SHA"}, {}, false, "cipher_suites: _SHA is unknown"},
	{{"SHA"}, {}, false, "cipher_suites: SHA is unknown"},
	{{"TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256", "TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384"},
	 {},
	 false,
	 ALSO "TLS_ECDHE_"},
	{{"TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA"}, {}, true, NONE},
};

static int priority_of(const struct row *r, char ret[PRIORITY_BYTES], char *error, size_t size)
{
	struct web_config c = {.tls13_only = r->tls13_only};

	for (; c.cipher_suites < 4 && r->suite[c.cipher_suites]; c.cipher_suites++)
		c.cipher_suite[c.cipher_suites] = (char *)r->suite[c.cipher_suites];
	for (; c.curves < 5 && r->curve[c.curves]; c.curves++)
		c.curve[c.curves] = (char *)r->curve[c.curves];
	error[0] = 0;
	strcpy(ret, "as before");
	return tls_priority(&c, ret, error, size);
}

int main(void)
{
	char text[PRIORITY_BYTES], error[512];

	if (!ok(!web_libraries_load(), "the libraries are installed"))
		return tap_done();
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		int err = priority_of(&good[i], text, error, sizeof(error));

		ok(!err, "row %zu: %s", i, error);
		is_str(text, good[i].want, "in the words of GnuTLS");
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		int err = priority_of(&bad[i], text, error, sizeof(error));

		ok(err == -EINVAL && !strncmp(error, bad[i].want, strlen(bad[i].want)), "%s",
		   error);
		is_str(text, "as before", "and there is no string");
	}
	return tap_done();
}
