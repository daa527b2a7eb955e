// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Tests symbol lookup in damaged ELF files. A lookup may find no name, but must not crash. */
#define _GNU_SOURCE
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <libelf.h>
#include <lzma.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "collect/symbols/elf_symbols.h"
#include "collect/symbols/unpack_xz.h"
#include "tap.h"

#define ROUNDS 3000
#define CUTS   100

static uint64_t draw(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

struct victim {
	int fd;
	char *bytes; /* original content of the file */
	size_t n;
};

static bool victim_open(struct victim *v)
{
	int from = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	struct stat st;

	if (from < 0 || fstat(from, &st))
		return false;
	v->n = st.st_size;
	v->bytes = malloc(v->n);
	v->fd = memfd_create("victim", MFD_CLOEXEC);
	if (!v->bytes || v->fd < 0 || pread(from, v->bytes, v->n, 0) != (ssize_t)v->n ||
	    pwrite(v->fd, v->bytes, v->n, 0) != (ssize_t)v->n)
		return false;
	close(from);
	return true;
}

/*
 * Looks up random addresses, and checks the results. Returns the number of names found, or -1 if
 * the file is not accepted as an ELF file.
 */
static int names_of(const struct victim *v, uint64_t *random, bool *ret_sound)
{
	struct elf_symbols s;
	int named = 0, fd = dup(v->fd);

	*ret_sound = true;
	if (elf_symbols_open(fd, &s)) {
		close(fd);
		return -1;
	}
	for (int i = 0; i < 24; i++) {
		__u64 address, offset = 0;
		char name[64];

		memset(name, 'Z', sizeof(name));
		if (!elf_headers_address(&s.h, draw(random) % v->n, &address))
			address = draw(random);
		if (!elf_symbols_find(&s, address, name, sizeof(name), &offset))
			continue;
		named++;
		*ret_sound = *ret_sound && memchr(name, 0, sizeof(name));
	}
	*ret_sound = *ret_sound && elf_symbols_bytes(&s) <= SYMBOL_TABLE_MAX * 16;
	elf_symbols_close(&s);
	return named;
}

/* Returns a random offset to damage: in a header, in the symbols, or anywhere in the file. */
static size_t place_of(const struct victim *v, uint64_t *random)
{
	const Elf64_Ehdr *e = (const Elf64_Ehdr *)v->bytes;
	const Elf64_Shdr *sh = (const Elf64_Shdr *)(v->bytes + e->e_shoff);
	int i = draw(random) % e->e_shnum;

	switch (draw(random) % 5) {
	case 0:
		return draw(random) % sizeof(*e);
	case 1:
		return e->e_phoff + draw(random) % (e->e_phnum * sizeof(Elf64_Phdr));
	case 2:
		return e->e_shoff + draw(random) % (e->e_shnum * sizeof(*sh));
	case 3:
		if (sh[i].sh_type != SHT_NOBITS && sh[i].sh_size)
			return sh[i].sh_offset + draw(random) % sh[i].sh_size;
	}
	return draw(random) % v->n;
}

static void spoil(const struct victim *v, uint64_t *random)
{
	static const uint64_t words[] = {0,
					 1,
					 0x7f,
					 0xff,
					 0xffff,
					 0x7fffffff,
					 0xffffffff,
					 0x7fffffffffffffff,
					 0xffffffffffffffff,
					 0xfffffffffffffff8};
	uint64_t word = words[draw(random) % (sizeof(words) / sizeof(words[0]))];
	size_t at = place_of(v, random), bytes = 1 << draw(random) % 4;

	if (draw(random) % 3 == 0)
		word = draw(random);
	if (at > v->n - bytes)
		at = v->n - bytes;
	at -= at % bytes;
	if (pwrite(v->fd, &word, bytes, at) != (ssize_t)bytes)
		ok(false, "the file could not be changed");
}

static void test_spoiled(struct victim *v)
{
	uint64_t random = 0x9e3779b97f4a7c15;
	int opened = 0, refused = 0, unsound = 0;

	for (int round = 0; round < ROUNDS; round++) {
		bool sound;
		int changes = 1 + draw(&random) % 4;

		for (int i = 0; i < changes; i++)
			spoil(v, &random);
		if (names_of(v, &random, &sound) < 0)
			refused++;
		else
			opened++;
		unsound += !sound;
		/* Up to four damages accumulate before the file is restored. */
		if (round % 4 == 3 && pwrite(v->fd, v->bytes, v->n, 0) != (ssize_t)v->n)
			ok(false, "the file could not be restored");
	}
	is_u64(unsound, 0, "changed files give names or none");
	ok(opened > ROUNDS / 10 && refused > ROUNDS / 20, "%d were read, %d refused", opened,
	   refused);
}

static void test_cut(struct victim *v)
{
	uint64_t random = 88172645463325252;
	int opened = 0, unsound = 0;

	for (int i = 0; i < CUTS; i++) {
		size_t at = i < 70 ? (size_t)i : draw(&random) % v->n;
		bool sound;

		if (ftruncate(v->fd, at))
			ok(false, "the file could not be cut");
		opened += names_of(v, &random, &sound) >= 0;
		unsound += !sound;
		if (pwrite(v->fd, v->bytes + at, v->n - at, at) != (ssize_t)(v->n - at))
			ok(false, "the file could not be restored");
	}
	is_u64(unsound, 0, "files cut short give names or none");
	ok(opened < CUTS, "%d of %d are no ELF file any more", CUTS - opened, CUTS);
}

/* Tests a file that shrinks while it is open. It is read, not mapped, so SIGBUS cannot occur. */
static void test_shrinks(struct victim *v)
{
	struct elf_symbols s;
	__u64 address = 0, offset;
	char name[64];

	if (!ok(!elf_symbols_open(dup(v->fd), &s), "a whole file"))
		return;
	if (ftruncate(v->fd, 4096))
		ok(false, "the file could not be cut");
	elf_headers_address(&s.h, v->n / 4, &address);
	elf_symbols_find(&s, address, name, sizeof(name), &offset);
	ok(!s.table.n, "no symbols are left of it");
	elf_symbols_close(&s);
	if (pwrite(v->fd, v->bytes, v->n, 0) != (ssize_t)v->n)
		ok(false, "the file could not be restored");
}

/* Tests a sparse file that is as large as its headers claim: 4 GiB. */
static void test_sparse(struct victim *v)
{
	Elf64_Ehdr e = *(const Elf64_Ehdr *)v->bytes;
	struct victim sparse = {.fd = memfd_create("sparse", MFD_CLOEXEC), .n = 1ULL << 32};
	uint64_t random = 1;
	bool sound;

	e.e_shnum = 0; /* 0 means that the first section header contains the number of sections */
	e.e_shoff = 1 << 20;
	ok(!ftruncate(sparse.fd, sparse.n) &&
		   pwrite(sparse.fd, &e, sizeof(e), 0) == (ssize_t)sizeof(e),
	   "a sparse file");
	is_u64(names_of(&sparse, &random, &sound), (uint64_t)-1, "sections without number");
	e.e_shnum = 65000;
	ok(pwrite(sparse.fd, &e, sizeof(e), 0) == (ssize_t)sizeof(e), "a sparse file");
	is_u64(names_of(&sparse, &random, &sound), (uint64_t)-1, "too many sections");
	close(sparse.fd);
}

static void test_whole(struct victim *v)
{
	struct elf_symbols s;
	__u64 offset = 0;
	char name[64] = "";
	Elf64_Ehdr *e = (Elf64_Ehdr *)v->bytes;

	if (!ok(!elf_symbols_open(dup(v->fd), &s), "our own program"))
		return;
	ok(elf_symbols_find(&s, e->e_entry, name, sizeof(name), &offset), "its entry has a name");
	is_str(name, "_start", "the one it should have");
	elf_symbols_drop(&s);
	is_u64(elf_symbols_bytes(&s), 0, "a dropped table takes nothing");
	ok(elf_symbols_find(&s, e->e_entry + 4, name, sizeof(name), &offset) && offset == 4,
	   "it is made again");
	elf_symbols_close(&s);
}

static void test_unpack(const struct victim *v)
{
	size_t in = v->n < 200000 ? v->n : 200000, n = 0, bytes = 0, bad = 0;
	size_t room = lzma_stream_buffer_bound(in);
	unsigned char *xz = malloc(room);
	struct byte_source s = {.fd = -1, .mem = (char *)xz};
	uint64_t random = 7;
	char *mem = NULL;

	if (!xz || lzma_easy_buffer_encode(6, LZMA_CHECK_CRC64, NULL, (unsigned char *)v->bytes, in,
					   xz, &n, room) != LZMA_OK)
		ok(false, "could not pack");
	s.bytes = n;
	ok(!unpack_xz(&s, 0, n, &mem, &bytes) && bytes == in && !memcmp(mem, v->bytes, in),
	   "packed and unpacked");
	free(mem);
	is_u64(unpack_xz(&s, 0, UNPACK_IN_BYTES + 1, &mem, &bytes), (uint64_t)-E2BIG, "too much");
	for (size_t i = 0; i < 200; i++) {
		size_t at = draw(&random) % n;

		xz[at] ^= 1 << draw(&random) % 8;
		mem = NULL;
		if (unpack_xz(&s, 0, i % 2 ? n : draw(&random) % n, &mem, &bytes))
			bad++;
		else
			free(mem);
	}
	is_u64(bad, 200, "broken ones are refused");
	free(xz);
}

static void test_no_file(void)
{
	struct elf_symbols s;

	ok(elf_symbols_open(-1, &s) == -EBADF, "no file");
}

int main(void)
{
	struct victim v = {};

	elf_version(EV_CURRENT);
	if (!ok(victim_open(&v), "our own program, copied"))
		return tap_done();
	test_no_file();
	test_whole(&v);
	test_spoiled(&v);
	test_cut(&v);
	test_shrinks(&v);
	test_sparse(&v);
	test_unpack(&v);
	free(v.bytes);
	close(v.fd);
	return tap_done();
}
