// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Replaces the server in builds without libmicrohttpd, such as the static build: endpoint_open()
 * fails.
 */
#include <errno.h>
#include <stdio.h>

#include "serve/endpoint.h"

int endpoint_open(const struct endpoint_options *o, struct endpoint **ret, char *error, size_t size)
{
	(void)o, (void)ret;
	snprintf(error, size,
		 "this build serves no HTTP: it has no libmicrohttpd\n"
		 "  try:  faultscope export --textfile FILE, for node_exporter to serve");
	return -ENOSYS;
}

int endpoint_fd(const struct endpoint *e)
{
	(void)e;
	return -1;
}

int endpoint_timeout_ms(struct endpoint *e)
{
	(void)e;
	return -1;
}

void endpoint_run(struct endpoint *e)
{
	(void)e;
}

int endpoint_reload(struct endpoint *e, char *error, size_t size)
{
	(void)e, (void)error, (void)size;
	return -ENOSYS;
}

const char *endpoint_reads(const struct endpoint *e, size_t nth)
{
	(void)e, (void)nth;
	return NULL;
}

const char *endpoint_url(const struct endpoint *e, size_t nth)
{
	(void)e, (void)nth;
	return NULL;
}

void endpoint_close(struct endpoint *e)
{
	(void)e;
}
