/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * triage: one report of the kernel: a crash, a warning, a hardware error. It has facts as printed;
 * other files interpret them. Strings point into the log lines.
 */
#ifndef FS_TRIAGE_INCIDENT_H
#define FS_TRIAGE_INCIDENT_H

#include "triage/lines.h"

#define INCIDENTS_MAX 256
#define FRAMES_MAX    1024
#define MODULES_MAX   256
#define CODE_MAX      96
#define STATED_MAX    16

/* Kinds of reports. */
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
	PART_OTHER, /* of another task or CPU, or a lock chain */
	PART_ALLOC, /* allocation of the object, or origin of the uninitialised value */
	PART_FREE,
	PART_LOCK, /* "at: f" of a held or requested lock */
};

struct frame {
	struct str function, module; /* empty: not known; for module: the kernel itself */
	uint64_t address;
	uint32_t offset, size; /* size 0: not known */
	uint32_t line;	       /* index of its log line */
	uint8_t part;	       /* enum part */
	bool unreliable;       /* "? f" */
	bool inlined;
	bool has_address, irq; /* irq: on an interrupt stack */
};

struct module {
	struct str name, flags; /* flags as printed: "OE", "P", … */
	bool loading, unloading, gone;
	bool cut; /* the line ends within its name */
};

/*
 * Registers by number: of x86-64 as encoded (rax 0, rcx 1 … r15 15), of arm64 x0 to x30 and sp 31.
 */
#define REGS_MAX 32

struct registers {
	uint64_t value[REGS_MAX];
	uint32_t known; /* bit mask */
};

struct incident {
	enum kind kind;
	const struct signature *signature;
	uint32_t first, last; /* line indices */
	int32_t caller;
	bool timed;
	double seconds;
	bool fatal;	  /* the kernel could not continue normally */
	bool consequence; /* caused by an earlier event */
	bool ended;	  /* has an "end trace" line */
	bool headless;	  /* its first lines are missing */
	bool panicked;	  /* followed by a panic */

	enum arch arch;
	struct str detail; /* class or text in the header */
	struct str place;  /* file:line */
	struct str note;   /* the line before a BUG or WARNING that gives the reason */
	struct str said;   /* function in the header */
	bool has_printed_frame;
	struct frame printed_frame; /* the same as a frame */
	bool has_address;
	uint64_t address;
	enum access access; /* as stated by the kernel */
	uint32_t size;	    /* of the access in bytes; 0: not known */
	bool has_error;
	uint64_t error;	 /* x86 error code, ESR, cause, FSR */
	bool has_esr;	 /* `error` is an ESR_EL1 */
	uint32_t number; /* #n of the oops; 0: not known */
	bool has_range;	 /* KASAN: in range [a-b] */
	uint64_t range_low, range_high;
	bool has_walk; /* has a page table dump */
	uint64_t pgd, pud, pmd, pte;
	bool has_walk_address; /* "[address] pgd=…" */
	uint64_t walk_address;
	uint8_t walk_levels; /* printed levels: bit 0 pgd, 1 pud, 2 pmd, 3 pte */
	bool has_object;
	uint64_t object;
	uint32_t object_size;
	bool has_cr2;
	uint64_t cr2; /* from a line of its own */
	/* cr2 of the register dump: reading the code bytes may have overwritten it */
	bool has_weak_cr2;
	uint64_t weak_cr2;

	bool has_ip;
	struct frame ip;
	bool has_link;
	struct frame link; /* lr, ra, LR: the return address of a leaf */
	struct registers regs;
	bool has_sp;
	uint64_t sp;
	bool has_flags; /* EFLAGS */
	uint64_t flags;
	uint8_t code[CODE_MAX];
	uint16_t code_bytes, code_at; /* offset of the instruction pointer in it */
	bool has_code_at, code_seen;

	struct frame *frame;
	uint32_t nr_frames, lost_frames;
	struct module *module;
	uint32_t nr_modules;
	size_t room_frames, room_modules;
	uint32_t modules_line;

	uint32_t cpu, pid;
	bool has_cpu, has_pid;
	struct str comm, taint, kernel, hardware, workqueue, bug_task;

	/* lines worth quoting, in order */
	uint32_t stated[STATED_MAX];
	uint32_t nr_stated;
};

const char *kind_name(enum kind k);
const char *access_name(enum access a); /* "" for none */
const char *arch_name(enum arch a);	/* "" for unknown */

/* Returns the module of a frame; without one the function belongs to the kernel itself. */
static inline struct str frame_module(const struct frame *f)
{
	return f->module.n ? f->module : STR("vmlinux");
}

/* Returns whether this kind often precedes a crash, and rarely is one. */
bool kind_is_precursor(enum kind k);

void incident_free(struct incident *e);
struct frame *incident_frame_add(struct incident *e);
void incident_state(struct incident *e, uint32_t line);

#endif
