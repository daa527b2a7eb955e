// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Tracks connections, and closes those whose deadline has passed. The time-out of libmicrohttpd is
 * not enough: it starts again at each byte that arrives, so that a slow client could keep its
 * connection open forever.
 */
#include <stdlib.h>
#include <sys/socket.h>
#include <time.h>

#include "serve/http.h"

#define NS_PER_S 1000000000ULL

uint64_t http_now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * NS_PER_S + now.tv_nsec;
}

struct client *http_client_of(struct MHD_Connection *connection)
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);

	return info ? info->socket_context : NULL;
}

void http_client_begins(struct client *c)
{
	c->idle = false;
	c->deadline_ns = http_now_ns() + ENDPOINT_PATIENCE_S * NS_PER_S;
}

void http_client_idles(struct client *c)
{
	c->idle = true;
	c->deadline_ns = http_now_ns() + ENDPOINT_IDLE_S * NS_PER_S;
}

/* Shuts the socket down. libmicrohttpd notices the shutdown and closes the connection. */
static void end_client(struct client *c)
{
	c->closing = true;
	shutdown(c->fd, SHUT_RDWR);
}

/*
 * If all connections are in use, closes the one that has been idle longest. If none is idle, closes
 * the one with the slowest request.
 */
static void make_room(struct endpoint *e)
{
	struct client *worst = NULL;
	size_t open = 0;

	for (struct client *c = e->clients; c; c = c->next) {
		if (c->closing)
			continue;
		open++;
		if (!worst || c->idle > worst->idle ||
		    (c->idle == worst->idle && c->deadline_ns < worst->deadline_ns))
			worst = c;
	}
	if (worst && open >= ENDPOINT_CONNECTIONS)
		end_client(worst);
}

static void client_comes(struct endpoint *e, struct MHD_Connection *connection, void **context)
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
	struct client *c;

	make_room(e);
	c = calloc(1, sizeof(*c));
	if (!c || !info) {
		if (info)
			shutdown(info->connect_fd, SHUT_RDWR);
		free(c);
		return;
	}
	c->e = e;
	c->fd = info->connect_fd;
	c->next = e->clients;
	e->clients = c;
	e->nr_clients++;
	http_client_begins(c);
	*context = c;
	http_tls_demand(e, connection);
}

static void client_goes(struct client *c)
{
	struct client **at = &c->e->clients;

	while (*at != c)
		at = &(*at)->next;
	*at = c->next;
	c->e->nr_clients--;
	free(c);
}

void http_client_notify(void *cls, struct MHD_Connection *connection, void **context,
			enum MHD_ConnectionNotificationCode what)
{
	if (what == MHD_CONNECTION_NOTIFY_STARTED)
		client_comes(cls, connection, context);
	else if (*context)
		client_goes(*context);
}

void http_clients_expire(struct endpoint *e)
{
	uint64_t now = http_now_ns();

	for (struct client *c = e->clients; c; c = c->next)
		if (!c->closing && now >= c->deadline_ns)
			end_client(c);
}

int http_clients_timeout_ms(const struct endpoint *e)
{
	uint64_t now = http_now_ns(), first = UINT64_MAX;

	for (const struct client *c = e->clients; c; c = c->next)
		if (!c->closing && c->deadline_ns < first)
			first = c->deadline_ns;
	if (first == UINT64_MAX)
		return -1;
	return first > now ? (first - now) / 1000000 + 1 : 0;
}
