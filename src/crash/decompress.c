// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "crash/decompress.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/compress.h"

#define XZ_MEMORY   (256ull << 20)
#define NESTED_MOST 4 /* times that a log may be compressed */

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

/* Replaces the data by what it contains. Returns 0 or -errno. */
static int unpack_once(char **data, size_t *size, enum packing packing, size_t header,
		       const struct unpack_caps *caps, bool *ret_partial)
{
	char *made = NULL;
	size_t len;
	int err = unpack(packing, *data + header, *size - header, caps, &made, &len, ret_partial);

	if (err)
		return err;
	free(*data);
	*data = made;
	*size = len;
	return 0;
}

static const char *without_library(enum packing packing)
{
	return packing == PACKING_XZ ? "liblzma is missing; try: xz -dc FILE | faultscope triage -"
	       : packing == PACKING_BZIP2
		       ? "libbz2 is missing; try: bzip2 -dc FILE | faultscope triage -"
	       : packing == PACKING_LZ4
		       ? "liblz4 is missing; try: lz4 -dc FILE | faultscope triage -"
		       : "libzstd is missing; try: zstd -dc FILE | faultscope triage -";
}

int decompress(char **data, size_t *size, size_t most, bool *ret_partial, const char **ret_why)
{
	const struct unpack_caps caps = {most, XZ_MEMORY};
	size_t header = *size ? ramoops_header(*data, *size) : 0;
	bool partial = false;

	*ret_partial = false;
	if (header && unpack_once(data, size, PACKING_GZIP, header, &caps, ret_partial))
		unpack_once(data, size, PACKING_DEFLATE, header, &caps, ret_partial);
	/* a log may be compressed more than once, such as a rotated log in an archive */
	for (int i = 0; i < NESTED_MOST; i++) {
		enum packing packing = packing_of(*data, *size);
		int err = packing ? unpack_once(data, size, packing, 0, &caps, &partial) : 0;

		if (!packing)
			break;
		if (err) {
			*ret_why = err == -ENOTSUP ? without_library(packing)
						   : "it is compressed, and damaged";
			return err;
		}
		*ret_partial |= partial;
	}
	return 0;
}
