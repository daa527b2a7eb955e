// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Test program: compares the stacks of all threads in a core file with those of libdw. The last
 * line of its output is JSON.
 *
 * Usage: core CORE PROGRAM
 */
#define _GNU_SOURCE
#include <elfutils/libdwfl.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/procfs.h>
#include <sys/user.h>
#include <unistd.h>

#include "traced_space.h"

#define FRAMES_MAX  1000
#define THREADS_MAX 256
#define LOADS_MAX   8192
#define VDSO_PAGES  2

struct load {
	__u64 address, bytes, offset;
};

struct core {
	int fd;
	struct load load[LOADS_MAX];
	size_t loads;
	__u64 vdso;
	struct {
		pid_t tid;
		__u64 registers[UNWIND_REGISTERS];
	} thread[THREADS_MAX];
	size_t threads;
	struct traced_space *ours;
	long stacks, frames, equal, cut, differs;
	long reason[NR_STACK_ENDS];
};

struct theirs {
	__u64 pc[FRAMES_MAX];
	size_t n;
};

static bool read_word(void *ctx, __u64 at, __u64 *ret)
{
	const struct core *c = ctx;

	for (size_t i = 0; i < c->loads; i++) {
		__u64 into = at - c->load[i].address;

		if (at >= c->load[i].address && into + 8 <= c->load[i].bytes)
			return pread(c->fd, ret, 8, c->load[i].offset + into) == 8;
	}
	return false;
}

static void take_thread(struct core *c, const struct elf_prstatus *s)
{
	struct user_regs_struct r;

	if (c->threads == THREADS_MAX)
		abort();
	memcpy(&r, &s->pr_reg, sizeof(r));
	c->thread[c->threads].tid = s->pr_pid;
	memcpy(c->thread[c->threads++].registers,
	       (__u64[]){r.rax, r.rdx, r.rcx, r.rbx, r.rsi, r.rdi, r.rbp, r.rsp, r.r8, r.r9, r.r10,
			 r.r11, r.r12, r.r13, r.r14, r.r15, r.rip},
	       17 * sizeof(__u64));
}

/*
 * Reads the note NT_FILE: a count, the page size, then {start, end, offset in pages} for each
 * mapping, and then the paths. Code is often not in core files, so the files show which mappings
 * are code.
 */
static void take_files(struct core *c, const __u64 *n)
{
	const char *path = (const char *)(n + 2 + 3 * n[0]);

	for (__u64 i = 0; i < n[0]; i++, path += strlen(path) + 1) {
		traced_space_add(c->ours, n[2 + 3 * i], n[3 + 3 * i], n[4 + 3 * i] * n[1], path,
				 path, path);
		if (!c->ours->area[c->ours->space.areas - 1].table)
			c->ours->space.areas--;
	}
}

static void take_notes(struct core *c, Elf *elf, const GElf_Phdr *p)
{
	Elf_Data *d = elf_getdata_rawchunk(elf, p->p_offset, p->p_filesz, ELF_T_NHDR);
	size_t at = 0, name, desc;
	GElf_Nhdr note;

	while (d && (at = gelf_getnote(d, at, &note, &name, &desc))) {
		const char *b = (const char *)d->d_buf + desc;

		if (note.n_type == NT_PRSTATUS)
			take_thread(c, (const struct elf_prstatus *)b);
		else if (note.n_type == NT_FILE)
			take_files(c, (const __u64 *)b);
		else if (note.n_type == NT_AUXV)
			for (const __u64 *a = (const __u64 *)b; a[0]; a += 2)
				if (a[0] == AT_SYSINFO_EHDR)
					c->vdso = a[1];
	}
}

