// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Tests the class of each fault signal. The records are like those of BPF programs. */
#include <signal.h>

#include "fixture.h"
#include "rules/fault.h"
#include "tap.h"
#include "finding_text.h"

/* All classes of fault signals. */
static const char *const fault_classes[] = {
	"null",
	"near-null",
	"unmapped",
	"stack overflow",
	"guard page",
	"no access",
	"read-only",
	"no-exec",
	"protection",
	"protection key",
	"memory tag",
	"control flow",
	"non-canonical",
	"privileged instruction",
	"general protection",
	"kernel address",
	"past end of file",
	"tmpfs full",
	"huge page pool empty",
	"read error",
	"driver",
	"misaligned",
	"hardware poison",
	"abort",
	"unknown",
	NULL,
};

#define PAGE 4096ULL
#define AT   0x7f0000001000ULL

/* The VM_* values are copied from include/linux/mm.h, PF_* from arch/x86/include/asm/trap_pf.h. */
#define VM_READ	     0x1
#define VM_WRITE     0x2
#define VM_EXEC	     0x4
#define VM_SHARED    0x8
#define VM_GROWSDOWN 0x100
#define VM_HUGETLB   0x400000
#define PF_WRITE     2
#define PF_INSTR     16

#define REGULAR 0100644
#define TMPFS	0x01021994

static struct signal_record r;
static struct host_limits l;
static struct verdict v;

static void begin(int signal, int code, uint64_t address)
{
	r = RECORD(signal_record, RECORD_SIGNAL, SECOND);
	r.signal = signal;
	r.code = code;
	r.address = address;
	r.sp = 0x7ffc00000000;
	r.stack_limit_bytes = 8 << 20;
	l = tick_record(0).limits;
}

/*
 * Sets the accessed address to the second page of a mapping. The mapping has four pages and the
 * VM_* flags `flags`.
 */
static void is_in(uint64_t flags)
{
	r.area = MAPPED_FOUND;
	r.area_start = r.address / PAGE * PAGE - PAGE;
	r.area_end = r.area_start + 4 * PAGE;
	r.area_flags = flags;
}

static void is_of(uint64_t size, uint32_t mode, uint64_t magic)
{
	r.file.flags = FILE_KNOWN;
	r.file.size_bytes = size;
	r.file.mode = mode;
	r.file.magic = magic;
	strcpy(r.file.name, "data");
}

static void is_class(const char *class, bool certain, const char *name)
{
	size_t n = 0;

	fault_of(&r, &l, &v);
	is_str(v.cause, class, name);
	ok(v.certain == certain, "%s: %s", name, certain ? "certain" : "not certain");
	while (fault_classes[n] && strcmp(fault_classes[n], v.cause))
		n++;
	ok(fault_classes[n], "%s: a listed class", name);
}

static void test_addresses(void)
{
	begin(SIGSEGV, SEGV_MAPERR, 0);
	is_class("null", true, "address 0");
	begin(SIGSEGV, SEGV_MAPERR, 65535);
	is_class("near-null", true, "the last that is near it");
	begin(SIGSEGV, SEGV_MAPERR, 65536);
	r.area = MAPPED_NONE;
	is_class("unmapped", true, "the first that is not");
	r.area = MAPPED_UNKNOWN;
	is_class("unmapped", false, "not looked at");
	begin(SIGSEGV, SEGV_ACCERR, 8192);
	is_in(VM_READ);
	r.error_code = PF_WRITE;
	is_class("read-only", true, "a mapping near null is a mapping");
	begin(SIGSEGV, SEGV_MAPERR, 1ULL << 63);
	is_class("kernel address", true, "the upper half");
	begin(SIGSEGV, SI_KERNEL, 0);
	is_class("general protection", false, "no address, and nothing is known");
	r.flags = SIGNAL_ODD;
	is_class("non-canonical", false, "a register holds no address");
	r.ip_bytes = 0xf4;
	is_class("privileged instruction", true, "hlt");
	r.flags = 0;
	r.ip_bytes = 0x300f;
	is_class("privileged instruction", true, "wrmsr");
	is_str(evidence_value_str(&v.evidence[0]), "0f 30 00 00", "its bytes");
	r.ip_bytes = 0x58280f;
	is_class("general protection", false, "movaps, of what is not aligned");
	r.ip_bytes = 0xc3;
	is_class("non-canonical", false, "a return to what is on the stack");
}

static void test_rights(void)
{
	begin(SIGSEGV, SEGV_ACCERR, AT);
	is_class("protection", false, "not looked at");
	is_in(0);
	is_class("no access", true, "no right");
	is_str(evidence_value_str(&v.evidence[0]), "---", "which are said");
	r.sp = AT + 100;
	is_class("guard page", true, "no right, next to the stack pointer");
	is_in(VM_READ | VM_WRITE);
	r.error_code = PF_INSTR;
	is_class("no-exec", true, "run, and not executable");
	r.error_code = PF_WRITE;
	is_class("protection", false, "written, and writable: not by its rights");
	is_in(VM_READ);
	is_class("read-only", true, "written, and not writable");
	is_str(evidence_value_str(&v.evidence[0]), "r--", "its rights");
	begin(SIGSEGV, SEGV_PKUERR, AT);
	is_class("protection key", true, "a protection key");
	begin(SIGSEGV, SEGV_MAPERR, AT);
	is_in(VM_READ | VM_WRITE);
	is_class("guard page", false, "not there, in a mapping");
}

