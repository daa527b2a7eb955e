// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#define _GNU_SOURCE
#include "collect/symbols/user_symbols.h"

#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "collect/symbols/user_procs.h"

int user_symbols_open(struct user_symbols *us)
{
	memset(us, 0, sizeof(*us));
	elf_version(EV_CURRENT);
	us->our_root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	us->procs = calloc(1, sizeof(*us->procs));
	return us->procs ? user_files_open(us) : -ENOMEM;
}

void user_symbols_close(struct user_symbols *us)
{
	for (size_t i = 0; us->procs && i < USER_PROCS_MAX; i++)
		user_proc_forget(&us->procs->p[i]);
	user_files_close(us);
	free(us->procs);
	if (us->our_root >= 0)
		close(us->our_root);
	memset(us, 0, sizeof(*us));
	us->our_root = -1;
}

int user_symbols_learn(struct user_symbols *us, const struct process_key *of)
{
	struct user_proc *p;
	int err;

	if (us->foreign)
		return -ESRCH;
	err = user_proc_learn(us, of, &p);
	if (!err)
		user_proc_renew(p);
	return err;
}

bool user_symbols_missed(struct user_symbols *us, const struct process_key *of)
{
	struct user_proc *p;
	int err;

	if (us->foreign)
		return false;
	p = user_procs_find(us, of);
	err = p ? 0 : user_proc_learn(us, of, &p);
	/* before Linux 6.11, a process that waits to be reaped has a list without mappings */
	return err ? err == -ESRCH : !p->maps.n;
}

/* Reads a process's mappings again if possible. Returns the process, or NULL if it is not known. */
static struct user_proc *learn_again(struct user_symbols *us, const struct process_key *of)
{
	struct user_proc *p;

	return us->foreign || user_proc_learn(us, of, &p) ? user_procs_find(us, of) : p;
}

static void note_unknown(struct user_proc *p, const __u8 *build_id)
{
	if (p->nr_unknown < USER_UNKNOWN_MAX)
		memcpy(p->unknown[p->nr_unknown++], build_id, BUILD_ID_BYTES);
}

/*
 * Returns whether a build-id is known to be in no mapped file. Also returns true if the list of
 * such build-ids is full.
 */
static bool is_unknown(const struct user_proc *p, const __u8 *build_id)
{
	for (__u32 i = 0; i < p->nr_unknown; i++)
		if (!memcmp(p->unknown[i], build_id, BUILD_ID_BYTES))
			return true;
	return p->nr_unknown == USER_UNKNOWN_MAX;
}

/*
 * Finds a mapped file. A process may have mapped more files since its mappings were read. Mappings
 * are read again only once for each build-id, because files may be unreadable and build-ids
 * invented. If the process is gone, uses a file that another process maps, under the name that it
 * has there.
 */
static struct user_file *file_by_build_id(struct user_symbols *us, const struct process_key *of,
					  const __u8 *build_id)
{
	struct user_proc *p = user_procs_find(us, of);
	struct user_file *f = p ? user_maps_file(us, of, &p->maps, build_id) : NULL;

	if (!f && (!p || !is_unknown(p, build_id))) {
		p = learn_again(us, of);
		f = p ? user_maps_file(us, of, &p->maps, build_id) : NULL;
		if (p && !f)
			note_unknown(p, build_id);
	}
	return f ? f : user_files_by_build_id(us, build_id);
}

static bool name_in_file(struct user_symbols *us, struct user_file *f, __u64 offset, bool innermost,
			 struct user_symbol *ret)
{
	snprintf(ret->module, sizeof(ret->module), "%s", f->module);
	ret->astray = !elf_headers_is_code(&f->elf.h, offset);
	if (!elf_headers_address(&f->elf.h, offset, &ret->address))
		return true;
	user_file_name(us, f, ret->address - !innermost, ret);
	ret->code = (struct user_code){.place = f - us->files->f,
				       .serial = f->serial,
				       .address = ret->address - !innermost};
	if (ret->name[0])
		ret->offset += !innermost;
	return true;
}

/* Names an address of a frame without build-id, in a file without build-id or in JIT code. */
static bool name_address(struct user_symbols *us, struct user_proc *p, __u64 ip, bool innermost,
			 struct user_symbol *ret)
{
	struct user_map *m = user_maps_at(&p->maps, ip);
	struct user_file *f = m ? user_map_file(us, &p->of, m) : NULL;

	if (f && !f->unproven)
		return name_in_file(us, f, ip - m->start + m->offset, innermost, ret);
	if (!user_proc_jit(us, p, ip - !innermost, ret))
		return false;
	ret->offset += !innermost;
	ret->address = ip;
	return true;
}

static bool is_power_of_two(__u32 n)
{
	return !(n & (n - 1));
}

/*
 * An address outside of all known mappings may be in a new mapping. It may also be a random value,
 * from a broken chain of frames. To save time, mappings are read again only at the 1st, 2nd, 4th,
 * 8th, … such address.
 */
static bool find_address(struct user_symbols *us, const struct process_key *of, __u64 ip,
			 bool innermost, struct user_symbol *ret)
{
	struct user_proc *p = user_procs_find(us, of);

	if (p && name_address(us, p, ip, innermost, ret))
		return true;
	if (p && (user_maps_at(&p->maps, ip) || !is_power_of_two(++p->astray)))
		return false;
	p = learn_again(us, of);
	return p && name_address(us, p, ip, innermost, ret);
}

bool user_symbols_resolve(struct user_symbols *us, const struct process_key *of,
			  const struct bpf_stack_build_id *frame, bool innermost,
			  struct user_symbol *ret)
{
	struct user_file *f;

	memset(ret, 0, sizeof(*ret));
	if (frame->status == BPF_STACK_BUILD_ID_IP) {
		if (find_address(us, of, frame->ip, innermost, ret))
			return true;
		ret->astray = true;
		return false;
	}
	if (frame->status != BPF_STACK_BUILD_ID_VALID)
		return false;
	f = file_by_build_id(us, of, frame->build_id);
	return f && name_in_file(us, f, frame->offset, innermost, ret);
}

bool user_symbols_code_file(const struct user_symbols *us, const struct user_code *code,
			    struct user_code_file *ret)
{
	const struct user_file *f;

	if (!us->files || code->place >= USER_FILES_MAX)
		return false;
	f = &us->files->f[code->place];
	if (!code->serial || f->serial != code->serial)
		return false;
	*ret = (struct user_code_file){.fd = f->elf.file.fd,
				       .has_lines = f->elf.h.has_lines,
				       .build_id = f->elf.h.build_id,
				       .build_id_bytes = f->elf.h.build_id_bytes};
	return true;
}
