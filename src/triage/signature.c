// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "triage/signature.h"

#define HEADER_MOST 1024 /* bytes of a line that are looked at */

#define ANY  SIG_ANYWHERE
#define JOIN SIG_JOIN
#define DIES SIG_FATAL
#define WRAP SIG_WRAPPER
#define NOTE SIG_NOTE

#define R ACCESS_READ
#define W ACCESS_WRITE
#define X ACCESS_EXEC

/*
 * The first row that fits wins. The last column says which kernels print the text; "-": all. Read
 * from the format strings of arch/x86/mm/fault.c, arch/x86/kernel/{traps,dumpstack}.c,
 * arch/arm64/{mm/fault.c,kernel/traps.c}, arch/{arm,riscv,powerpc,s390,loongarch,mips}, kernel/,
 * mm/ and lib/ of the versions named.
 */
const struct signature signatures[] = {
	/* what looks like a crash and is none */
	{"INFO: Stall ended before", KIND_NONE, SIG_BENIGN, 0, "3.0-"},
	{"INFO: lockdep is turned off", KIND_NONE, SIG_BENIGN | ANY, 0, "2.6-"},
	{"INFO: NMI handler", KIND_NONE, SIG_BENIGN, 0, "3.2-"},
	{"WARNING: The mand mount option", KIND_NONE, SIG_BENIGN, 0, "5.15"},
	{"WARNING! power/level is deprecated", KIND_NONE, SIG_BENIGN, 0, "2.6"},
	{"BUG: using sched_debug", KIND_NONE, SIG_BENIGN, 0, "-"},
	{"NOTE: ", KIND_NONE, SIG_BENIGN, 0, "-"},

	/* said before the header of a fault */
	{"kernel tried to execute NX-protected page", KIND_PAGING_REQUEST, JOIN | DIES, X, "2.6-"},
	{"unable to execute userspace code (SMEP?)", KIND_PAGING_REQUEST, JOIN | DIES, X, "3.16-"},
	{"kernel tried to access user page", KIND_PAGING_REQUEST, JOIN | DIES, 0, "ppc"},
	{"kernel tried to exec user page", KIND_PAGING_REQUEST, JOIN | DIES, X, "ppc"},
	{"kernel tried to execute exec-protected page", KIND_PAGING_REQUEST, JOIN | DIES, X, "ppc"},
	{"kernel tried to execute user page", KIND_PAGING_REQUEST, JOIN | DIES, X, "ppc"},
	{"kasan: GPF could be caused by NULL-ptr deref", KIND_GPF, JOIN | DIES | ANY, 0, "4.0-5.4"},

	/* x86: page faults */
	{"BUG: unable to handle kernel NULL pointer dereference at virtual address %A",
	 KIND_NULL_DEREF, ANY | JOIN | DIES, 0, "2.6 i386"},
	{"BUG: unable to handle kernel NULL pointer dereference at%_%A", KIND_NULL_DEREF,
	 ANY | JOIN | DIES, 0, "2.6-5.1"},
	{"BUG: unable to handle kernel NULL pointer dereference", KIND_NULL_DEREF,
	 ANY | JOIN | DIES, 0, "2.6-5.1"},
	{"BUG: unable to handle kernel paging request at virtual address %A", KIND_PAGING_REQUEST,
	 ANY | JOIN | DIES, 0, "2.6 i386"},
	{"BUG: unable to handle kernel paging request at%_%A", KIND_PAGING_REQUEST,
	 ANY | JOIN | DIES, 0, "2.6-5.1"},
	{"BUG: unable to handle kernel paging request", KIND_PAGING_REQUEST, ANY | JOIN | DIES, 0,
	 "2.6-5.1"},
	{"BUG: unable to handle kernel", KIND_PAGING_REQUEST, ANY | JOIN | DIES, 0,
	 "2.6-5.1, cut by another CPU"},
	{"NULL pointer dereference at%_%A", KIND_NULL_DEREF, JOIN | DIES, 0, "2.6-5.1, cut"},
	{"paging request at%_%A", KIND_PAGING_REQUEST, JOIN | DIES, 0, "2.6-5.1, cut"},
	{"BUG: kernel NULL pointer dereference, address: %A", KIND_NULL_DEREF, ANY | JOIN | DIES, 0,
	 "5.1-"},
	{"BUG: kernel NULL pointer dereference", KIND_NULL_DEREF, ANY | JOIN | DIES, 0, "5.1-"},
	{"BUG: unable to handle page fault for address: %A", KIND_PAGING_REQUEST, ANY | JOIN | DIES,
	 0, "5.1-"},
	{"BUG: unable to handle page fault", KIND_PAGING_REQUEST, ANY | JOIN | DIES, 0, "5.1-"},
	{"Corrupted page table at address %A", KIND_RSVD_BIT, ANY | JOIN | DIES, 0, "2.6-"},
	{"Bad pagetable: %E", KIND_RSVD_BIT, JOIN | DIES | ANY, 0, "2.6-"},

	/* x86: other exceptions; since 6.10 "Oops: " stands before them (bba4b8b4e9b2) */
	{"general protection fault, probably for non-canonical address %A: %E", KIND_GPF,
	 ANY | JOIN | DIES, 0, "5.6-"},
	{"general protection fault, maybe for address %A: %E", KIND_GPF, ANY | JOIN | DIES, 0,
	 "5.6-"},
	{"general protection fault for non-canonical address %A: %E", KIND_GPF, ANY | JOIN | DIES,
	 0, "5.5-rc"},
	{"general protection fault: %E [#%N]", KIND_GPF, ANY | JOIN | DIES, 0, "2.6-"},
	{"general protection fault: %E", KIND_GPF, ANY | JOIN | DIES, 0, "2.6-"},
	{"segment-related general protection fault: %E", KIND_GPF, ANY | JOIN | DIES, 0, "5.6-"},
	{"general protection fault in user access. Non-canonical address?", KIND_GPF, JOIN, 0,
	 "4.20-"},
	{"general protection fault", KIND_GPF, JOIN | DIES, 0, "-"},
	{"stack segment: %E", KIND_STACK_SEGMENT, ANY | JOIN | DIES, 0, "2.6-"},
	{"BUG: %W stack guard page was hit at %X", KIND_STACK_OVERFLOW, ANY | JOIN | DIES, 0,
	 "5.16-"},
	{"BUG: stack guard page was hit at %X", KIND_STACK_OVERFLOW, ANY | JOIN | DIES, 0,
	 "4.9-5.15"},
	{"kernel stack overflow (%S): %E", KIND_STACK_OVERFLOW, ANY | JOIN | DIES, 0, "4.9-5.15"},
	{"stack guard page: %E", KIND_STACK_OVERFLOW, ANY | JOIN | DIES, 0, "5.16-"},
	{"Thread overran stack, or stack corrupted", KIND_STACK_OVERFLOW, JOIN | DIES, 0,
	 "2.6-4.8"},
	{"do_IRQ: %* has overflown the kernel stack", KIND_STACK_OVERFLOW, JOIN, 0, "2.6-4.x"},
	{"do_IRQ: stack overflow: ", KIND_STACK_OVERFLOW, JOIN, 0, "2.6-"},
	{"do_IRQ(): %* near stack overflow", KIND_STACK_OVERFLOW, JOIN, 0, "2.6-"},
	{"PANIC: double fault, error_code: %E", KIND_DOUBLE_FAULT, ANY | JOIN | DIES, 0,
	 "2.6-5.12"},
	{"PANIC: double fault, gdt at", KIND_DOUBLE_FAULT, ANY | JOIN | DIES, 0, "2.6 i386"},
	{"PANIC: double fault", KIND_DOUBLE_FAULT, ANY | JOIN | DIES, 0, "-"},
	{"double fault: %E", KIND_DOUBLE_FAULT, ANY | JOIN | DIES, 0, "2.6-"},
	{"divide error: %E", KIND_DIVIDE, ANY | JOIN | DIES, 0, "-"},
	{"invalid opcode: %E", KIND_INVALID_OPCODE, ANY | JOIN | DIES, 0, "-"},
	{"int3: %E", KIND_INVALID_OPCODE, ANY | JOIN | DIES, 0, "-"},
	{"debug: %E [#", KIND_INTERNAL_ERROR, JOIN | DIES, 0, "-"},
	{"alignment check: %E", KIND_ALIGNMENT, ANY | JOIN | DIES, 0, "-"},
	{"invalid TSS: %E", KIND_INTERNAL_ERROR, ANY | JOIN | DIES, 0, "-"},
	{"segment not present: %E", KIND_INTERNAL_ERROR, ANY | JOIN | DIES, 0, "-"},
	{"coprocessor segment overrun: %E", KIND_INTERNAL_ERROR, ANY | JOIN | DIES, 0, "-"},
	{"bounds: %E", KIND_INTERNAL_ERROR, JOIN | DIES, 0, "-"},
	{"overflow: %E [#", KIND_INTERNAL_ERROR, JOIN | DIES, 0, "-"},
	{"fpu exception: %E", KIND_INTERNAL_ERROR, ANY | JOIN | DIES, 0, "-"},
	{"simd exception: %E", KIND_INTERNAL_ERROR, ANY | JOIN | DIES, 0, "-"},
	{"iret exception: %E", KIND_INTERNAL_ERROR, ANY | JOIN | DIES, 0, "-"},
	{"device not available: %E", KIND_INTERNAL_ERROR, ANY | JOIN | DIES, 0, "-"},
	{"control protection: %E", KIND_INTERNAL_ERROR, ANY | JOIN | DIES, 0, "5.18-"},
	{"Missing ENDBR: %F", KIND_BUG, ANY | JOIN | DIES, X, "5.18-"},
	{"CFI failure at %F (target: %G", KIND_BUG, ANY | JOIN | DIES, X, "6.1-"},
	{"CFI failure (target: %F", KIND_BUG, ANY | JOIN | DIES, X, "4.14 android-6.0"},
	{"CFI failure", KIND_BUG, JOIN | DIES, X, "4.14 android-6.0"},
	{"PANIC: early exception %* IP %*:%A error %E cr2 %A", KIND_PAGING_REQUEST, JOIN | DIES, 0,
	 "2.6-"},
	{"PANIC: early exception %*", KIND_INTERNAL_ERROR, JOIN | DIES, 0, "2.6-"},
	{"BUG: Int %D: CR2 %A", KIND_PAGING_REQUEST, JOIN | DIES, 0, "2.6-4.x i386"},
	{"traps: PANIC: double fault", KIND_DOUBLE_FAULT, ANY | JOIN | DIES, 0, "5.13-"},
	{"unchecked MSR access error: %S at rIP: %X (%F", KIND_WARNING, SIG_BENIGN, 0, "4.6-"},

	/* arm64 and arm */
	{"Unable to handle kernel NULL pointer dereference at virtual address %A when read",
	 KIND_NULL_DEREF, ANY | JOIN | DIES, R, "6.1- arm"},
	{"Unable to handle kernel NULL pointer dereference at virtual address %A when write",
	 KIND_NULL_DEREF, ANY | JOIN | DIES, W, "6.1- arm"},
	{"Unable to handle kernel NULL pointer dereference at virtual address %A when execute",
	 KIND_NULL_DEREF, ANY | JOIN | DIES, X, "6.1- arm"},
	{"Unable to handle kernel NULL pointer dereference at virtual address %A", KIND_NULL_DEREF,
	 ANY | JOIN | DIES, 0, "- arm arm64 riscv"},
	{"Unable to handle kernel NULL pointer dereference at %A RIP", KIND_NULL_DEREF,
	 ANY | JOIN | DIES, 0, "2.6 x86-64"},
	{"Unable to handle kernel NULL pointer dereference", KIND_NULL_DEREF, ANY | JOIN | DIES, 0,
	 "-"},
	{"Unable to handle kernel write to read-only memory at virtual address %A", KIND_RO_WRITE,
	 ANY | JOIN | DIES, W, "4.11- arm64"},
	{"Unable to handle kernel read from unreadable memory at virtual address %A",
	 KIND_PAGING_REQUEST, ANY | JOIN | DIES, R, "4.18- arm64"},
	{"Unable to handle kernel execute from non-executable memory at virtual address %A",
	 KIND_NX_EXEC, ANY | JOIN | DIES, X, "5.0- arm64"},
	{"Unable to handle kernel execution of user memory at virtual address %A", KIND_NX_EXEC,
	 ANY | JOIN | DIES, X, "5.0- arm64"},
	{"Unable to handle kernel access to user memory outside uaccess routines at virtual "
	 "address %A",
	 KIND_USER_ACCESS, ANY | JOIN | DIES, 0, "5.0- arm64"},
	{"Unable to handle kernel paging request for instruction fetch", KIND_PAGING_REQUEST,
	 ANY | JOIN | DIES, X, "2.6-4.x ppc"},
	{"Unable to handle kernel paging request for data at address %A", KIND_PAGING_REQUEST,
	 ANY | JOIN | DIES, 0, "2.6-4.x ppc"},
	{"Unable to handle kernel paging request for %S at address %A", KIND_PAGING_REQUEST,
	 ANY | JOIN | DIES, 0, "2.6-4.x ppc"},
	{"Unable to handle kernel paging request for %S", KIND_PAGING_REQUEST, ANY | JOIN | DIES, 0,
	 "2.6-4.x ppc"},
	{"Unable to handle kernel paging request at virtual address %A when read",
	 KIND_PAGING_REQUEST, ANY | JOIN | DIES, R, "6.1- arm"},
	{"Unable to handle kernel paging request at virtual address %A when write",
	 KIND_PAGING_REQUEST, ANY | JOIN | DIES, W, "6.1- arm"},
	{"Unable to handle kernel paging request at virtual address %A when execute",
	 KIND_PAGING_REQUEST, ANY | JOIN | DIES, X, "6.1- arm"},
	{"Unable to handle kernel paging request at virtual address %A", KIND_PAGING_REQUEST,
	 ANY | JOIN | DIES, 0, "- arm arm64 riscv loongarch mips"},
	{"Unable to handle kernel paging request at%_%A", KIND_PAGING_REQUEST, ANY | JOIN | DIES, 0,
	 "2.6 x86-64"},
	{"Unable to handle kernel access to user memory without uaccess routines at virtual "
	 "address %A",
	 KIND_USER_ACCESS, ANY | JOIN | DIES, 0, "5.10- riscv"},
	{"Unable to handle kernel pointer dereference in %S", KIND_PAGING_REQUEST,
	 ANY | JOIN | DIES, 0, "s390"},
	{"Unable to handle kernel pointer dereference at virtual kernel address %A",
	 KIND_PAGING_REQUEST, ANY | JOIN | DIES, 0, "2.6-3.x s390"},
	{"Unable to handle kernel %S at virtual address %A", KIND_PAGING_REQUEST, ANY | JOIN | DIES,
	 0, "-"},
	{"Unhandled fault: page domain fault (%E) at %A", KIND_UNHANDLED_FAULT, ANY | JOIN | DIES,
	 0, "arm"},
	{"Unhandled fault: %S (%E) at %A", KIND_UNHANDLED_FAULT, ANY | JOIN | DIES, 0,
	 "-4.x arm64, arm"},
	{"Unhandled fault: ", KIND_UNHANDLED_FAULT, ANY | JOIN | DIES, 0, "-4.x arm64, arm"},
	{"Unhandled prefetch abort: %S (%E) at %A", KIND_UNHANDLED_FAULT, ANY | JOIN | DIES, X,
	 "arm"},
	{"Internal error: Oops - BUG: %E [#%N]", KIND_BUG, ANY | JOIN | DIES, 0, "- arm arm64"},
	{"Internal error: Oops - CFI: %E [#%N]", KIND_BUG, ANY | JOIN | DIES, X, "6.1- arm64"},
	{"Internal error: Oops - undefined instruction: %E [#%N]", KIND_UNDEF_INSN,
	 ANY | JOIN | DIES, 0, "- arm arm64"},
	{"Internal error: Oops - Undefined instruction: %E [#%N]", KIND_UNDEF_INSN,
	 ANY | JOIN | DIES, 0, "5.17- arm64"},
	{"Internal error: synchronous external abort: %E [#%N]", KIND_EXT_ABORT, ANY | JOIN | DIES,
	 0, "4.14- arm64"},
	{"Internal error: synchronous %S: %E [#%N]", KIND_EXT_ABORT, ANY | JOIN | DIES, 0,
	 "4.14- arm64"},
	{"Internal error: SP/PC alignment exception: %E [#%N]", KIND_ALIGNMENT, ANY | JOIN | DIES,
	 0, "4.14- arm64"},
	{"Internal error: Oops - SP/PC alignment exception: %E [#%N]", KIND_INTERNAL_ERROR,
	 ANY | JOIN | DIES, 0, "4.5-4.13 arm64"},
	{"Internal error: Oops: %E [#%N]", KIND_PAGING_REQUEST, ANY | JOIN | DIES, 0,
	 "- arm arm64"},
	{"Internal error: Oops - %S: %E [#%N]", KIND_INTERNAL_ERROR, ANY | JOIN | DIES, 0,
	 "- arm arm64"},
	{"Internal error: %S: %E [#%N]", KIND_INTERNAL_ERROR, ANY | JOIN | DIES, 0, "- arm arm64"},
	{"Internal error: : %E [#%N]", KIND_UNHANDLED_FAULT, ANY | JOIN | DIES, 0, "- arm"},
	{"Internal error: ", KIND_INTERNAL_ERROR, ANY | JOIN | DIES, 0, "- arm arm64"},
	{"Bad mode in %S handler detected", KIND_PANIC, JOIN | DIES, 0, "-5.11 arm64"},
	{"Insufficient stack space to handle exception!", KIND_STACK_OVERFLOW, ANY | JOIN | DIES, 0,
	 "4.14- arm64, riscv"},
	{"Unexpected kernel BRK exception at EL1", KIND_INTERNAL_ERROR, JOIN | DIES, 0, "- arm64"},
	{"Unexpected kernel single-step exception at EL1", KIND_INTERNAL_ERROR, JOIN | DIES, 0,
	 "- arm64"},
	{"SError Interrupt on CPU%C, code %E", KIND_MCE, ANY | DIES, 0, "4.15- arm64"},
	{"Alignment trap: not handling instruction %X at [<%X>]", KIND_ALIGNMENT, JOIN, 0, "arm"},

	/* other architectures */
	{"BUG: Kernel NULL pointer dereference on read at %A", KIND_NULL_DEREF, ANY | JOIN | DIES,
	 R, "5.2- ppc"},
	{"BUG: Kernel NULL pointer dereference on write at %A", KIND_NULL_DEREF, ANY | JOIN | DIES,
	 W, "5.2- ppc"},
	{"BUG: Kernel NULL pointer dereference at %A", KIND_NULL_DEREF, ANY | JOIN | DIES, 0,
	 "5.0- ppc"},
	{"BUG: Unable to handle kernel instruction fetch", KIND_PAGING_REQUEST, ANY | JOIN | DIES,
	 X, "5.0- ppc"},
	{"BUG: Unable to handle kernel data access on read at %A", KIND_PAGING_REQUEST,
	 ANY | JOIN | DIES, R, "5.2- ppc"},
	{"BUG: Unable to handle kernel data access on write at %A", KIND_PAGING_REQUEST,
	 ANY | JOIN | DIES, W, "5.2- ppc"},
	{"BUG: Unable to handle kernel data access at %A", KIND_PAGING_REQUEST, ANY | JOIN | DIES,
	 0, "5.0- ppc"},
	{"BUG: Unable to handle unaligned access at %A", KIND_ALIGNMENT, ANY | JOIN | DIES, 0,
	 "5.0- ppc"},
	{"BUG: Unable to handle unknown paging fault at %A", KIND_PAGING_REQUEST, ANY | JOIN | DIES,
	 0, "5.0- ppc"},
	{"Unrecoverable exception %X at %X", KIND_INTERNAL_ERROR, JOIN | DIES, 0, "ppc"},
	{"Unrecoverable FP Unavailable Exception %X", KIND_INTERNAL_ERROR, JOIN | DIES, 0, "ppc"},
	{"Oops: Kernel access of bad area, sig: %D [#%N]", KIND_PAGING_REQUEST, ANY | JOIN | DIES,
	 0, "ppc"},
	{"Oops: Exception in kernel mode, sig: %D [#%N]", KIND_BUG, ANY | JOIN | DIES, 0, "ppc"},
	{"Oops: Machine check, sig: %D [#%N]", KIND_MCE, ANY | JOIN | DIES, 0, "ppc"},
	{"Oops: %S, sig: %D [#%N]", KIND_INTERNAL_ERROR, ANY | JOIN | DIES, 0, "ppc"},
	{"CPU %C Unable to handle kernel paging request at virtual address %A", KIND_PAGING_REQUEST,
	 ANY | JOIN | DIES, 0, "loongarch mips"},
	{"addressing exception: %E ilc:%D [#%N]", KIND_PAGING_REQUEST, ANY | JOIN | DIES, 0,
	 "s390"},
	{"protection exception: %E ilc:%D [#%N]", KIND_RO_WRITE, ANY | JOIN | DIES, W, "s390"},
	{"illegal operation: %E ilc:%D [#%N]", KIND_BUG, ANY | JOIN | DIES, 0, "s390"},
	{"specification exception: %E ilc:%D [#%N]", KIND_INTERNAL_ERROR, ANY | JOIN | DIES, 0,
	 "s390"},
	{"monitor event: %E ilc:%D [#%N]", KIND_BUG, ANY | JOIN | DIES, 0, "5.0- s390"},
	{"kernel stack overflow: %E", KIND_STACK_OVERFLOW, JOIN | DIES, 0, "s390"},
	{"Kernel unaligned access at TPC[%X] %F", KIND_ALIGNMENT, JOIN, 0, "sparc"},
	{"Oops: %E ilc:%D [#%N]", KIND_PAGING_REQUEST, ANY | JOIN | DIES, 0, "s390"},
	{"Kernel access of bad area", KIND_PAGING_REQUEST, JOIN | DIES, 0, "ppc"},

	/* the line with the error code, which alone is left where the head is cut off */
	{"Oops: %E [#%N]", KIND_PAGING_REQUEST, ANY | JOIN | DIES, 0, "2.6- x86"},
	{"Oops: general protection fault, %*address %A: %E [#%N]", KIND_GPF, JOIN | DIES, 0,
	 "6.10-"},
	{"Oops [#%N]", KIND_PAGING_REQUEST, ANY | JOIN | DIES, 0, "riscv"},
	{"Oops[#%N]:", KIND_PAGING_REQUEST, ANY | JOIN | DIES, 0, "mips loongarch"},
	{"Oops - %S [#%N]", KIND_INTERNAL_ERROR, ANY | JOIN | DIES, 0, "riscv"},
	{"Kernel BUG [#%N]", KIND_BUG, ANY | JOIN | DIES, 0, "riscv"},

	/* KASAN's reading of a fault */
	{"KASAN: null-ptr-deref in range [%R-%R]", KIND_GPF, JOIN | DIES, 0, "5.5-"},
	{"KASAN: maybe wild-memory-access in range [%R-%R]", KIND_GPF, JOIN | DIES, 0, "5.5-"},
	{"KASAN: probably wild-memory-access in range [%R-%R]", KIND_GPF, JOIN | DIES, 0, "5.5-"},
	{"KASAN: probably user-memory-access in range [%R-%R]", KIND_GPF, JOIN | DIES, 0, "5.5-"},

	/* sanitizers */
	{"BUG: KASAN: null-ptr-deref on address%_%A", KIND_NULL_DEREF, ANY, 0, "4.0-4.10"},
	{"BUG: KASAN: null-ptr-deref in %F", KIND_NULL_DEREF, ANY, 0, "4.11-"},
	{"BUG: KASAN: user-memory-access on address%_%A", KIND_KASAN_OTHER, ANY, 0, "4.0-4.10"},
	{"BUG: KASAN: double-free in %F", KIND_INVALID_FREE, ANY, 0, "6.0-"},
	{"BUG: KASAN: double-free or invalid-free in %F", KIND_INVALID_FREE, ANY, 0, "4.11-5.19"},
	{"BUG: KASAN: double free or invalid-free in %F", KIND_INVALID_FREE, ANY, 0, "4.11-5.19"},
	{"BUG: KASAN: invalid-free in %F", KIND_INVALID_FREE, ANY, 0, "6.0-"},
	{"BUG: Double free or freeing an invalid pointer", KIND_INVALID_FREE, ANY, 0, "4.9-4.10"},
	{"BUG: KASAN: use after free in %F", KIND_KASAN_UAF, ANY, 0, "4.0"},
	{"BUG: KASAN: use-after-free on address%_%A", KIND_KASAN_UAF, ANY, 0, "4.0"},
	{"BUG: KASAN: use-after-free in %F at addr %A", KIND_KASAN_UAF, ANY, 0, "4.0-4.10"},
	{"BUG: KASAN: use-after-free in %F", KIND_KASAN_UAF, ANY, 0, "4.11-5.17"},
	{"BUG: KASAN: slab-use-after-free in %F", KIND_KASAN_UAF, ANY, 0, "5.18-"},
	{"BUG: KASAN: use-after-scope in %F", KIND_KASAN_OTHER, ANY, 0, "4.10-"},
	{"BUG: KASAN: invalid-access in %F", KIND_KASAN_OTHER, ANY, 0, "5.0- arm64 tags"},
	{"BUG: KASAN: user-memory-access in %F", KIND_KASAN_OTHER, ANY, 0, "4.0-"},
	{"BUG: KASAN: wild-memory-access in %F", KIND_KASAN_OTHER, ANY, 0, "4.0-"},
	{"BUG: KASAN: probably user-memory-access in %F", KIND_KASAN_OTHER, ANY, 0, "-"},
	{"BUG: KASAN: unknown-crash in %F", KIND_KASAN_OTHER, ANY, 0, "4.0-"},
	{"BUG: KASAN: %S-out-of-bounds in %F at addr %A", KIND_KASAN_OOB, ANY, 0, "4.0-4.10"},
	{"BUG: KASAN: %S-out-of-bounds in %F", KIND_KASAN_OOB, ANY, 0, "4.0-"},
	{"BUG: KASAN: out-of-bounds in %F at addr %A", KIND_KASAN_OOB, ANY, 0, "4.0-4.10"},
	{"BUG: KASAN: out-of-bounds in %F", KIND_KASAN_OOB, ANY, 0, "4.0-"},
	{"BUG: KASAN: out of bounds access in %F", KIND_KASAN_OOB, ANY, 0, "4.0"},
	{"BUG: KASAN: out of bounds on stack in %F", KIND_KASAN_OOB, ANY, 0, "4.0"},
	{"BUG: KASAN: %S in %F at addr %A", KIND_KASAN_OTHER, ANY, 0, "4.0-4.10"},
	{"BUG: KASAN: %S in %F", KIND_KASAN_OTHER, ANY, 0, "4.0-"},
	{"BUG: KASAN: ", KIND_KASAN_OTHER, ANY, 0, "4.0-"},
	{"BUG: KFENCE: use-after-free read in %F", KIND_KFENCE_UAF, ANY, R, "5.12-"},
	{"BUG: KFENCE: use-after-free write in %F", KIND_KFENCE_UAF, ANY, W, "5.12-"},
	{"BUG: KFENCE: use-after-free in %F", KIND_KFENCE_UAF, ANY, 0, "5.12-"},
	{"BUG: KFENCE: out-of-bounds read in %F", KIND_KFENCE_OOB, ANY, R, "5.12-"},
	{"BUG: KFENCE: out-of-bounds write in %F", KIND_KFENCE_OOB, ANY, W, "5.12-"},
	{"BUG: KFENCE: out-of-bounds in %F", KIND_KFENCE_OOB, ANY, 0, "5.12-"},
	{"BUG: KFENCE: memory corruption in %F", KIND_KFENCE_CORRUPTION, ANY, W, "5.12-"},
	{"BUG: KFENCE: invalid free in %F", KIND_INVALID_FREE, ANY, 0, "5.12-"},
	{"BUG: KFENCE: invalid read in %F", KIND_KFENCE_INVALID, ANY, R, "5.12-"},
	{"BUG: KFENCE: invalid write in %F", KIND_KFENCE_INVALID, ANY, W, "5.12-"},
	{"BUG: KFENCE: %S in %F", KIND_KFENCE_INVALID, ANY, 0, "5.12-"},
	{"BUG: KMSAN: %S in %F", KIND_KMSAN, ANY, 0, "6.1-"},
	{"BUG: KCSAN: %S in %F / %G", KIND_KCSAN, ANY, 0, "5.8-"},
	{"BUG: KCSAN: %S in %F", KIND_KCSAN, ANY, 0, "5.8-"},
	{"BUG: KCSAN: ", KIND_KCSAN, ANY, 0, "5.8-"},
	{"UBSAN: Undefined behaviour in %L", KIND_UBSAN, ANY, 0, "4.5-5.9"},
	{"UBSAN: %S in %L", KIND_UBSAN, ANY, 0, "5.9-"},
	{"Internal error: UBSAN: %S: %E [#%N]", KIND_UBSAN, JOIN | DIES, 0, "6.4- arm64"},
	{"BUG: memory leak", KIND_LEAK, ANY, 0, "a robot reading kmemleak"},
	{"unreferenced object %A (size %Z)", KIND_LEAK, JOIN, 0, "2.6.31-"},
	{"kmemleak: %D new suspected memory leaks", KIND_LEAK, SIG_ASIDE, 0, "2.6.31-"},

	/* the heap, lists, counters, copies */
	{"BUG %W (%S): %*", KIND_SLAB_CORRUPTION, 0, 0, "2.6.22- SLUB"},
	{"BUG %W: %*", KIND_SLAB_CORRUPTION, 0, 0, "2.6.22-3.x SLUB"},
	{"slab error in %F", KIND_SLAB_CORRUPTION, 0, 0, "2.6-6.4 SLAB"},
	{"Slab corruption", KIND_SLAB_CORRUPTION, 0, 0, "2.6-6.4 SLAB"},
	{"slab: Internal list corruption detected", KIND_SLAB_CORRUPTION, 0, 0, "2.6-6.4 SLAB"},
	{"pagealloc: memory corruption", KIND_SLAB_CORRUPTION, ANY, W, "2.6.30-"},
	{"pagealloc: single bit error", KIND_SLAB_CORRUPTION, ANY, W, "2.6.30-"},
	{"list_add corruption%*", KIND_LIST_CORRUPTION, ANY | JOIN | NOTE, 0, "2.6-"},
	{"list_del corruption%*", KIND_LIST_CORRUPTION, ANY | JOIN | NOTE, 0, "2.6-"},
	{"list_add double add%*", KIND_LIST_CORRUPTION, ANY | JOIN | NOTE, 0, "4.5-"},
	{"refcount_t: %*", KIND_REFCOUNT, ANY | JOIN | NOTE, 0, "4.11-"},
	{"usercopy: Kernel memory %* attempt detected", KIND_USERCOPY, ANY | JOIN | NOTE, 0,
	 "4.8-"},
	{"usercopy: kernel memory %* attempt detected", KIND_USERCOPY, ANY | JOIN | NOTE, 0,
	 "4.8-"},
	{"usercopy: Bad or missing usercopy whitelist?", KIND_USERCOPY, ANY | JOIN | NOTE, 0,
	 "4.16-"},
	{"Buffer overflow detected (%D < %D)!", KIND_WARNING, ANY | JOIN | NOTE, 0, "4.13-"},
	{": detected buffer overflow: %*", KIND_WARNING, ANY | JOIN | NOTE, 0, "6.9-"},
	{"detected field-spanning write%*", KIND_WARNING, ANY | JOIN | NOTE, 0, "6.0-"},
	{"detected buffer overflow in %F", KIND_BUG, ANY | JOIN | NOTE, 0, "4.13-6.8"},
	{"BUG: Bad page state in process %W", KIND_BAD_PAGE, ANY, 0, "2.6.28-"},
	{"BUG: Bad page map in process %W", KIND_BAD_PAGE, ANY, 0, "2.6.28-"},
	{"BUG: Bad page cache in process %W", KIND_BAD_PAGE, ANY, 0, "4.4-"},
	{"BUG: Bad rss-counter state mm:%*", KIND_BUG, ANY, 0, "3.2-"},
	{"BUG: non-zero pgtables_bytes on freeing mm: %*", KIND_BUG, ANY, 0, "4.15-"},
	{"BUG: non-zero nr_ptes on freeing mm: %*", KIND_BUG, ANY, 0, "4.0-4.14"},
	{"BUG: non-zero nr_pmds on freeing mm: %*", KIND_BUG, ANY, 0, "4.0-4.14"},
	{"Bad page state in process '%W'", KIND_BAD_PAGE, ANY, 0, "2.6-2.6.27"},
	{"Eeek! page_mapcount(page) went negative!", KIND_BAD_PAGE, 0, 0, "2.6"},
	{"swap_free: Bad swap file entry", KIND_BAD_PAGE, 0, 0, "2.6-"},
	{"get_swap_device: Bad swap file entry", KIND_BAD_PAGE, SIG_BENIGN, 0, "4.11-"},

	/* stacks that were overwritten */
	{"Kernel panic - not syncing: stack-protector: Kernel stack is corrupted in: %F",
	 KIND_STACK_CORRUPTION, ANY | DIES, 0, "2.6.26-"},
	{"Kernel panic - not syncing: corrupted stack end detected inside scheduler",
	 KIND_STACK_OVERFLOW, ANY | DIES, 0, "3.18-"},
	{"Kernel panic - not syncing: kernel stack overflow", KIND_STACK_OVERFLOW,
	 ANY | DIES | WRAP, 0, "4.14- arm64"},
	{"Kernel panic - not syncing: Kernel stack overflow", KIND_STACK_OVERFLOW,
	 ANY | DIES | WRAP, 0, "riscv"},

	/* locks */
	{"%!possible circular locking dependency detected", KIND_LOCKDEP, ANY, 0, "2.6.18-"},
	{"%!possible recursive locking detected", KIND_LOCKDEP, ANY, 0, "2.6.18-"},
	{"%!possible irq lock inversion dependency detected", KIND_LOCKDEP, ANY, 0, "2.6.18-"},
	{"%!inconsistent lock state", KIND_LOCKDEP, ANY, 0, "2.6.18-"},
	{"%!bad unlock balance detected!", KIND_LOCKDEP, ANY, 0, "2.6.18-"},
	{"%!bad contention detected!", KIND_LOCKDEP, ANY, 0, "2.6.23-"},
	{"%!suspicious RCU usage", KIND_LOCKDEP, ANY, 0, "3.2-"},
	{"%!suspicious rcu_dereference_check() usage", KIND_LOCKDEP, ANY, 0, "2.6.34-3.1"},
	{"%!held lock freed!", KIND_LOCKDEP, ANY, 0, "2.6.18-"},
	{"%!lock held when returning to user space!", KIND_LOCKDEP, ANY, 0, "2.6.27-"},
	{"%!lock held at task exit time!", KIND_LOCKDEP, ANY, 0, "2.6.18-"},
	{"%!%W still has locks held!", KIND_LOCKDEP, ANY, 0, "3.9-"},
	{"%!Nested lock was not taken", KIND_LOCKDEP, ANY, 0, "3.12-"},
	{"%!Invalid wait context", KIND_LOCKDEP, ANY, 0, "5.8-"},
	{"%!%W-safe -> %W-unsafe lock order detected", KIND_LOCKDEP, ANY, 0, "2.6.18-"},
	{"%!trying to register non-static key", KIND_LOCKDEP, ANY, 0, "2.6.18-"},
	{"BUG: spinlock %*", KIND_LOCKDEP, ANY, 0, "2.6-"},
	{"BUG: rwlock %*", KIND_LOCKDEP, ANY, 0, "2.6-"},
	{"BUG: rwlock-cpu-lockup on CPU#%C", KIND_LOCKDEP, ANY, 0, "2.6-4.x"},
	{"BUG: key %X %*", KIND_LOCKDEP, ANY, 0, "2.6-"},
	{"BUG: workqueue leaked lock or atomic: %S", KIND_LOCKDEP, ANY, 0, "2.6-6.9"},
	{"BUG: workqueue leaked atomic, lock or RCU: %S", KIND_LOCKDEP, ANY, 0, "6.10-"},
	{"BUG: sleeping function called from invalid context at %L", KIND_ATOMIC_SLEEP, ANY, 0,
	 "2.6-"},
	{"BUG: scheduling while atomic: %S", KIND_ATOMIC_SLEEP, ANY, 0, "2.6-"},
	{"scheduling while atomic: %S", KIND_ATOMIC_SLEEP, 0, 0, "2.6"},
	{"BUG: using %S in preemptible [%X] code: %S", KIND_ATOMIC_SLEEP, ANY, 0, "2.6-"},
	{"BUG: using %S in preemptible", KIND_ATOMIC_SLEEP, ANY, 0, "2.6-"},
	{"RTNL: assertion failed at %L", KIND_WARNING, JOIN, 0, "2.6-"},

	/* what does not go on */
	{"INFO: task %S blocked for more than %D seconds", KIND_HANG, ANY, 0, "2.6.30-"},
	{"INFO: task %S blocked in I/O wait for more than %D seconds", KIND_HANG, ANY, 0, "6.18-"},
	{"INFO: task %S is blocked on", KIND_HANG, SIG_BENIGN, 0, "6.13-"},
	{"INFO: task %W can't die for more than %D seconds", KIND_HANG, ANY, 0, "linux-next"},
	{"BUG: soft lockup - CPU#%C stuck for %*! [%S]", KIND_HANG, ANY, 0, "2.6.24-"},
	{"BUG: soft lockup detected on CPU#%C!", KIND_HANG, ANY, 0, "2.6-2.6.23"},
	{"BUG: soft lockup", KIND_HANG, ANY, 0, "-"},
	{"INFO: rcu%* detected stall on CPU %C", KIND_HANG, ANY, 0, "2.6-"},
	{"INFO: rcu%* self-detected stall on CPU", KIND_HANG, ANY, 0, "3.3-"},
	{"INFO: rcu%* detected stalls on CPUs/tasks", KIND_HANG, ANY, 0, "2.6.32-"},
	{"INFO: rcu%* detected expedited stalls on CPUs/tasks", KIND_HANG, ANY, 0, "4.3-"},
	{"INFO: rcu%* detected stalls on tasks", KIND_HANG, ANY, 0, "3.18-"},
	{"INFO: rcu%* detected stall", KIND_HANG, ANY, 0, "-"},
	{"Watchdog detected hard LOCKUP on cpu %C", KIND_HANG, JOIN | ANY, 0, "2.6.38-"},
	{"BUG: NMI Watchdog detected LOCKUP on CPU%C", KIND_HANG, ANY | DIES, 0, "2.6"},
	{"NMI Watchdog detected LOCKUP on CPU %C", KIND_HANG, ANY | DIES, 0, "2.6"},
	{"BUG: workqueue lockup - pool %S", KIND_HANG, ANY, 0, "4.5-"},
	{"smp: csd: Detected non-responsive CSD lock (#%D) on CPU#%C", KIND_HANG, 0, 0, "5.10-"},

	/* assertions of the kernel */
	{"rust_kernel: panicked at %L", KIND_OTHER, ANY | JOIN | NOTE | DIES, 0, "6.1-"},
	{"kernel BUG at %L!", KIND_BUG, ANY | JOIN | DIES, 0, "-"},
	{"kernel BUG at %L", KIND_BUG, ANY | JOIN | DIES, 0, "-, cut"},
	{"Kernel BUG at %F verbose debug info unavailable", KIND_BUG, ANY | JOIN | DIES, 0, "2.6-"},
	{"Kernel BUG at %L", KIND_BUG, ANY | JOIN | DIES, 0, "2.6-"},
	{"WARNING: kernel stack regs at %X in %S has bad", KIND_WARNING, ANY, 0, "4.9-"},
	{"WARNING: kernel stack frame pointer at %X in %S has bad", KIND_WARNING, ANY, 0, "4.9-"},
	{"WARNING: stack going in the wrong direction?%*", KIND_WARNING, 0, 0, "4.9-"},
	{"WARNING: can't access registers at %F", KIND_WARNING, 0, 0, "4.14-"},
	{"WARNING: can't dereference %*", KIND_WARNING, 0, 0, "4.9-"},
	{"WARNING: unrecognized unwind %*", KIND_WARNING, 0, 0, "4.9-"},
	{"WARNING: stack recursion on stack type", KIND_WARNING, 0, 0, "4.9-"},
	{"WARNING: CPU: %C PID: %P at %L %F", KIND_WARNING, ANY | JOIN, 0, "3.11-6.18"},
	{"WARNING: CPU: %C PID: %P at %F", KIND_WARNING, ANY | JOIN, 0, "3.11-, no file names"},
	{"WARNING: CPU: %C PID: %P", KIND_WARNING, ANY | JOIN, 0, "3.11-6.18, cut"},
	{"WARNING: CPU:", KIND_WARNING, ANY | JOIN, 0, "3.11-6.18, cut"},
	{"WARNING: %L:%D at %F, CPU#%C: %S/%P", KIND_WARNING, ANY | JOIN, 0, "6.19-"},
	{"WARNING: at %L %F", KIND_WARNING, ANY | JOIN, 0, "2.6-3.10"},
	{"WARNING: at %L", KIND_WARNING, ANY | JOIN, 0, "2.6-3.10 ppc"},
	{"WARNING: [%S] %L at %F, CPU#%C: %S/%P", KIND_WARNING, ANY | JOIN, 0, "6.19-"},
	{"WARNING: %L at %F, CPU#%C: %S/%P", KIND_WARNING, ANY | JOIN, 0, "6.19-"},
	{"WARNING: %L at %F, CPU#%C", KIND_WARNING, ANY | JOIN, 0, "6.19-"},
	{"BUG: warning at %L", KIND_WARNING, ANY | JOIN, 0, "2.6.18-2.6.22"},
	{"Badness at %L", KIND_WARNING, ANY | JOIN, 0, "2.6 ppc"},
	{"Badness in %F at %L", KIND_WARNING, ANY | JOIN, 0, "2.6"},
	{"NETDEV WATCHDOG: %S transmit queue %D timed out", KIND_WARNING, ANY | JOIN | NOTE, 0,
	 "2.6-"},
	{"NETDEV WATCHDOG: %*timed out", KIND_WARNING, ANY | JOIN | NOTE, 0, "2.6-"},
	{"sysctl table check failed: %*", KIND_OTHER, ANY, 0, "2.6.24-"},
	{"IRQ handler type mismatch for IRQ %D", KIND_OTHER, 0, 0, "2.6-3.x"},
	{"unregister_netdevice: waiting for %S to become free", KIND_BUG, SIG_ASIDE | ANY, 0,
	 "2.6-"},
	{"BUG: Dentry %S still in use", KIND_BUG, ANY, 0, "2.6-"},

	/* hardware */
	{"Machine check events logged", KIND_MCE, SIG_ASIDE | ANY, 0, "2.6-"},
	{"Machine Check Exception: %*", KIND_MCE, ANY | DIES, 0, "2.6-"},
	{"[Hardware Error]: CPU %C: Machine Check%*", KIND_MCE, ANY, 0, "2.6.38-"},
	{"Machine check from unknown source", KIND_MCE, ANY | DIES, 0, "2.6-"},
	{"EDAC %W: %D UE %*", KIND_EDAC, SIG_ASIDE, 0, "2.6-"},
	{"EDAC %W: UE %*", KIND_EDAC, SIG_ASIDE, 0, "2.6-"},
	{"EDAC %W: %D CE %*", KIND_EDAC, SIG_ASIDE, 0, "2.6-"},
	{"EDAC %W: CE %*", KIND_EDAC, SIG_ASIDE, 0, "2.6-"},
	{"{%D}[Hardware Error]: Hardware error from APEI", KIND_MCE, 0, 0, "2.6.37-"},
	{"PCIe Bus Error: severity=%*", KIND_AER, SIG_ASIDE | ANY, 0, "2.6-"},
	{"AER: Uncorrected%*error %*", KIND_AER, SIG_ASIDE | ANY, 0, "2.6-"},
	{"DMAR: [DMA %S] %*fault addr %X", KIND_IOMMU, SIG_ASIDE, 0, "2.6-"},
	{"DMAR:[DMA %S] %*fault addr %X", KIND_IOMMU, SIG_ASIDE, 0, "2.6-4.1"},
	{"IO_PAGE_FAULT %*", KIND_IOMMU, SIG_ASIDE | ANY, 0, "2.6-"},
	{"arm-smmu%*Unhandled context fault: %*", KIND_IOMMU, SIG_ASIDE, 0, "3.11-"},
	{"Memory failure: %X: %*", KIND_EDAC, SIG_ASIDE, 0, "2.6.32-"},
	{"Uhhuh. NMI received for unknown reason", KIND_MCE, 0, 0, "2.6-"},
	{"NMI: PCI system error (SERR)", KIND_MCE, 0, 0, "2.6-"},
	{"NMI: IOCK error", KIND_MCE, 0, 0, "2.6-"},

	/* lack of memory; never a crash of its own */
	{": page allocation failure: order:%D, mode:%*", KIND_ALLOC_FAILURE, SIG_ASIDE | ANY, 0,
	 "3.0-"},
	{": page allocation failure. order:%D, mode:%*", KIND_ALLOC_FAILURE, SIG_ASIDE | ANY, 0,
	 "2.6"},
	{"vmalloc: allocation failure%*", KIND_ALLOC_FAILURE, SIG_ASIDE | ANY, 0, "2.6.38-"},
	{" invoked oom-killer: %*", KIND_OOM, SIG_ASIDE | ANY, 0, "2.6-"},
	{"irq %D: nobody cared%*", KIND_IRQ, 0, 0, "2.6-"},

	/* the end */
	{"Kernel panic - not syncing: Fatal exception%*", KIND_PANIC, ANY | DIES | WRAP, 0, "2.6-"},
	{"Kernel panic - not syncing: %*panic_on_warn set", KIND_PANIC, ANY | DIES | WRAP, 0,
	 "3.19-"},
	{"Kernel panic - not syncing: Oops%*", KIND_PANIC, ANY | DIES | WRAP, 0, "arm64"},
	{"Kernel panic - not syncing: hung_task: blocked tasks", KIND_HANG, ANY | DIES | WRAP, 0,
	 "2.6.30-"},
	{"Kernel panic - not syncing: softlockup: hung tasks", KIND_HANG, ANY | DIES | WRAP, 0,
	 "2.6.27-"},
	{"Kernel panic - not syncing: RCU Stall", KIND_HANG, ANY | DIES | WRAP, 0, "4.8-"},
	{"Kernel panic - not syncing: Hard LOCKUP", KIND_HANG, ANY | DIES | WRAP, 0, "4.4-"},
	{"Kernel panic - not syncing: Machine halted.", KIND_DOUBLE_FAULT, ANY | DIES | WRAP, 0,
	 "4.x-"},
	{"Kernel panic - not syncing: Fatal %*achine check%*", KIND_MCE, ANY | DIES | WRAP, 0,
	 "2.6-"},
	{"Kernel panic - not syncing: Timeout: Not all CPUs entered broadcast exception handler",
	 KIND_MCE, ANY | DIES | WRAP, 0, "4.3-"},
	{"Kernel panic - not syncing: Asynchronous SError Interrupt", KIND_MCE, ANY | DIES | WRAP,
	 0, "4.15- arm64"},
	{"Kernel panic - not syncing: Attempted to kill init!%*", KIND_PANIC, ANY | DIES | WRAP, 0,
	 "2.6-"},
	{"Kernel panic - not syncing: Attempted to kill the idle task!", KIND_PANIC,
	 ANY | DIES | WRAP, 0, "2.6-"},
	{"Kernel panic - not syncing: Aiee, killing interrupt handler!", KIND_PANIC,
	 ANY | DIES | WRAP, 0, "2.6-"},
	{"trusty: panic (caller", KIND_PANIC, JOIN | DIES, 0,
	 "android: the secure side of the machine"},
	{"Kernel panic - not syncing: sysrq triggered crash", KIND_PANIC, ANY | DIES, 0, "4.18-"},
	{"Kernel panic - not syncing: %*", KIND_PANIC, ANY | DIES, 0, "2.6-"},
	{"Kernel panic - not syncing", KIND_PANIC, ANY | DIES, 0, "2.6-"},
	{"Fixing recursive fault but reboot is needed", KIND_PANIC, DIES | WRAP, 0, "2.6-"},

	{"Booting the kernel.", KIND_REBOOT, SIG_REBOOT, 0, "- x86, without a reason"},

	/* by no row above, and said as a crash all the same */
	{"WARNING: %*", KIND_WARNING, SIG_LAST | SIG_CUT | JOIN, 0, "-"},
	{"BUG: %*", KIND_BUG, SIG_LAST, 0, "-"},
	{"Oops: %*[#%N]", KIND_UNKNOWN, SIG_LAST | JOIN | DIES, 0, "-"},
	{"INFO: task %*", KIND_HANG, SIG_LAST, 0, "2.6.30-, with a name that breaks the line"},
	{"Kernel panic%*", KIND_UNKNOWN, SIG_LAST | DIES, 0, "-"},
	{"Unable to handle kernel%*", KIND_UNKNOWN, SIG_LAST | JOIN | DIES, 0, "-"},
};
const size_t nr_signatures = sizeof(signatures) / sizeof(signatures[0]);

