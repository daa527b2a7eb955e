/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* mcp: loads libjson-c, which only `faultscope mcp` needs. */
#ifndef FS_MCP_JSON_LIBRARY_H
#define FS_MCP_JSON_LIBRARY_H

/* Returns NULL, or what is missing: the name of the library or of a function. */
const char *json_library_load(void);

#endif
