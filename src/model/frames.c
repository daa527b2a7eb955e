// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "model/frames.h"

#include <inttypes.h>
#include <stdio.h>
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

/* Matches texts of frames such as "net/http.(*Client).Do (x)" and "syscall.Syscall (x)". */
static bool is_go_library(const char *text)
{
	size_t len = strcspn(text, "/. ");

	for (size_t i = 0; i < sizeof(go_library) / sizeof(go_library[0]); i++)
		if (len == strlen(go_library[i]) && !strncmp(text, go_library[i], len))
			return true;
	return false;
}

size_t frames_count(const struct frames *f)
{
	size_t n = *f->text != 0;

	if (frame_list_count(f))
		return frame_list_count(f);
	for (const char *c = f->text; *c; c++)
		n += *c == '\n';
	return n;
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static void show_with_line(const struct user_frame *f, char *ret, size_t size)
{
	char number[16] = "?";

	if (f->line)
		snprintf(number, sizeof(number), "%u", f->line);
	snprintf(ret, size, "%s (%s:%s%s)", f->function, base_name(f->file), number,
		 f->flags & FRAME_INLINED ? ", inlined" : "");
}

static void show_frame(const struct user_frame *f, char *ret, size_t size)
{
	if (f->function && f->file)
		show_with_line(f, ret, size);
	else if (f->function)
		snprintf(ret, size, "%s%s%s%s", f->function, f->module ? " (" : "",
			 f->module ? f->module : "", f->module ? ")" : "");
	else if (f->module)
		snprintf(ret, size, "%s+0x%" PRIx64, f->module, f->offset);
	else
		snprintf(ret, size, "%s", f->kind == FRAME_PYTHON ? "[python]" : "[unknown]");
}

void frames_show(const struct frames *f, size_t i, char *ret, size_t size)
{
	const char *at = f->text;

	if (frame_list_count(f)) {
		show_frame(frame_list_at(f, i), ret, size);
		return;
	}
	while (i-- && *at) {
		at += strcspn(at, "\n");
		at += *at == '\n';
	}
	snprintf(ret, size, "%.*s", (int)strcspn(at, "\n"), at);
}

void frames_show_place(const struct frames *f, size_t i, char *ret, size_t size)
{
	const struct user_frame *one = frame_list_count(f) ? frame_list_at(f, i) : NULL;

	*ret = 0;
	if (one && one->file && one->line)
		snprintf(ret, size, "%s:%u", one->file, one->line);
	else if (one && one->file)
		snprintf(ret, size, "%s", one->file);
	else if (one && one->module && one->offset)
		snprintf(ret, size, "%s+0x%" PRIx64, one->module, one->offset);
}

size_t frames_telling(const struct frames *f, size_t *ret, size_t room, bool *ret_more)
{
	size_t n = 0, i = 0, all = frames_count(f);
	bool go = is_go(f->text);

	for (; i < all && n < room; i++) {
		char text[FRAME_TEXT_BYTES];

		if (n && go) {
			frames_show(f, i, text, sizeof(text));
			if (is_go_library(text))
				continue;
		}
		ret[n++] = i;
	}
	*ret_more = i < all;
	return n;
}

bool frames_have_unknown(const struct frames *f)
{
	return strstr(f->text, "[unknown]") != NULL;
}

static bool is_users(const struct user_frame *f)
{
	return f->flags & FRAME_USER && f->function && f->file;
}

static bool is_same_function(const struct user_frame *a, const struct user_frame *b)
{
	return !strcmp(a->function, b->function) && !strcmp(a->file, b->file);
}

const char *frames_user_caller(const struct frames *f, char *ret, size_t size)
{
	const struct user_frame *users = NULL;
	bool in_library = false;

	for (size_t i = 0; i < frame_list_count(f); i++) {
		const struct user_frame *one = frame_list_at(f, i);

		if (!users && is_users(one)) {
			users = one;
		} else if (users && one->kind == FRAME_PYTHON && !(one->flags & FRAME_USER)) {
			in_library = true;
		} else if (in_library && is_users(one) && !is_same_function(one, users)) {
			snprintf(ret, size, "%.76s:%u %.76s", base_name(one->file), one->line,
				 one->function);
			return ret;
		}
	}
	return NULL;
}

const char *frames_user_text(const struct frames *f, char *ret, size_t size)
{
	char caller[USER_LINE_BYTES];
	bool has_caller = frames_user_caller(f, caller, sizeof(caller));

	*ret = 0;
	if (f->user_line[0])
		snprintf(ret, size, "%s%s%s%s: ", f->user_line, has_caller ? " (called from " : "",
			 has_caller ? caller : "", has_caller ? ")" : "");
	return ret;
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
