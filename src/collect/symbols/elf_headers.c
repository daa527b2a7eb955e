// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "collect/symbols/elf_headers.h"

#include <errno.h>
#include <gelf.h>
#include <string.h>

#define NOTES_BYTES_MAX (64u << 10)
#define SEGMENTS_MAX	256

/*
 * Checks the counts e_shnum and e_phnum. libelf accepts any count that fits into the size of the
 * file. A sparse file could therefore make it allocate gigabytes.
 */
static bool counts_are_sane(const struct byte_source *s)
{
	union {
		unsigned char ident[EI_NIDENT];
		Elf32_Ehdr narrow;
		Elf64_Ehdr wide;
	} h;

	memset(&h, 0, sizeof(h));
	if (bytes_read(s, 0, &h, sizeof(h)) < (ssize_t)sizeof(h.narrow) ||
	    memcmp(h.ident, ELFMAG, SELFMAG) ||
	    h.ident[EI_DATA] !=
		    (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? ELFDATA2LSB : ELFDATA2MSB))
		return false;
	if (h.ident[EI_CLASS] == ELFCLASS32)
		return h.narrow.e_shnum <= ELF_SECTIONS_MAX && h.narrow.e_phnum <= SEGMENTS_MAX &&
		       (h.narrow.e_shnum || !h.narrow.e_shoff);
	return h.ident[EI_CLASS] == ELFCLASS64 && h.wide.e_shnum <= ELF_SECTIONS_MAX &&
	       h.wide.e_phnum <= SEGMENTS_MAX && (h.wide.e_shnum || !h.wide.e_shoff);
}

static bool lies_within(const struct byte_source *s, __u64 offset, __u64 bytes)
{
	return offset <= s->bytes && bytes <= s->bytes - offset;
}

static void read_notes(Elf *elf, const struct byte_source *s, __u64 offset, __u64 bytes,
		       __u64 align, struct elf_headers *h)
{
	size_t at = 0, name, desc;
	Elf_Data *data;
	GElf_Nhdr note;

	if (!bytes || bytes > NOTES_BYTES_MAX || !lies_within(s, offset, bytes))
		return;
	data = elf_getdata_rawchunk(elf, offset, bytes, align == 8 ? ELF_T_NHDR8 : ELF_T_NHDR);
	while (data && !h->build_id_bytes && (at = gelf_getnote(data, at, &note, &name, &desc))) {
		if (note.n_type != NT_GNU_BUILD_ID || note.n_namesz != sizeof("GNU") ||
		    memcmp((char *)data->d_buf + name, "GNU", sizeof("GNU")) || !note.n_descsz ||
		    note.n_descsz > BUILD_ID_BYTES)
			continue;
		memcpy(h->build_id, (char *)data->d_buf + desc, note.n_descsz);
		h->build_id_bytes = note.n_descsz;
	}
}

static void read_segments(Elf *elf, const struct byte_source *s, const GElf_Ehdr *ehdr,
			  struct elf_headers *h)
{
	bool program = ehdr->e_type == ET_EXEC;

	for (int i = 0; i < ehdr->e_phnum; i++) {
		GElf_Phdr p;

		if (!gelf_getphdr(elf, i, &p))
			return;
		if (p.p_type == PT_INTERP)
			program = true;
		else if (p.p_type == PT_NOTE)
			read_notes(elf, s, p.p_offset, p.p_filesz, p.p_align, h);
		else if (p.p_type == PT_LOAD && h->nr_loads < ELF_LOADS_MAX) {
			h->load[h->nr_loads].offset = p.p_offset;
			h->load[h->nr_loads].address = p.p_vaddr;
			h->load[h->nr_loads].bytes = p.p_filesz;
			h->load[h->nr_loads++].executable = p.p_flags & PF_X;
		} else if (p.p_type == PT_GNU_EH_FRAME && lies_within(s, p.p_offset, p.p_filesz)) {
			h->frame_index.at = (struct elf_span){p.p_offset, p.p_filesz};
			h->frame_index.address = p.p_vaddr;
		}
	}
	h->entry = program ? ehdr->e_entry : 0;
}

static struct elf_span span_of(const struct byte_source *s, const GElf_Shdr *sh)
{
	if (sh->sh_type == SHT_NOBITS || sh->sh_flags & SHF_COMPRESSED ||
	    !lies_within(s, sh->sh_offset, sh->sh_size))
		return (struct elf_span){};
	return (struct elf_span){sh->sh_offset, sh->sh_size};
}

static void read_symtab(Elf *elf, const struct byte_source *s, const GElf_Shdr *sh,
			struct elf_symtab *ret)
{
	Elf_Scn *scn = elf_getscn(elf, sh->sh_link);
	GElf_Shdr names;

	if (!scn || !gelf_getshdr(scn, &names) || names.sh_type != SHT_STRTAB)
		return;
	ret->symbols = span_of(s, sh);
	ret->names = span_of(s, &names);
}

