// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#define _GNU_SOURCE
#include "serve/web_config.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <yaml.h>

#define FILE_BYTES_MAX (256 << 10)

struct reading {
	yaml_document_t doc;
	struct web_config c;
	const char *path;
	char dir[4096]; /* directory of the configuration file, for relative file names */
	char *error;
	size_t size;
};

static int fail(struct reading *r, const char *format, ...) __attribute__((format(printf, 2, 3)));

static int fail(struct reading *r, const char *format, ...)
{
	va_list ap;
	int len = snprintf(r->error, r->size, "%.200s: ", r->path);

	va_start(ap, format);
	vsnprintf(r->error + len, r->size - len, format, ap);
	va_end(ap);
	return -EINVAL;
}

static char *read_file(const char *path)
{
	struct stat st;
	char *text = NULL;
	size_t len = 0;
	ssize_t n = 1;
	int fd = open(path, O_RDONLY | O_CLOEXEC), err;

	if (fd < 0)
		return NULL;
	if (fstat(fd, &st) || st.st_size > FILE_BYTES_MAX) {
		errno = EFBIG;
		goto out;
	}
	text = calloc(1, FILE_BYTES_MAX + 1);
	while (text && n > 0 && len < FILE_BYTES_MAX) {
		n = read(fd, text + len, FILE_BYTES_MAX - len);
		if (n > 0)
			len += n;
	}
	if (text && n < 0) {
		err = errno;
		free(text);
		text = NULL;
		errno = err;
	}
	if (text)
		text = realloc(text, len + 1) ?: text;
out:
	err = errno;
	close(fd);
	errno = err;
	return text;
}

static int note_dir_of(struct web_config *c, const char *file)
{
	const char *slash = strrchr(file, '/');
	char *dir = slash ? strndup(file, slash == file ? 1 : slash - file) : strdup(".");

	if (!dir)
		return -ENOMEM;
	for (size_t i = 0; i < c->dirs; i++)
		if (!strcmp(c->dir[i], dir)) {
			free(dir);
			return 0;
		}
	if (c->dirs == WEB_DIRS) {
		free(dir);
		return -E2BIG;
	}
	c->dir[c->dirs++] = dir;
	return 0;
}

/*
 * Stores the directory of a file and, if the file is a symbolic link, the directory of its target.
 * Both must stay readable for reloads.
 */
static int note_dir(struct web_config *c, const char *file)
{
	char *real = realpath(file, NULL);
	int err = note_dir_of(c, file);

	if (!err && real)
		err = note_dir_of(c, real);
	free(real);
	return err;
}

static const char *scalar(yaml_node_t *n)
{
	return n && n->type == YAML_SCALAR_NODE ? (const char *)n->data.scalar.value : NULL;
}

static int each_key(struct reading *r, yaml_node_t *n, const char *what,
		    int (*take)(struct reading *r, const char *key, yaml_node_t *value))
{
	int err = 0;

	/* a key without a value (`key:`) is null in YAML; treat it as an empty mapping */
	if (n->type == YAML_SCALAR_NODE && !*n->data.scalar.value)
		return 0;
	if (n->type != YAML_MAPPING_NODE)
		return fail(r, "line %zu: %s must be a mapping (KEY: VALUE)",
			    n->start_mark.line + 1, what);
	for (yaml_node_pair_t *p = n->data.mapping.pairs.start;
	     p < n->data.mapping.pairs.top && !err; p++) {
		yaml_node_t *key = yaml_document_get_node(&r->doc, p->key);
		yaml_node_t *value = yaml_document_get_node(&r->doc, p->value);

		if (!scalar(key) || !value)
			return fail(r, "line %zu: a key must be a text", n->start_mark.line + 1);
		err = take(r, scalar(key), value);
	}
	return err;
}

static int read_named(struct reading *r, const char *key, yaml_node_t *n, char **ret)
{
	const char *name = scalar(n);
	char path[8192];

	if (!name || !*name)
		return fail(r, "%s: must be the name of a file", key);
	snprintf(path, sizeof(path), "%s%s%s", *name == '/' ? "" : r->dir, *name == '/' ? "" : "/",
		 name);
	if (*ret)
		return fail(r, "%s: the value was already given", key);
	*ret = read_file(path);
	if (!*ret)
		return fail(r, "%s: cannot read %.200s: %s", key, path, strerror(errno));
	return note_dir(&r->c, path) ? fail(r, "%s: too many directories", key) : 0;
}

/*
 * Reads a text that the configuration contains itself, in contrast to texts in files that it names.
 */
static int take_inline(struct reading *r, const char *key, yaml_node_t *n, char **ret)
{
	const char *text = scalar(n);

	if (!text || !*text)
		return fail(r, "%s: must be a text", key);
	if (*ret)
		return fail(r, "%s: the value was already given", key);
	*ret = strdup(text);
	return *ret ? 0 : -ENOMEM;
}

