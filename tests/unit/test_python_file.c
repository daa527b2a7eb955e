// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Tests what is read from the files of CPython and of the C library, which the test makes. */
#include <elf.h>
#include <libelf.h>
#include <string.h>

#include "tap.h"
#include "unwind/exported.h"
#include "unwind/python_file.h"
#include "unwind/python_offsets.h"

#define SYMBOLS 0x200 /* offset of the symbols in the file */
#define NAMES	0x4000
#define HEADERS 0x5000
#define DATA	0x6000 /* offset of the data */
#define ADDRESS 0x9000 /* address of the data */
#define BYTES	0x7000

static unsigned char file[BYTES];
static Elf64_Sym symbol[600];
static size_t symbols, names;

static void begin(void)
{
	memset(file, 0, sizeof(file));
	memset(symbol, 0, sizeof(symbol));
	symbols = names = 1;
}

/* Adds an exported object that begins so many bytes after DATA. */
static void export(const char *name, size_t at, int type)
{
	strcpy((char *)file + NAMES + names, name);
	symbol[symbols++] =
		(Elf64_Sym){.st_name = names, .st_info = type, .st_value = ADDRESS + at};
	names += strlen(name) + 1;
}

static void put(size_t at, const void *bytes, size_t n)
{
	memcpy(file + DATA + at, bytes, n);
}

static struct python_file read_as(const char *path)
{
	Elf64_Ehdr e = {.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
			.e_type = ET_DYN,
			.e_machine = EM_X86_64,
			.e_version = EV_CURRENT,
			.e_ehsize = sizeof(e),
			.e_phoff = sizeof(e),
			.e_phentsize = sizeof(Elf64_Phdr),
			.e_phnum = 1,
			.e_shoff = HEADERS,
			.e_shentsize = sizeof(Elf64_Shdr),
			.e_shnum = 3,
			.e_shstrndx = 2};
	Elf64_Phdr p = {.p_type = PT_LOAD,
			.p_flags = PF_R,
			.p_offset = DATA,
			.p_vaddr = ADDRESS,
			.p_filesz = BYTES - DATA};
	Elf64_Shdr h[] = {{},
			  {.sh_type = SHT_DYNSYM,
			   .sh_offset = SYMBOLS,
			   .sh_size = symbols * sizeof(symbol[0]),
			   .sh_link = 2,
			   .sh_entsize = sizeof(symbol[0])},
			  {.sh_type = SHT_STRTAB, .sh_offset = NAMES, .sh_size = names}};
	struct byte_source s = {.fd = -1, .mem = (const char *)file, .bytes = sizeof(file)};
	struct python_file f;

	memcpy(file, &e, sizeof(e));
	memcpy(file + sizeof(e), &p, sizeof(p));
	memcpy(file + SYMBOLS, symbol, symbols * sizeof(symbol[0]));
	memcpy(file + HEADERS, h, sizeof(h));
	python_file_read(&s, path, &f);
	return f;
}

