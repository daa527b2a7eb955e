// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* TLS: requests a client certificate and checks it before any response. */
#include <arpa/inet.h>
#include <gnutls/gnutls.h>
#include <gnutls/x509.h>
#include <string.h>

#include "serve/http.h"

/* Checks the client's certificate during the handshake; a non-zero result ends the handshake. */
static int verify(gnutls_session_t tls)
{
	unsigned int status = ~0U;

	if (gnutls_certificate_verify_peers3(tls, NULL, &status) || status)
		return GNUTLS_E_CERTIFICATE_ERROR;
	return 0;
}

static gnutls_session_t session_of(struct MHD_Connection *connection)
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(connection, MHD_CONNECTION_INFO_GNUTLS_SESSION);

	return info ? info->tls_session : NULL;
}

void http_tls_demand(struct endpoint *e, struct MHD_Connection *connection)
{
	gnutls_session_t tls = e->config.tls ? session_of(connection) : NULL;

	if (!tls)
		return;
	switch (e->config.client_auth) {
	case CLIENT_NONE:
		gnutls_certificate_server_set_request(tls, GNUTLS_CERT_IGNORE);
		break;
	case CLIENT_REQUEST:
		gnutls_certificate_server_set_request(tls, GNUTLS_CERT_REQUEST);
		break;
	case CLIENT_REQUIRE_ANY:
		gnutls_certificate_server_set_request(tls, GNUTLS_CERT_REQUIRE);
		break;
	case CLIENT_VERIFY_IF_GIVEN:
		gnutls_certificate_server_set_request(tls, GNUTLS_CERT_REQUEST);
		gnutls_session_set_verify_function(tls, verify);
		break;
	case CLIENT_REQUIRE_AND_VERIFY:
		gnutls_certificate_server_set_request(tls, GNUTLS_CERT_REQUIRE);
		gnutls_session_set_verify_function(tls, verify);
		break;
	}
}

static bool is_allowed(const struct web_config *c, const char *name, size_t size)
{
	for (size_t i = 0; i < c->client_sans; i++)
		if (strlen(c->client_san[i]) == size && !memcmp(c->client_san[i], name, size))
			return true;
	return false;
}

/*
 * Returns whether a subject alternative name of the certificate is allowed. IP addresses are
 * compared as text. Only names of the types DNS name, e-mail, URI and IP address can match.
 */
static bool is_name_allowed(const struct web_config *c, int type, const char *name, size_t size)
{
	char address[INET6_ADDRSTRLEN];

	switch (type) {
	case GNUTLS_SAN_DNSNAME:
	case GNUTLS_SAN_RFC822NAME:
	case GNUTLS_SAN_URI:
		return is_allowed(c, name, size);
	case GNUTLS_SAN_IPADDRESS:
		return (size == 4 || size == 16) &&
		       inet_ntop(size == 4 ? AF_INET : AF_INET6, name, address, sizeof(address)) &&
		       is_allowed(c, address, strlen(address));
	}
	return false;
}

#define SAN_BYTES 1024 /* maximum bytes of a name of a certificate; longer ones never match */

static bool has_allowed_name(const struct web_config *c, gnutls_x509_crt_t cert)
{
	char name[SAN_BYTES];

	for (unsigned int i = 0;; i++) {
		size_t size = sizeof(name);
		int type = gnutls_x509_crt_get_subject_alt_name(cert, i, name, &size, NULL);

		if (type == GNUTLS_E_SHORT_MEMORY_BUFFER)
			continue;
		if (type < 0)
			return false;
		if (is_name_allowed(c, type, name, size))
			return true;
	}
}

bool http_tls_admits(const struct endpoint *e, struct MHD_Connection *connection)
{
	const gnutls_datum_t *chain;
	unsigned int certificates = 0;
	gnutls_session_t tls;
	gnutls_x509_crt_t cert;
	bool good;

	if (!e->config.client_sans)
		return true;
	tls = session_of(connection);
	chain = tls ? gnutls_certificate_get_peers(tls, &certificates) : NULL;
	if (!chain || !certificates || gnutls_x509_crt_init(&cert))
		return false;
	/* the first certificate of the chain is the client's own */
	good = !gnutls_x509_crt_import(cert, &chain[0], GNUTLS_X509_FMT_DER) &&
	       has_allowed_name(&e->config, cert);
	gnutls_x509_crt_deinit(cert);
	return good;
}
