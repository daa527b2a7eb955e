// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "triage/library.h"

#include "triage/exports.h"

/* A function of the kernel image is a helper if at least so many modules import it. */
#define HELPER_IMPORTERS 40

static const struct {
	enum library library;
	const char *names;
} rows[] = {
#define LIBRARY(class, names) {LIBRARY_##class, names},
#include "triage/library.def"
};

/* Returns whether `s` matches the pattern, which ends at a blank and may contain '*'. */
static bool fits(const char *pattern, struct str s)
{
	for (; *pattern && *pattern != ' ' && *pattern != '*'; pattern++, s = str_from(s, 1))
		if (str_at(s, 0) != *pattern || !s.n)
			return false;
	if (*pattern != '*')
		return !s.n;
	while (*pattern == '*')
		pattern++;
	if (!*pattern || *pattern == ' ')
		return true;
	for (size_t at = 0; at <= s.n; at++)
		if (fits(pattern, str_from(s, at)))
			return true;
	return false;
}

struct str function_plain(struct str function)
{
	/* Suffixes by gcc, and by clang (ThinLTO, CFI jump tables, '$' with a hash). */
	static const char *const tails[] = {".isra", ".constprop", ".part", ".cold",
					    ".llvm", ".lto_priv",  ".cfi",  "$"};

	/* Since 6.4, the padding before f() is called __pfx_f; stacks may point to it. */
	if (str_starts(function, "__pfx_"))
		function = str_from(function, 6);
	for (size_t i = 0; i < sizeof(tails) / sizeof(tails[0]); i++) {
		long at = str_find(function, tails[i]);

		if (at > 0)
			function = str_first(function, at);
	}
	return function;
}

bool name_fits(const char *patterns, struct str name)
{
	for (; patterns; patterns = strchr(patterns, ' ')) {
		patterns += *patterns == ' ';
		if (fits(patterns, name))
			return true;
	}
	return false;
}

/* Returns whether the blank-separated patterns have the name itself. */
static bool has_name(const char *patterns, struct str name)
{
	for (; patterns; patterns = strchr(patterns, ' ')) {
		patterns += *patterns == ' ';
		if (!strncmp(patterns, name.s, name.n) &&
		    (!patterns[name.n] || patterns[name.n] == ' '))
			return true;
	}
	return false;
}

enum library library_of(struct str function)
{
	function = function_plain(function);
	for (size_t i = 0; function.n && i < sizeof(rows) / sizeof(rows[0]); i++)
		if (has_name(rows[i].names, function))
			return rows[i].library;
	for (size_t i = 0; function.n && i < sizeof(rows) / sizeof(rows[0]); i++)
		if (name_fits(rows[i].names, function))
			return rows[i].library;
	return LIBRARY_NONE;
}

enum library library_of_frame(const struct frame *f)
{
	struct str plain = function_plain(f->function);

	/* a module may also have its own copy of memcpy() and the like */
	if (f->module.n && !export_importers(plain, f->module) &&
	    !export_importers(plain, (struct str){}))
		return LIBRARY_NONE;
	return library_of(f->function);
}

bool is_helper(const struct frame *f)
{
	if (library_of_frame(f) != LIBRARY_NONE)
		return true;
	return !f->module.n &&
	       export_importers(function_plain(f->function), f->module) >= HELPER_IMPORTERS;
}
