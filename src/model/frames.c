// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "model/frames.h"

#include <string.h>

/* Returns whether a stack is that of a goroutine or of Go's scheduler. */
static bool is_go(const char *text)
{
	return strstr(text, "runtime.goexit") || strstr(text, "runtime.mstart");
}

/* First path elements of the packages in Go's standard library that make system calls. */
static const char *const go_library[] = {
	"archive",  "bufio",   "bytes",	  "compress", "context", "crypto", "database",
	"encoding", "fmt",     "html",	  "internal", "io",	 "log",	   "mime",
	"net",	    "os",      "path",	  "reflect",  "runtime", "sort",   "strings",
	"sync",	    "syscall", "testing", "text",     "time",	 "vendor"};

/* Matches function names such as "net/http.(*Client).Do" and "syscall.Syscall". */
static bool is_go_library(struct frame_text f)
{
	size_t len = strcspn(f.s, "/. \n");

	for (size_t i = 0; i < sizeof(go_library) / sizeof(go_library[0]); i++)
		if (len == strlen(go_library[i]) && !strncmp(f.s, go_library[i], len))
			return true;
	return false;
}

size_t frames_telling(const struct frames *f, struct frame_text *ret, size_t room, bool *ret_more)
{
	const char *at = f->text;
	bool go = is_go(at);
	size_t n = 0;

	*ret_more = false;
	for (; *at && n < room; at += *at == '\n') {
		struct frame_text one = {at, strcspn(at, "\n")};

		at += one.len;
		if (n && go && is_go_library(one))
			continue;
		ret[n++] = one;
	}
	*ret_more = *at != 0;
	return n;
}
