/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * collect: reads the memory pressure of the machine, its cgroups and tmpfs mounts at each scan,
 * from small files of /proc and cgroupfs. Never reads large files such as smaps and maps.
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
	uint64_t device; /* device number of the kernel: MKDEV() */
	/* pid of a process that sees the mount at `path`; 0: faultscope itself sees it there */
	uint32_t pid;
	bool in_memory;
};

struct pressure_reader {
	int fd[NR_PRESSURE_FILES]; /* file descriptors; < 0: the file is not available */
	struct cgroup_mount hierarchy;
	int root; /* descriptor of the memory cgroup root; < 0: none */
	char (*level)[256];
	struct listed_mount *mount;
	size_t levels, mounts;
	/*
	 * `over`: cgroups and mounts that this listing left out, because there are too many;
	 * `left_out`: maximum of `over` in all listings
	 */
	uint64_t over, left_out;
	unsigned int looks;
	bool targets; /* read only the cgroups of watched processes */
	bool scores;  /* read the OOM scores of processes */
};

void pressure_open(struct pressure_reader *r);
void pressure_close(struct pressure_reader *r);

/*
 * Sends the records of one scan to the consumer `sink`, before processes are scanned. Returns 0,
 * -ENOMEM, or the consumer's error.
 */
int pressure_scan(struct pressure_reader *r, const struct model *m, const struct sink *sink);

/* Sends only the records of cgroups. Call only one of these two functions with a reader. */
int pressure_scan_only_cgroups(struct pressure_reader *r, const struct model *m,
			       const struct sink *sink);

/* The parts of pressure_scan(): the first function reads the cgroups, the second one the mounts. */
int pressure_scan_cgroups(struct pressure_reader *r, const struct model *m,
			  const struct sink *sink);
int pressure_scan_mounts(struct pressure_reader *r, const struct model *m, const struct sink *sink);

/* List the cgroups and mounts that scans read; called every few scans. */
void pressure_list_cgroups(struct pressure_reader *r, const struct model *m);
void pressure_list_mounts(struct pressure_reader *r, const struct model *m);

/*
 * Returns whether statfs() on this file system type never blocks. A network file system may block.
 */
bool pressure_is_local(struct span type, bool *in_memory);

/*
 * Returns whether `path` leads to the mount of `line`. Another mount may have been mounted over it.
 */
bool pressure_is_mounted(const char *path, const struct mount_line *line);

/* Reads how full a file system is, by statfs(2). Returns false if it reports no sizes. */
bool pressure_measure_mount(const char *path, struct mount_record *ret);

/* Finds a number in a line "KEY NUMBER". Returns false if the line is missing. */
bool pressure_keyed(const char *text, const char *key, uint64_t *ret);

/* Parses the lines "some" and "full" of a PSI file. */
void pressure_stalls(const char *text, struct stall *some, struct stall *full);

#endif
