/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * triage: one report of the kernel: a crash, a warning, a hardware error. Facts of a report are
 * stored as printed; other files interpret the facts. Strings of a report point into the log lines.
 */
#ifndef FS_TRIAGE_INCIDENT_H
#define FS_TRIAGE_INCIDENT_H

#include "triage/lines.h"

#define INCIDENTS_MAX 256
#define FRAMES_MAX    1024
#define MODULES_MAX   256
#define CODE_MAX      96
#define STATED_MAX    16

enum kind {
#define KIND(id, name, mechanism) KIND_##id,
#include "triage/kinds.def"
#undef KIND
	NR_KINDS,
};

enum access { ACCESS_NONE, ACCESS_READ, ACCESS_WRITE, ACCESS_EXEC };

enum arch {
	ARCH_UNKNOWN,
	ARCH_X86_64,
	ARCH_I386,
	ARCH_ARM64,
	ARCH_ARM,
	ARCH_RISCV,
	ARCH_PPC,
	ARCH_S390,
	ARCH_LOONGARCH,
	ARCH_MIPS,
	NR_ARCHES,
};

enum part {
	PART_MAIN,
	PART_OTHER, /* the trace of another task or CPU, or a lock chain */
	/* the stack trace of an object's allocation, or of the origin of an uninitialised value */
	PART_ALLOC,
	PART_FREE,
	PART_LOCK, /* the function after "at:" in a line about a lock that is held or requested */
};

struct frame {
	/* function: empty if not known; module: empty for the kernel's own code */
	struct str function, module;
	uint64_t address;
	/* offset in the function and size of the function, in bytes; size 0: not known */
	uint32_t offset, size;
	uint32_t line;	 /* index of the log line that has the frame */
	uint8_t part;	 /* part of the report: enum part */
	bool unreliable; /* the frame was printed as "? f" */
	bool inlined;
	bool decoded;	       /* a place in the source replaces offset and size */
	bool has_address, irq; /* irq: the frame is on an interrupt stack */
};

struct module {
	struct str name, flags; /* module flags as printed: "OE", "P", … */
	bool loading, unloading, gone;
	bool cut; /* the log line ends within the module's name */
};

/*
 * Register numbers. On x86-64 as in instructions (rax 0, rcx 1 … r15 15), on arm64 those of x0 to
 * x30, and 31 for sp.
 */
#define REGS_MAX 32

struct registers {
	uint64_t value[REGS_MAX];
	uint32_t known; /* bit mask of the registers with a value */
};

struct incident {
	enum kind kind;
	const struct signature *signature;
	uint32_t first, last; /* log line indices of the report's begin and end */
	int32_t caller;
	bool timed;
	double seconds;
	bool fatal;	  /* the kernel could not continue normally */
	bool consequence; /* an earlier event caused the report */
	bool ended;	  /* the report has an "end trace" line */
	bool headless;	  /* the first lines of the report are missing */
	bool panicked;	  /* a panic followed the report */
	/* another CPU printed at the same time, and the lines do not tell which CPU printed them */
	bool interleaved;
	uint32_t strange;     /* number of lines within the report that no rule understood */
	bool debug_pagealloc; /* the kernel unmaps freed pages (CONFIG_DEBUG_PAGEALLOC) */

	enum arch arch;
	struct str detail;  /* class or text in the report's header line */
	struct str place;   /* source location in the report, file:line */
	struct str note;    /* the line before a BUG or WARNING that gives the reason */
	struct str message; /* the first line after "cut here", if it precedes the header */
	struct str said;    /* function that the header line names */
	bool has_printed_frame;
	/* function of the header line as a frame, with module and offset */
	struct frame printed_frame;
	bool has_address;
	uint64_t address;
	enum access access; /* access that the kernel's report states */
	uint32_t size;	    /* size of the access in bytes; 0: not known */
	bool has_error;
	uint64_t error;	 /* error code of x86, ESR of arm64, FSR of arm, or scause of riscv */
	bool has_esr;	 /* the error code is an ESR_EL1 */
	uint32_t number; /* number of the oops (#n); 0: not known */
	bool has_range;	 /* KASAN printed "in range [a-b]" */
	uint64_t range_low, range_high;
	bool has_walk; /* the report has a page table dump */
	uint64_t pgd, pud, pmd, pte;
	bool has_walk_address; /* the page table dump begins with "[address] pgd=…" */
	uint64_t walk_address;
	uint8_t walk_levels; /* printed levels of the dump: bit 0 pgd, 1 pud, 2 pmd, 3 pte */
	bool has_object;
	uint64_t object;
	uint32_t object_size;
	bool has_cr2;
	uint64_t cr2; /* CR2 from a separate line, "CR2: a" */
	/* CR2 from the register dump: reads of code bytes may have changed it */
	bool has_weak_cr2;
	uint64_t weak_cr2;

	bool has_ip;
	struct frame ip;
	bool has_link;
	struct frame link; /* return address register: lr, ra, LR */
	struct registers regs;
	bool has_sp;
	uint64_t sp;
	bool has_flags; /* the value of EFLAGS is known */
	uint64_t flags;
	uint8_t code[CODE_MAX];
	uint16_t code_bytes, code_at; /* code_at: offset of the instruction pointer in `code` */
	bool has_code_at, code_seen;

	struct frame *frame;
	uint32_t nr_frames, lost_frames;
	struct module *module;
	uint32_t nr_modules, lost_modules;
	size_t room_frames, room_modules;
	uint32_t modules_line;

	uint32_t cpu, pid;
	bool has_cpu, has_pid;
	struct str comm, taint, kernel, hardware, workqueue, bug_task;

	/* Indices in the log of lines to quote as evidence, in order. */
	uint32_t stated[STATED_MAX];
	uint32_t nr_stated;
};

const char *kind_name(enum kind k);
const char *access_name(enum access a); /* returns "" for ACCESS_NONE */
const char *arch_name(enum arch a);	/* returns "" for ARCH_UNKNOWN */

/* Returns the module of a frame; "vmlinux" for the kernel's own functions. */
static inline struct str frame_module(const struct frame *f)
{
	return f->module.n ? f->module : STR("vmlinux");
}

/* Returns whether reports of this kind often precede a crash, and rarely are the crash. */
bool kind_is_precursor(enum kind k);

/* Returns whether reports of this kind are about one device or file system. */
bool kind_is_of_device(enum kind k);

void incident_free(struct incident *e);
struct frame *incident_frame_add(struct incident *e);
void incident_state(struct incident *e, uint32_t line);

#endif
