// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Writes a recording in which each name that other users can choose is hostile. Each name consists
 * of a word that identifies the field, and TEXT. TEXT is a text that may harm a terminal or a file
 * format.
 *
 * usage: hostile_recording TEXT FILE
 */
#include "fixture.h"
#include "probe/recording.h"

#define PID    10
#define BIRTH  1
#define FAULTS 4000

static const char *text;

#define NAME(field, place) snprintf(field, sizeof(field), "%s%s", place, text)
#define PUT(record)                                                                                \
	do {                                                                                       \
		if (recorder_take(rec, &(record).h))                                               \
			exit(1);                                                                   \
	} while (0)

static void begin(struct recorder *rec)
{
	struct host_record host = host_record(SECOND / 2);
	struct tick_record tick = tick_record(SECOND);

	NAME(host.host, "host");
	NAME(host.kernel, "kernel");
	NAME(host.target, "target");
	PUT(host);
	for (size_t i = 0; i < NR_FIXTURE_HOOKS; i++) {
		bool blind = !strcmp(fixture_hooks[i], "compaction");
		struct hook_record hook =
			hook_record(fixture_hooks[i], blind ? HOOK_BLIND : HOOK_ON);

		if (blind)
			NAME(hook.why, "why");
		else
			NAME(hook.mechanism, "by");
		PUT(hook);
	}
	PUT(tick);
}

static struct process_record process(uint64_t t_ns, uint64_t faults)
{
	struct process_record p = process_record(PID, BIRTH, t_ns);

	NAME(p.g.comm, "c");
	p.g.min_flt = faults;
	p.c.latency[0][8] = faults;
	p.c.stall_ns[0] = faults * 1000;
	p.g.fd_soft = 1000;
	p.g.fds = p.g.fd_high = 990;
	return p;
}

static void put_names(struct recorder *rec)
{
	struct names_record names = RECORD(names_record, RECORD_NAMES, 2 * SECOND);
	struct frames_record frames = RECORD(frames_record, RECORD_FRAMES, 2 * SECOND);

	names.subject.pid = PID;
	names.subject.start_ns = BIRTH;
	NAME(names.exe, "/exe");
	snprintf(names.cgroup, sizeof(names.cgroup), "/system.slice/cgroup%s.service", text);
	PUT(names);
	frames.subject = names.subject;
	frames.stack = 1;
	snprintf(frames.text, sizeof(frames.text), "frame%s+0x12 (module%s)\nmain+0x1 (exe)", text,
		 text);
	PUT(frames);
}

static void put_growth(struct recorder *rec)
{
	struct growth_record growth = RECORD(growth_record, RECORD_GROWTH, 3 * SECOND);
	struct holding_record holding = RECORD(holding_record, RECORD_HOLDING, 3 * SECOND);
	struct resident_record resident = RECORD(resident_record, RECORD_RESIDENT, 3 * SECOND);
	struct resident_sum_record sum =
		RECORD(resident_sum_record, RECORD_RESIDENT_SUM, 3 * SECOND);

	growth.g.subject.pid = holding.g.subject.pid = PID;
	growth.g.subject.start_ns = holding.g.subject.start_ns = BIRTH;
	growth.g.stack = 1;
	growth.g.what = holding.g.what = WHAT_FDS;
	growth.g.call = CALL_OPEN;
	growth.g.added = holding.g.count = 900;
	growth.g.first_ns = 2 * SECOND;
	growth.g.last_ns = 3 * SECOND;
	NAME(growth.g.name, "grown");
	PUT(growth);
	holding.g.kind = HOLDING_FILE;
	holding.g.names = 1;
	NAME(holding.g.name, "held");
	resident.subject = resident.toucher = sum.subject = holding.g.subject;
	resident.bytes = sum.anon_bytes = 1 << 20;
	resident.stack = 1;
	sum.rows = 1;
	NAME(resident.file, "resident");
	PUT(resident);
	PUT(sum);
	PUT(holding);
}

static void put_events(struct recorder *rec)
{
	struct crossing_record crossing = RECORD(crossing_record, RECORD_CROSSING, 3 * SECOND);
	struct refused_record refused = refused_record(PID, CALL_OPEN, 24);
	struct kernel_fault_record fault = kernel_fault_record(PID, 0xffffffff81000000ULL, false);
	struct symbol_record symbol = RECORD(symbol_record, RECORD_SYMBOL, 2 * SECOND);
	struct oom_record oom = RECORD(oom_record, RECORD_OOM, 3 * SECOND);
	struct sample_record sample = sample_record(PID, BIRTH, 3 * SECOND, 64);
	struct slow_faults_record slow = RECORD(slow_faults_record, RECORD_SLOW_FAULTS, 3 * SECOND);

	crossing.subject = oom.subject = slow.subject = refused.subject;
	crossing.what = WHAT_FDS;
	crossing.percent = 95;
	crossing.value = 950;
	crossing.limit = 1000;
	NAME(crossing.comm, "c");
	PUT(crossing);
	NAME(refused.comm, "c");
	refused.fd_soft = 1000;
	hold_fds(&refused, 1000);
	refused.stack = 1;
	PUT(refused);
	symbol.ip = fault.ip;
	NAME(symbol.symbol, "symbol");
	NAME(symbol.module, "kmod");
	PUT(symbol);
	NAME(fault.comm, "c");
	PUT(fault);
	oom.constraint = OOM_NONE;
	oom.by = PID;
	NAME(oom.by_comm, "b");
	NAME(oom.comm, "c");
	PUT(oom);
	sample.kind = HOLDING_FILE_PRIVATE;
	NAME(sample.file, "sampled");
	PUT(sample);
	slow.class = CLASS_FILE_MAJOR;
	slow.stack = 1;
	slow.count = 10;
	slow.total_ns = SECOND / 2;
	slow.max_ns = SECOND / 10;
	slow.inode = 7;
	slow.holder = PID;
	NAME(slow.holder_comm, "h");
	NAME(slow.comm, "c");
	NAME(slow.file, "slow");
	PUT(slow);
}

static void put_origin(struct recorder *rec)
{
	struct origin_record origin = RECORD(origin_record, RECORD_ORIGIN, 3 * SECOND);

	origin.subject.pid = PID;
	origin.subject.start_ns = BIRTH;
	NAME(origin.set_by, "setter");
	NAME(origin.at_once, "now");
	NAME(origin.for_good, "lasting");
	NAME(origin.cost, "cost");
	PUT(origin);
}

static void put_phase(struct recorder *rec, uint64_t t_ns)
{
	struct phase_record phase = RECORD(phase_record, RECORD_PHASE, t_ns);

	NAME(phase.name, "phase");
	PUT(phase);
}

int main(int argc, char **argv)
{
	struct tick_record tick;
	struct process_record p;
	struct end_record end = RECORD(end_record, RECORD_END, 6 * SECOND);
	struct recorder *rec = NULL;
	char error[512];

	if (argc != 3)
		return 2;
	text = argv[1];
	if (recorder_open_capped(argv[2], true, 0, &rec, error, sizeof(error))) {
		fprintf(stderr, "hostile_recording: %s\n", error);
		return 1;
	}
	begin(rec);
	p = process(2 * SECOND, 0);
	PUT(p);
	put_names(rec);
	put_growth(rec);
	put_origin(rec);
	put_events(rec);
	for (uint64_t i = 3; i < 6; i++) {
		put_phase(rec, i * SECOND - SECOND / 2);
		tick = tick_record(i * SECOND);
		p = process(i * SECOND, i * FAULTS);
		PUT(p);
		PUT(tick);
	}
	PUT(end);
	return recorder_close(rec) != 0;
}