#undef R
#undef W
#undef X

/* The bytes a pattern can begin with: one, or those of "%!". */
static const char *beginnings(const char *pattern, char one[2])
{
	one[0] = *pattern;
	one[1] = 0;
	return *pattern == '%' ? "WBI[" : one;
}

static void pair_mark(struct signature_index *ix, const char *two)
{
	unsigned int pair = (unsigned char)two[0] << 8 | (unsigned char)two[1];

	ix->pair[pair / 64] |= 1ull << (pair % 64);
}

/* The two bytes that a row's text begins with; "%!" stands for some. */
static void pairs_mark(struct signature_index *ix, const char *pattern)
{
	if (*pattern != '%') {
		pair_mark(ix, pattern);
		return;
	}
	pair_mark(ix, "WA");
	pair_mark(ix, "BU");
	pair_mark(ix, "IN");
	pair_mark(ix, "[ ");
}

static bool pair_is(const struct signature_index *ix, const char *two)
{
	unsigned int pair = (unsigned char)two[0] << 8 | (unsigned char)two[1];

	return ix->pair[pair / 64] >> (pair % 64) & 1;
}

void signature_index_make(struct signature_index *ret)
{
	uint16_t at[256];
	char one[2];

	memset(ret->from, 0, sizeof(ret->from));
	for (size_t i = 0; i < nr_signatures; i++)
		for (const char *c = beginnings(signatures[i].pattern, one); *c; c++)
			ret->from[(unsigned char)*c + 1]++;
	for (int c = 0; c < 256; c++) {
		at[c] = ret->from[c];
		ret->from[c + 1] += ret->from[c];
	}
	for (size_t i = 0; i < nr_signatures; i++)
		for (const char *c = beginnings(signatures[i].pattern, one); *c; c++)
			if (at[(unsigned char)*c] < sizeof(ret->row) / sizeof(ret->row[0]))
				ret->row[at[(unsigned char)*c]++] = i;
	memset(ret->pair, 0, sizeof(ret->pair));
	for (size_t i = 0; i < nr_signatures; i++)
		if (signatures[i].flags & SIG_ANYWHERE)
			pairs_mark(ret, signatures[i].pattern);
}

