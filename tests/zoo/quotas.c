/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Test cases of quotas of ext4. The disk of the guest has an ext4 with quotas of users
 * (tests/zoo/run.py).
 */
#include "zoo.h"

#include <linux/quota.h>
#include <sys/mount.h>
#include <sys/quota.h>
#include <sys/stat.h>

#define DISK	   "/dev/vda"
#define FEW	   3
#define MOST_KIB   64
#define UNLIMITED  0

static char place[] = "/tmp/zoo-ext4-XXXXXX";
static char path[64];
static char block[MOST_KIB * KIB];
static int file;

static void remove_place(void)
{
	umount2(place, MNT_DETACH);
	rmdir(place);
}

static void limit_user(unsigned long kib, unsigned long files)
{
	struct dqblk limits = {
		.dqb_bhardlimit = kib, .dqb_ihardlimit = files, .dqb_valid = QIF_LIMITS,
	};

	if (quotactl(QCMD(Q_SETQUOTA, USRQUOTA), DISK, other_user(), (caddr_t)&limits))
		die("Q_SETQUOTA");
}

/* Other cases leave files of other users on the disk. */
static const char *path_of(int i)
{
	snprintf(path, sizeof(path), "%s/%d-%d", place, getpid(), i);
	return path;
}

static int new_file(int i)
{
	int fd = open(path_of(i), O_CREAT | O_RDWR | O_CLOEXEC, 0600);

	if (fd < 0)
		die("%s", path);
	return fd;
}

static void mount_disk(unsigned long kib, unsigned long files)
{
	enter_mount_namespace();
	if (!mkdtemp(place))
		die("mkdtemp");
	at_end(remove_place);
	if (mount(DISK, place, "ext4", 0, "usrquota"))
		skip(DISK " as ext4: %s", strerror(errno));
	if (chmod(place, 01777))
		die("chmod");
	limit_user(kib, files);
	become_another_user();
}

/* Half of the blocks are in a file that can be removed. */
static void fill_blocks(void)
{
	mount_disk(MOST_KIB, UNLIMITED);
	file = new_file(0);
	if (write(file, block, sizeof(block) / 2) != sizeof(block) / 2)
		die("write");
	close(file);
	file = new_file(1);
}

static void writes_beyond_blocks(void)
{
	fill_blocks();
	if (write(file, block, sizeof(block) / 2) != sizeof(block) / 2)
		die("write");
	ASK(write, file, P(block), sizeof(block) / 2);
}

static void reserves_beyond_blocks(void)
{
	fill_blocks();
	ASK(fallocate, file, 0, 0, sizeof(block));
}

static void remove_first(void)
{
	if (unlink(path_of(0)))
		die("unlink");
}

static void too_many_files(void)
{
	mount_disk(UNLIMITED, FEW);
	for (int i = 0; i < FEW; i++)
		close(new_file(i));
	ASK(openat, AT_FDCWD, P(path_of(FEW)), O_CREAT | O_RDWR, 0600);
}

static void remove_first_file(void)
{
	remove_first();
	path_of(FEW); /* the argument of the call */
}

#define QUOTA(call, prepare, lift)                                                                 \
	{ call, EDQUOT, "file_quota" }, prepare, NULL, lift, .guest = true

const struct zoo_case quota_cases[] = {
	{ "quota-ext4-write", QUOTA("write", writes_beyond_blocks, remove_first) },
	{ "quota-ext4-fallocate", QUOTA("fallocate", reserves_beyond_blocks, remove_first) },
	{ "quota-ext4-files", QUOTA("openat", too_many_files, remove_first_file) },
	{ 0 },
};
