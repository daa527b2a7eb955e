// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Tests names of functions in ELF files, and which debug file belongs to an ELF file. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <lzma.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zlib.h>

#include "collect/symbols/debug_file.h"
#include "collect/symbols/elf_symbols.h"
#include "elf_maker.h"
#include "fakeroot.h"
#include "tap.h"

#define CODE 2 /* index of the section of code, which begin_code() adds */
#define DATA 3
#define FUNC ELF64_ST_INFO(STB_GLOBAL, STT_FUNC)

struct symbol {
	const char *name;
	uint64_t address, size;
	uint8_t info;
	uint16_t section;
};

/* Begins a library with a section of code and a section of data. */
static void begin_code(void)
{
	static const char text[64];

	begin(ELFCLASS64);
	section(".text", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, text, sizeof(text));
	section(".data", SHT_PROGBITS, SHF_ALLOC, text, sizeof(text));
}

/* Adds a symbol table. The first symbol of a table has no name. */
static void add_table(const char *name, uint32_t type, const struct symbol *from, size_t n)
{
	Elf64_Sym symbols[32] = {};
	char names[1024] = "";
	size_t used = 1;
	Elf64_Shdr *s;

	for (size_t i = 0; i < n; i++) {
		symbols[i + 1] = (Elf64_Sym){.st_name = from[i].name[0] ? used : 0,
					     .st_value = from[i].address,
					     .st_size = from[i].size,
					     .st_info = from[i].info,
					     .st_shndx = from[i].section};
		used += sprintf(names + used, "%s", from[i].name) + 1;
	}
	s = section(name, type, 0, symbols, (n + 1) * sizeof(symbols[0]));
	s->sh_entsize = sizeof(symbols[0]);
	s->sh_link = head()->e_shnum;
	section(".strtab", SHT_STRTAB, 0, names, used);
}

#define SYMTAB(table) add_table(".symtab", SHT_SYMTAB, table, sizeof(table) / sizeof((table)[0]))
#define DYNSYM(table) add_table(".dynsym", SHT_DYNSYM, table, sizeof(table) / sizeof((table)[0]))

static void add_build_id(char first)
{
	char id[20] = {first, 0x23, 0x45}, bytes[64];

	section(".note.gnu.build-id", SHT_NOTE, SHF_ALLOC, bytes, note(bytes, "GNU", 3, id, 20));
}

/* Returns a descriptor of a file with the ELF file that was made last. */
static int file_fd(void)
{
	int fd = memfd_create("elf", MFD_CLOEXEC);

	if (fd < 0 || write(fd, file.bytes, BYTES) != (ssize_t)BYTES)
		exit(1);
	return fd;
}

static struct elf_symbols opened(void)
{
	struct elf_symbols s = {};

	is_u64(elf_symbols_open(file_fd(), &s), 0, "an ELF file");
	return s;
}

static void is_found(struct elf_symbols *s, uint64_t address, const char *want, uint64_t offset)
{
	char name[64] = "";
	__u64 at = 0;
	bool found = elf_symbols_find(s, address, name, sizeof(name), &at);

	ok(found == (want[0] != 0) && !strcmp(name, want) && at == offset,
	   "0x%llx is \"%s\"+%llu: \"%s\"+%llu", (unsigned long long)address, want,
	   (unsigned long long)offset, name, (unsigned long long)at);
}

/* Each symbol has its own address. The table says which of them are functions. */
static const struct {
	struct symbol symbol;
	bool is_function, is_function_on_arm;
} kinds[] = {
	{{"function", 0x1000, 8, FUNC, CODE}, true, true},
	{{"local", 0x1100, 8, ELF64_ST_INFO(STB_LOCAL, STT_FUNC), CODE}, true, true},
	{{"chosen", 0x1200, 8, ELF64_ST_INFO(STB_GLOBAL, STT_GNU_IFUNC), CODE}, true, true},
	{{"assembly", 0x1300, 8, ELF64_ST_INFO(STB_GLOBAL, STT_NOTYPE), CODE}, true, true},
	{{"mark", 0x1400, 8, ELF64_ST_INFO(STB_LOCAL, STT_NOTYPE), CODE}, true, false},
	{{"word", 0x1500, 8, ELF64_ST_INFO(STB_GLOBAL, STT_NOTYPE), DATA}, false, false},
	{{"object", 0x1600, 8, ELF64_ST_INFO(STB_GLOBAL, STT_OBJECT), CODE}, false, false},
	{{"absent", 0x1700, 8, FUNC, SHN_UNDEF}, false, false},
	{{"number", 0x1800, 8, FUNC, SHN_ABS}, false, false},
	{{"", 0x1900, 8, FUNC, CODE}, false, false},
	{{"common", 0x1a00, 8, ELF64_ST_INFO(STB_GLOBAL, STT_NOTYPE), SHN_COMMON}, false, false},
	{{"far", 0x1b00, 8, ELF64_ST_INFO(STB_GLOBAL, STT_NOTYPE), 9 + 2}, false, false},
	{{"endless", 0x100000, 1ULL << 33, FUNC, CODE}, true, true},
};
#define KINDS (sizeof(kinds) / sizeof(kinds[0]))

