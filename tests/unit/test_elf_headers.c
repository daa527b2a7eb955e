// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Tests what is found in the headers of ELF files, which this test makes in memory. */
#include <errno.h>
#include <stdlib.h>

#include "elf_maker.h"
#include "tap.h"

static void test_kinds(void)
{
	struct elf_headers h;

	begin(ELFCLASS64);
	is_u64(headers(&h), 0, "a library");
	ok(h.wide && !h.marks && h.machine == EM_X86_64, "of x86-64");
	ok(!h.entry && h.start == 0x1234, "has no entry point of a program");
	ok(!h.nr_loads && !h.nr_stubs && !h.build_id_bytes && !h.debuglink[0] && !h.has_lines &&
		   !h.full.symbols.bytes && !h.packed.bytes,
	   "and nothing else");
	head()->e_type = ET_EXEC;
	is_u64(headers(&h), 0, "a program");
	is_u64(h.entry, 0x1234, "has one");
	head()->e_type = ET_DYN;
	segment(PT_INTERP, PF_R, DATA_AT, 0, 8);
	headers(&h);
	is_u64(h.entry, 0x1234, "so has a library with an interpreter");
	for (int type = 0; type < 6; type++) {
		head()->e_type = type;
		ok((headers(&h) == 0) == (type == ET_DYN || type == ET_EXEC), "type %d", type);
	}
	begin(ELFCLASS64);
	head()->e_machine = EM_AARCH64;
	headers(&h);
	ok(h.marks, "arm64 has marks of code and data");
	head()->e_machine = EM_ARM;
	headers(&h);
	ok(h.marks, "so has arm");
	file.bytes[EI_DATA] = ELFDATA2MSB;
	ok(headers(&h) == -ENOEXEC, "another byte order");
	begin(ELFCLASS64);
	file.bytes[0]++;
	ok(headers(&h) == -ENOEXEC, "no ELF file");
	begin(3);
	ok(headers(&h) == -ENOEXEC, "an unknown class");
}

static void test_counts(void)
{
	struct elf_headers h;

	begin(ELFCLASS64);
	head()->e_phnum = 256;
	is_u64(headers(&h), 0, "as many segments as are accepted");
	head()->e_phnum = 257;
	ok(headers(&h) == -ENOEXEC, "one more");
	begin(ELFCLASS64);
	head()->e_shnum = ELF_SECTIONS_MAX;
	is_u64(headers(&h), 0, "as many sections as are accepted");
	head()->e_shnum = ELF_SECTIONS_MAX + 1;
	ok(headers(&h) == -ENOEXEC, "one more");
	head()->e_shnum = 0;
	ok(headers(&h) == -ENOEXEC, "a number of sections that is elsewhere");
	head()->e_shoff = 0;
	is_u64(headers(&h), 0, "no sections");
}

static void test_narrow_counts(void)
{
	Elf32_Ehdr narrow = {.e_type = ET_EXEC,
			     .e_machine = EM_386,
			     .e_version = EV_CURRENT,
			     .e_entry = 0x1234,
			     .e_phoff = PHDRS_AT,
			     .e_ehsize = sizeof(Elf32_Ehdr),
			     .e_phentsize = sizeof(Elf32_Phdr),
			     .e_phnum = 256,
			     .e_shentsize = sizeof(Elf32_Shdr)};
	struct elf_headers h;

	begin(ELFCLASS32);
	memcpy(narrow.e_ident, file.bytes, EI_NIDENT);
	memcpy(file.bytes, &narrow, sizeof(narrow));
	is_u64(headers(&h), 0, "a program of 32 bits");
	ok(!h.wide && h.entry == 0x1234 && h.machine == EM_386, "its properties");
	((Elf32_Ehdr *)file.bytes)->e_phnum = 257;
	ok(headers(&h) == -ENOEXEC, "too many segments");
	((Elf32_Ehdr *)file.bytes)->e_phnum = 0;
	((Elf32_Ehdr *)file.bytes)->e_shoff = SHDRS_AT;
	ok(headers(&h) == -ENOEXEC, "a number of sections that is elsewhere");
	((Elf32_Ehdr *)file.bytes)->e_shnum = ELF_SECTIONS_MAX;
	is_u64(headers(&h), 0, "as many sections as are accepted");
	((Elf32_Ehdr *)file.bytes)->e_shnum = ELF_SECTIONS_MAX + 1;
	ok(headers(&h) == -ENOEXEC, "one more");
}

