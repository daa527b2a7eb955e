/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Values of include/uapi/asm-generic/errno-base.h, equal on all supported architectures. */
#ifndef FS_ERRNO_BPF_H
#define FS_ERRNO_BPF_H

#define EPERM  1
#define ENOENT 2
#define E2BIG  7
#define EBADF  9
#define EAGAIN 11
#define ENOMEM 12
#define EINVAL 22
#define ENFILE 23
#define EMFILE 24
#define EFBIG  27
#define ENOSPC 28
/* values of include/uapi/asm-generic/errno.h */
#define ENOBUFS	     105
#define ETOOMANYREFS 109
#define EDQUOT	     122

#endif
