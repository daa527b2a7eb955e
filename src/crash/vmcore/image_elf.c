// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "crash/vmcore/memory_image.h"

#define SEGMENTS_MAX 65536

struct segment {
	uint64_t at, size, offset;
};

struct elf_image {
	int fd;
	size_t segments;
	struct segment segment[];
};

static int read_segment(void *of, uint64_t at, void *to, size_t size)
{
	const struct elf_image *e = of;

	for (size_t i = 0; i < e->segments; i++) {
		const struct segment *s = &e->segment[i];

		if (at < s->at || at - s->at >= s->size || size > s->size - (at - s->at))
			continue;
		return pread(e->fd, to, size, s->offset + (at - s->at)) == (ssize_t)size ? 0
											 : -ENODATA;
	}
	return -ENODATA;
}

static uint64_t next_run(void *of, uint64_t at, uint64_t *ret_size)
{
	const struct elf_image *e = of;
	uint64_t best = UINT64_MAX;

	for (size_t i = 0; i < e->segments; i++) {
		const struct segment *s = &e->segment[i];
		uint64_t begin = at > s->at ? at : s->at;

		if (begin - s->at >= s->size || begin >= best)
			continue;
		best = begin;
		*ret_size = s->size - (begin - s->at);
	}
	return best;
}

static const struct memory_format format = {read_segment, next_run, free};

/* Adds the memory of a program header, as far as the file has it. */
static void take(struct elf_image *e, const Elf64_Phdr *p, uint64_t file_size)
{
	uint64_t size = p->p_filesz;

	if (p->p_type != PT_LOAD || p->p_offset >= file_size || !size)
		return;
	if (size > file_size - p->p_offset)
		size = file_size - p->p_offset;
	if (p->p_paddr > UINT64_MAX - size)
		return;
	e->segment[e->segments++] = (struct segment){p->p_paddr, size, p->p_offset};
}

/* Returns the number of program headers. Above 0xfffe, it is in the first section header. */
static size_t nr_headers(int fd, const Elf64_Ehdr *h)
{
	Elf64_Shdr first;

	if (h->e_phnum != PN_XNUM)
		return h->e_phnum;
	return pread(fd, &first, sizeof(first), h->e_shoff) == sizeof(first) ? first.sh_info : 0;
}

int memory_open_elf(struct memory_image *ret, int fd, const char **ret_why)
{
	struct elf_image *e;
	struct stat st;
	Elf64_Ehdr h;
	size_t n;

	if (pread(fd, &h, sizeof(h), 0) != sizeof(h) || fstat(fd, &st) || h.e_type != ET_CORE) {
		*ret_why = "its ELF header is damaged";
		return -EINVAL;
	}
	if (h.e_ident[EI_CLASS] != ELFCLASS64 || h.e_ident[EI_DATA] != ELFDATA2LSB) {
		*ret_why = "it is of a 32-bit or big-endian machine, which is not supported";
		return -ENOTSUP;
	}
	n = nr_headers(fd, &h);
	if (!n || n > SEGMENTS_MAX || h.e_phentsize != sizeof(Elf64_Phdr)) {
		*ret_why = "its ELF header is damaged";
		return -EINVAL;
	}
	e = calloc(1, sizeof(*e) + n * sizeof(e->segment[0]));
	if (!e) {
		*ret_why = "no memory";
		return -ENOMEM;
	}
	e->fd = fd;
	for (size_t i = 0; i < n; i++) {
		Elf64_Phdr p;

		if (pread(fd, &p, sizeof(p), h.e_phoff + i * sizeof(p)) == sizeof(p))
			take(e, &p, st.st_size);
	}
	*ret = (struct memory_image){&format, e, h.e_machine};
	return 0;
}
