// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "serve/web_libraries.h"

#include <stddef.h>

#include "base/lazy_library.h"

/* clang-format off */
#define MICROHTTPD_FUNCTIONS(X) \
	X(MHD_add_response_header) X(MHD_basic_auth_get_username_password) \
	X(MHD_create_response_from_buffer) X(MHD_destroy_response) X(MHD_free) \
	X(MHD_get_connection_info) X(MHD_get_connection_values) X(MHD_get_daemon_info) \
	X(MHD_get_timeout) X(MHD_lookup_connection_value) X(MHD_queue_response) \
	X(MHD_quiesce_daemon) X(MHD_resume_connection) X(MHD_run) X(MHD_start_daemon) \
	X(MHD_stop_daemon) X(MHD_suspend_connection)

#define GNUTLS_FUNCTIONS(X) \
	X(gnutls_certificate_get_peers) X(gnutls_certificate_server_set_request) \
	X(gnutls_certificate_verify_peers3) X(gnutls_cipher_get_name) \
	X(gnutls_cipher_suite_info) X(gnutls_hmac_fast) X(gnutls_kx_get_name) \
	X(gnutls_mac_get_name) X(gnutls_priority_deinit) \
	X(gnutls_priority_get_cipher_suite_index) X(gnutls_priority_init) \
	X(gnutls_session_set_verify_function) X(gnutls_x509_crt_deinit) \
	X(gnutls_x509_crt_get_subject_alt_name) X(gnutls_x509_crt_import) \
	X(gnutls_x509_crt_init)

#define YAML_FUNCTIONS(X) \
	X(yaml_document_delete) X(yaml_document_get_node) X(yaml_document_get_root_node) \
	X(yaml_parser_delete) X(yaml_parser_initialize) X(yaml_parser_load) \
	X(yaml_parser_set_input_string)

#define CRYPT_FUNCTIONS(X) \
	X(crypt_rn)
/* clang-format on */

LAZY_FUNCTIONS(MICROHTTPD_FUNCTIONS)
LAZY_FUNCTIONS(GNUTLS_FUNCTIONS)
LAZY_FUNCTIONS(YAML_FUNCTIONS)
LAZY_FUNCTIONS(CRYPT_FUNCTIONS)

static const struct library {
	const char *name;
	const struct lazy_function *functions;
} of_server[] = {
	{SONAME_MICROHTTPD, (const struct lazy_function[]){MICROHTTPD_FUNCTIONS(LAZY_ROW){}}},
	{SONAME_GNUTLS, (const struct lazy_function[]){GNUTLS_FUNCTIONS(LAZY_ROW){}}},
	{},
}, of_config[] = {
	{SONAME_YAML, (const struct lazy_function[]){YAML_FUNCTIONS(LAZY_ROW){}}},
	{SONAME_CRYPT, (const struct lazy_function[]){CRYPT_FUNCTIONS(LAZY_ROW){}}},
	{},
};

static const char *load_all(const struct library *one)
{
	const char *missing = NULL;

	for (; one->name && !missing; one++)
		missing = lazy_load(one->name, one->functions);
	return missing;
}

const char *web_libraries_load(void)
{
	return load_all(of_server);
}

const char *config_libraries_load(void)
{
	return load_all(of_config);
}
