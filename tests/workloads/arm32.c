/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * arm32 N: becomes a 32-bit ARM program that calls getpid, getuid32 and getegid32 N times each. The
 * numbers of these calls (20, 199, 202) are those of epoll_create1, socketpair and accept on a
 * 64-bit arm64 kernel. Prints the number of calls; "supported" is 0 if the kernel does not run
 * 32-bit programs.
 */
#include "common.h"

#include <elf.h>
#include <stddef.h>

#define AT 0x10000 /* load address: at least vm.mmap_min_addr */

/* ARM machine code of a system call: mov r7, #number; svc 0 */
#define CALL(number) 0xe3a07000 | (number), 0xef000000

static const uint32_t code[] = {
	0xe59f4030,				      /*		ldr r4, times */
	0xe3540000,				      /* again:	cmp r4, #0 */
	0x0a000007,				      /*		beq end */
	CALL(20),
	CALL(199),
	CALL(202),
	0xe2444001, /*		sub r4, r4, #1 */
	0xeafffff5,				      /*		b again */
	0xe3a00000,				      /* end:	mov r0, #0 */
	CALL(1),
};

struct program {
	Elf32_Ehdr head;
	Elf32_Phdr part;
	uint32_t code[sizeof(code) / sizeof(code[0])];
	uint32_t times;
};

static int make_program(uint32_t times)
{
	struct program p = {
		.head = {
			.e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS32, ELFDATA2LSB,
				     EV_CURRENT },
			.e_type = ET_EXEC,
			.e_machine = EM_ARM,
			.e_version = EV_CURRENT,
			.e_entry = AT + offsetof(struct program, code),
			.e_phoff = offsetof(struct program, part),
			.e_flags = EF_ARM_EABI_VER5,
			.e_ehsize = sizeof(p.head),
			.e_phentsize = sizeof(p.part),
			.e_phnum = 1,
		},
		.part = {
			.p_type = PT_LOAD,
			.p_vaddr = AT,
			.p_filesz = sizeof(p),
			.p_memsz = sizeof(p),
			.p_flags = PF_R | PF_X,
			.p_align = AT,
		},
		.times = times,
	};
	int fd = memfd_create("arm32", MFD_CLOEXEC);

	memcpy(p.code, code, sizeof(code));
	if (fd < 0 || write(fd, &p, sizeof(p)) != sizeof(p))
		die("memfd");
	return fd;
}

static void become(int fd)
{
	char *none[] = { NULL }, *words[] = { "arm32", NULL };

	fexecve(fd, words, none);
}

static bool supported(void)
{
	int status = 0, fd = make_program(0);
	pid_t child = fork();

	if (!child) {
		become(fd);
		_exit(1);
	}
	waitpid(child, &status, 0);
	close(fd);
	return !status;
}

int main(int argc, char **argv)
{
	const char *word;
	bool usable;
	long times;

	parse_args(argc, argv, "N", NULL, &word, 1, 1);
	times = parse_number(word);
	usable = supported();
	wait_for_go();
	truth_open();
	truth_number("supported", usable);
	truth_number("calls", 3 * times);
	truth_close();
	if (!usable)
		return 0;
	become(make_program(times));
	die("exec");
}
