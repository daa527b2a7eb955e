/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* serve: loads the libraries of the HTTP server, which other commands do not need. */
#ifndef FS_SERVE_WEB_LIBRARIES_H
#define FS_SERVE_WEB_LIBRARIES_H

/*
 * Call web_libraries_load() before any function of libmicrohttpd or gnutls, and
 * config_libraries_load() before any function of libyaml or libcrypt, which a server without a
 * configuration file does not need. Both return NULL, or the name of a library or function that is
 * missing.
 */
const char *web_libraries_load(void);
const char *config_libraries_load(void);

#endif
