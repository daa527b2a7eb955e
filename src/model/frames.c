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

static void append_number(char *ret, size_t size, uint64_t n)
{
	char digits[DIGITS_MOST + 1] = "";

	array_append(ret, size, digits_before(digits + DIGITS_MOST, n));
}

static void append_hex(char *ret, size_t size, uint64_t n)
{
	char digits[] = "0x0000000000000000";
	size_t at = sizeof(digits) - 1;

	do {
		digits[--at] = "0123456789abcdef"[n & 15];
		n >>= 4;
	} while (n);
	array_append(ret, size, "0x");
	array_append(ret, size, digits + at);
}

/* Appends "FILE:LINE". */
static void append_line(char *ret, size_t size, const char *file, uint32_t line)
{
	array_append(ret, size, file);
	array_append(ret, size, ":");
	if (line)
		append_number(ret, size, line);
	else
		array_append(ret, size, "?");
}

static void append_address(char *ret, size_t size, const struct user_frame *f)
{
	array_append(ret, size, f->module);
	array_append(ret, size, "+");
	append_hex(ret, size, f->offset);
}

static void show_frame(const struct user_frame *f, char *ret, size_t size)
{
	array_copy(ret, size, "");
	if (!f->function && f->module) {
		append_address(ret, size, f);
		return;
	}
	array_append(ret, size,
		     f->function	       ? f->function
		     : f->kind == FRAME_PYTHON ? "[python]"
					       : "[unknown]");
	if (!f->function || (!f->file && !f->module))
		return;
	array_append(ret, size, " (");
	if (f->file)
		append_line(ret, size, base_name(f->file), f->line);
	else
		array_append(ret, size, f->module);
	if (f->file && f->flags & FRAME_INLINED)
		array_append(ret, size, ", inlined");
	array_append(ret, size, ")");
}

bool frames_is_inlined(const struct frames *f, size_t i)
{
	return frame_list_count(f) && frame_list_at(f, i)->flags & FRAME_INLINED;
}

static size_t min_size(size_t a, size_t b)
{
	return a < b ? a : b;
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
	array_copy(ret, min_size(size, strcspn(at, "\n") + 1), at);
}

void frames_show_place(const struct frames *f, size_t i, char *ret, size_t size)
{
	const struct user_frame *one = frame_list_count(f) ? frame_list_at(f, i) : NULL;

	array_copy(ret, size, "");
	if (one && one->file)
		append_line(ret, size, one->file, one->line);
	else if (one && one->module && one->offset)
		append_address(ret, size, one);
}

static bool begins_with_one(const char *text, const char *const *all, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!strncmp(text, all[i], strlen(all[i])))
			return true;
	return false;
}

/* Returns whether a frame is code of a standard library, by its file or name. */
static bool is_standard(const struct frames *f, size_t i)
{
	static const char *const directories[] = {"/usr/include/", "/usr/local/include/",
						  "/usr/lib/gcc", "/usr/lib/llvm", "/rustc/"};
	static const char *const names[] = {"std::",  "__gnu_cxx::", "operator new",
					    "core::", "alloc::",     "hashbrown::",
					    "<std::", "<core::",     "<alloc::"};
	const struct user_frame *one = frame_list_count(f) ? frame_list_at(f, i) : NULL;
	char text[FRAME_TEXT_BYTES];

	if (one && one->file &&
	    begins_with_one(one->file, directories, sizeof(directories) / sizeof(directories[0])))
		return true;
	frames_show(f, i, text, sizeof(text));
	return is_go(f->text) ? is_go_library(text)
			      : begins_with_one(text, names, sizeof(names) / sizeof(names[0]));
}

bool frames_are_library(const struct frames *f, size_t i)
{
	static const char *const modules[] = {"libc.",	     "libc-",	    "ld-",
					      "ld.",	     "libstdc++",   "libc++",
					      "libjemalloc", "libtcmalloc", "libmimalloc"};
	const struct user_frame *one = frame_list_count(f) ? frame_list_at(f, i) : NULL;

	return (one && one->module &&
		begins_with_one(one->module, modules, sizeof(modules) / sizeof(modules[0]))) ||
	       is_standard(f, i);
}

size_t frames_telling(const struct frames *f, size_t *ret, size_t room, bool *ret_more)
{
	size_t n = 0, i = 0, all = frames_count(f);
	bool go = is_go(f->text), own = false;

	for (; i < all && n < room; i++) {
		bool skipped = n && (go || !own) && is_standard(f, i);

		own = own || !frames_are_library(f, i);
		if (!skipped)
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
			array_copy(ret, size, "");
			append_line(ret, size, base_name(one->file), one->line);
			array_append(ret, size, " ");
			array_append(ret, size, one->function);
			return ret;
		}
	}
	return NULL;
}

const char *frames_user_text(const struct frames *f, char *ret, size_t size)
{
	char caller[USER_LINE_BYTES];
	bool has_caller = frames_user_caller(f, caller, sizeof(caller));

	array_copy(ret, size, f->user_line);
	if (!f->user_line[0])
		return ret;
	if (has_caller) {
		array_append(ret, size, " (called from ");
		array_append(ret, size, caller);
		array_append(ret, size, ")");
	}
	array_append(ret, size, ": ");
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
	if (f->flags & FRAMES_UNREAD && frames_have_unknown(f)) {
		array_copy(ret, size,
			   " (no names: the process ended before its mappings could be read)");
		return ret;
	}
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
