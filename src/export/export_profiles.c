// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * --export.profiles: profiles of what the ring in memory contains. A request reads the ring like a
 * recording. All profiles are made at once and kept for a while, since scrapers request one after
 * another, and so that requests cannot use up a CPU.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/compress.h"
#include "export/export.h"
#include "probe/host_facts.h"
#include "render/formats/pprof.h"
#include "session/recording_parts.h"
#include "session/whole_recording.h"

#define NS_PER_S  1000000000ULL
#define KEPT_NS	  NS_PER_S /* profiles are kept at least this long, */
#define CPU_SHARE 40	   /* and this many times the time that it took to make them */

static const struct {
	const char *name;
	unsigned int measures; /* bits of enum profile_measure */
} profiles[] = {
	{"faults", 1u << MEASURE_FAULTS | 1u << MEASURE_BYTES},
	{"mappings", 1u << MEASURE_MAPS},
	{"fds", 1u << MEASURE_FDS},
	{"stalls", 1u << MEASURE_STALL},
};
#define NR_PROFILES (sizeof(profiles) / sizeof(profiles[0]))

/* Profiles of the whole ring, or of its last seconds. */
struct kept_profiles {
	struct buf body[NR_PROFILES]; /* compressed */
	double seconds;
	uint64_t until_ns; /* they are kept until this time, CLOCK_MONOTONIC; 0: none */
};

struct export_profiles {
	/* files without a name: the ring, and its last seconds; opened before privileges are
	 * dropped */
	int ring, part;
	struct options options; /* of the command that reads the ring */
	struct gzip *gzip;
	struct kept_profiles whole, last;
};

int export_profiles_open(struct export *x)
{
	struct export_profiles *p = x->o->profiles ? calloc(1, sizeof(*p)) : NULL;

	if (!x->o->profiles)
		return 0;
	if (p) {
		p->ring = memfd_create("ring", MFD_CLOEXEC);
		p->part = memfd_create("part", MFD_CLOEXEC);
		p->options = (struct options){.command = CMD_REPORT, .quiet = true};
		x->profiles = p;
	}
	if (p && p->ring >= 0 && p->part >= 0)
		return 0;
	complain("--export.profiles: %s", strerror(errno));
	return EXIT_FAILED;
}

void export_profiles_plan(struct run_plan *p)
{
	if (!p->o->profiles)
		return;
	p->attributes = true;
	p->profiles = true;
}

void export_profiles_close(struct export *x)
{
	struct export_profiles *p = x->profiles;

	if (!p)
		return;
	for (size_t i = 0; i < NR_PROFILES; i++) {
		buf_free(&p->whole.body[i]);
		buf_free(&p->last.body[i]);
	}
	gzip_free(p->gzip);
	if (p->ring >= 0)
		close(p->ring);
	if (p->part >= 0)
		close(p->part);
	free(p);
	x->profiles = NULL;
}

void export_profiles_warn(const struct export *x)
{
	if (!x->profiles)
		return;
	if (!rights_keep(&x->s.in.rights, CAP_SYS_PTRACE))
		complain("--export.profiles: without CAP_SYS_PTRACE, functions of other users' "
			 "processes have no names");
}

/* Empties a file, and begins to write it again. */
static int rewrite(int fd)
{
	return ftruncate(fd, 0) || lseek(fd, 0, SEEK_SET) < 0 ? -errno : 0;
}

/* Writes the ring, or its last seconds, to a file. Returns its descriptor or -errno. */
static int write_ring(struct export *x, double seconds)
{
	struct export_profiles *p = x->profiles;
	struct record_ring *ring = x->s.incidents->in.ring;
	const struct ring_use use = record_ring_use(ring);
	struct buf gaps = {}; /* the ring has no end record */
	char path[32];
	int err = rewrite(p->ring) ?: record_ring_write(ring, NULL, p->ring);

	if (err || !seconds || seconds * NS_PER_S >= use.until_ns - use.from_ns)
		return err ?: p->ring;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", p->ring);
	err = rewrite(p->part);
	if (!err && recording_part(path, use.until_ns - (uint64_t)(seconds * NS_PER_S),
				   use.until_ns, p->part, &gaps))
		err = -EIO;
	buf_free(&gaps);
	return err ?: p->part;
}

static int pack(struct gzip **gzip, const struct story_view *s, struct kept_profiles *ret)
{
	const struct gzip_way way = {.level = 1, .window_bits = 15, .memory = 8};
	struct profile profile;
	struct buf b = {};
	int err = profile_make(&profile, s);

	for (size_t i = 0; i < NR_PROFILES && !err; i++) {
		pprof_write(&b, s, &profile, profiles[i].measures);
		buf_clear(&ret->body[i]);
		err = b.failed ? -ENOMEM : gzip_pack(gzip, &way, &b, &ret->body[i]);
		buf_clear(&b);
	}
	buf_free(&b);
	profile_free(&profile);
	return err;
}

static int make(struct export *x, double seconds, struct kept_profiles *ret)
{
	struct story *st = calloc(1, sizeof(*st));
	char path[32];
	int fd = st ? write_ring(x, seconds) : -ENOMEM, err;

	if (fd < 0) {
		free(st);
		return fd;
	}
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	err = story_read(st, &x->profiles->options, path, NULL) ? -EIO : 0;
	if (!err)
		err = pack(&x->profiles->gzip, &st->view, ret);
	/* a last scan at time 0 means that there was none, so no summary is printed */
	st->s.in.m.last_ns = 0;
	story_end(st);
	free(st);
	return err;
}

int export_profile(void *ctx, const char *name, double seconds, struct buf *body)
{
	struct export *x = ctx;
	struct kept_profiles *k = seconds ? &x->profiles->last : &x->profiles->whole;
	uint64_t begin_ns;
	size_t i = 0;
	int err = 0;

	while (i < NR_PROFILES && strcmp(profiles[i].name, name))
		i++;
	if (i == NR_PROFILES)
		return -ENOENT;
	/* the last values of processes come with a scan */
	export_collect(x, 0);
	if (!x->s.incidents || !record_ring_use(x->s.incidents->in.ring).until_ns)
		return -EAGAIN;
	begin_ns = host_monotonic_ns();
	if (begin_ns >= k->until_ns) {
		err = make(x, seconds, k);
		k->seconds = seconds;
		k->until_ns = host_monotonic_ns();
		k->until_ns += err ? 0 : KEPT_NS + (k->until_ns - begin_ns) * CPU_SHARE;
	}
	if (!err && k->seconds != seconds)
		return -EAGAIN; /* another parameter so soon would need too much CPU time */
	if (!err)
		buf_add(body, k->body[i].s, k->body[i].len);
	return err;
}
