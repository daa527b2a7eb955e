// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "crash/decompress.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/compress.h"

#define XZ_MEMORY (256ull << 20)

/*
 * Returns the length of the header "====1234567890.123456-C" that ramoops writes before compressed
 * records, or 0.
 */
static size_t ramoops_header(const char *data, size_t size)
{
	const char *nl = size > 8 && !memcmp(data, "====", 4) ? memchr(data, '\n', size) : NULL;

	if (!nl || nl - data > 64 || nl - data < 6 || nl[-1] != 'C' || nl[-2] != '-')
		return 0;
	return nl + 1 - data;
}

int decompress(char **data, size_t *size, size_t most, bool *ret_partial, const char **ret_why)
{
	const struct unpack_caps caps = {most, XZ_MEMORY};
	size_t header = *size ? ramoops_header(*data, *size) : 0, len;
	enum packing packing = packing_of(*data, *size);
	char *made = NULL;
	int err = 0;

	if (header &&
	    unpack(PACKING_GZIP, *data + header, *size - header, &caps, &made, &len, ret_partial))
		unpack(PACKING_DEFLATE, *data + header, *size - header, &caps, &made, &len,
		       ret_partial);
	if (!made && packing)
		err = unpack(packing, *data, *size, &caps, &made, &len, ret_partial);
	if (err) {
		*ret_why = err == -ENOTSUP ? "zstd: this build cannot; try: zstd -dc FILE | "
					     "faultscope triage -"
					   : "it is compressed, and damaged";
		return err;
	}
	if (!made)
		return 0;
	free(*data);
	*data = made;
	*size = len;
	return 0;
}
