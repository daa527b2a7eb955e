// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#define _GNU_SOURCE
#include "fetch/fetch.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if __has_include(<curl/curl.h>)

#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>

#define CURL_DISABLE_TYPECHECK
#include <curl/curl.h>

#include "base/io.h"

#define PAGE_MOST    (16u << 20) /* bytes of a page */
#define NAME_MOST    256
#define CONNECT_MOST 5.0 /* seconds, of the time there is */

/* Not there in a program without shared libraries: that can only load those that it was built by.
 */
#pragma weak _DYNAMIC

/* X(its name in libcurl, the name here) */
#define CALLS(X)                                                                                   \
	X(curl_global_init, global_init)                                                           \
	X(curl_easy_init, init)                                                                    \
	X(curl_easy_setopt, setopt)                                                                \
	X(curl_easy_getinfo, getinfo)                                                              \
	X(curl_easy_strerror, strerror)                                                            \
	X(curl_easy_cleanup, cleanup)                                                              \
	X(curl_multi_init, multi_init)                                                             \
	X(curl_multi_add_handle, multi_add)                                                        \
	X(curl_multi_remove_handle, multi_remove)                                                  \
	X(curl_multi_perform, multi_perform)                                                       \
	X(curl_multi_poll, multi_poll)                                                             \
	X(curl_multi_info_read, multi_read)                                                        \
	X(curl_multi_cleanup, multi_cleanup)

struct calls {
#define X(symbol, name) __typeof__(&symbol) name;
	CALLS(X)
#undef X
};

struct transfer {
	CURL *easy;
	char *page; /* owned */
	size_t len, room;
	bool told, too_long;
	char why[CURL_ERROR_SIZE];
};

struct fetch {
	struct calls c;
	CURLM *multi;
	uint32_t n;
	char user[NAME_MOST], password[NAME_MOST];
	struct transfer transfer[];
};