static void test_loads(void)
{
	struct elf_headers h;
	__u64 at;

	begin(ELFCLASS64);
	segment(PT_LOAD, PF_R, 0, 0x400000, 0x1000);
	segment(PT_LOAD, PF_R | PF_X, 0xf00, 0x500f00, 0x1000);
	segment(PT_GNU_EH_FRAME, PF_R, DATA_AT, 0x600000, 0x20);
	headers(&h);
	is_u64(h.nr_loads, 2, "two segments are loaded");
	ok(h.frame_index.at.offset == DATA_AT && h.frame_index.at.bytes == 0x20 &&
		   h.frame_index.address == 0x600000,
	   "the index of frames");
	ok(!elf_headers_is_code(&h, 0xeff) && elf_headers_is_code(&h, 0xf00) &&
		   elf_headers_is_code(&h, 0x1eff) && !elf_headers_is_code(&h, 0x1f00),
	   "where code is");
	ok(elf_headers_address(&h, 0xeff, &at) && at == 0x400eff, "an address of data");
	ok(elf_headers_address(&h, 0xf00, &at) && at == 0x500f00, "code has precedence");
	ok(elf_headers_address(&h, 0x1eff, &at) && at == 0x501eff, "the last byte");
	ok(!elf_headers_address(&h, 0x1f00, &at), "a byte of no segment");
	h.nr_loads = 1;
	ok(!elf_headers_is_code(&h, 0xf00) && !elf_headers_address(&h, 0x1eff, &at),
	   "what is behind the last segment is none");
	for (int i = 0; i < ELF_LOADS_MAX; i++)
		segment(PT_LOAD, PF_R, 0x10000 * i, 0x1000000 + 0x10000 * i, 0x1000);
	headers(&h);
	is_u64(h.nr_loads, ELF_LOADS_MAX, "more segments than are kept");
	ok(h.load[ELF_LOADS_MAX - 1].address == 0x1000000 + 0x10000 * (ELF_LOADS_MAX - 3),
	   "the first ones are");
	begin(ELFCLASS64);
	segment(PT_GNU_EH_FRAME, PF_R, BYTES - 0x20, 0x600000, 0x20);
	headers(&h);
	ok(h.frame_index.at.bytes, "an index at the end of the file");
	begin(ELFCLASS64);
	segment(PT_GNU_EH_FRAME, PF_R, BYTES - 0x20, 0x600000, 0x21);
	headers(&h);
	ok(!h.frame_index.at.bytes, "an index behind the end");
}

static void test_sections(void)
{
	static const char text[64] = "text";
	struct elf_headers h;
	Elf64_Shdr *s, *names;

	begin(ELFCLASS64);
	section(".text", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, text, 8);
	for (int i = 0; i < ELF_STUBS_MAX + 1; i++)
		section(i ? ".plt.sec" : ".plt", SHT_PROGBITS, SHF_ALLOC, text, 16 + i);
	section(".pltx", SHT_PROGBITS, SHF_ALLOC, text, 16);
	headers(&h);
	ok(h.code[0] == 1 << 2, "which section has code");
	is_u64(h.nr_stubs, ELF_STUBS_MAX, "as many sections of jumps as are kept");
	for (int i = 0; i < ELF_STUBS_MAX; i++)
		is_u64(h.stub[i].end - h.stub[i].start, 16 + i, "their sizes");

	begin(ELFCLASS64);
	section(".eh_frame", SHT_PROGBITS, SHF_ALLOC, text, 24);
	section(".debug_line", SHT_PROGBITS, 0, text, 8);
	section(".gnu_debugdata", SHT_PROGBITS, 0, text, 40);
	section(".gopclntab", SHT_PROGBITS, 0, text, 48);
	s = section(".symtab", SHT_SYMTAB, 0, text, 48);
	names = section(".strtab", SHT_STRTAB, 0, text, 5);
	s->sh_link = head()->e_shnum - 1;
	s = section(".dynsym", SHT_DYNSYM, 0, text, 24);
	s->sh_link = head()->e_shnum - 2;
	headers(&h);
	ok(h.frames.at.bytes == 24 && h.frames.address == 0x30000, "frames");
	ok(h.has_lines, "source lines");
	is_u64(h.packed.bytes, 40, "packed symbols");
	is_u64(h.go_functions.bytes, 48, "functions of Go");
	ok(h.full.symbols.bytes == 48 && h.full.names.bytes == 5 &&
		   h.full.names.offset == names->sh_offset,
	   "symbols with their names");
	ok(h.dynamic.symbols.bytes == 24 && h.dynamic.names.bytes == 5, "dynamic ones");
	s->sh_link = 2;
	s->sh_size = 16;
	headers(&h);
	ok(!h.dynamic.symbols.bytes, "names that are no names");

	begin(ELFCLASS64);
	section(".data.rel.ro.gopclntab", SHT_PROGBITS, 0, text, 48);
	section(".debug_line", SHT_NOBITS, 0, text, 8);
	s = section(".gnu_debugdata", SHT_PROGBITS, SHF_COMPRESSED, text, 40);
	headers(&h);
	is_u64(h.go_functions.bytes, 48, "functions of Go in a position-independent program");
	ok(!h.has_lines, "source lines that were removed");
	is_u64(h.packed.bytes, 0, "a compressed section");
	s->sh_flags = 0;
	s->sh_offset = BYTES - 39;
	headers(&h);
	is_u64(h.packed.bytes, 0, "a section behind the end of the file");
	s->sh_offset = BYTES - 40;
	headers(&h);
	is_u64(h.packed.bytes, 40, "one up to the end");
	s->sh_offset = ~0ull;
	headers(&h);
	is_u64(h.packed.bytes, 0, "one whose end overflows");
}

