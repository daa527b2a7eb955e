// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "model/frames.h"

#include <string.h>

#include "base/array.h"
#include "records/stack_ends.h"

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

static const struct {
	const char *name, *meaning;
} ends[NR_STACK_ENDS] = {
#define STACK_END(constant, name, meaning) [STACK_END_##constant] = {name, meaning},
#include "records/stack_ends.def"
#undef STACK_END
};

const char *stack_end_name(uint32_t end)
{
	return end < NR_STACK_ENDS ? ends[end].name : NULL;
}

const char *frames_end_text(const struct frames *f, char *ret, size_t size)
{
	const char *why = f->end < NR_STACK_ENDS ? ends[f->end].meaning : NULL;

	array_copy(ret, size, "");
	if (!(f->flags & FRAMES_SHORT))
		return ret;
	array_copy(ret, size, " (stack may be short");
	if (why) {
		array_append(ret, size, ": ");
		array_append(ret, size, why);
	}
	array_append(ret, size, ")");
	return ret;
}
