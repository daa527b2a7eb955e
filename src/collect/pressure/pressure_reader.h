/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * collect: how short of memory machine, cgroups and tmpfs are, as records; from small files of
 * /proc and cgroupfs, read at each look. What would be large is never read: no smaps, no maps.
 */
#ifndef FS_COLLECT_PRESSURE_PRESSURE_READER_H
#define FS_COLLECT_PRESSURE_PRESSURE_READER_H

#include "collect/cgroup/cgroup_tree.h"
#include "collect/files/mountinfo.h"
#include "model/pressure.h"
#include "probe/source.h"

enum pressure_file {
	PRESSURE_PSI,
	PRESSURE_MEMINFO,
	PRESSURE_VMSTAT,
	PRESSURE_RATIO,
	PRESSURE_KBYTES,
	PRESSURE_SWAPPINESS,
	NR_PRESSURE_FILES,
};

struct listed_mount {
	char path[128];
	uint64_t device; /* as struct mount_record has it */
	uint32_t pid;	 /* of whose mount namespace; 0: ours */
	bool in_memory;
};

struct pressure_reader {
	int fd[NR_PRESSURE_FILES]; /* below 0: not there */
	struct cgroup_mount hierarchy;
	int root; /* of the hierarchy of memory; below 0: there is none */
	char (*level)[256];
	struct listed_mount *mount;
	size_t levels, mounts;
	uint64_t over, left_out; /* places beyond the caps: of this listing; the most of any */
	unsigned int looks;
	bool targets; /* of some processes: their cgroups alone */
	bool scores;  /* whom the OOM killer would take */
};

void pressure_open(struct pressure_reader *r);
void pressure_close(struct pressure_reader *r);

/* Records of one look, ahead of the look at processes. -ENOMEM, or what the sink says. */
int pressure_scan(struct pressure_reader *r, const struct model *m, const struct sink *sink);

/* The parts; they come in pressure_scan(). */
int pressure_scan_cgroups(struct pressure_reader *r, const struct model *m,
			  const struct sink *sink);
int pressure_scan_mounts(struct pressure_reader *r, const struct model *m, const struct sink *sink);

/* What is there now: every so many looks. */
void pressure_list_cgroups(struct pressure_reader *r, const struct model *m);
void pressure_list_mounts(struct pressure_reader *r, const struct model *m);

/* Whether the type of a file system answers at once: one of the network may take for ever. */
bool pressure_is_local(struct span type, bool *in_memory);

/* Whether the path leads to the mount of that line: another may be mounted over it. */
bool pressure_is_mounted(const char *path, const struct mount_line *line);

/* How full it is, by statfs(2): magic, sizes and inodes. False: it does not say. */
bool pressure_measure_mount(const char *path, struct mount_record *ret);

/* A line of text that begins with the key and a blank: the number behind it. */
bool pressure_keyed(const char *text, const char *key, uint64_t *ret);

/* Both lines of a pressure file. */
void pressure_stalls(const char *text, struct stall *some, struct stall *full);

#endif
