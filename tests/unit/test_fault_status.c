// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Tests what triage derives from the error codes of memory faults, for all values of their fields:
 * the kind of the fault, the access, its size, and whether the page was present.
 *
 * If the environment variable FS_SHOW_EXPECTED is set, the test prints all results.
 */
#include <stdio.h>

#include "steps.h"
#include "tap.h"
#include "triage/judge.h"

#define ESR_WRITE (0x25ull << 26 | 1 << 6 | 6) /* a write, without an entry at level 2 */

/* Error codes: the bits of the argument are put at the places `bits` of `e.error`. */
struct codes {
	const char *name;
	struct incident e;
	uint8_t bits[6];
	uint8_t nr_bits; /* 0: the argument is the kind of the report */
	const char *want;
};

static const char *judged_at(const void *of, uint64_t argument)
{
	static char text[128];
	const struct codes *c = of;
	struct incident e = c->e;
	struct diagnosis v = {};
	struct judged j = {.e = &e, .v = &v};

	for (int i = 0; i < c->nr_bits; i++)
		e.error |= (argument >> i & 1) << c->bits[i];
	if (!c->nr_bits)
		e.kind = argument;
	judge_facts(&j);
	if (v.kind == e.kind && !v.access && !j.has_present)
		return "-";
	snprintf(text, sizeof(text), "%s%s%s", kind_name(v.kind), v.access ? ", " : "",
		 access_name(v.access));
	if (v.size)
		snprintf(text + strlen(text), sizeof(text) - strlen(text), " of %u", v.size);
	if (j.has_present)
		snprintf(text + strlen(text), sizeof(text) - strlen(text), ", %s",
			 j.present ? "present" : "absent");
	if (v.nr_fired)
		snprintf(text + strlen(text), sizeof(text) - strlen(text), ", %s", v.fired[0].id);
	return text;
}