static void test_stacks(void)
{
	begin(SIGSEGV, SEGV_MAPERR, 0x7ffc00000000 - 8);
	r.area = MAPPED_NONE;
	r.area_start = 0x7f0000000000;
	r.area_end = 0x7ffc00001000;
	is_class("stack overflow", false, "at the stack pointer, and no stack above");
	r.above_flags = VM_READ | VM_WRITE | VM_GROWSDOWN;
	r.above_end = 0x7ffc00000000 + (8 << 20) - PAGE;
	is_class("stack overflow", false, "a stack that might grow by its limit");
	is_str(evidence_value_str(&v.evidence[0]), "8.00 MiB", "what it would be");
	r.above_end += PAGE;
	is_class("stack overflow", true, "one that may not");
	r.sp = 0x7ffb00000000;
	is_class("stack overflow", true, "the stack pointer is far below, in the hole");
	r.sp = 0x7e0000000000;
	is_class("unmapped", true, "the stack pointer is elsewhere");
	r.sp = 0;
	is_class("stack overflow", true, "where it is, is not known");
	r.above_end = r.address + (64 << 20);
	is_class("unmapped", true, "nor is it, far below what the stack may be");
}

static void test_files(void)
{
	begin(SIGBUS, BUS_ADRERR, AT);
	is_class("unknown", false, "not looked at");
	is_in(VM_READ | VM_WRITE | VM_SHARED);
	is_class("unknown", false, "no file");
	is_of(4096, REGULAR, 0xef53);
	is_class("past end of file", true, "its second page, of a file of one");
	is_str(evidence_value_str(&v.evidence[1]), "4.00 KiB", "where in the file");
	is_str(fault_mapping(&r), "shared file", "a shared file");
	r.file.size_bytes++;
	is_class("read error", false, "its last byte is in the second");
	r.file_page = 1;
	is_class("past end of file", true, "mapped from its second page on");
	r.file_page = 0;
	r.file.mode = 020600;
	is_class("driver", false, "of a device");
	is_of(1 << 20, REGULAR, TMPFS);
	is_class("unknown", false, "of a memory file, which has no limit of its own");
	r.tmpfs_pages = r.tmpfs_pages_used = 2000;
	is_class("tmpfs full", true, "all its pages are used");
	is_str(fault_mapping(&r), "shared memory", "shared memory");
	r.tmpfs_pages_used = 1990;
	is_class("tmpfs full", false, "all but what is not yet added up");
	r.tmpfs_pages_used = 100;
	is_class("unknown", false, "far from full");
	r.area_flags |= VM_HUGETLB;
	is_class("huge page pool empty", true, "of huge pages");
	l.page_bytes = 0;
	is_class("huge page pool empty", true, "page size 0 is taken for 4096");
	begin(SIGBUS, BUS_ADRALN, AT);
	is_class("misaligned", true, "alignment");
	begin(SIGBUS, BUS_MCEERR_AR, AT);
	is_class("hardware poison", true, "poison");
}

static void test_mappings(void)
{
	begin(SIGSEGV, SEGV_ACCERR, AT);
	ok(!fault_mapping(&r), "no mapping");
	is_in(VM_READ);
	is_str(fault_mapping(&r), "anonymous", "anonymous");
	is_in(0);
	is_str(fault_mapping(&r), "guard", "without rights");
	is_in(VM_READ | VM_WRITE | VM_GROWSDOWN);
	is_str(fault_mapping(&r), "stack", "a stack");
	is_in(VM_READ);
	is_of(1, REGULAR, 0);
	is_str(fault_mapping(&r), "private file", "a private file");
}

static void test_hostile(void)
{
	uint64_t seed = 1;
	bool good = true;

	for (int i = 0; i < 200000; i++) {
		unsigned char *p = (unsigned char *)&r;
		size_t n = 0;

		begin(SIGSEGV, 0, 0);
		for (size_t k = sizeof(r.h); k < sizeof(r); k++) {
			seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
			p[k] = seed >> 62 ? 0 : seed >> 33;
		}
		r.signal = i & 1 ? SIGBUS : SIGSEGV;
		r.file.name[FILE_NAME_LEN - 1] = 0; /* the collector always sets the final NUL */
		fault_of(&r, &l, &v);
		fault_mapping(&r);
		while (fault_classes[n] && strcmp(fault_classes[n], v.cause))
			n++;
		good &= fault_classes[n] && v.nr_evidence <= EVIDENCE_MAX;
	}
	ok(good, "random records: a listed class each");
}

int main(void)
{
	test_addresses();
	test_rights();
	test_stacks();
	test_files();
	test_mappings();
	test_hostile();
	return tap_done();
}