static void test_build_ids(void)
{
	char id[64], notes[256];
	struct elf_headers h;
	size_t n;

	for (size_t i = 0; i < sizeof(id); i++)
		id[i] = i + 1;
	for (size_t size = 0; size <= BUILD_ID_BYTES + 1; size++) {
		begin(ELFCLASS64);
		section(".note", SHT_NOTE, 0, notes, note(notes, "GNU", NT_GNU_BUILD_ID, id, size));
		headers(&h);
		is_u64(h.build_id_bytes, size <= BUILD_ID_BYTES ? size : 0, "bytes of a build-id");
		ok(!memcmp(h.build_id, id, h.build_id_bytes), "are those of the file");
	}
	begin(ELFCLASS64);
	n = note(notes, "GNU", 1, id, 16);
	n += note(notes + n, "GNX", NT_GNU_BUILD_ID, id, 8);
	n += note(notes + n, "GNU", NT_GNU_BUILD_ID, id, 12);
	n += note(notes + n, "GNU", NT_GNU_BUILD_ID, id, 4);
	segment(PT_NOTE, PF_R, put(notes, n), 0, n);
	headers(&h);
	is_u64(h.build_id_bytes, 12, "the first of several notes that is a build-id");
}

static void links(const char *name, size_t size, const char *want, const char *what)
{
	char data[256] = "";
	uint32_t crc = 0xfeedface;
	struct elf_headers h;

	strcpy(data, name);
	memcpy(data + (strlen(name) + 4) / 4 * 4, &crc, sizeof(crc));
	begin(ELFCLASS64);
	section(".gnu_debuglink", SHT_PROGBITS, 0, data,
		size ?: (strlen(name) + 4) / 4 * 4 + sizeof(crc));
	headers(&h);
	is_str(h.debuglink, want, what);
	if (*want)
		is_u64(h.debuglink_crc, crc, "its checksum");
}

static void test_links(void)
{
	links("a.debug", 0, "a.debug", "the name of a debug file");
	links("ab.debug", 0, "ab.debug", "a longer one");
	links("abcd.debug", 0, "abcd.debug", "a longer one still");
	links("", 0, "", "no name");
	links("a/b", 0, "", "a path");
	links("..", 0, "", "a directory");
	links("a.debug", 11, "", "no room for a checksum");
	links("a.debug", 12, "a.debug", "just enough room");
}

/* Notes of up to 64 KiB are read. Most of these are zeros, which are empty notes. */
static void test_long_notes(void)
{
	for (size_t more = 0; more <= 4; more += 4) {
		uint64_t at = SHDRS_AT + 64 * sizeof(Elf64_Shdr);
		struct elf_headers h;
		Elf64_Shdr *s;

		begin(ELFCLASS64);
		note(file.bytes + at, "GNU", NT_GNU_BUILD_ID, "\1\2\3", 3);
		s = section(".note", SHT_NOTE, 0, "", 0);
		s->sh_offset = at;
		s->sh_size = (64 << 10) + more;
		is_u64(headers(&h), 0, "a file with many notes");
		is_u64(h.build_id_bytes, more ? 0 : 3, more ? "too many" : "64 KiB of notes");
	}
}

/* A part of a file may end where the file ends, but not behind it. */
static void test_ends(void)
{
	static const struct {
		uint64_t offset, size, want;
		const char *name;
	} rows[] = {
		{BYTES - 8, 8, 8, "the last bytes"},
		{BYTES - 8, 9, 0, "one byte too many"},
		{BYTES - 1, 1, 1, "the last byte"},
		{BYTES, 1, 0, "a byte behind the end"},
		{BYTES + 1, 0, 0, "nothing behind the end"},
		{0, BYTES, BYTES, "the whole file"},
		{8, UINT64_MAX - 7, 0, "an end that overflows"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct elf_headers h;
		Elf64_Shdr *s;

		begin(ELFCLASS64);
		s = section(".gnu_debugdata", SHT_PROGBITS, 0, "", 0);
		s->sh_offset = rows[i].offset;
		s->sh_size = rows[i].size;
		headers(&h);
		is_u64(h.packed.bytes, rows[i].want, rows[i].name);
		is_u64(h.packed.offset, rows[i].want ? rows[i].offset : 0, "its place");
	}
}

int main(void)
{
	elf_version(EV_CURRENT);
	test_kinds();
	test_counts();
	test_narrow_counts();
	test_loads();
	test_sections();
	test_build_ids();
	test_links();
	test_long_notes();
	test_ends();
	return tap_done();
}
