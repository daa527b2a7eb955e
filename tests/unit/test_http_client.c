// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Tests that a connection without a request is closed at its deadline. */
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "serve/http.h"
#include "tap.h"

#define NS_PER_S 1000000000ULL
#define CLIENTS	 4

static struct endpoint e;
static struct client client[CLIENTS];
static int peer[CLIENTS];
static uint64_t stopped_ns; /* the time, while the clock stands still; 0: it does not */

int clock_gettime(clockid_t clock, struct timespec *ret)
{
	if (!stopped_ns)
		return syscall(SYS_clock_gettime, clock, ret);
	*ret = (struct timespec){stopped_ns / NS_PER_S, stopped_ns % NS_PER_S};
	return 0;
}

/*
 * Makes connections in the order of the list. Connection i has its deadline seconds[i] seconds from
 * now.
 */
static bool connect_all(const int seconds[CLIENTS])
{
	uint64_t now = http_now_ns();

	e.clients = NULL;
	for (int i = CLIENTS - 1; i >= 0; i--) {
		int pair[2];

		if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair))
			return false;
		client[i] = (struct client){.e = &e,
					    .fd = pair[0],
					    .deadline_ns = now + seconds[i] * NS_PER_S,
					    .next = e.clients};
		peer[i] = pair[1];
		e.clients = &client[i];
	}
	return true;
}

static void close_all(void)
{
	for (int i = 0; i < CLIENTS; i++) {
		close(client[i].fd);
		close(peer[i]);
	}
}

/*
 * Returns whether connection i has the earliest deadline. The check allows for the time that the
 * call itself takes.
 */
static bool is_next(int i)
{
	uint64_t before = http_now_ns(), until = client[i].deadline_ns;
	int ms = http_clients_timeout_ms(&e);
	uint64_t after = http_now_ns();

	return ms <= (int)((until - before) / 1000000 + 1) &&
	       ms >= (int)((until - after) / 1000000 + 1);
}

static void test_timeout(void)
{
	e.clients = NULL;
	ok(http_clients_timeout_ms(&e) == -1, "nobody: no deadline");
	ok(connect_all((int[]){3000, 1000, 2000, 4000}), "connections");
	ok(is_next(1), "the nearest of several");
	client[1].closing = true;
	ok(is_next(2), "not that of one which is being closed");
	client[3].deadline_ns = http_now_ns();
	ok(http_clients_timeout_ms(&e) == 0, "one that is over: at once");
	for (int i = 0; i < CLIENTS; i++)
		client[i].closing = true;
	ok(http_clients_timeout_ms(&e) == -1, "all are being closed: no deadline");
	close_all();
}

static bool is_shut(int i)
{
	char c;

	return read(peer[i], &c, 1) == 0;
}

static void test_expire(void)
{
	ok(connect_all((int[]){1000, 0, 1000, 0}), "connections");
	client[2].closing = true;
	http_clients_expire(&e);
	ok(client[1].closing && is_shut(1) && client[3].closing && is_shut(3),
	   "those whose time is over are closed");
	ok(!client[0].closing && !is_shut(0), "another is not");
	ok(!is_shut(2), "nor one that is being closed already");
	close_all();
}

static void test_phases(void)
{
	struct client c = {};
	uint64_t before = http_now_ns(), after;

	http_client_begins(&c);
	after = http_now_ns();
	ok(!c.idle && c.deadline_ns >= before + ENDPOINT_PATIENCE_S * NS_PER_S &&
		   c.deadline_ns <= after + ENDPOINT_PATIENCE_S * NS_PER_S,
	   "so long for a request");
	before = http_now_ns();
	http_client_idles(&c);
	after = http_now_ns();
	ok(c.idle && c.deadline_ns >= before + ENDPOINT_IDLE_S * NS_PER_S &&
		   c.deadline_ns <= after + ENDPOINT_IDLE_S * NS_PER_S,
	   "so long between two");
	http_client_begins(&c);
	ok(!c.idle, "and busy again");
}

/* The time to wait is in ms, and rounded up, so that the deadline is over then. */
static void test_exact_times(void)
{
	static const struct {
		int64_t left_ns;
		int wait_ms;
	} rows[] = {
		{-1, 0}, {0, 0}, {1, 1}, {999999, 1}, {1000000, 2}, {1999999, 2}, {2000000, 3},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		stopped_ns = 1000 * NS_PER_S;
		ok(connect_all((int[]){9, 9, 9, 9}), "connections");
		client[2].deadline_ns = stopped_ns + rows[i].left_ns;
		is_u64(http_clients_timeout_ms(&e), rows[i].wait_ms, "the time to wait");
		http_clients_expire(&e);
		ok(client[2].closing == (rows[i].left_ns <= 0) &&
			   is_shut(2) == (rows[i].left_ns <= 0),
		   "%d ns before its deadline, a connection is %s", (int)rows[i].left_ns,
		   rows[i].left_ns > 0 ? "open" : "closed");
		ok(!client[1].closing && !client[3].closing, "others are open");
		stopped_ns += rows[i].wait_ms * 1000000;
		http_clients_expire(&e);
		ok(client[2].closing, "it is closed after the wait");
		close_all();
	}
	http_client_begins(&client[0]);
	is_u64(client[0].deadline_ns, stopped_ns + ENDPOINT_PATIENCE_S * NS_PER_S,
	       "the time for a request");
	http_client_idles(&client[0]);
	is_u64(client[0].deadline_ns, stopped_ns + ENDPOINT_IDLE_S * NS_PER_S,
	       "the time between two");
	stopped_ns = 0;
}

int main(void)
{
	test_timeout();
	test_expire();
	test_phases();
	test_exact_times();
	return tap_done();
}