static const struct codes codes[] = {
	{"arm64: the status of a data abort",
	 {.arch = ARCH_ARM64,
	  .has_error = true,
	  .has_esr = true,
	  .kind = KIND_PAGING_REQUEST,
	  .error = 0x25ull << 26},
	 {0, 1, 2, 3, 4, 5},
	 6,
	 "0: paging_request, read; 0x4: paging_request, read, absent; "
	 "0x8: paging_request, read, present; 0x10: ext_abort, read, H3; "
	 "0x11: paging_request, read; 0x14: ext_abort, read, H3; "
	 "0x19: paging_request, read; 0x1c: ext_abort, read, H3; "
	 "0x20: paging_request, read; 0x21: alignment, read, H3; "
	 "0x22: paging_request, read"},
	{"arm64: the status of an instruction abort",
	 {.arch = ARCH_ARM64,
	  .has_error = true,
	  .has_esr = true,
	  .kind = KIND_PAGING_REQUEST,
	  .error = 0x21ull << 26},
	 {0, 1, 2, 3, 4, 5},
	 6,
	 "0: paging_request, exec; 0x4: paging_request, exec, absent; "
	 "0x8: paging_request, exec, present; 0x10: ext_abort, exec, H3; "
	 "0x11: paging_request, exec; 0x14: ext_abort, exec, H3; "
	 "0x19: paging_request, exec; 0x1c: ext_abort, exec, H3; "
	 "0x20: paging_request, exec; 0x21: alignment, exec, H3; "
	 "0x22: paging_request, exec"},
	{"arm64: the status of a data abort of user space",
	 {.arch = ARCH_ARM64,
	  .has_error = true,
	  .has_esr = true,
	  .kind = KIND_PAGING_REQUEST,
	  .error = 0x24ull << 26},
	 {0, 1, 2, 3, 4, 5},
	 6,
	 "0: paging_request, read; 0x4: paging_request, read, absent; "
	 "0x8: paging_request, read, present; 0x10: paging_request, read"},
	{"arm64: classes of exceptions",
	 {.arch = ARCH_ARM64,
	  .has_error = true,
	  .has_esr = true,
	  .kind = KIND_PAGING_REQUEST,
	  .error = 6},
	 {26, 27, 28, 29, 30, 31},
	 6,
	 "0: paging_request, absent; 0x20: paging_request, exec, absent; "
	 "0x22: paging_request, absent; 0x24: paging_request, read, absent; "
	 "0x26: paging_request, absent"},
	{"arm64: flags of a data abort",
	 {.arch = ARCH_ARM64,
	  .has_error = true,
	  .has_esr = true,
	  .kind = KIND_PAGING_REQUEST,
	  .error = 0x25ull << 26 | 15},
	 {6, 8, 24, 22, 23},
	 5,
	 "0: paging_request, read, present; 0x1: paging_request, write, present; "
	 "0x2: paging_request, read, present; 0x4: paging_request, read of 1, present; "
	 "0x5: paging_request, write of 1, present; "
	 "0x6: paging_request, read of 1, present; 0x8: paging_request, read, present; "
	 "0x9: paging_request, write, present; 0xa: paging_request, read, present; "
	 "0xc: paging_request, read of 2, present; "
	 "0xd: paging_request, write of 2, present; "
	 "0xe: paging_request, read of 2, present; 0x10: paging_request, read, present; "
	 "0x11: paging_request, write, present; 0x12: paging_request, read, present; "
	 "0x14: paging_request, read of 4, present; "
	 "0x15: paging_request, write of 4, present; "
	 "0x16: paging_request, read of 4, present; 0x18: paging_request, read, present; "
	 "0x19: paging_request, write, present; 0x1a: paging_request, read, present; "
	 "0x1c: paging_request, read of 8, present; "
	 "0x1d: paging_request, write of 8, present; "
	 "0x1e: paging_request, read of 8, present"},
	{"arm64: kinds of reports",
	 {.arch = ARCH_ARM64,
	  .has_error = true,
	  .has_esr = true,
	  .kind = KIND_PAGING_REQUEST,
	  .error = ESR_WRITE},
	 {},
	 0,
	 "0: -; 0x1: null_deref, write, absent; 0x2: -; "
	 "0x3: paging_request, write, absent; 0x4: -; 0x6: user_access, write, absent; "
	 "0x7: nx_exec, write, absent; 0x8: ro_write, write, absent; "
	 "0x9: rsvd_bit, write, absent; 0xa: ext_abort, write, absent; 0xb: -; "
	 "0xc: unhandled_fault, write, absent; 0xd: alignment, write, absent; 0xe: -"},
	{"arm64: kinds of reports without a header",
	 {.arch = ARCH_ARM64,
	  .has_error = true,
	  .has_esr = true,
	  .kind = KIND_PAGING_REQUEST,
	  .error = ESR_WRITE,
	  .headless = true},
	 {},
	 0,
	 "0: -; 0x1: null_deref, write, absent; 0x2: -; "
	 "0x3: paging_request, write, absent, H1; 0x4: -; "
	 "0x6: user_access, write, absent; 0x7: nx_exec, write, absent; "
	 "0x8: ro_write, write, absent; 0x9: rsvd_bit, write, absent; "
	 "0xa: ext_abort, write, absent; 0xb: -; 0xc: unhandled_fault, write, absent; "
	 "0xd: alignment, write, absent; 0xe: -; 0x26: paging_request, write, absent, H1; "
	 "0x27: -; 0x48: paging_request, write, absent, H1"},
	{"arm: kinds of reports",
	 {.arch = ARCH_ARM, .has_error = true, .kind = KIND_UNKNOWN, .error = 0x805},
	 {},
	 0,
	 "0: -; 0x1: null_deref, write, absent; 0x2: -; "
	 "0x3: paging_request, write, absent; 0x4: -; 0x6: user_access, write, absent; "
	 "0x7: nx_exec, write, absent; 0x8: ro_write, write, absent; "
	 "0x9: rsvd_bit, write, absent; 0xa: ext_abort, write, absent; 0xb: -; "
	 "0xc: unhandled_fault, write, absent; 0xd: alignment, write, absent; 0xe: -"},
	{"arm: status",
	 {.arch = ARCH_ARM, .has_error = true, .kind = KIND_PAGING_REQUEST, .error = 0},
	 {0, 1, 2, 3},
	 4,
	 "0: paging_request, read; 0x5: paging_request, read, absent; "
	 "0x6: paging_request, read; 0x7: paging_request, read, absent; "
	 "0x8: paging_request, read; 0x9: paging_request, read, present; "
	 "0xa: paging_request, read; 0xb: paging_request, read, present; "
	 "0xc: paging_request, read; 0xd: paging_request, read, present; "
	 "0xe: paging_request, read; 0xf: paging_request, read, present"},
	{"arm: status with LPAE",
	 {.arch = ARCH_ARM, .has_error = true, .kind = KIND_PAGING_REQUEST, .error = 0x200},
	 {0, 1, 2, 3},
	 4,
	 "0: paging_request, read; 0x4: paging_request, read, absent; "
	 "0x8: paging_request, read, present"},
	{"arm: accesses",
	 {.arch = ARCH_ARM, .has_error = true, .kind = KIND_PAGING_REQUEST, .error = 5},
	 {11, 31},
	 2,
	 "0: paging_request, read, absent; 0x1: paging_request, write, absent; "
	 "0x2: paging_request, exec, absent"},
	{"x86-64: error codes",
	 {.arch = ARCH_X86_64, .has_error = true, .kind = KIND_PAGING_REQUEST, .error = 0},
	 {0, 1, 2, 4},
	 4,
	 "0: paging_request, read, absent; 0x1: paging_request, read, present; "
	 "0x2: paging_request, write, absent; 0x3: paging_request, write, present; "
	 "0x4: paging_request, read, absent; 0x5: paging_request, read, present; "
	 "0x6: paging_request, write, absent; 0x7: paging_request, write, present; "
	 "0x8: paging_request, exec, absent; 0x9: paging_request, exec, present; "
	 "0xa: paging_request, exec, absent; 0xb: paging_request, exec, present; "
	 "0xc: paging_request, exec, absent; 0xd: paging_request, exec, present; "
	 "0xe: paging_request, exec, absent; 0xf: paging_request, exec, present"},
	{"i386: error codes",
	 {.arch = ARCH_I386, .has_error = true, .kind = KIND_PAGING_REQUEST, .error = 0},
	 {0, 1, 4},
	 3,
	 "0: paging_request, read, absent; 0x1: paging_request, read, present; "
	 "0x2: paging_request, write, absent; 0x3: paging_request, write, present; "
	 "0x4: paging_request, exec, absent; 0x5: paging_request, exec, present; "
	 "0x6: paging_request, exec, absent; 0x7: paging_request, exec, present"},
	{"x86-64: kinds of reports",
	 {.arch = ARCH_X86_64, .has_error = true, .kind = KIND_UNKNOWN, .error = 3},
	 {},
	 0,
	 "0: -; 0x1: null_deref, write, present; 0x2: -; "
	 "0x3: paging_request, write, present; 0x4: -; 0x6: user_access, write, present; "
	 "0x7: nx_exec, write, present; 0x8: ro_write, write, present; "
	 "0x9: rsvd_bit, write, present; 0xa: ext_abort, write, present; 0xb: -; "
	 "0xc: unhandled_fault, write, present; 0xd: alignment, write, present; 0xe: -"},
	{"x86-64: kinds of reports without a header",
	 {.arch = ARCH_X86_64,
	  .has_error = true,
	  .kind = KIND_UNKNOWN,
	  .error = 3,
	  .headless = true},
	 {},
	 0,
	 "0: -; 0x1: null_deref, write, present; 0x2: -; "
	 "0x3: paging_request, write, present, H1; 0x4: -; "
	 "0x6: user_access, write, present; 0x7: nx_exec, write, present; "
	 "0x8: ro_write, write, present; 0x9: rsvd_bit, write, present; "
	 "0xa: ext_abort, write, present; 0xb: -; 0xc: unhandled_fault, write, present; "
	 "0xd: alignment, write, present; 0xe: -; "
	 "0x26: paging_request, write, present, H1; 0x27: -; "
	 "0x48: paging_request, write, present, H1"},
	{"an unknown machine: error codes",
	 {.arch = ARCH_UNKNOWN, .has_error = true, .kind = KIND_PAGING_REQUEST, .error = 0},
	 {1, 4, 7, 8},
	 4,
	 "0: paging_request, read, absent; 0x1: paging_request, write, absent; "
	 "0x2: paging_request, exec, absent; 0x4: paging_request, read, absent; "
	 "0x5: paging_request, write, absent; 0x6: paging_request, exec, absent; 0x8: -"},
	{"s390: program interruption codes",
	 {.arch = ARCH_S390, .has_error = true, .kind = KIND_PAGING_REQUEST, .error = 0},
	 {0, 1, 2, 3, 4, 5},
	 6,
	 "0: -; 0x4: paging_request, present; 0x5: -; 0x10: paging_request, absent; "
	 "0x12: -; 0x38: paging_request, absent; 0x3c: -"},
	{"riscv: error codes",
	 {.arch = ARCH_RISCV, .has_error = true, .kind = KIND_PAGING_REQUEST, .error = 0},
	 {0, 1, 2, 3},
	 4,
	 "0: -"},
};

int main(void)
{
	bool shown = getenv("FS_SHOW_EXPECTED");

	for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++) {
		uint64_t n = codes[i].nr_bits ? 1u << codes[i].nr_bits : NR_KINDS;
		struct step_arguments s = {};
		struct buf b = {};

		for (uint64_t argument = 0; argument < n; argument++)
			step_add(&s, argument);
		steps_write(&b, judged_at, &codes[i], &s);
		if (shown)
			printf("# %zu %s\n", i, b.s);
		is_str(b.s, codes[i].want, codes[i].name);
		buf_free(&b);
	}
	return tap_done();
}