static int take_client_auth(struct reading *r, const char *name)
{
	static const char *const names[] = {
		[CLIENT_NONE] = "NoClientCert",
		[CLIENT_REQUEST] = "RequestClientCert",
		[CLIENT_REQUIRE_ANY] = "RequireAnyClientCert",
		[CLIENT_VERIFY_IF_GIVEN] = "VerifyClientCertIfGiven",
		[CLIENT_REQUIRE_AND_VERIFY] = "RequireAndVerifyClientCert",
	};

	if (!name || !*name)
		return 0;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(name, names[i])) {
			r->c.client_auth = i;
			return 0;
		}
	/* older name of this value of client_auth_type, which exporter-toolkit also accepts */
	if (!strcmp(name, "RequireClientCert")) {
		r->c.client_auth = CLIENT_REQUIRE_ANY;
		return 0;
	}
	return fail(r, "client_auth_type: %.64s is unknown", name);
}

static int take_version(struct reading *r, const char *key, const char *name)
{
	if (name && !strcmp(name, "TLS13"))
		r->c.tls13_only |= !strcmp(key, "min_version");
	else if (!name || strcmp(name, "TLS12") || !strcmp(key, "max_version"))
		return fail(r, "%s: %s", key,
			    !strcmp(key, "min_version") ? "must be TLS12 or TLS13"
							: "must be TLS13 or absent");
	return 0;
}

/* Reads a YAML sequence of texts. */
static int read_list(struct reading *r, const char *key, yaml_node_t *n, char **list, size_t *ret_n)
{
	if (n->type != YAML_SEQUENCE_NODE)
		return fail(r, "%s: must be a list", key);
	for (yaml_node_item_t *i = n->data.sequence.items.start; i < n->data.sequence.items.top;
	     i++) {
		const char *text = scalar(yaml_document_get_node(&r->doc, *i));

		if (!text || !*text)
			return fail(r, "%s: each element must be a text", key);
		if (*ret_n == WEB_NAMES)
			return fail(r, "%s: more than %d elements", key, WEB_NAMES);
		list[*ret_n] = strdup(text);
		if (!list[*ret_n])
			return -ENOMEM;
		++*ret_n;
	}
	return 0;
}

static int take_tls(struct reading *r, const char *key, yaml_node_t *value)
{
	if (!strcmp(key, "cert_file"))
		return read_named(r, key, value, &r->c.cert);
	if (!strcmp(key, "key_file"))
		return read_named(r, key, value, &r->c.key);
	if (!strcmp(key, "client_ca_file"))
		return read_named(r, key, value, &r->c.client_ca);
	if (!strcmp(key, "cert"))
		return take_inline(r, key, value, &r->c.cert);
	if (!strcmp(key, "key"))
		return take_inline(r, key, value, &r->c.key);
	if (!strcmp(key, "client_ca"))
		return take_inline(r, key, value, &r->c.client_ca);
	if (!strcmp(key, "client_auth_type"))
		return take_client_auth(r, scalar(value));
	if (!strcmp(key, "min_version") || !strcmp(key, "max_version"))
		return take_version(r, key, scalar(value));
	if (!strcmp(key, "client_allowed_sans"))
		return read_list(r, key, value, r->c.client_san, &r->c.client_sans);
	if (!strcmp(key, "cipher_suites"))
		return read_list(r, key, value, r->c.cipher_suite, &r->c.cipher_suites);
	if (!strcmp(key, "curve_preferences"))
		return read_list(r, key, value, r->c.curve, &r->c.curves);
	if (!strcmp(key, "prefer_server_cipher_suites"))
		return 0; /* prefer_server_cipher_suites is ignored, as by Go's crypto/tls */
	return fail(r, "tls_server_config: %.64s is not supported", key);
}

static int add_pair(struct reading *r, struct web_pair *list, size_t *n, size_t room,
		    const char *name, const char *value)
{
	if (*n == room)
		return fail(r, "%.64s: more than %zu entries in this section", name, room);
	list[*n].name = strdup(name);
	list[*n].value = strdup(value);
	++*n;
	return list[*n - 1].name && list[*n - 1].value ? 0 : -ENOMEM;
}

static int take_user(struct reading *r, const char *name, yaml_node_t *value)
{
	const char *hash = scalar(value);

	if (!hash || hash[0] != '$' || hash[1] != '2' || strlen(hash) != 60)
		return fail(r, "basic_auth_users: %.64s: not a bcrypt hash", name);
	return add_pair(r, r->c.user, &r->c.users, WEB_USERS, name, hash);
}

/* Reads a response header. Rejects the headers that exporter-toolkit rejects. */
static int take_header(struct reading *r, const char *name, yaml_node_t *value)
{
	static const char *const names[] = {"Strict-Transport-Security", "X-Content-Type-Options",
					    "X-Frame-Options", "X-XSS-Protection",
					    "Content-Security-Policy"};
	const char *text = scalar(value);

	for (size_t i = 0; text && i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(name, names[i]) && !strpbrk(text, "\r\n"))
			return add_pair(r, r->c.header, &r->c.headers, WEB_HEADERS, name, text);
	return fail(r, "http_server_config: headers: %.64s is not supported", name);
}