static void test_kinds_of_symbols(void)
{
	struct symbol table[KINDS];

	for (size_t i = 0; i < KINDS; i++)
		table[i] = kinds[i].symbol;
	for (int arm = 0; arm <= 1; arm++) {
		struct elf_symbols s;

		begin_code();
		if (arm)
			head()->e_machine = EM_AARCH64;
		SYMTAB(table);
		s = opened();
		ok(!elf_symbols_wants_debug(&s), "it has its symbols");
		is_u64(elf_symbols_bytes(&s), 0, "no table before it is needed");
		for (size_t i = 0; i < KINDS; i++) {
			bool is = arm ? kinds[i].is_function_on_arm : kinds[i].is_function;

			is_found(&s, table[i].address + 7, is ? table[i].name : "", is ? 7 : 0);
		}
		is_found(&s, 0xfff, "", 0);
		is_found(&s, 0x1008, "", 0);
		is_found(&s, 0x100000ULL + UINT32_MAX - 1, "endless", UINT32_MAX - 1);
		is_found(&s, 0x100000ULL + UINT32_MAX, "", 0);
		ok(elf_symbols_bytes(&s) > 0, "a table");
		elf_symbols_drop(&s);
		is_u64(elf_symbols_bytes(&s), 0, "a table that was dropped");
		is_found(&s, 0x1000, "function", 0);
		elf_symbols_close(&s);
	}
}

/* Of several names of a function, the best one is used, whatever their order. */
static void test_aliases(void)
{
	static const char *const better[][2] = {
		{"read", "__read"}, {"_read", "__a"}, {"abc", "abd"}, {"ab", "abc"},
		{"zz", "_a"},	    {"B", "a"},
	};

	for (size_t i = 0; i < sizeof(better) / sizeof(better[0]); i++)
		for (int turn = 0; turn <= 1; turn++) {
			const struct symbol table[] = {{better[i][turn], 0x1000, 8, FUNC, CODE},
						       {better[i][!turn], 0x1000, 8, FUNC, CODE}};
			struct elf_symbols s;

			begin_code();
			SYMTAB(table);
			s = opened();
			is_found(&s, 0x1000, better[i][0], 0);
			elf_symbols_close(&s);
		}
}

static void test_names(void)
{
	static char longest[300];
	const struct symbol table[] = {
		{"_ZN2at6native3addERKNS_6TensorES3_", 0x1000, 8, FUNC, CODE},
		{longest, 0x1100, 8, FUNC, CODE},
	};
	char name[300];
	struct elf_symbols s;
	__u64 offset;

	memset(longest, 'x', sizeof(longest) - 1);
	begin_code();
	SYMTAB(table);
	s = opened();
	is_found(&s, 0x1000, "at::native::add", 0);
	memset(name, '#', sizeof(name));
	ok(elf_symbols_find(&s, 0x1100, name, 16, &offset), "a long name");
	is_str(name, "xxxxxxxxxxxxxxx", "is cut");
	is_u64(name[16], '#', "nothing is written behind its room");
	ok(elf_symbols_find(&s, 0x1100, name, sizeof(name), &offset), "with enough room");
	is_str(name, longest, "is whole");
	s.no_demangling = true;
	is_found(&s, 0x1000, "_ZN2at6native3addERKNS_6TensorES3_", 0);
	elf_symbols_close(&s);
}

