// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Removes the line numbers and the source text from the type information (BTF) of a BPF object file.
 * They take two fifths of the object, and a copy of them remains in the memory of libbpf and of the
 * kernel. Only a person who debugs a program that the verifier rejects would read them: such a person
 * builds with BPF_LINES=1.
 *
 * usage: drop_lines OBJECT
 *
 * The sections .BTF and .BTF.ext become shorter, but stay where they are: llvm-strip removes the
 * gaps. Formats: Documentation/bpf/btf.rst of Linux, and elf(5).
 */
#include <elf.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The records of linux/btf.h, which the machine that builds faultscope may lack. */
struct btf_head {
	uint16_t magic;
	uint8_t version, flags;
	uint32_t len, types_at, types_len, strings_at, strings_len;
};

struct ext_head {
	uint16_t magic;
	uint8_t version, flags;
	uint32_t len, functions_at, functions_len, lines_at, lines_len, relocations_at,
		relocations_len;
};

struct btf_type {
	uint32_t name, info, size;
};

enum {
	MAGIC = 0xeb9f,
	NAME_OF_ACCESS = 2, /* index of the string in the words of a CO-RE relocation */
	NO_NAME = -1,
};

static _Noreturn void fail(const char *why)
{
	fprintf(stderr, "drop_lines: %s\n", why);
	exit(1);
}

/*
 * What follows a type of each kind: WORDS words, and for each of its members MEMBER words. The first
 * word of a member is the offset of a name if NAMED.
 */
static const struct {
	uint8_t words, member, named;
} kinds[] = {
	[1] = {.words = 1},			/* int */
	[2] = {0},				/* pointer */
	[3] = {.words = 3},			/* array */
	[4] = {.member = 3, .named = 1},	/* struct */
	[5] = {.member = 3, .named = 1},	/* union */
	[6] = {.member = 2, .named = 1},	/* enum */
	[7 ... 12] = {0},			/* forward, typedef, volatile, const, restrict, function */
	[13] = {.member = 2, .named = 1},	/* function prototype */
	[14] = {.words = 1},			/* variable */
	[15] = {.member = 3},			/* data section */
	[16] = {0},				/* float */
	[17] = {.words = 1},			/* declaration tag */
	[18] = {0},				/* type tag */
	[19] = {.member = 3, .named = 1},	/* enum of 64 bits */
};

/* The strings that are still in use, and where they are now. An offset of 0 is the empty name. */
struct strings {
	const char *old;
	uint32_t old_len, *place; /* indexed by old offset; 0 if not yet copied */
	char *kept;
	uint32_t len;
};

static uint32_t kept_at(struct strings *s, uint32_t old)
{
	if (old >= s->old_len)
		fail("a name is outside of the strings");
	if (old && !s->place[old]) {
		size_t size = strlen(s->old + old) + 1;

		if (s->len + size > s->old_len)
			fail("names share strings"); /* no compiler writes them so */
		s->place[old] = s->len;
		memcpy(s->kept + s->len, s->old + old, size);
		s->len += size;
	}
	return s->place[old];
}

static void move_type_names(struct strings *s, unsigned char *at, const unsigned char *end)
{
	while (at < end) {
		struct btf_type *t = (struct btf_type *)at;
		uint32_t kind = t->info >> 24 & 0x1f, members = t->info & 0xffff, *word;

		if (!kind || kind >= sizeof(kinds) / sizeof(kinds[0]))
			fail("unknown kind of type");
		t->name = kept_at(s, t->name);
		word = (uint32_t *)(t + 1) + kinds[kind].words;
		for (uint32_t i = 0; i < members; i++, word += kinds[kind].member)
			if (kinds[kind].named)
				*word = kept_at(s, *word);
		at = (unsigned char *)word;
	}
}

/* Moves the names of a part of .BTF.ext: of its sections, and at the word NAME of each record. */
static void move_record_names(struct strings *s, unsigned char *at, uint32_t len, int name)
{
	uint32_t *word = (uint32_t *)at, *end = (uint32_t *)(at + len), words;

	if (!len)
		return;
	words = *word++ / sizeof(*word);
	while (word < end) {
		uint32_t records = word[1];

		*word = kept_at(s, *word);
		for (word += 2; records--; word += words)
			if (name != NO_NAME)
				word[name] = kept_at(s, word[name]);
	}
}

static Elf64_Shdr *section(unsigned char *file, const char *name)
{
	Elf64_Ehdr *elf = (Elf64_Ehdr *)file;
	Elf64_Shdr *all = (Elf64_Shdr *)(file + elf->e_shoff);
	const char *names = (char *)file + all[elf->e_shstrndx].sh_offset;

	for (int i = 0; i < elf->e_shnum; i++)
		if (!strcmp(names + all[i].sh_name, name))
			return &all[i];
	fail("a section is missing");
}

static void drop_lines(unsigned char *file)
{
	Elf64_Shdr *types = section(file, ".BTF"), *ext = section(file, ".BTF.ext");
	struct btf_head *b = (struct btf_head *)(file + types->sh_offset);
	struct ext_head *e = (struct ext_head *)(file + ext->sh_offset);
	unsigned char *type = (unsigned char *)b + b->len + b->types_at;
	unsigned char *record = (unsigned char *)e + e->len;
	char *old = (char *)b + b->len + b->strings_at;
	struct strings s = {.old = old, .old_len = b->strings_len, .len = 1};

	if (b->magic != MAGIC || e->magic != MAGIC || e->len < sizeof(*e))
		fail("unknown format");
	s.kept = calloc(1, s.old_len);
	s.place = calloc(s.old_len, sizeof(*s.place));
	if (!s.kept || !s.place)
		fail("out of memory");
	move_type_names(&s, type, type + b->types_len);
	move_record_names(&s, record + e->functions_at, e->functions_len, NO_NAME);
	move_record_names(&s, record + e->relocations_at, e->relocations_len, NAME_OF_ACCESS);
	memcpy(old, s.kept, s.len);
	b->strings_len = s.len;
	types->sh_size = b->len + b->strings_at + s.len;
	if (e->functions_at || e->lines_at != e->functions_len ||
	    e->relocations_at != e->lines_at + e->lines_len)
		fail("unknown order of the parts of .BTF.ext");
	memmove(record + e->lines_at, record + e->relocations_at, e->relocations_len);
	e->relocations_at = e->lines_at;
	e->lines_len = 0;
	ext->sh_size = e->len + e->functions_len + e->relocations_len;
	free(s.kept);
	free(s.place);
}

int main(int argc, char **argv)
{
	unsigned char *file;
	long size;
	FILE *f;

	if (argc != 2)
		fail("usage: drop_lines OBJECT");
	f = fopen(argv[1], "r+");
	if (!f || fseek(f, 0, SEEK_END) || (size = ftell(f)) < (long)sizeof(Elf64_Ehdr))
		fail("the object cannot be read");
	rewind(f);
	file = malloc(size);
	if (!file || fread(file, 1, size, f) != (size_t)size)
		fail("the object cannot be read");
	drop_lines(file);
	rewind(f);
	if (fwrite(file, 1, size, f) != (size_t)size || fclose(f))
		fail("the object cannot be written");
	free(file);
	return 0;
}
