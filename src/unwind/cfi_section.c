// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "unwind/cfi_section.h"

#include <errno.h>
#include <string.h>

/* Pointer encodings (LSB, "DWARF Exception Header Encoding"). */
#define PE_OMIT	    0xff
#define PE_FORMAT   0x0f
#define PE_BASE	    0x70
#define PE_PCREL    0x10
#define PE_DATAREL  0x30
#define PE_INDIRECT 0x80

#define LENGTH_OF_64_BITS 0xffffffff
/* Maximum size of a CIE. A CIE is read again for many FDEs, so its size limits the work. */
#define CIE_BYTES_MAX 1024

int cfi_entry_read(const struct cfi_section *s, size_t offset, struct cfi_entry *ret)
{
	struct cfi_bytes b;
	__u64 length, id, id_at;

	if (s->size - offset < 4)
		return 0;
	b = (struct cfi_bytes){.at = s->bytes + offset, .end = s->bytes + s->size};
	length = cfi_unsigned(&b, 4);
	if (!length)
		return 0;
	if (length == LENGTH_OF_64_BITS)
		length = cfi_unsigned(&b, 8);
	if (b.bad || length > (__u64)(b.end - b.at) || length < 4)
		return -EBADMSG;
	b.end = b.at + length;
	ret->next = b.end - s->bytes;
	id_at = b.at - s->bytes;
	id = cfi_unsigned(&b, 4);
	ret->is_cie = !id;
	ret->cie = id ? id_at - id : offset;
	/* a CIE must precede its FDEs, so that reading cannot run in a circle */
	if (id > id_at)
		return -EBADMSG;
	ret->body = b;
	return 1;
}

/* Reads an encoded pointer whose base is its own address, `datarel`, or 0. */
static int read_pointer(const struct cfi_section *s, struct cfi_bytes *b, __u8 encoding,
			__u64 datarel, __u64 *ret)
{
	__u64 base = 0, n;

	switch (encoding & (PE_BASE | PE_INDIRECT)) {
	case 0:
		break;
	case PE_PCREL:
		base = s->address + (b->at - s->bytes);
		break;
	case PE_DATAREL:
		base = datarel;
		break;
	default:
		return -EOPNOTSUPP;
	}
	switch (encoding & PE_FORMAT) {
	case 0x00:
		n = cfi_unsigned(b, s->pointer_bytes);
		break;
	case 0x01:
		n = cfi_uleb(b);
		break;
	case 0x02:
	case 0x03:
	case 0x04:
		n = cfi_unsigned(b, 1u << ((encoding & PE_FORMAT) - 1));
		break;
	case 0x09:
		n = cfi_sleb(b);
		break;
	case 0x0a:
	case 0x0b:
	case 0x0c:
		n = cfi_signed(b, 1u << ((encoding & PE_FORMAT) - 9));
		break;
	default:
		return -EOPNOTSUPP;
	}
	*ret = base + n;
	return b->bad ? -EBADMSG : 0;
}

/* Reads the augmentation data, whose fields are given by the letters of the augmentation string. */
static int read_augmentation(const struct cfi_section *s, const char *letters, struct cfi_bytes *b,
			     struct cfi_cie *ret)
{
	struct cfi_bytes data;
	__u64 unused;
	__u8 encoding;

	if (*letters != 'z')
		return *letters ? -EOPNOTSUPP : 0;
	ret->has_data = true;
	data = cfi_block(b, cfi_uleb(b));
	for (letters++; *letters; letters++) {
		switch (*letters) {
		case 'R':
			ret->encoding = cfi_unsigned(&data, 1);
			break;
		case 'P':
			encoding = cfi_unsigned(&data, 1);
			if (encoding != PE_OMIT &&
			    read_pointer(s, &data, encoding & ~(PE_INDIRECT | PE_BASE), 0, &unused))
				return -EOPNOTSUPP;
			break;
		case 'L':
			cfi_unsigned(&data, 1);
			break;
		case 'S':
			ret->signal = true;
			break;
		case 'B': /* arm64: return addresses are signed with key B */
		case 'G': /* arm64: stack memory is tagged (MTE) */
			break;
		default:
			return -EOPNOTSUPP;
		}
	}
	return data.bad || b->bad ? -EBADMSG : 0;
}

int cfi_cie_read(const struct cfi_section *s, const struct cfi_entry *e, struct cfi_cie *ret)
{
	struct cfi_bytes b = e->body;
	const char *letters;
	__u8 version;
	int err;

	memset(ret, 0, sizeof(*ret));
	if (b.end - b.at > CIE_BYTES_MAX)
		return -EOPNOTSUPP;
	version = cfi_unsigned(&b, 1);
	letters = (const char *)b.at;
	b.at = memchr(b.at, 0, b.end - b.at);
	if (!e->is_cie || !b.at)
		return -EBADMSG;
	b.at++;
	if (version != 1 && version != 3 && version != 4)
		return -EOPNOTSUPP;
	if (version == 4) {
		if (cfi_unsigned(&b, 1) != s->pointer_bytes || cfi_unsigned(&b, 1))
			return -EOPNOTSUPP;
	}
	ret->code_align = cfi_uleb(&b);
	ret->data_align = cfi_sleb(&b);
	ret->ra_column = version == 1 ? cfi_unsigned(&b, 1) : cfi_uleb(&b);
	err = read_augmentation(s, letters, &b, ret);
	ret->program = b;
	return err ? err : b.bad ? -EBADMSG : 0;
}

int cfi_fde_read(const struct cfi_section *s, const struct cfi_entry *e, const struct cfi_cie *cie,
		 struct cfi_fde *ret)
{
	struct cfi_bytes b = e->body;
	int err = read_pointer(s, &b, cie->encoding, 0, &ret->start);

	if (!err)
		err = read_pointer(s, &b, cie->encoding & PE_FORMAT, 0, &ret->bytes);
	if (!err && cie->has_data)
		cfi_block(&b, cfi_uleb(&b));
	ret->program = b;
	return err ? err : b.bad ? -EBADMSG : 0;
}

int cfi_index_read(const struct cfi_section *index, __u64 *ret_address)
{
	struct cfi_bytes b = {.at = index->bytes, .end = index->bytes + index->size};
	__u8 version = cfi_unsigned(&b, 1), encoding = cfi_unsigned(&b, 1);

	cfi_unsigned(&b, 2); /* skip the encodings of the count and of the search table */
	if (b.bad || version != 1 || encoding == PE_OMIT)
		return -EBADMSG;
	return read_pointer(index, &b, encoding, index->address, ret_address) ? -EBADMSG : 0;
}
