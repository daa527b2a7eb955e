/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Makes N mappings that cannot merge, all from the same code location. The code has no frame
 * pointers, so an unwinder mistakes data for stack frames. This data differs for each mapping. With
 * --keep N, only the first N mappings are kept.
 */
#include "common.h"

#include <limits.h>

#define FRAMES 12

struct frame {
	const struct frame *next;
	unsigned long word; /* data that an unwinder mistakes for a return address */
};

/* Returns data like that on a real stack: a small number, a pointer to data, or any value. */
static unsigned long some_word(unsigned long *state)
{
	static char data[1 << 20];

	*state = *state * 6364136223846793005UL + 1442695040888963407UL;
	switch (*state >> 62) {
	case 0:
		return *state >> 40;
	case 1:
		return (unsigned long)data + (*state >> 44);
	default:
		return *state >> 17;
	}
}

#ifdef __x86_64__
/* Calls mmap() with data in the frame pointer register and in the word below it on the stack. */
__attribute__((noinline)) static long map_astray(long prot, const struct frame *frame,
						 unsigned long word)
{
	register long flags __asm__("r10") = MAP_PRIVATE | MAP_ANONYMOUS;
	register long fd __asm__("r8") = -1;
	register long offset __asm__("r9") = 0;
	register unsigned long pushed __asm__("r12") = word;
	long ret;

	__asm__ volatile("lea -128(%%rsp), %%rsp\n\t" /* leaves the red zone unchanged */
			 "push %%rbp\n\t"
			 "mov %%rbx, %%rbp\n\t"
			 "push %%r12\n\t"
			 "syscall\n\t"
			 "pop %%rcx\n\t"
			 "pop %%rbp\n\t"
			 "lea 128(%%rsp), %%rsp"
			 : "=a"(ret)
			 : "a"(SYS_mmap), "D"(0), "S"(PAGE_BYTES), "d"(prot), "r"(flags), "r"(fd),
			   "r"(offset), "b"(frame), "r"(pushed)
			 : "rcx", "r11", "memory");
	return ret;
}
#else
static long map_astray(long prot, const struct frame *frame, unsigned long word)
{
	(void)frame;
	(void)word;
	return syscall(SYS_mmap, NULL, PAGE_BYTES, prot, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}
#endif

int main(int argc, char **argv)
{
	unsigned long state = 88172645463325252UL;
	struct frame frame[FRAMES];
	long wanted, keep = LONG_MAX, made = 0, ret;
	const struct opt opts[] = { { "keep", OPT_NUMBER, &keep }, { 0 } };
	const char *word;

	parse_args(argc, argv, "N [--keep N]", opts, &word, 1, 1);
	wanted = parse_count(word);
	wait_for_go();
	for (; made < wanted; made++) {
		for (int i = 0; i < FRAMES; i++)
			frame[i] = (struct frame){ i + 1 < FRAMES ? &frame[i + 1] : NULL,
						   some_word(&state) };
		ret = map_astray(made & 1 ? PROT_READ : PROT_NONE, frame, some_word(&state));
		if (ret < 0 && ret > -4096)
			break;
		if (made >= keep && munmap((void *)ret, PAGE_BYTES))
			die("munmap of map %ld", made);
	}
	truth_open();
	truth_number("made", made);
	truth_number("map_count", map_count());
	truth_close();
	return 0;
}
