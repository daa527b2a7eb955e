/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * incident: the socket by which `faultscope snapshot` asks a running faultscope for an incident. It
 * is in the directory of the store, and only root and the user who runs faultscope may use it.
 */
#ifndef FS_INCIDENT_SNAPSHOT_SOCKET_H
#define FS_INCIDENT_SNAPSHOT_SOCKET_H

#include <stddef.h>

#define SNAPSHOT_SOCKET	      "snapshot.socket"
#define SNAPSHOT_REASON_BYTES 160
#define SNAPSHOT_ANSWER_BYTES 512

/*
 * Opens the socket in the directory `dir`, with mode 0600; call it before privileges are dropped.
 * Returns its descriptor, which the caller closes, or -errno: -EADDRINUSE if another faultscope
 * uses the directory.
 */
int snapshot_listen(const char *dir);

/* Removes the socket of the directory `dir`, an open directory. */
void snapshot_unlink(int dir);

/*
 * Takes a request. Returns the descriptor of the client, which the caller passes to
 * snapshot_answer(), or -errno: -EAGAIN if there is none, -EACCES if the user may not ask. `reason`
 * is what the user wrote, which may be empty.
 */
int snapshot_accept(int fd, char reason[SNAPSHOT_REASON_BYTES]);

/* Sends a line to the client, and closes the descriptor. */
void snapshot_answer(int client, const char *text);

/*
 * Asks the faultscope that uses the store `dir` for an incident, and waits for its answer. Returns
 * 0, or -errno: -ENOENT or -ECONNREFUSED if none runs.
 */
int snapshot_ask(const char *dir, const char *reason, char answer[SNAPSHOT_ANSWER_BYTES]);

#endif