/* Tests addresses that no symbol has: jumps to other files, and the entry point. */
static void test_untold(void)
{
	static const char bytes[64];
	struct elf_symbols s;
	Elf64_Shdr *plt;

	begin_code();
	head()->e_type = ET_EXEC;
	segment(PT_INTERP, PF_R, 0, 0, 8);
	plt = section(".plt", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, bytes, 48);
	plt->sh_addr = 0x5000;
	s = opened();
	ok(elf_symbols_wants_debug(&s), "no symbols");
	is_found(&s, 0x4fff, "", 0);
	is_found(&s, 0x5000, "[plt]", 0);
	is_found(&s, 0x502f, "[plt]", 47);
	is_found(&s, 0x5030, "", 0);
	is_found(&s, 0x1233, "", 0);
	is_found(&s, 0x1234, "_start", 0);
	is_found(&s, 0x1234 + 63, "_start", 63);
	is_found(&s, 0x1234 + 64, "", 0);
	elf_symbols_close(&s);
}

/* Adds the ELF file that was made last to a new one, compressed, as .gnu_debugdata. */
static void pack(bool damage)
{
	static char packed[BYTES];
	size_t n = 0;

	if (lzma_easy_buffer_encode(0, LZMA_CHECK_CRC32, NULL, (const uint8_t *)file.bytes, BYTES,
				    (uint8_t *)packed, &n, sizeof(packed)) != LZMA_OK)
		exit(1);
	begin_code();
	if (damage)
		packed[n / 2] ^= 0x55;
	section(".gnu_debugdata", SHT_PROGBITS, 0, packed, n);
}

static void test_packed(void)
{
	static const struct symbol hidden[] = {{"hidden", 0x1000, 8, FUNC, CODE},
					       {"both", 0x1100, 8, FUNC, CODE}};
	static const struct symbol exported[] = {{"exported", 0x2000, 8, FUNC, CODE},
						 {"bo", 0x1100, 8, FUNC, CODE}};
	struct elf_symbols s;
	size_t bytes;

	for (int damage = 0; damage <= 1; damage++) {
		begin_code();
		SYMTAB(hidden);
		pack(damage);
		DYNSYM(exported);
		s = opened();
		is_found(&s, 0x2000, "exported", 0);
		is_found(&s, 0x1000, damage ? "" : "hidden", 0);
		is_found(&s, 0x1100, "bo", 0);
		ok(s.broken == damage, "whether it is damaged");
		bytes = elf_symbols_bytes(&s);
		ok((bytes > s.table.room * sizeof(*s.table.e)) == !damage,
		   "unpacked names are counted");
		elf_symbols_close(&s);
	}
	/* with .symtab, the others are not needed */
	begin_code();
	SYMTAB(hidden);
	pack(true);
	DYNSYM(exported);
	SYMTAB(hidden);
	s = opened();
	is_found(&s, 0x1000, "hidden", 0);
	is_found(&s, 0x2000, "", 0);
	ok(!s.broken, "a damaged section that is not needed");
	elf_symbols_close(&s);
	begin_code();
	pack(false);
	s = opened();
	is_found(&s, 0x1000, "", 0);
	ok(!s.broken, "a packed file without symbols");
	elf_symbols_close(&s);
}

static const struct symbol debug_symbols[] = {{"from_debug", 0x1000, 8, FUNC, CODE}};
static const struct symbol own_symbols[] = {{"exported", 0x2000, 8, FUNC, CODE}};

/* Makes a debug file. Returns the CRC of its bytes. */
static uint32_t make_debug(char id, bool symbols)
{
	static const char line[8];

	begin_code();
	if (id)
		add_build_id(id);
	section(".debug_line", SHT_PROGBITS, 0, line, sizeof(line));
	if (symbols)
		SYMTAB(debug_symbols);
	return crc32(0, (const Bytef *)file.bytes, BYTES);
}

/* Opens a file without .symtab. */
static struct elf_symbols stripped(char id, const char *link, uint32_t crc)
{
	char bytes[32] = "";

	begin_code();
	if (id)
		add_build_id(id);
	if (link) {
		snprintf(bytes, sizeof(bytes), "%s", link);
		memcpy(bytes + (strlen(link) + 4) / 4 * 4, &crc, sizeof(crc));
		section(".gnu_debuglink", SHT_PROGBITS, 0, bytes, (strlen(link) + 4) / 4 * 4 + 4);
	}
	DYNSYM(own_symbols);
	return opened();
}

