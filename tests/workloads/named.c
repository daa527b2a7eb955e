// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Prints the addresses of functions. Each function's name is in another place, such as a symbol
 * table, and faultscope must find all of them.
 */
#include "common.h"

#include <dlfcn.h>

#define USAGE	  "[--jit] [--load LIBRARY]"
#define JIT_BYTES 64

static bool jit;
static const char *library;

/* Each function has another body, because the compiler may merge equal functions. */
#define BODY(n)                                                                                    \
	{                                                                                          \
		volatile int x = n;                                                                \
		x = x * (n + 3);                                                                   \
		return x;                                                                          \
	}

int shown_function(void);
int cxx_function(void) __asm__("_ZN5outer5innerIiEEvT_");
int rust_function(void) __asm__("_ZN4demo4work17h0123456789abcdefE");
int rust_new_function(void) __asm__("_RNvC4demo4work");

__attribute__((noinline)) int shown_function(void) BODY(1)
	__attribute__((noinline)) int cxx_function(void) BODY(2)
		__attribute__((noinline)) int rust_function(void) BODY(3)
			__attribute__((noinline)) int rust_new_function(void) BODY(4) static
	__attribute__((noinline, noclone)) int hidden_function(void) BODY(5)

		static void truth_address(const char *key, const void *address)
{
	truth_number(key, (long long)(intptr_t)address);
}

static void write_map(const char *mode, const char *name, const char *at)
{
	char path[64];
	FILE *f;

	snprintf(path, sizeof(path), "/tmp/perf-%d.map", getpid());
	f = fopen(path, mode);
	if (!f)
		die("%s", path);
	fprintf(f, "%lx %x %s\n", (long)at, JIT_BYTES, name);
	fclose(f);
}

/*
 * Maps code with two functions, as a JIT compiler does. While the program runs, the second function
 * gets its name, and the first gets another name.
 */
static char *make_code(void)
{
	char *code = mmap(NULL, PAGE_BYTES, PROT_READ | PROT_WRITE | PROT_EXEC,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (code == MAP_FAILED)
		die("mmap");
	write_map("w", "py::first:/srv/some file.py", code);
	return code;
}

static void load(void)
{
	void *handle = dlopen(library, RTLD_NOW), *found;

	if (!handle)
		die("%s", dlerror());
	found = dlsym(handle, "loaded_function");
	if (!found)
		die("%s", dlerror());
	truth_address("loaded", found);
}

int main(int argc, char **argv)
{
	const struct opt opts[] = {
		{"jit", OPT_FLAG, &jit},
		{"load", OPT_TEXT, &library},
		{0},
	};
	char *code = NULL;

	parse_args(argc, argv, USAGE, opts, NULL, 0, 0);
	if (jit)
		code = make_code();
	wait_for_go();
	if (code) {
		write_map("a", "second", code + JIT_BYTES);
		write_map("a", "first_again", code);
	}
	truth_open();
	if (library)
		load();
	truth_address("shown", (void *)shown_function);
	truth_address("hidden", (void *)hidden_function);
	truth_address("cxx", (void *)cxx_function);
	truth_address("rust", (void *)rust_function);
	truth_address("rust_new", (void *)rust_new_function);
	truth_address("main", (void *)main);
	truth_address("jit", code);
	truth_number("sum", shown_function() + hidden_function() + cxx_function() +
				    rust_function() + rust_new_function());
	truth_close();
	return 0;
}
