// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Tests which symbols of a file are found by name, and which of its bytes can be read. */
#define _GNU_SOURCE
#include <elf.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tap.h"
#include "unwind/exported.h"

#define MOST	  600 /* symbols */
#define NAMES	  (MOST * sizeof(Elf64_Sym))
#define NAME_MOST 63 /* bytes of a name that are compared */

static struct {
	Elf64_Sym symbol[MOST];
	char names[256];
} content;

static const struct byte_source file = {
	.fd = -1, .mem = (const char *)&content, .bytes = sizeof(content)};

/* Makes a file with n symbols, all of them with other names. */
static struct elf_headers make(size_t n, size_t names)
{
	struct elf_headers h = {};

	memset(&content, 0, sizeof(content));
	strcpy(content.names, "-other-wanted-second");
	content.names[6] = content.names[13] = 0;
	for (size_t i = 0; i < n; i++)
		content.symbol[i] = (Elf64_Sym){.st_name = 1,
						.st_info = ELF64_ST_INFO(STB_GLOBAL, STT_OBJECT),
						.st_value = 0x5000};
	h.dynamic.symbols = (struct elf_span){0, n * sizeof(Elf64_Sym)};
	h.dynamic.names = (struct elf_span){NAMES, names};
	return h;
}

#define WANTED 7  /* offset of "wanted" in the names */
#define SECOND 14 /* of "second" */

static __u64 find(const struct elf_headers *h, const char *name)
{
	struct exported symbol[] = {{"absent", 0}, {name, 0}};

	exported_find(&file, h, symbol, 2);
	is_u64(symbol[0].address, 0, "a symbol that is not exported has no address");
	return symbol[1].address;
}

/* Tests a symbol at the first and at the last place of tables of several sizes. */
static void test_places(void)
{
	static const size_t sizes[] = {1, 2, 255, 256, 257, 511, 512, 513, MOST};

	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		struct elf_headers h = make(sizes[i], sizeof(content.names));
		struct exported symbol[] = {{"wanted", 0}, {"second", 0}};

		content.symbol[sizes[i] - 1].st_name = WANTED;
		content.symbol[sizes[i] - 1].st_value = 0x1234;
		is_u64(find(&h, "wanted"), 0x1234, "the last symbol");
		content.symbol[0].st_name = SECOND;
		content.symbol[0].st_value = 0x2345;
		exported_find(&file, &h, symbol, 2);
		ok(symbol[1].address == 0x2345, "the first of %zu symbols", sizes[i]);
		is_u64(symbol[0].address, sizes[i] == 1 ? 0 : 0x1234, "both in one pass");
		h.dynamic.symbols.bytes--;
		content.symbol[0].st_name = 1;
		is_u64(find(&h, "wanted"), 0, "a symbol that is cut");
	}
}

/* Tests more symbols than are read. The file has no bytes but those of one symbol and its name. */
static void test_most(void)
{
	const size_t most = 1 << 20, at = most * sizeof(Elf64_Sym);
	Elf64_Sym wanted = {.st_name = 1, .st_info = STT_OBJECT, .st_value = 0x1234};
	int fd = memfd_create("symbols", MFD_CLOEXEC);
	struct byte_source sparse = {.fd = fd, .bytes = at + sizeof(wanted) + 16};
	struct exported symbol = {"wanted", 0};
	struct elf_headers h = {};

	h.dynamic.symbols.bytes = at + sizeof(wanted);
	h.dynamic.names = (struct elf_span){at + sizeof(wanted), 16};
	if (fd < 0 || ftruncate(fd, sparse.bytes) ||
	    pwrite(fd, "wanted", 6, at + sizeof(wanted) + 1) != 6 ||
	    pwrite(fd, &wanted, sizeof(wanted), at) != sizeof(wanted))
		abort();
	exported_find(&sparse, &h, &symbol, 1);
	is_u64(symbol.address, 0, "symbols behind the first 2^20 are not read");
	if (pwrite(fd, &wanted, sizeof(wanted), at - sizeof(wanted)) != sizeof(wanted))
		abort();
	exported_find(&sparse, &h, &symbol, 1);
	is_u64(symbol.address, 0x1234, "the last one of them is");
	close(fd);
}

static void test_kinds(void)
{
	struct elf_headers h = make(1, sizeof(content.names));

	content.symbol[0].st_name = WANTED;
	is_u64(find(&h, "wanted"), 0x5000, "an object");
	is_u64(find(&h, "wante"), 0, "not by the begin of its name");
	is_u64(find(&h, "wanted "), 0, "nor by a longer one");
	content.symbol[0].st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC);
	is_u64(find(&h, "wanted"), 0, "a function is not data");
	content.symbol[0].st_info = ELF64_ST_INFO(STB_GLOBAL, STT_OBJECT);
	content.symbol[0].st_value = 0;
	is_u64(find(&h, "wanted"), 0, "an object of another file");
	content.symbol[0].st_value = 1;
	is_u64(find(&h, "wanted"), 1, "the least address");
	h.dynamic.names.bytes = WANTED + 1;
	is_u64(find(&h, "wanted"), 1, "a name that begins in the names");
	h.dynamic.names.bytes = WANTED;
	is_u64(find(&h, "wanted"), 0, "a name behind the names");
	h.dynamic.names.bytes = sizeof(content.names);
	h.dynamic.symbols.offset = sizeof(content) - sizeof(Elf64_Sym) + 1;
	is_u64(find(&h, "wanted"), 0, "symbols that the file does not have");
}

static void test_long_names(void)
{
	struct elf_headers h = make(1, sizeof(content.names));
	char name[NAME_MOST + 2];

	memset(name, 'x', sizeof(name));
	name[NAME_MOST] = 0;
	memcpy(content.names + WANTED, name, sizeof(name));
	content.symbol[0].st_name = WANTED;
	is_u64(find(&h, name), 0x5000, "a name of 63 bytes");
	name[NAME_MOST - 1] = 0;
	is_u64(find(&h, name), 0, "not by the first 62");
}

static void test_data(void)
{
	struct elf_headers h = {.nr_loads = 2};
	char two[2] = {};

	strcpy(content.names, "data of two segments");
	h.load[0].offset = NAMES;
	h.load[0].address = 0x1000;
	h.load[0].bytes = 4;
	h.load[1].offset = NAMES + 5;
	h.load[1].address = 0x1004;
	h.load[1].bytes = sizeof(content) - NAMES - 5;
	ok(exported_read(&file, &h, 0x1000, two, 2) && !memcmp(two, "da", 2), "the first address");
	ok(exported_read(&file, &h, 0x1003, two, 1) && two[0] == 'a', "the last address");
	ok(exported_read(&file, &h, 0x1004, two, 2) && !memcmp(two, "of", 2), "the next segment");
	ok(!exported_read(&file, &h, 0xfff, two, 1), "before all segments");
	ok(exported_read(&file, &h, 0x1004 + h.load[1].bytes - 1, two, 1), "the last byte");
	ok(!exported_read(&file, &h, 0x1004 + h.load[1].bytes - 1, two, 2), "and one more");
	ok(!exported_read(&file, &h, 0x1004 + h.load[1].bytes, two, 0), "behind all segments");
}

int main(void)
{
	test_places();
	test_most();
	test_kinds();
	test_long_names();
	test_data();
	return tap_done();
}