static const struct {
	const char *what;
	char file_id, debug_id; /* first byte of the build-id; 0: none */
	bool symbols, crc_fits;
	int want;
} matches[] = {
	{"equal build-ids", 1, 1, true, false, 0},
	{"different build-ids", 1, 2, true, true, -ESTALE},
	{"a debug file without build-id", 1, 0, true, true, -ESTALE},
	{"the checksum of a file without build-id", 0, 0, true, true, 0},
	{"another checksum", 0, 0, true, false, -ESTALE},
	{"a debug file without symbols", 1, 1, false, true, -ENOENT},
};

static void test_debug_files(void)
{
	for (size_t i = 0; i < sizeof(matches) / sizeof(matches[0]); i++) {
		uint32_t crc = make_debug(matches[i].debug_id, matches[i].symbols);
		int fd = file_fd(), own, err;
		struct elf_symbols s =
			stripped(matches[i].file_id, "x.debug", crc + !matches[i].crc_fits);

		own = s.file.fd;
		err = elf_symbols_add_debug(&s, fd);
		ok(err == matches[i].want, "%s: %d", matches[i].what, err);
		is_found(&s, 0x1000, err ? "" : "from_debug", 0);
		is_found(&s, 0x2000, err ? "exported" : "", 0);
		ok(s.h.has_lines == !err, "it has source lines");
		ok(err ? s.held == -1 && s.file.fd == own : s.held == own && s.file.fd == fd,
		   "which files are open");
		elf_symbols_close(&s);
		ok(fcntl(own, F_GETFD) == -1, "the file is closed");
		ok((fcntl(fd, F_GETFD) == -1) == !err, "and the debug file, if it was taken");
		if (err)
			close(fd);
	}
}

static void put_debug(const struct fakeroot *r, const char *path)
{
	char whole[256];
	FILE *f = fopen(fake_path(r, path, whole, sizeof(whole)), "w");

	if (!f || fwrite(file.bytes, BYTES, 1, f) != 1 || fclose(f))
		exit(1);
}

#define BY_ID "usr/lib/debug/.build-id/01/2345" \
	      "0000000000000000000000000000000000.debug"

static const struct {
	const char *path; /* of the debug file */
	bool found_by_id, found_by_link;
} places[] = {
	{BY_ID, true, false},
	{"srv/x.debug", false, true},
	{"srv/.debug/x.debug", false, true},
	{"usr/lib/debug/srv/x.debug", false, true},
	{"x.debug", false, false},
	{"srv/y.debug", false, false},
	{"usr/lib/debug/x.debug", false, false},
};

/* Tests that debug files are searched for in our root directory, and in that of the process. */
static void test_places(void)
{
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		struct fakeroot root = fakeroot_make();
		struct elf_symbols s;
		uint32_t crc;

		make_debug(1, true);
		put_debug(&root, places[i].path);
		s = stripped(1, NULL, 0);
		ok(debug_file_find(&s, "/srv/x", root.fd, -1) == places[i].found_by_id,
		   "by build-id, in our root: %s", places[i].path);
		elf_symbols_close(&s);
		s = stripped(1, NULL, 0);
		ok(debug_file_find(&s, "/srv/x", -1, root.fd) == places[i].found_by_id,
		   "in the root of the process");
		is_found(&s, 0x1000, places[i].found_by_id ? "from_debug" : "", 0);
		elf_symbols_close(&s);
		s = stripped(3, NULL, 0);
		ok(!debug_file_find(&s, "/srv/x", root.fd, root.fd), "of another build-id: no");
		elf_symbols_close(&s);

		crc = make_debug(0, true);
		put_debug(&root, places[i].path);
		s = stripped(0, "x.debug", crc);
		ok(debug_file_find(&s, "/srv/x", -1, root.fd) == places[i].found_by_link,
		   "by .gnu_debuglink: %s", places[i].path);
		elf_symbols_close(&s);
		s = stripped(0, "x.debug", crc);
		ok(!debug_file_find(&s, "/srv/x", root.fd, -1), "but not in our root");
		ok(!debug_file_find(&s, "x", -1, root.fd), "nor for a path without a directory");
		elf_symbols_close(&s);
		s = stripped(0, NULL, 0);
		ok(!debug_file_find(&s, "/srv/x", root.fd, root.fd), "nor without a name");
		elf_symbols_close(&s);
		fakeroot_free(&root);
	}
}