/* Debian has one of each library for TLS; any of them will do. */
static int load(struct calls *c, char *error, size_t size)
{
	static const char *const files[] = {"libcurl.so.4", "libcurl-gnutls.so.4"};
	void *lib = NULL;

	for (size_t i = 0; !lib && _DYNAMIC && i < sizeof(files) / sizeof(files[0]); i++)
		lib = dlopen(files[i], RTLD_NOW | RTLD_LOCAL);
	if (!lib) {
		snprintf(error, size, "%s",
			 _DYNAMIC ? "libcurl is not installed\n  try: apt install libcurl4"
				  : "a program without shared libraries cannot load libcurl");
		return -ENOSYS;
	}
#define X(symbol, name)                                                                            \
	*(void **)&c->name = dlsym(lib, #symbol);                                                  \
	if (!c->name) {                                                                            \
		snprintf(error, size, "this libcurl has no " #symbol "(): it is older than 7.66"); \
		return -ENOSYS;                                                                    \
	}
	CALLS(X)
#undef X
	return c->global_init(CURL_GLOBAL_DEFAULT) ? -ENOMEM : 0;
}

/* What a host sends more than that of, it does not send for us. */
static size_t take(char *data, size_t one, size_t n, void *ctx)
{
	struct transfer *t = ctx;
	size_t len = one * n, room = t->room ? t->room : 65536;
	char *page;

	t->too_long = len > PAGE_MOST - t->len;
	if (t->too_long)
		return 0;
	while (room < t->len + len)
		room *= 2;
	if (room != t->room) {
		page = realloc(t->page, room);
		if (!page)
			return 0;
		t->page = page;
		t->room = room;
	}
	memcpy(t->page + t->len, data, len);
	t->len += len;
	return len;
}

static int read_password(struct fetch *f, const struct fetch_options *o, char *error, size_t size)
{
	ssize_t len;

	if (snprintf(f->user, sizeof(f->user), "%s", o->user) >= (int)sizeof(f->user)) {
		snprintf(error, size, "--web.user: too long a name");
		return -EINVAL;
	}
	if (!o->password_file)
		return 0;
	len = io_read(AT_FDCWD, o->password_file, f->password, sizeof(f->password));
	if (len <= 0) {
		snprintf(error, size, "%s: %s", o->password_file,
			 len ? strerror(-len) : "no password in it");
		return -EINVAL;
	}
	f->password[strcspn(f->password, "\r\n")] = 0;
	return 0;
}

static void set_options(struct fetch *f, struct transfer *t, const struct fetch_options *o,
			const char *url)
{
	const struct calls *c = &f->c;

	c->setopt(t->easy, CURLOPT_URL, url);
	c->setopt(t->easy, CURLOPT_PRIVATE, (char *)t);
	c->setopt(t->easy, CURLOPT_ERRORBUFFER, t->why);
	c->setopt(t->easy, CURLOPT_WRITEFUNCTION, take);
	c->setopt(t->easy, CURLOPT_WRITEDATA, t);
	c->setopt(t->easy, CURLOPT_FOLLOWLOCATION, 0L);
	c->setopt(t->easy, CURLOPT_FAILONERROR, 1L);
	c->setopt(t->easy, CURLOPT_NOSIGNAL, 1L);
	c->setopt(t->easy, CURLOPT_NOPROXY, "*"); /* hosts are of this network */
	c->setopt(t->easy, CURLOPT_ACCEPT_ENCODING, "");
	c->setopt(t->easy, CURLOPT_USERAGENT, "faultscope/" VERSION);
	c->setopt(t->easy, CURLOPT_NETRC, (long)CURL_NETRC_OPTIONAL);
	if (o->user) {
		c->setopt(t->easy, CURLOPT_HTTPAUTH, (long)CURLAUTH_BASIC);
		c->setopt(t->easy, CURLOPT_USERNAME, f->user);
		c->setopt(t->easy, CURLOPT_PASSWORD, f->password);
	}
	if (o->ca_file)
		c->setopt(t->easy, CURLOPT_CAINFO, o->ca_file);
	if (o->cert_file)
		c->setopt(t->easy, CURLOPT_SSLCERT, o->cert_file);
	if (o->key_file)
		c->setopt(t->easy, CURLOPT_SSLKEY, o->key_file);
}

int fetch_open(const struct fetch_options *o, const char *const *urls, uint32_t n,
	       struct fetch **ret, char *error, size_t size)
{
	struct fetch *f = calloc(1, sizeof(*f) + n * sizeof(f->transfer[0]));
	int err = f ? load(&f->c, error, size) : -ENOMEM;

	if (!err && o->user)
		err = read_password(f, o, error, size);
	if (err)
		goto out;
	err = -ENOMEM;
	f->multi = f->c.multi_init();
	if (!f->multi)
		goto out;
	for (; f->n < n; f->n++) {
		struct transfer *t = &f->transfer[f->n];

		t->easy = f->c.init();
		if (!t->easy)
			goto out;
		set_options(f, t, o, urls[f->n]);
	}
	*ret = f;
	return 0;
out:
	fetch_free(f);
	return err;
}

void fetch_free(struct fetch *f)
{
	if (!f)
		return;
	for (uint32_t i = 0; i < f->n; i++) {
		f->c.cleanup(f->transfer[i].easy);
		free(f->transfer[i].page);
	}
	if (f->multi)
		f->c.multi_cleanup(f->multi);
	explicit_bzero(f->password, sizeof(f->password));
	free(f);
}

static const char *why(const struct fetch *f, struct transfer *t, CURLcode code)
{
	if (t->too_long)
		return "the page is longer than 16 MiB";
	return t->why[0] ? t->why : f->c.strerror(code);
}

static void tell(struct fetch *f, struct transfer *t, CURLcode code, fetch_done_fn *done, void *ctx)
{
	uint32_t i = t - f->transfer;

	t->told = true;
	f->c.multi_remove(f->multi, t->easy);
	if (code == CURLE_OK)
		done(ctx, i, t->page ? t->page : "", t->len, NULL);
	else
		done(ctx, i, NULL, 0, why(f, t, code));
}

static void tell_done(struct fetch *f, fetch_done_fn *done, void *ctx)
{
	struct transfer *t;
	CURLMsg *m;
	int left;

	while ((m = f->c.multi_read(f->multi, &left))) {
		CURLcode code = m->data.result;

		if (m->msg == CURLMSG_DONE &&
		    !f->c.getinfo(m->easy_handle, CURLINFO_PRIVATE, (char **)&t))
			tell(f, t, code, done, ctx);
	}
}

static void begin(struct fetch *f, double timeout_s)
{
	double connect_s = timeout_s < CONNECT_MOST ? timeout_s : CONNECT_MOST;

	for (uint32_t i = 0; i < f->n; i++) {
		struct transfer *t = &f->transfer[i];

		t->len = 0;
		t->told = t->too_long = false;
		t->why[0] = 0;
		f->c.setopt(t->easy, CURLOPT_TIMEOUT_MS, (long)(timeout_s * 1000));
		f->c.setopt(t->easy, CURLOPT_CONNECTTIMEOUT_MS, (long)(connect_s * 1000));
		f->c.multi_add(f->multi, t->easy);
	}
}

int fetch_all(struct fetch *f, double timeout_s, int wake, fetch_done_fn *done, void *ctx)
{
	struct curl_waitfd extra = {.fd = wake, .events = CURL_WAIT_POLLIN};
	CURLMcode err = CURLM_OK;
	int running = 1;

	begin(f, timeout_s);
	while (running && !err && !extra.revents) {
		err = f->c.multi_perform(f->multi, &running);
		tell_done(f, done, ctx);
		if (running && !err)
			err = f->c.multi_poll(f->multi, &extra, wake >= 0, 1000, NULL);
	}
	/* what had not come yet is not told of */
	for (uint32_t i = 0; i < f->n; i++)
		if (!f->transfer[i].told)
			f->c.multi_remove(f->multi, f->transfer[i].easy);
	return extra.revents ? 1 : err ? -ENOMEM : 0;
}

#else

int fetch_open(const struct fetch_options *o, const char *const *urls, uint32_t n,
	       struct fetch **ret, char *error, size_t size)
{
	snprintf(error, size, "this build is without libcurl");
	return -ENOSYS;
}

void fetch_free(struct fetch *f)
{
}

int fetch_all(struct fetch *f, double timeout_s, int wake, fetch_done_fn *done, void *ctx)
{
	return -ENOMEM;
}

#endif
