// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What TLS has to have before anything is said: the version, and a client's certificate. */
#include <gnutls/gnutls.h>

#include "serve/http.h"

const char *http_tls_priorities(const struct web_config *c)
{
	return c->tls13_only ? "NORMAL:-VERS-ALL:+VERS-TLS1.3"
			     : "NORMAL:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2";
}

/* In the handshake: not 0 ends it. */
static int verify(gnutls_session_t session)
{
	unsigned int status = ~0U;

	if (gnutls_certificate_verify_peers3(session, NULL, &status) || status)
		return GNUTLS_E_CERTIFICATE_ERROR;
	return 0;
}

void http_tls_demand(struct endpoint *e, struct MHD_Connection *connection)
{
	const union MHD_ConnectionInfo *info;
	gnutls_session_t session;

	if (!e->config.tls)
		return;
	info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_GNUTLS_SESSION);
	if (!info)
		return;
	session = info->tls_session;
	switch (e->config.client_auth) {
	case CLIENT_NONE:
		gnutls_certificate_server_set_request(session, GNUTLS_CERT_IGNORE);
		break;
	case CLIENT_REQUEST:
		gnutls_certificate_server_set_request(session, GNUTLS_CERT_REQUEST);
		break;
	case CLIENT_REQUIRE_ANY:
		gnutls_certificate_server_set_request(session, GNUTLS_CERT_REQUIRE);
		break;
	case CLIENT_VERIFY_IF_GIVEN:
		gnutls_certificate_server_set_request(session, GNUTLS_CERT_REQUEST);
		gnutls_session_set_verify_function(session, verify);
		break;
	case CLIENT_REQUIRE_AND_VERIFY:
		gnutls_certificate_server_set_request(session, GNUTLS_CERT_REQUIRE);
		gnutls_session_set_verify_function(session, verify);
		break;
	}
}