static void test_no_elf(void)
{
	struct elf_symbols s;
	int fd;

	begin_code();
	file.bytes[0] = 'x';
	fd = file_fd();
	ok(elf_symbols_open(fd, &s) == -ENOEXEC, "no ELF file");
	s = stripped(1, NULL, 0);
	ok(elf_symbols_add_debug(&s, fd) == -ENOEXEC, "nor as a debug file");
	close(fd);
	ok(elf_symbols_open(fd, &s) == -EBADF, "a file that is not open");
	elf_symbols_close(&s);
}

/* Adds a table of `n` functions of 16 bytes, all of them with one name, in the room of headers. */
static void add_many(uint32_t n)
{
	uint64_t at = SHDRS_AT + 64 * sizeof(Elf64_Shdr);
	Elf64_Shdr *s = section(".symtab", SHT_SYMTAB, 0, "", 0);

	for (uint32_t i = 0; i < n; i++) {
		Elf64_Sym sym = {.st_name = 1,
				 .st_value = 0x1000 + 16 * i,
				 .st_size = 16,
				 .st_info = FUNC,
				 .st_shndx = CODE};

		memcpy(file.bytes + at + i * sizeof(sym), &sym, sizeof(sym));
	}
	s->sh_offset = at;
	s->sh_size = n * sizeof(Elf64_Sym);
	s->sh_entsize = sizeof(Elf64_Sym);
	s->sh_link = head()->e_shnum;
	section(".strtab", SHT_STRTAB, 0, "\0f", 3);
}

/* Symbols are read 512 at a time: each one must be found, and no other address. */
static void test_many_symbols(void)
{
	static const uint32_t counts[] = {1, 511, 512, 513, 1023, 1024, 1025};

	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
		struct elf_symbols s;
		uint32_t found = 0;
		char name[8];
		__u64 at;

		begin_code();
		add_many(counts[i]);
		s = opened();
		for (uint32_t k = 0; k < counts[i]; k++)
			found += elf_symbols_find(&s, 0x1000 + 16 * k + 15, name, sizeof(name),
						  &at) &&
				 at == 15;
		is_u64(found, counts[i], "symbols that are found");
		is_found(&s, 0xfff, "", 0);
		is_found(&s, 0x1000 + 16 * counts[i], "", 0);
		elf_symbols_close(&s);
	}
}

/* Eight names of an address are compared. */
static void test_many_aliases(void)
{
	for (size_t n = 8; n <= 9; n++) {
		struct symbol table[9];
		struct elf_symbols s;
		char names[9][8];

		for (size_t i = 0; i < n; i++) {
			snprintf(names[i], sizeof(names[i]), i == n - 1 ? "z" : "__a%zu", i);
			table[i] = (struct symbol){names[i], 0x1000, 8, FUNC, CODE};
		}
		begin_code();
		add_table(".symtab", SHT_SYMTAB, table, n);
		s = opened();
		is_found(&s, 0x1000, n == 8 ? "z" : "__a0", 0);
		elf_symbols_close(&s);
	}
}

/* Adds a symbol whose name begins at this offset of a table of names that ends after 5 bytes. */
static void add_name_at(uint32_t offset)
{
	Elf64_Sym sym = {.st_name = offset,
			 .st_value = 0x1000,
			 .st_size = 8,
			 .st_info = FUNC,
			 .st_shndx = CODE};
	Elf64_Shdr *s = section(".symtab", SHT_SYMTAB, 0, &sym, sizeof(sym));

	s->sh_entsize = sizeof(sym);
	s->sh_link = head()->e_shnum;
	section(".strtab", SHT_STRTAB, 0, "\0lastXYZ", 9)->sh_size = 5;
}

/* A name ends with its table, even if no NUL ends it. */
static void test_ends_of_names(void)
{
	static const struct {
		uint32_t offset;
		const char *want;
	} rows[] = {{0, ""}, {1, "last"}, {2, "ast"}, {4, "t"},
		    {5, ""}, {6, ""},	  {~0u, ""},  {1u << 31 | 1, ""}};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct elf_symbols s;

		begin_code();
		add_name_at(rows[i].offset);
		s = opened();
		is_found(&s, 0x1000, rows[i].want, 0);
		elf_symbols_close(&s);
	}
}

