/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * lines: functions of libdw and libdebuginfod (elfutils), which are loaded at run time if they are
 * installed. The types have the sizes of elfutils/libdw.h, which are part of libdw's ABI.
 */
#ifndef FS_LINES_LIBDW_H
#define FS_LINES_LIBDW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A debugging information entry: Dwarf_Die. */
struct dw_die {
	void *address;
	void *unit;
	void *abbreviation;
	long padding;
};

/* An attribute of an entry: Dwarf_Attribute. */
struct dw_attribute {
	unsigned int code, form;
	unsigned char *value;
	void *unit;
};

#define DW_TAG_INLINED_SUBROUTINE 0x1d
#define DW_TAG_SUBPROGRAM	  0x2e
#define DW_AT_NAME		  0x03
#define DW_AT_CALL_FILE		  0x58
#define DW_AT_CALL_LINE		  0x59
#define DW_AT_LINKAGE_NAME	  0x6e

struct libdw {
	void *library;
	void *(*begin_elf)(void *elf, int command, void *group);
	int (*end)(void *dwarf);
	int (*get_units)(void *dwarf, void *unit, void **ret_next, uint16_t *ret_version,
			 uint8_t *ret_type, struct dw_die *ret_die, struct dw_die *ret_subdie);
	ptrdiff_t (*ranges)(struct dw_die *die, ptrdiff_t offset, uint64_t *ret_base,
			    uint64_t *ret_start, uint64_t *ret_end);
	void *(*getsrc_die)(struct dw_die *unit, uint64_t address);
	const char *(*linesrc)(void *line, uint64_t *ret_time, uint64_t *ret_length);
	int (*lineno)(void *line, int *ret);
	int (*getscopes)(struct dw_die *unit, uint64_t address, struct dw_die **ret);
	int (*getscopes_die)(struct dw_die *die, struct dw_die **ret);
	int (*tag)(struct dw_die *die);
	struct dw_attribute *(*attr_integrate)(struct dw_die *die, unsigned int code,
					       struct dw_attribute *ret);
	const char *(*formstring)(struct dw_attribute *attribute);
	int (*formudata)(struct dw_attribute *attribute, uint64_t *ret);
	int (*getsrcfiles)(struct dw_die *unit, void **ret, size_t *ret_n);
	const char *(*filesrc)(void *files, size_t i, uint64_t *ret_time, uint64_t *ret_length);
};

/* Client of debuginfod servers. */
struct libdebuginfod {
	void *library;
	void *client;
	int (*find_debuginfo)(void *client, const unsigned char *build_id, int bytes, char **ret);
};

/*
 * Load the libraries. Return false if a library is not installed, is too old, or if this program
 * is static. The libraries stay loaded until the process ends.
 */
bool libdw_load(struct libdw *ret);
bool libdebuginfod_load(struct libdebuginfod *ret);

/* Returns why libdw_load() fails, for a user. */
const char *libdw_lack(void);

#endif