static const struct signature *rows_try(const struct signature_index *ix, struct str text,
					bool begins, bool last, struct captures *ret)
{
	unsigned char c = str_at(text, 0);

	for (int i = ix->from[c]; i < ix->from[c + 1]; i++) {
		const struct signature *sig = &signatures[ix->row[i]];
		struct captures got;

		if (!begins && !(sig->flags & SIG_ANYWHERE))
			continue;
		if (!!(sig->flags & SIG_LAST) != last)
			continue;
		if (sig->pattern[0] != '%' && sig->pattern[1] != '%' &&
		    sig->pattern[1] != str_at(text, 1))
			continue;
		memset(&got, 0, sizeof(got));
		if (!match(sig->pattern, text, &got))
			continue;
		*ret = got;
		return sig;
	}
	return NULL;
}

/* In a program's source or in a text about crashes. */
static bool is_quoted(struct str text, size_t at)
{
	return text.s[at - 1] == '"' || text.s[at - 1] == '\'' || text.s[at - 1] == '`';
}

/* "%s", "%016lx", "%px": of printf, and not a name that a percent sign begins. */
static bool is_conversion(struct str s)
{
	size_t at = 1;

	while (is_digit(str_at(s, at)) || str_at(s, at) == 'l' || str_at(s, at) == '#')
		at++;
	if (!str_at(s, at) || !strchr("sduxcp", s.s[at]))
		return false;
	if (s.s[at] == 'p' && str_at(s, at + 1) && strchr("xKSsB", s.s[at + 1]))
		at++;
	return !is_letter(str_at(s, at + 1)) && !is_digit(str_at(s, at + 1));
}

/* The format string itself, of a source file or a patch. */
static bool is_format(struct str text)
{
	for (size_t i = 0; i < text.n; i++)
		if (text.s[i] == '%' && is_conversion(str_from(text, i)))
			return true;
	return false;
}

const struct signature *signature_find(const struct signature_index *ix, struct str text,
				       struct captures *ret)
{
	const struct signature *sig;

	text = str_first(str_trim(text), HEADER_MOST);
	if (!text.n)
		return NULL;
	sig = rows_try(ix, text, true, false, ret);
	for (size_t at = 1; !sig && at + 4 < text.n; at++)
		if (pair_is(ix, text.s + at) && !is_quoted(text, at))
			sig = rows_try(ix, str_from(text, at), false, false, ret);
	if (!sig)
		sig = rows_try(ix, text, true, true, ret);
	return sig && !is_format(text) ? sig : NULL;
}