/* A program without an entry point has no _start, and a library has none either. */
static void test_entry(void)
{
	for (int program = 0; program <= 2; program++) {
		struct elf_symbols s;

		begin_code();
		head()->e_type = program ? ET_EXEC : ET_DYN;
		head()->e_entry = program == 2 ? 0 : 0x1234;
		s = opened();
		is_found(&s, program == 2 ? 0 : 0x1234, program == 1 ? "_start" : "", 0);
		elf_symbols_close(&s);
	}
}

/* Makes a file with a build-id of `size` bytes: 01, 23, 45. */
static void begin_with_id(size_t size)
{
	char bytes[64];

	begin_code();
	section(".note.gnu.build-id", SHT_NOTE, SHF_ALLOC, bytes,
		note(bytes, "GNU", 3, "\x01\x23\x45", size));
}

/* The name of a debug file is made of a build-id of two or more bytes. */
static void test_short_build_ids(void)
{
	static const char *const places[] = {"", "usr/lib/debug/.build-id/01/.debug",
					     "usr/lib/debug/.build-id/01/23.debug",
					     "usr/lib/debug/.build-id/01/2345.debug"};

	for (size_t size = 1; size <= 3; size++) {
		struct fakeroot root = fakeroot_make();
		struct elf_symbols s;

		begin_with_id(size);
		SYMTAB(debug_symbols);
		put_debug(&root, places[size]);
		begin_with_id(size);
		DYNSYM(own_symbols);
		s = opened();
		ok(debug_file_find(&s, "/srv/x", root.fd, -1) == (size >= 2),
		   "a build-id of %zu bytes", size);
		elf_symbols_close(&s);
		fakeroot_free(&root);
	}
}

/* Standard input is closed, so that a root directory may have the descriptor 0. */
static void test_descriptor_0(void)
{
	struct fakeroot root = fakeroot_make();
	struct elf_symbols s;
	int high;

	close(STDIN_FILENO);
	begin_with_id(3);
	SYMTAB(debug_symbols);
	put_debug(&root, "usr/lib/debug/.build-id/01/2345.debug");
	begin_with_id(3);
	DYNSYM(own_symbols);
	s = opened();
	high = fcntl(s.file.fd, F_DUPFD_CLOEXEC, 20);
	close(s.file.fd);
	s.file.fd = high;
	ok(dup2(open(root.path, O_PATH | O_DIRECTORY), STDIN_FILENO) == 0, "a root directory");
	ok(debug_file_find(&s, "/srv/x", STDIN_FILENO, -1), "has the debug file");
	close(STDIN_FILENO);
	s.held = dup2(s.held, STDIN_FILENO);
	close(high);
	elf_symbols_close(&s);
	ok(fcntl(STDIN_FILENO, F_GETFD) == -1, "the file itself is closed");
	fakeroot_free(&root);
}

/* Each name of a file is demangled, whatever was demangled before. */
static void test_mangled_names(void)
{
	const struct symbol table[] = {
		{"main", 0x1000, 8, FUNC, CODE},
		{"_ZN1a1bEv", 0x1100, 8, FUNC, CODE},
		{"_ZN1c1dEv", 0x1200, 8, FUNC, CODE},
	};
	struct elf_symbols s;

	begin_code();
	SYMTAB(table);
	s = opened();
	for (int turn = 0; turn < 2; turn++) {
		is_found(&s, 0x1000, "main", 0);
		is_found(&s, 0x1100, "a::b", 0);
		is_found(&s, 0x1200, "c::d", 0);
	}
	elf_symbols_close(&s);
}

int main(void)
{
	elf_version(EV_CURRENT);
	test_kinds_of_symbols();
	test_aliases();
	test_names();
	test_untold();
	test_packed();
	test_debug_files();
	test_places();
	test_no_elf();
	test_many_symbols();
	test_many_aliases();
	test_mangled_names();
	test_ends_of_names();
	test_entry();
	test_short_build_ids();
	test_descriptor_0();
	return tap_done();
}