static void read_core(struct core *c, Elf *elf)
{
	size_t n = 0;
	GElf_Phdr p;

	elf_getphdrnum(elf, &n);
	for (size_t i = 0; i < n && c->loads < LOADS_MAX; i++)
		if (gelf_getphdr(elf, i, &p) && p.p_type == PT_LOAD)
			c->load[c->loads++] = (struct load){p.p_vaddr, p.p_filesz, p.p_offset};
	for (size_t i = 0; i < n; i++)
		if (gelf_getphdr(elf, i, &p) && p.p_type == PT_NOTE)
			take_notes(c, elf, &p);
	if (c->vdso)
		traced_space_add(c->ours, c->vdso, c->vdso + VDSO_PAGES * 4096, 0, "[vdso]",
				 "[vdso]", "");
	c->ours->space.read = read_word;
	c->ours->space.ctx = c;
}

static int take_frame(Dwfl_Frame *frame, void *ctx)
{
	struct theirs *t = ctx;
	Dwarf_Addr pc;

	if (t->n == FRAMES_MAX || !dwfl_frame_pc(frame, &pc, NULL))
		return DWARF_CB_ABORT;
	t->pc[t->n++] = pc;
	return DWARF_CB_OK;
}

static int compare(Dwfl_Thread *thread, void *ctx)
{
	static struct unwind_frame frame[FRAMES_MAX];
	struct unwind_stack s = {.frame = frame, .room = FRAMES_MAX};
	static struct theirs t;
	struct core *c = ctx;
	size_t i = 0, same = 0;

	while (i < c->threads && c->thread[i].tid != dwfl_thread_tid(thread))
		i++;
	if (i == c->threads)
		return DWARF_CB_OK;
	t.n = 0;
	dwfl_thread_getframes(thread, take_frame, &t);
	unwind_walk(&c->ours->space, CFI_X86_64, c->thread[i].registers, 0, &s);
	while (same < s.n && same < t.n && frame[same].pc == t.pc[same])
		same++;
	c->stacks++;
	c->frames += s.n;
	c->reason[s.end]++;
	if (same == s.n && same == t.n)
		c->equal++;
	else if (same == s.n && s.end != STACK_END_ENTRY)
		c->cut++;
	else
		c->differs++;
	if (same != s.n || same != t.n)
		printf("thread %d: ours %zu frames, %s; libdw %zu; %zu are equal\n",
		       c->thread[i].tid, s.n, unwind_end_name(s.end), t.n, same);
	return DWARF_CB_OK;
}

static const Dwfl_Callbacks callbacks = {
	.find_elf = dwfl_build_id_find_elf,
	.find_debuginfo = dwfl_standard_find_debuginfo,
	.section_address = dwfl_offline_section_address,
};

int main(int argc, char **argv)
{
	struct traced_files *files;
	static struct core c;
	Dwfl *dwfl;
	Elf *elf;

	elf_version(EV_CURRENT);
	if (argc != 3 || (c.fd = open(argv[1], O_RDONLY | O_CLOEXEC)) < 0)
		return 2;
	elf = elf_begin(c.fd, ELF_C_READ, NULL);
	files = traced_files_new();
	c.ours = traced_space_new(0, files);
	read_core(&c, elf);
	dwfl = dwfl_begin(&callbacks);
	if (dwfl_core_file_report(dwfl, elf, argv[2]) < 0 || dwfl_report_end(dwfl, NULL, NULL) ||
	    dwfl_core_file_attach(dwfl, elf) < 0 || dwfl_getthreads(dwfl, compare, &c) < 0)
		fprintf(stderr, "libdw: %s\n", dwfl_errmsg(-1));
	printf("{\"threads\": %zu, \"stacks\": %ld, \"mean_frames\": %.1f, \"equal\": %ld, "
	       "\"cut\": %ld, \"differs\": %ld",
	       c.threads, c.stacks, c.stacks ? (double)c.frames / c.stacks : 0, c.equal, c.cut,
	       c.differs);
	for (int i = 0; i < NR_STACK_ENDS; i++)
		if (c.reason[i])
			printf(", \"%s\": %ld", unwind_end_name(i), c.reason[i]);
	printf("}\n");
	dwfl_end(dwfl);
	elf_end(elf);
	traced_space_free(c.ours);
	traced_files_free(files);
	return c.differs || !c.stacks;
}
