// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "serve/web_config.h"
#include "serve/tls_names.h"
#include "serve/web_libraries.h"
#include "tap.h"

#define HASH "$2y$05$abcdefghijklmnopqrstuuABCDEFGHIJKLMNOPQRSTUVWXYZ01234"

static char dir[] = "/tmp/test_web_config.XXXXXX", path[64], error[512];

static void put(const char *name, const char *text)
{
	char at[128];
	FILE *f;

	snprintf(at, sizeof(at), "%s/%s", dir, name);
	f = fopen(at, "w");
	if (f) {
		fputs(text, f);
		fclose(f);
	}
}

static int read_text(const char *text, struct web_config *ret)
{
	put("web.yml", text);
	error[0] = 0;
	memset(ret, 0, sizeof(*ret));
	return web_config_read(path, ret, error, sizeof(error));
}

static void all_of_it(void)
{
	struct web_config c;
	int err = read_text("tls_server_config:\n"
			    "  cert_file: cert.pem\n"
			    "  key_file: key.pem\n"
			    "  client_ca: A CA\n"
			    "  client_auth_type: RequireAndVerifyClientCert\n"
			    "  client_allowed_sans: [one.example, two.example]\n"
			    "  min_version: TLS13\n"
			    "  max_version: TLS13\n"
			    "  cipher_suites: [TLS_AES_128_GCM_SHA256]\n"
			    "  curve_preferences: [X25519]\n"
			    "  prefer_server_cipher_suites: false\n"
			    "basic_auth_users:\n"
			    "  alice: " HASH "\n"
			    "http_server_config:\n"
			    "  http2: false\n"
			    "  headers:\n"
			    "    X-Frame-Options: deny\n"
			    "rate_limit:\n"
			    "  interval: 1s\n"
			    "  burst: 7\n",
			    &c);

	ok(!err, "a file with every key is read: %s", error);
	ok(c.tls && c.tls13_only, "TLS 1.3 alone");
	is_str(c.cert, "A CERTIFICATE", "the certificate, from a file beside the configuration");
	is_str(c.key, "A KEY", "the key");
	is_str(c.client_ca, "A CA", "the CA of clients, inline");
	is_u64(c.client_auth, CLIENT_REQUIRE_AND_VERIFY, "clients must show a certificate");
	is_u64(c.client_sans, 2, "two names of clients");
	is_str(c.client_san[1], "two.example", "the second of them");
	is_str(c.cipher_suite[0], "TLS_AES_128_GCM_SHA256", "the cipher suite");
	is_str(c.curve[0], "X25519", "the curve");
	is_str(c.user[0].name, "alice", "the user");
	is_str(c.user[0].value, HASH, "the hash of the password");
	is_str(c.header[0].value, "deny", "the header");
	is_u64(c.rate.burst, 7, "the burst");
	is_u64(c.rate.interval_ns, 1000000000, "the interval");
	is_u64(c.dirs, 1, "the directory of all these files, once");
	web_config_free(&c);
	ok(!c.key && !c.users && !c.dirs, "nothing is left behind it");
}

static void little(void)
{
	static const char *const texts[] = {"", "tls_server_config:\n", "basic_auth_users: {}\n",
					    "rate_limit:\n  interval: 0\n"};
	struct web_config c;

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		ok(!read_text(texts[i], &c) && !c.tls && !c.users, "nothing is asked for: %zu", i);
		web_config_free(&c);
	}
	ok(!read_text("tls_server_config:\n  cert: C\n  key: K\n"
		      "  client_auth_type: RequireClientCert\n",
		      &c) &&
		   c.client_auth == CLIENT_REQUIRE_ANY,
	   "the older spelling of a required certificate");
	web_config_free(&c);
}

#define TLS "tls_server_config:\n  cert: C\n  key: K\n"

