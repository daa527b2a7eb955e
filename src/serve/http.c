// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The server: one libmicrohttpd daemon per address, all run by the caller's event loop. */
#define _GNU_SOURCE
#include "serve/http.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "serve/tls_names.h"
#include "serve/web_libraries.h"

/* Memory of a connection: request headers and response headers. */
#define POOL_BYTES (ENDPOINT_HEADER_BYTES + 4096)

/* Discards log messages of libmicrohttpd, because clients could cause any number of them. */
static void say_nothing(void *cls, const char *format, va_list ap)
{
	(void)cls, (void)format, (void)ap;
}

static int add_to_poll(struct endpoint *e, int fd)
{
	struct epoll_event ev = {.events = EPOLLIN, .data.fd = fd};

	return epoll_ctl(e->poll, EPOLL_CTL_ADD, fd, &ev) ? -errno : 0;
}

static int start_one(struct endpoint *e, size_t i, const char *priority)
{
	const struct web_config *c = &e->config;
	const struct MHD_OptionItem tls[] = {
		{MHD_OPTION_HTTPS_MEM_CERT, 0, c->cert},
		{MHD_OPTION_HTTPS_MEM_KEY, 0, c->key},
		{MHD_OPTION_HTTPS_PRIORITIES, 0, (void *)priority},
		{c->client_ca ? MHD_OPTION_HTTPS_MEM_TRUST : MHD_OPTION_END, 0, c->client_ca},
		{MHD_OPTION_END, 0, NULL},
	};
	const struct MHD_OptionItem plain[] = {{MHD_OPTION_END, 0, NULL}};
	const union MHD_DaemonInfo *info;
	unsigned int flags = MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME;

	e->daemon[i] = MHD_start_daemon(
		flags | (c->tls ? MHD_USE_TLS : 0), 0, NULL, NULL, http_request, e,
		MHD_OPTION_EXTERNAL_LOGGER, say_nothing, NULL, MHD_OPTION_LISTEN_SOCKET,
		e->listener[i].fd, MHD_OPTION_CONNECTION_LIMIT,
		/*
		 * The library's connection limit is twice our own: when our limit is reached, we
		 * accept a new connection, and then close an idle one.
		 */
		(unsigned int)ENDPOINT_CONNECTIONS * 2, MHD_OPTION_CONNECTION_TIMEOUT,
		(unsigned int)ENDPOINT_IDLE_S, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
		(size_t)POOL_BYTES, MHD_OPTION_NOTIFY_CONNECTION, http_client_notify, e,
		MHD_OPTION_NOTIFY_COMPLETED, http_request_done, e, MHD_OPTION_ARRAY,
		c->tls ? tls : plain, MHD_OPTION_END);
	if (!e->daemon[i])
		return -EINVAL;
	info = MHD_get_daemon_info(e->daemon[i], MHD_DAEMON_INFO_EPOLL_FD);
	return info ? add_to_poll(e, info->epoll_fd) : -EINVAL;
}

static void stop_all(struct endpoint *e)
{
	e->stopping = true;
	http_verdicts(e, true);
	for (size_t i = 0; i < e->listeners; i++) {
		if (!e->daemon[i])
			continue;
		/* keeps the listening socket open for the daemon that replaces this one */
		MHD_quiesce_daemon(e->daemon[i]);
		MHD_run(e->daemon[i]); /* lets suspended requests finish */
		MHD_stop_daemon(e->daemon[i]);
		e->daemon[i] = NULL;
	}
	e->stopping = false;
}

static int start_all(struct endpoint *e, char *error, size_t size)
{
	char priority[PRIORITY_BYTES] = "";
	int err = e->config.tls ? tls_priority(&e->config, priority, error, size) : 0;

	if (err)
		return err;
	for (size_t i = 0; i < e->listeners && !err; i++) {
		err = start_one(e, i, priority);
		snprintf(e->url[i], sizeof(e->url[i]), "http%s://%s%s", e->config.tls ? "s" : "",
			 e->listener[i].name, e->o.path);
	}
	if (err)
		snprintf(error, size, "%s",
			 e->config.tls
				 ? "cannot serve HTTPS: do certificate and key belong together?"
				 : "cannot serve HTTP");
	return err;
}

static int open_listeners(struct endpoint *e, char *error, size_t size)
{
	static const char *const loopback = "127.0.0.1:10435";
	size_t n = e->o.addresses ? e->o.addresses : 1;

	for (size_t i = 0; i < n; i++) {
		const char *address = e->o.addresses ? e->o.address[i] : loopback;
		int opened = listen_open(address, &e->listener[e->listeners],
					 ENDPOINT_ADDRESSES - e->listeners, error, size);

		if (opened < 0)
			return opened;
		e->listeners += opened;
	}
	return 0;
}

