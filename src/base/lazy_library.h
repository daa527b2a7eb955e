/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * base: shared libraries that only some commands need. The program is not linked with such a
 * library, so that the other commands do not load it, which takes time and resident memory. For
 * each function of the library, the program has a function of the same name that jumps to it:
 *
 *	#define FUNCTIONS(X) X(MHD_run) X(MHD_free)
 *	LAZY_FUNCTIONS(FUNCTIONS)
 *	static const struct lazy_function functions[] = {FUNCTIONS(LAZY_ROW) {}};
 *
 * Call lazy_load() before the first call of a function.
 */
#ifndef FS_BASE_LAZY_LIBRARY_H
#define FS_BASE_LAZY_LIBRARY_H

struct lazy_function {
	const char *name;
	void **address;
};

/*
 * Loads a library, and finds its functions. `function` ends with an empty row. Returns NULL, or
 * what is missing: the name of the library or of a function.
 */
const char *lazy_load(const char *library, const struct lazy_function *function);

#if defined(__x86_64__)
#define LAZY_JUMP(name) "endbr64\n\tjmp *lazy_" #name "(%rip)\n"
#elif defined(__aarch64__)
#define LAZY_JUMP(name)                                                                            \
	"hint #34\n\tadrp x16, lazy_" #name "\n\tldr x16, [x16, #:lo12:lazy_" #name "]\n\tbr "     \
										    "x16\n"
#endif

/* Defines a function, which changes no register before it jumps. */
#define LAZY_FUNCTION(name)                                                                        \
	void *lazy_##name __attribute__((visibility("hidden")));                                   \
	__asm__(".pushsection .text\n\t.balign 16\n\t.globl " #name "\n\t.hidden " #name           \
		"\n\t.type " #name ", %function\n" #name                                           \
		":\n\t" LAZY_JUMP(name) "\t.size " #name ", . - " #name "\n\t.popsection\n");
#define LAZY_FUNCTIONS(functions) functions(LAZY_FUNCTION)
#define LAZY_ROW(name)		  {#name, &lazy_##name},

#endif
