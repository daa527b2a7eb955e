// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "triage/insn.h"

#include <stdio.h>

static uint32_t bits(uint32_t word, int high, int low)
{
	return word >> low & ((1u << (high - low + 1)) - 1);
}

static int64_t sign(uint32_t value, int width)
{
	return (int64_t)((uint64_t)value << (64 - width)) >> (64 - width);
}

/* Decodes loads and stores of one register: Arm ARM C4.1.88, "Loads and stores". */
static bool arm64_single(uint32_t w, struct insn *in)
{
	uint32_t size = bits(w, 31, 30), opc = bits(w, 23, 22);
	bool simd = bits(w, 26, 26);
	bool atomic = !bits(w, 25, 24) && bits(w, 21, 21) && !bits(w, 11, 10);

	if (bits(w, 25, 24) > 1)
		return false;
	in->access = opc == 0 || (simd && opc == 2) ? ACCESS_WRITE : ACCESS_READ;
	if (!simd && size == 3 && opc == 2 && !atomic)
		return false; /* prefetch instructions cannot fault */
	in->size = simd && opc >= 2 ? 16 : 1 << size;
	in->base = bits(w, 9, 5);
	in->memory = true;
	if (bits(w, 25, 24) == 1) {
		in->offset = (int64_t)bits(w, 21, 10) * in->size;
		return true;
	}
	if (!bits(w, 21, 21)) {
		if (bits(w, 11, 10) != 1) /* post-indexed: the offset is added after the access */
			in->offset = sign(bits(w, 20, 12), 9);
		return true;
	}
	if (bits(w, 11, 10) == 2) {
		in->index = bits(w, 20, 16);
		in->scale = bits(w, 12, 12) ? in->size : 1;
		return true;
	}
	if (atomic) { /* atomic instructions both read and write */
		in->access = ACCESS_WRITE;
		return true;
	}
	return false;
}

bool arm64_decode(uint32_t w, struct insn *ret)
{
	struct insn in = {.base = -1, .index = -1, .target = -1, .scale = 1};

	if ((w & 0xfffffc1f) == 0xd63f0000 || (w & 0xfffffc1f) == 0xd61f0000) {
		in.calls = true;
		in.target = bits(w, 9, 5);
	} else if ((w & 0xffe0001f) == 0xd4200000) {
		in.traps = true;
	} else if (bits(w, 29, 27) == 7) {
		if (!arm64_single(w, &in))
			return false;
	} else if (bits(w, 29, 27) == 5 && !bits(w, 25, 25)) { /* load or store of a pair */
		uint32_t unit = bits(w, 26, 26) ? 4 << bits(w, 31, 30) : bits(w, 31, 31) ? 8 : 4;

		in.access = bits(w, 22, 22) ? ACCESS_READ : ACCESS_WRITE;
		in.size = unit;
		in.base = bits(w, 9, 5);
		in.memory = true;
		if (bits(w, 24, 23) != 1)
			in.offset = sign(bits(w, 21, 15), 7) * unit;
	} else if (bits(w, 29, 24) == 8) { /* exclusive and ordered accesses; compare-and-swap */
		bool swaps = bits(w, 21, 21) && (bits(w, 23, 23) || !bits(w, 31, 31));

		in.access = bits(w, 22, 22) && !swaps ? ACCESS_READ : ACCESS_WRITE;
		in.size = 1 << bits(w, 31, 30);
		in.base = bits(w, 9, 5);
		in.memory = true;
	} else {
		return false;
	}
	*ret = in;
	return true;
}

bool insn_of(const struct incident *e, struct insn *ret)
{
	const uint8_t *p = e->code + e->code_at;

	if (!e->has_code_at || e->code_at >= e->code_bytes)
		return false;
	if (e->arch == ARCH_X86_64 || e->arch == ARCH_I386)
		return x86_decode(p, e->code_bytes - e->code_at, e->arch == ARCH_X86_64, ret);
	if (e->arch == ARCH_ARM64 && e->code_bytes - e->code_at >= 4)
		return arm64_decode(p[0] | p[1] << 8 | p[2] << 16 | (uint32_t)p[3] << 24, ret);
	return false;
}

static bool value_of(const struct incident *e, int number, uint64_t *ret)
{
	if (number == 31 && e->arch == ARCH_ARM64) {
		*ret = e->sp;
		return e->has_sp;
	}
	if (number == 4 && !(e->regs.known >> 4 & 1) && e->arch != ARCH_ARM64) {
		*ret = e->sp;
		return e->has_sp;
	}
	if (number < 0 || number >= REGS_MAX || !(e->regs.known >> number & 1))
		return false;
	*ret = e->regs.value[number];
	return true;
}

bool insn_address(const struct incident *e, const struct insn *in, uint64_t *ret)
{
	uint64_t base = 0, index = 0;

	if (!in->memory || in->ip_relative)
		return false;
	if (in->base >= 0 && !value_of(e, in->base, &base))
		return false;
	if (in->index >= 0 && !value_of(e, in->index, &index))
		return false;
	*ret = base + index * in->scale + in->offset;
	if (e->arch == ARCH_I386)
		*ret &= UINT32_MAX;
	return true;
}

void register_name(enum arch arch, int number, char *ret, size_t size)
{
	static const char *const names[] = {"ax", "cx", "dx", "bx", "sp", "bp", "si", "di"};

	if (arch == ARCH_ARM64)
		snprintf(ret, size, number == 31 ? "sp" : "x%d", number);
	else if (number >= 8 || number < 0)
		snprintf(ret, size, "r%d", number);
	else
		snprintf(ret, size, "%s%s", arch == ARCH_I386 ? "e" : "r", names[number]);
}