/* Reads .gnu_debuglink: a file name, NULs up to a multiple of 4, and the debug file's CRC. */
static void read_debuglink(const struct byte_source *s, struct elf_span at, struct elf_headers *h)
{
	size_t len = bytes_text(s, at.offset, 0, h->debuglink, sizeof(h->debuglink));
	__u64 crc_at = (len + 4) / 4 * 4;

	if (!len || strchr(h->debuglink, '/') || !strcmp(h->debuglink, "..") ||
	    crc_at + 4 > at.bytes ||
	    !bytes_get(s, at.offset + crc_at, &h->debuglink_crc, sizeof(h->debuglink_crc)))
		h->debuglink[0] = 0;
}

static void read_section(Elf *elf, const struct byte_source *s, const GElf_Shdr *sh,
			 const char *name, struct elf_headers *h)
{
	struct elf_span at = span_of(s, sh);

	if (sh->sh_type == SHT_SYMTAB) {
		read_symtab(elf, s, sh, &h->full);
	} else if (sh->sh_type == SHT_DYNSYM) {
		read_symtab(elf, s, sh, &h->dynamic);
	} else if (sh->sh_type == SHT_NOTE) {
		read_notes(elf, s, at.offset, at.bytes, sh->sh_addralign, h);
	} else if (!strcmp(name, ".gnu_debugdata")) {
		h->packed = at;
	} else if (!strcmp(name, ".debug_line") || !strcmp(name, ".zdebug_line")) {
		h->has_lines = sh->sh_type == SHT_PROGBITS;
	} else if (!strcmp(name, ".eh_frame")) {
		h->frames.at = at;
		h->frames.address = sh->sh_addr;
	} else if (!strcmp(name, ".gopclntab") || !strcmp(name, ".data.rel.ro.gopclntab")) {
		h->go_functions = at;
	} else if (!strcmp(name, ".gnu_debuglink")) {
		read_debuglink(s, at, h);
	} else if ((!strcmp(name, ".plt") || !strncmp(name, ".plt.", 5)) &&
		   h->nr_stubs < ELF_STUBS_MAX) {
		h->stub[h->nr_stubs].start = sh->sh_addr;
		h->stub[h->nr_stubs++].end = sh->sh_addr + sh->sh_size;
	}
}

static void read_sections(Elf *elf, const struct byte_source *s, const GElf_Ehdr *ehdr,
			  struct elf_headers *h)
{
	Elf_Scn *scn = elf_getscn(elf, ehdr->e_shstrndx);
	struct elf_span names = {};
	GElf_Shdr sh;

	if (scn && gelf_getshdr(scn, &sh))
		names = span_of(s, &sh);
	for (unsigned int i = 1; i < ehdr->e_shnum; i++) {
		char name[24] = "";

		scn = elf_getscn(elf, i);
		if (!scn || !gelf_getshdr(scn, &sh))
			return;
		if (sh.sh_name < names.bytes)
			bytes_text(s, names.offset + sh.sh_name, 0, name, sizeof(name));
		if (sh.sh_flags & SHF_EXECINSTR)
			h->code[i / 8] |= 1 << i % 8;
		read_section(elf, s, &sh, name, h);
	}
}

int elf_headers_read(const struct byte_source *s, struct elf_headers *ret)
{
	struct elf_headers h = {};
	GElf_Ehdr ehdr;
	Elf *elf;
	int err = -ENOEXEC;

	if (!counts_are_sane(s))
		return -ENOEXEC;
	/* the file is read, not mapped: a mapped file that shrinks would cause SIGBUS */
	elf = s->fd < 0 ? elf_memory((char *)s->mem, s->bytes) : elf_begin(s->fd, ELF_C_READ, NULL);
	if (!elf || elf_kind(elf) != ELF_K_ELF || !gelf_getehdr(elf, &ehdr) ||
	    (ehdr.e_type != ET_EXEC && ehdr.e_type != ET_DYN) || ehdr.e_shnum > ELF_SECTIONS_MAX ||
	    ehdr.e_phnum > SEGMENTS_MAX)
		goto out;
	h.wide = gelf_getclass(elf) == ELFCLASS64;
	h.machine = ehdr.e_machine;
	h.start = ehdr.e_entry;
	h.marks = ehdr.e_machine == EM_AARCH64 || ehdr.e_machine == EM_ARM;
	read_segments(elf, s, &ehdr, &h);
	read_sections(elf, s, &ehdr, &h);
	*ret = h;
	err = 0;
out:
	elf_end(elf);
	return err;
}

static bool is_in(const struct elf_headers *h, unsigned int i, __u64 offset)
{
	return offset >= h->load[i].offset && offset - h->load[i].offset < h->load[i].bytes;
}

bool elf_headers_is_code(const struct elf_headers *h, __u64 offset)
{
	for (unsigned int i = 0; i < h->nr_loads; i++)
		if (h->load[i].executable && is_in(h, i, offset))
			return true;
	return false;
}

bool elf_headers_address(const struct elf_headers *h, __u64 offset, __u64 *ret)
{
	/* two segments may share a page of the file: prefer the executable segment */
	for (int executable = 1; executable >= 0; executable--) {
		for (unsigned int i = 0; i < h->nr_loads; i++) {
			if (h->load[i].executable != executable || !is_in(h, i, offset))
				continue;
			*ret = offset - h->load[i].offset + h->load[i].address;
			return true;
		}
	}
	return false;
}
