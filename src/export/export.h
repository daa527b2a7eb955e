/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Declarations shared by the files of src/export. A collection is one scan of all processes. The
 * result of a collection is kept until the next one.
 */
#ifndef FS_EXPORT_EXPORT_H
#define FS_EXPORT_EXPORT_H

#include "collect/cgroup/cgroup_tasks.h"
#include "collect/names/process_identity.h"
#include "model/census.h"
#include "model/node.h"
#include "export/service_notify.h"
#include "render/prom/prom.h"
#include "serve/endpoint.h"
#include "session/oom_store.h"
#include "session/session.h"

struct export_replay;
struct export_resident;
struct export_profiles;

struct export
{
	struct session s;
	const struct options *o;
	struct census census;
	struct cgroup_tasks tasks; /* limits of tasks of workloads */
	struct node node;
	struct identities *ids; /* workload names; NULL: the recording contains the names */
	int root;		/* descriptor of the directory "/"; -1: not open */
	struct export_replay *replay;
	struct export_resident *resident; /* NULL: --export.resident was not given */
	struct export_profiles *profiles; /* NULL: --export.profiles was not given */
	struct oom_store oom;	  /* the store of OOM kills */
	struct redaction redaction; /* of incidents, with --redact */
	struct endpoint *endpoint; /* HTTP server; NULL: --textfile was given */
	struct notify notify;
	double start_s;
	uint64_t collected_ns; /* start of the last collection; 0: none yet */
	uint64_t deadline_ns;  /* time-out of the current collection, CLOCK_MONOTONIC; 0: none */
	/* up: the last collection succeeded; partial: the last collection timed out */
	bool up, partial;
};

int command_export(const struct options *o);

/*
 * Scans all processes, unless the last scan is at most 0.1 s old. If timeout_s is above 0, the scan
 * takes less than timeout_s seconds.
 */
void export_collect(struct export *x, double timeout_s);

/* Takes one record of a scan or of a probe, as the callback of a source. */
int export_take(void *ctx, const struct record *h);

/*
 * Reads pending records, and judges what they report. Ignores errors: the metrics show lost
 * records, and the next call tries again. `ctx` is a struct export. Returns 0.
 */
int export_drain(void *ctx);

/*
 * Takes the record of a failed call. The reason of the failure is counted with the next record of
 * its process.
 */
void export_take_refused(struct export *x, const struct refused_record *r);

/*
 * Functions of export_resident.c, for --export.resident. All of them do nothing without this
 * option. export_resident_open() returns 0 or an exit status.
 */
int export_resident_open(struct export *x);
void export_resident_plan(struct run_plan *p);
void export_resident_close(struct export *x);
/* Prints why the memory of some processes cannot be read; call it after privileges were dropped. */
void export_resident_warn(const struct export *x);
/* Takes a record of a process and its workload; other records; and the end of a process. */
int export_resident_take_process(struct export *x, const struct process_record *r,
				 const struct identity *id);
int export_resident_take(struct export *x, const struct record *h);
void export_resident_gone(struct export *x, const struct process_key *of);
/* Reads the memory of selected processes, if it is time to. Call it after each scan. */
void export_resident_read(struct export *x);
/* Sums up the readings; returns NULL if there are none. Call it after census_update(). */
const struct resident_places *export_resident_places(struct export *x);

/*
 * Functions of export_profiles.c, for --export.profiles; they do nothing without this option.
 * export_profiles_open() returns 0 or an exit status. export_profiles_warn() says what cannot be
 * read; call it after privileges were dropped. export_profile() is the callback of the endpoint.
 */
int export_profiles_open(struct export *x);
void export_profiles_plan(struct run_plan *p);
void export_profiles_warn(const struct export *x);
void export_profiles_close(struct export *x);
int export_profile(void *ctx, const char *name, double seconds, struct buf *body);

/*
 * Functions of export_oom.c. export_oom_open() opens the store of OOM kills before privileges are
 * dropped. export_oom_take() takes the record of a kill. export_oom_store() stores the pages of new
 * kills. export_oom_scan() reads how much memory cgroups with limits use, for the curves of pages;
 * it returns 0 or -ENOMEM.
 */
void export_oom_open(struct export *x);
int export_oom_take(struct export *x, const struct oom_record *h);
void export_oom_store(struct export *x);
int export_oom_scan(struct export *x);

/*
 * Functions of export_incidents.c, for --ring; without a ring, they do nothing.
 * export_incidents_open() opens log, ring, store and triggers before the source; it returns 0 or an
 * exit status.
 * export_incidents_take() adds a record to the ring and to the state of processes.
 * export_incidents_before_scan() reads memory pressure. Both return 0 or -errno.
 * export_incidents_scanned() looks for triggers after a scan, export_incidents_look() after other
 * records. export_incidents_count() fills the values of metrics. export_snapshot() answers a
 * request for an incident; `ctx` is a struct export.
 */
int export_incidents_open(struct export *x);
int export_incidents_take(struct export *x, const struct record *h);
int export_incidents_before_scan(struct export *x);
void export_incidents_scanned(struct export *x);
void export_incidents_look(struct export *x);
void export_incidents_count(const struct export *x, struct prom_incidents *ret);
bool export_incidents_scan_is_due(const struct export *x);
bool export_snapshot(void *ctx, struct buf *body);

/*
 * Raises the default of --limit.workloads, because a process of a pod was seen: the host is a node
 * of Kubernetes.
 */
void export_on_pod(struct export *x);

/* Returns the state of all processes at the end of the recording. */
const struct model *export_replay_model(const struct export *x);

/* Writes the metrics of the last collection. */
void export_render(struct export *x, const struct exposition_format *format, struct buf *b);

/* Replaces the file of --textfile atomically. Returns 0 or -errno. */
int export_write_file(struct export *x, const char *path);

/* Reads the recording of --replay to its end. Returns 0 or an exit status. */
int export_replay_open(struct export *x);
/* Counts the processes that were alive at the end of the recording. */
void export_replay_scan(struct export *x);
/* Appends the reasons why the recording is incomplete (render/completeness.h). */
void export_replay_gaps(const struct export *x, struct buf *gaps);
void export_replay_close(struct export *x);

/*
 * Fills the values of the process_* metrics for faultscope itself, and the run time of its BPF
 * programs if the kernel measures it.
 */
void export_self(const struct export *x, struct prom_self *ret);
/*
 * Fills the run statistics of faultscope's BPF programs, even if the kernel does not measure run
 * time.
 */
void export_programs(const struct export *x, struct prom_self *ret);

#endif