static void test_interpreter(void)
{
	uint64_t version = 0x030b04f0; /* Py_Version of 3.11.4 */
	struct python_file f;
	struct fs_python want;

	begin();
	export("_PyRuntime", 0x100, STT_OBJECT);
	f = read_as("/usr/bin/python3.10");
	python_offsets_by_version(10, &want);
	ok(f.is_interpreter && f.offsets.minor == 10, "the version is in the name of the program");
	is_u64(f.offsets.key_at, want.key_at + ADDRESS + 0x100, "the key's address");
	is_u64(f.offsets.interpreters_at, want.interpreters_at + ADDRESS + 0x100,
	       "the interpreters' address");
	is_u64(read_as("/lib/libpython3.9.so.1.0").offsets.minor, 9, "or of the library");
	is_u64(read_as("python3.12d").offsets.minor, 12, "also without a path");
	ok(!read_as("/usr/bin/python3").is_interpreter, "a name without a version is not enough");
	ok(!read_as("/usr/bin/python3.99").is_interpreter, "nor is one that is not supported");
	ok(!read_as("/usr/bin/perl").is_interpreter, "another program is not read");
	ok(!read_as(NULL).is_interpreter, "nor is one without a name");
	export("Py_Version", 0x80, STT_OBJECT);
	put(0x80, &version, sizeof(version));
	is_u64(read_as("/usr/bin/python").offsets.minor, 11, "the version is in the program");
	is_u64(read_as("/usr/bin/python3.12").offsets.minor, 12, "the name comes first");
	version = 0x02070000;
	put(0x80, &version, sizeof(version));
	ok(!read_as("/usr/bin/python").is_interpreter, "2.7 is not supported");
	begin();
	export("_PyRuntime", 0x100, STT_FUNC);
	ok(!read_as("/usr/bin/python3.10").is_interpreter, "a function is not the runtime");
	begin();
	for (int i = 0; i < 300; i++)
		export("x", 0x10, STT_OBJECT);
	export("_PyRuntime", BYTES, STT_OBJECT);
	ok(read_as("/usr/bin/python3.10").is_interpreter, "it is the 301st symbol");
	symbol[symbols - 1].st_value = 0;
	ok(!read_as("/usr/bin/python3.10").is_interpreter, "a symbol without an address is not");
}

/* Tests the table of offsets that later versions begin _PyRuntime with. */
static void test_table(void)
{
	static const size_t bytes = PYTHON_TABLE_WORDS * sizeof(uint64_t);
	uint64_t word[PYTHON_TABLE_WORDS];
	struct python_file f;

	/* each offset is the index of its word */
	for (size_t i = 0; i < PYTHON_TABLE_WORDS; i++)
		word[i] = i;
	memcpy(word, "xdebugpy", 8);
	word[1] = 0x030d0000;
	begin();
	export("_PyRuntime", 0x100, STT_OBJECT);
	put(0x100, word, sizeof(word));
	f = read_as("/usr/bin/python3");
	ok(f.is_interpreter && f.offsets.minor == 13, "a table of 3.13");
	is_u64(f.offsets.interpreters_at, 5 + ADDRESS + 0x100, "the interpreters' address");
	is_u64(f.offsets.key_at, 2160 + ADDRESS + 0x100, "the key's address");
	is_u64(read_as("/usr/bin/python3.10").offsets.minor, 13, "the table comes before the name");
	word[1] = 0x030f0000;
	put(0x100, word, sizeof(word));
	f = read_as("/usr/bin/python3");
	ok(f.is_interpreter && f.offsets.minor == 15, "a table of 3.15");
	is_u64(f.offsets.key_at, 0, "which has no key");
	begin();
	export("_PyRuntime", BYTES - DATA - bytes, STT_OBJECT);
	put(BYTES - DATA - bytes, word, bytes);
	is_u64(read_as("/usr/bin/python3.10").offsets.minor, 15, "a table at the end of the file");
	begin();
	export("_PyRuntime", BYTES - DATA - bytes + 8, STT_OBJECT);
	put(BYTES - DATA - bytes + 8, word, bytes - 8);
	is_u64(read_as("/usr/bin/python3.10").offsets.minor, 10, "a table that is cut is not read");
}