static int take_http(struct reading *r, const char *key, yaml_node_t *value)
{
	if (!strcmp(key, "headers"))
		return each_key(r, value, key, take_header);
	/* HTTP/2 is not supported, and clients do not need it */
	if (!strcmp(key, "http2"))
		return 0;
	return fail(r, "http_server_config: %.64s is not supported", key);
}

static int take_rate(struct reading *r, const char *key, yaml_node_t *value)
{
	const char *text = scalar(value) ?: "";
	char *end;

	if (!strcmp(key, "interval"))
		return rate_interval_read(text, &r->c.rate.interval_ns)
			       ? 0
			       : fail(r,
				      "rate_limit: interval: must be 0 or a time up to 1h (100ms)");
	if (strcmp(key, "burst"))
		return fail(r, "rate_limit: %.64s is not supported", key);
	r->c.rate.burst = strtoul(text, &end, 10);
	if (!isdigit((unsigned char)*text) || *end || r->c.rate.burst > RATE_BURST_MAX)
		return fail(r, "rate_limit: burst: must be a number of requests up to %d",
			    RATE_BURST_MAX);
	return 0;
}

static int take_section(struct reading *r, const char *key, yaml_node_t *value)
{
	if (!strcmp(key, "tls_server_config")) {
		r->c.tls = value->type == YAML_MAPPING_NODE;
		return each_key(r, value, key, take_tls);
	}
	if (!strcmp(key, "basic_auth_users"))
		return each_key(r, value, key, take_user);
	if (!strcmp(key, "http_server_config"))
		return each_key(r, value, key, take_http);
	if (!strcmp(key, "rate_limit"))
		return each_key(r, value, key, take_rate);
	return fail(r, "%.64s is not supported", key);
}

static int check(struct reading *r)
{
	/* a burst of 0 would reject all requests, as it does in exporter-toolkit */
	if (r->c.rate.interval_ns && !r->c.rate.burst)
		return fail(r,
			    "rate_limit: burst: must be at least 1, or every request is rejected");
	if (!r->c.tls)
		return 0;
	if (!r->c.cert || !r->c.key)
		return fail(r, "tls_server_config: needs cert_file and key_file");
	if (r->c.client_auth >= CLIENT_VERIFY_IF_GIVEN && !r->c.client_ca)
		return fail(r, "client_auth_type: needs client_ca_file");
	if (r->c.client_sans && r->c.client_auth != CLIENT_REQUIRE_ANY &&
	    r->c.client_auth != CLIENT_REQUIRE_AND_VERIFY)
		return fail(r, "client_allowed_sans: needs a client_auth_type that requires a "
			       "certificate");
	if (r->c.client_ca && r->c.client_auth == CLIENT_NONE)
		return fail(r, "client_ca_file: needs client_auth_type");
	return 0;
}

static int parse(struct reading *r, const char *text)
{
	yaml_parser_t parser;
	yaml_node_t *root;
	int err = 0;

	if (!yaml_parser_initialize(&parser))
		return -ENOMEM;
	yaml_parser_set_input_string(&parser, (const unsigned char *)text, strlen(text));
	if (!yaml_parser_load(&parser, &r->doc)) {
		err = fail(r, "line %zu: %s", parser.problem_mark.line + 1,
			   parser.problem ? parser.problem : "not YAML");
		yaml_parser_delete(&parser);
		return err;
	}
	root = yaml_document_get_root_node(&r->doc);
	if (root)
		err = each_key(r, root, "the file", take_section);
	yaml_document_delete(&r->doc);
	yaml_parser_delete(&parser);
	return err ?: check(r);
}

int web_config_read(const char *path, struct web_config *ret, char *error, size_t size)
{
	struct reading r = {.path = path, .error = error, .size = size};
	char *text = read_file(path), *real = text ? realpath(path, NULL) : NULL;
	const char *slash = real ? strrchr(real, '/') : NULL;
	int err;

	if (!slash) {
		err = -errno;
		snprintf(error, size, "cannot read %.200s: %s", path, strerror(errno));
		goto out;
	}
	snprintf(r.dir, sizeof(r.dir), "%.*s", (int)(slash - real), real);
	err = note_dir(&r.c, real);
	if (!err)
		err = parse(&r, text);
	if (err == -ENOMEM)
		fail(&r, "out of memory");
	if (!err) {
		*ret = r.c;
		memset(&r.c, 0, sizeof(r.c));
	}
out:
	web_config_free(&r.c);
	free(text);
	free(real);
	return err;
}

static void free_pairs(struct web_pair *list, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		free(list[i].name);
		free(list[i].value);
	}
}

static void free_list(char **list, size_t n)
{
	for (size_t i = 0; i < n; i++)
		free(list[i]);
}

void web_config_free(struct web_config *c)
{
	if (c->key)
		explicit_bzero(c->key, strlen(c->key));
	free(c->cert);
	free(c->key);
	free(c->client_ca);
	free_pairs(c->user, c->users);
	free_pairs(c->header, c->headers);
	free_list(c->client_san, c->client_sans);
	free_list(c->cipher_suite, c->cipher_suites);
	free_list(c->curve, c->curves);
	free_list(c->dir, c->dirs);
	memset(c, 0, sizeof(*c));
}