static void refused(void)
{
	static const struct {
		const char *text, *wanted;
	} rows[] = {
		{"a: [", "line "},
		{"- a\n", "the file must be a mapping"},
		{"tls: {}\n", "tls is not supported"},
		{"? [a]\n: b\n", "a key must be a text"},
		{"tls_server_config: x\n", "tls_server_config must be a mapping"},
		{"tls_server_config:\n  cert: C\n", "needs cert_file and key_file"},
		{"tls_server_config:\n  cert_file: absent.pem\n", "cannot read"},
		{"tls_server_config:\n  cert_file:\n", "cert_file: must be the name of a file"},
		{"tls_server_config:\n  cert: \"\"\n", "cert: must be a text"},
		{TLS "  cert_file: cert.pem\n", "cert_file: the value was already given"},
		{"tls_server_config:\n  cert_file: cert.pem\n  cert: C\n", "cert: the value was"},
		{TLS "  client_auth_type: Perhaps\n", "client_auth_type: Perhaps is unknown"},
		{TLS "  client_auth_type: VerifyClientCertIfGiven\n", "needs client_ca_file"},
		{TLS "  client_ca: A\n", "client_ca_file: needs client_auth_type"},
		{TLS "  client_allowed_sans: [a]\n", "client_allowed_sans: needs"},
		{TLS "  client_allowed_sans: a\n", "client_allowed_sans: must be a list"},
		{TLS "  client_allowed_sans: [[a]]\n", "client_allowed_sans: each element must"},
		{TLS "  min_version: TLS10\n", "min_version: must be TLS12 or TLS13"},
		{TLS "  max_version: TLS12\n", "max_version: must be TLS13 or absent"},
		{TLS "  colour: red\n", "tls_server_config: colour is not supported"},
		{"basic_auth_users:\n  bob: secret\n", "bob: not a bcrypt hash"},
		{"http_server_config:\n  headers:\n    X-Other: a\n", "X-Other is not supported"},
		{"http_server_config:\n  headers:\n    X-Frame-Options: \"a\\r\\nb: c\"\n",
		 "X-Frame-Options is not supported"},
		{"http_server_config:\n  http3: true\n", "http3 is not supported"},
		{"rate_limit:\n  interval: soon\n", "interval: must be 0 or a time"},
		{"rate_limit:\n  interval: 1s\n", "burst: must be at least 1"},
		{"rate_limit:\n  burst: -1\n", "burst: must be a number of requests"},
		{"rate_limit:\n  burst: 1x\n", "burst: must be a number of requests"},
		{"rate_limit:\n  speed: 1\n", "rate_limit: speed is not supported"},
	};
	struct web_config c;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		int err = read_text(rows[i].text, &c);

		ok(err == -EINVAL && strstr(error, rows[i].wanted), "%s: %s", rows[i].wanted,
		   error);
		ok(!c.tls && !c.cert && !c.dirs, "and the configuration is not touched");
	}
}

static void too_many(void)
{
	char text[64 * (WEB_USERS + 2) + sizeof(HASH) * (WEB_USERS + 2)];
	struct web_config c;
	size_t len = snprintf(text, sizeof(text), "basic_auth_users:\n");

	for (int i = 0; i <= WEB_USERS; i++) {
		if (i == WEB_USERS) {
			ok(!read_text(text, &c) && c.users == WEB_USERS,
			   "as many users as there may be");
			web_config_free(&c);
		}
		len += snprintf(text + len, sizeof(text) - len, "  u%d: " HASH "\n", i);
	}
	ok(read_text(text, &c) == -EINVAL && strstr(error, "more than 64"), "one more: %s", error);
}

static void no_file(void)
{
	struct web_config c;

	ok(web_config_read("/tmp/test_web_config.absent/x", &c, error, sizeof(error)) == -ENOENT &&
		   strstr(error, "cannot read"),
	   "a file that is not there: %s", error);
}

static void priorities(void)
{
	char text[PRIORITY_BYTES];
	struct web_config c;

	ok(!read_text(TLS "  cipher_suites: [TLS_AES_256_GCM_SHA384]\n", &c), "a cipher suite");
	ok(!tls_priority(&c, text, error, sizeof(error)) && strstr(text, "AES-256-GCM"),
	   "in the words of the library: %s", text);
	web_config_free(&c);
	ok(!read_text(TLS "  cipher_suites: [TLS_MADE_UP]\n", &c), "a made-up one is read");
	ok(tls_priority(&c, text, error, sizeof(error)) && strstr(error, "TLS_MADE_UP"),
	   "and not known: %s", error);
	web_config_free(&c);
	ok(!read_text(TLS "  curve_preferences: [CurveP256]\n", &c), "a curve");
	ok(!tls_priority(&c, text, error, sizeof(error)) && strstr(text, "SECP256R1"),
	   "in the words of the library: %s", text);
	web_config_free(&c);
}

int main(void)
{
	static const char *const names[] = {"web.yml", "cert.pem", "key.pem"};

	if (!ok(!web_libraries_load() && !config_libraries_load(), "the libraries are installed"))
		return tap_done();
	if (!mkdtemp(dir))
		return 1;
	snprintf(path, sizeof(path), "%s/web.yml", dir);
	put("cert.pem", "A CERTIFICATE");
	put("key.pem", "A KEY");
	all_of_it();
	little();
	refused();
	too_many();
	no_file();
	priorities();
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		char at[128];

		snprintf(at, sizeof(at), "%s/%s", dir, names[i]);
		unlink(at);
	}
	ok(!rmdir(dir), "no file is left");
	return tap_done();
}