/*
 * Stores the absolute path of the configuration file. At a reload, getcwd(2) is no longer
 * permitted. Symbolic links in the path are resolved at each reload, because Kubernetes replaces
 * symbolic links to update a ConfigMap.
 */
static int keep_path(struct endpoint *e, char *error, size_t size)
{
	char *dir = e->o.config_file[0] == '/' ? strdup("") : getcwd(NULL, 0);
	int n = dir ? asprintf(&e->config_path, "%s%s%s", dir, *dir ? "/" : "", e->o.config_file)
		    : -1;

	free(dir);
	if (n >= 0)
		return 0;
	e->config_path = NULL;
	snprintf(error, size, "cannot read %.200s: the working directory is unknown",
		 e->o.config_file);
	return -ENOENT;
}

static int lacks(const char *library, char *error, size_t size)
{
	snprintf(error, size, "cannot serve: %s is missing", library);
	return -ENOENT;
}

/*
 * Starts the process that checks passwords, even if no user is configured: a reload may add users,
 * but at that time this process can no longer fork.
 */
static int open_config(struct endpoint *e, char *error, size_t size)
{
	const char *missing;
	int err;

	if (!e->o.config_file)
		return 0;
	missing = config_libraries_load();
	if (missing)
		return lacks(missing, error, size);
	err = keep_path(e, error, size);
	if (err)
		return err;
	err = web_config_read(e->config_path, &e->config, error, size);
	if (err)
		return err;
	err = verify_open(&e->verifier);
	if (!err)
		err = add_to_poll(e, e->verifier.fd);
	if (err)
		snprintf(error, size, "cannot check passwords: %s", strerror(-err));
	return err;
}

int endpoint_open(const struct endpoint_options *o, struct endpoint **ret, char *error, size_t size)
{
	const char *missing = web_libraries_load();
	struct endpoint *e;
	int err;

	if (missing)
		return lacks(missing, error, size);
	e = calloc(1, sizeof(*e));
	if (!e) {
		snprintf(error, size, "out of memory");
		return -ENOMEM;
	}
	e->o = *o;
	if (!e->o.path)
		e->o.path = "/metrics";
	e->verifier.fd = -1;
	e->poll = epoll_create1(EPOLL_CLOEXEC);
	err = e->poll < 0 ? -errno : 0;
	if (err)
		snprintf(error, size, "cannot serve: %s", strerror(-err));
	if (!err)
		err = open_config(e, error, size);
	if (!err)
		err = open_listeners(e, error, size);
	if (!err)
		err = start_all(e, error, size);
	if (err) {
		endpoint_close(e);
		return err;
	}
	*ret = e;
	return 0;
}

int endpoint_fd(const struct endpoint *e)
{
	return e->poll;
}

int endpoint_timeout_ms(struct endpoint *e)
{
	int least = http_clients_timeout_ms(e);
	MHD_UNSIGNED_LONG_LONG one;

	for (size_t i = 0; i < e->listeners; i++)
		if (e->daemon[i] && MHD_get_timeout(e->daemon[i], &one) == MHD_YES &&
		    (least < 0 || one < (MHD_UNSIGNED_LONG_LONG)least))
			least = one;
	return least;
}

void endpoint_run(struct endpoint *e)
{
	http_clients_expire(e);
	http_verdicts(e, false);
	for (size_t i = 0; i < e->listeners; i++)
		if (e->daemon[i])
			MHD_run(e->daemon[i]);
}

int endpoint_reload(struct endpoint *e, char *error, size_t size)
{
	struct web_config fresh = {}, old = e->config;
	int err;

	if (!e->o.config_file)
		return 0;
	err = web_config_read(e->config_path, &fresh, error, size);
	if (err)
		return err;
	stop_all(e);
	verify_forget(&e->verifier);
	e->config = fresh;
	err = start_all(e, error, size);
	if (err) {
		char ignored[256];

		stop_all(e);
		web_config_free(&e->config);
		e->config = old;
		if (start_all(e, ignored, sizeof(ignored)))
			stop_all(e);
		return err;
	}
	web_config_free(&old);
	return 0;
}

const char *endpoint_reads(const struct endpoint *e, size_t nth)
{
	return nth < e->config.dirs ? e->config.dir[nth] : NULL;
}

const char *endpoint_url(const struct endpoint *e, size_t nth)
{
	return nth < e->listeners ? e->url[nth] : NULL;
}

void endpoint_close(struct endpoint *e)
{
	if (!e)
		return;
	stop_all(e);
	for (size_t i = 0; i < e->listeners; i++)
		close(e->listener[i].fd);
	verify_close(&e->verifier);
	web_config_free(&e->config);
	free(e->config_path);
	gzip_free(e->gzip);
	buf_free(&e->body);
	buf_free(&e->packed);
	if (e->poll >= 0)
		close(e->poll);
	free(e);
}