/* Tests which files are read, by their names. */
static void test_names(void)
{
	static const struct {
		const char *path;
		unsigned int minor;
	} python[] = {
		{"/usr/bin/python3.8", 8},
		{"/usr/bin/python3.9", 9},
		{"/usr/bin/python3.10", 10},
		{"/usr/bin/python3.11/", 0},
		{"/usr/bin/python3.1/x", 0},
		{"/usr/lib/python3.10/lib.so", 0},
		{"/usr/bin/python3.10:x", 10},
		{"/usr/bin/python3.10/y", 0},
		{"/usr/bin/python3.10/python3.9", 9},
		{"/usr/bin/python3.7", 0},
		{"/usr/bin/python3.:", 0},
		{"python", 0},
		{"/usr/bin/my-python3.12-debug", 12},
		{"/usr/bin/python-3.12", 0},
	};
	static const struct {
		const char *path;
		bool read;
	} libc[] = {
		{"/lib/libc.so", true},	   {"libc.so.6", true},	      {"/lib/libc.s", false},
		{"/lib/libc-2", true},	   {"/lib/libc-", false},     {"/lib/libc-3.so", false},
		{"/lib/libpthread", true}, {"/lib/libpthrea", false}, {"/lib/xlibc.so.6", false},
	};
	const uint32_t field[] = {64, 32, 784};

	begin();
	export("_PyRuntime", 0x100, STT_OBJECT);
	for (size_t i = 0; i < sizeof(python) / sizeof(*python); i++) {
		struct python_file f = read_as(python[i].path);

		ok(f.is_interpreter == (python[i].minor != 0), "%s", python[i].path);
		if (f.is_interpreter)
			is_u64(f.offsets.minor, python[i].minor, "its version");
	}
	begin();
	put(0x20, field, sizeof(field));
	export("_thread_db_pthread_specific", 0x20, STT_OBJECT);
	export("_thread_db_pthread_key_data_data", 0x20, STT_OBJECT);
	for (size_t i = 0; i < sizeof(libc) / sizeof(*libc); i++)
		ok((read_as(libc[i].path).specific == 784) == libc[i].read, "%s", libc[i].path);
}

static void test_libc(void)
{
	const uint32_t specific[] = {64, 32, 784}, data[] = {64, 1, 8}, bytes = 2304;
	struct python_file f;

	begin();
	put(0x20, specific, sizeof(specific));
	put(0x40, data, sizeof(data));
	export("_thread_db_pthread_key_data_data", 0x40, STT_OBJECT);
	f = read_as("/lib/libc.so.6");
	is_u64(f.specific + f.value, 0, "the second symbol is not enough");
	begin();
	put(0x20, specific, sizeof(specific));
	put(0x40, data, sizeof(data));
	export("_thread_db_pthread_specific", 0x20, STT_OBJECT);
	f = read_as("/lib/libc.so.6");
	is_u64(f.specific + f.value, 0, "nor is the first one");
	export("_thread_db_pthread_key_data_data", 0x40, STT_OBJECT);
	put(0x20, specific, sizeof(specific));
	put(0x40, data, sizeof(data));
	f = read_as("/lib/libc.so.6");
	ok(f.specific == 784 && f.value == 8, "the offsets of glibc");
	is_u64(f.pthread_bytes, 0, "the size of struct pthread is unknown");
	export("_thread_db_sizeof_pthread", 0x60, STT_OBJECT);
	put(0x60, &bytes, sizeof(bytes));
	is_u64(read_as("/lib/libc.so.6").pthread_bytes, 2304, "then it is known");
	is_u64(read_as("/lib/libc-2.31.so").pthread_bytes, 2304, "also in glibc 2.31");
	is_u64(read_as("/lib/libpthread-2.31.so").pthread_bytes, 2304, "and in libpthread");
	ok(!read_as("/lib/libcurl.so").specific, "another library is not read");
	ok(!read_as("/lib/libc.so.6").is_interpreter, "glibc is no interpreter");
	symbol[1].st_value = ADDRESS + BYTES - DATA;
	ok(!read_as("/lib/libc.so.6").specific, "an address behind the data");
	symbol[1].st_value = ADDRESS + BYTES - DATA - 8;
	ok(!read_as("/lib/libc.so.6").specific, "a value that ends behind the file");
	symbol[1].st_value = ADDRESS - 1;
	ok(!read_as("/lib/libc.so.6").specific, "an address before the data");
}

int main(void)
{
	elf_version(EV_CURRENT);
	test_interpreter();
	test_table();
	test_names();
	test_libc();
	return tap_done();
}
