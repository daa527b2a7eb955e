// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Tests finding P17 oom-killed: the killed process, the exceeded limit, and the advice. */
#include "fixture.h"

#include "model/pressure.h"
#include "rules/rules.h"
#include "tap.h"
#include "finding_text.h"

#define MIB	 (1ULL << 20)
#define PAGES(n) ((n)*256)
#define KILLED	 60 /* time of the OOM kill in seconds */
#define VICTIM	 20
#define OTHER	 30

static struct model m;
static struct findings fs;

struct life {
	uint32_t pid;
	const char *comm, *cgroup;
	/* first and last second of growth; the process starts in second 1 */
	unsigned int from, until;
	uint64_t first, last; /* resident memory in MiB before and after the growth */
	uint64_t shmem;	      /* resident tmpfs memory in MiB */
};

struct scene {
	const char *what;
	struct life life[3];
	const char *level; /* path of a cgroup with a limit; NULL if no cgroup was read */
	uint64_t limit, shmem, up;
	uint32_t by;
	uint64_t by_kept;
	/* whether the last record of the killed process arrives together with the kill */
	bool ended;
	enum oom_constraint constraint;
	const char *says, *never;
};

static uint64_t held(const struct life *l, unsigned int t)
{
	if (t <= l->from || l->until <= l->from)
		return l->first;
	if (t >= l->until)
		return l->last;
	return l->first + (l->last - l->first) * (t - l->from) / (l->until - l->from);
}

static void take_life(const struct life *l, unsigned int t)
{
	struct process_record r = process_record(l->pid, 100 + l->pid, t * SECOND);
	struct names_record n = RECORD(names_record, RECORD_NAMES, t * SECOND);

	/* A scan sends a process only if its values have changed. */
	if (t > 1 && held(l, t) == held(l, t - 1))
		return;
	r.g.rss_anon_pages = PAGES(held(l, t) - l->shmem);
	r.g.rss_shmem_pages = PAGES(l->shmem);
	snprintf(r.g.comm, sizeof(r.g.comm), "%s", l->comm);
	model_take(&m, &r.h);
	n.subject = r.subject;
	snprintf(n.cgroup, sizeof(n.cgroup), "%s", l->cgroup);
	model_take(&m, &n.h);
}

static void take_level(const struct scene *s, unsigned int t)
{
	struct cgroup_record c = RECORD(cgroup_record, RECORD_LEVEL, t * SECOND);

	memset(c.n, 0xff, sizeof(c.n));
	c.n[CGROUP_LIMIT] = s->limit * MIB;
	c.n[CGROUP_SHMEM] = s->shmem * MIB;
	c.n[CGROUP_ANON] = 0;
	snprintf(c.path, sizeof(c.path), "%s", s->level);
	model_take(&m, &c.h);
}

static const struct finding *killed(const struct scene *s)
{
	struct oom_record r = RECORD(oom_record, RECORD_OOM, KILLED * SECOND + SECOND / 2);

	begin_model(&m, NULL);
	memset(&fs, 0, sizeof(fs));
	for (unsigned int t = 1; t <= KILLED; t++) {
		struct tick_record tick = tick_record(t * SECOND + 1);

		model_next_window(&m);
		findings_next_window(&fs);
		for (size_t i = 0; i < 3 && s->life[i].pid; i++)
			take_life(&s->life[i], t);
		if (s->level)
			take_level(s, t);
		model_take(&m, &tick.h);
	}
	model_next_window(&m);
	r.subject = (struct process_key){.start_ns = 100 + VICTIM, .pid = VICTIM};
	r.constraint = s->constraint;
	r.rss_anon_pages = PAGES(held(&s->life[0], KILLED) - s->life[0].shmem);
	r.rss_shmem_pages = PAGES(s->life[0].shmem);
	r.by = s->by ? s->by : VICTIM;
	r.by_kept_pages = PAGES(s->by_kept);
	r.memory = (struct level_room){PAGES(s->limit), PAGES(s->limit), s->up, s->limit > 0};
	strcpy(r.comm, s->life[0].comm);
	strcpy(r.by_comm, "asker");
	model_take(&m, &r.h);
	if (s->ended) {
		struct process_record last = process_record(VICTIM, 100 + VICTIM, r.h.t_ns + 1);

		last.g.flags = PROC_FINAL | PROC_NO_MM;
		model_take(&m, &last.h);
	}
	findings_judge_events(&fs, &m);
	for (size_t i = 0; i < fs.n; i++)
		if (!strcmp(fs.f[i].rule->id, "P17"))
			return &fs.f[i];
	return NULL;
}

/* Returns the whole text of a finding. */
static const char *text_of(const struct finding *f)
{
	static char text[16384];
	size_t n = snprintf(text, sizeof(text), "%s", f->title);

	for (size_t i = 0; i < f->nr_evidence; i++)
		n += snprintf(text + n, sizeof(text) - n, "\n%s: %s", f->evidence[i].field,
			      evidence_str(&f->evidence[i]));
	for (size_t i = 0; i < f->nr_remedies; i++)
		n += snprintf(text + n, sizeof(text) - n, "\n%s", remedy_str(f, i));
	return text;
}

static const struct scene scenes[] = {
	{.what = "a cgroup that was not read yet: no process elsewhere is to blame",
	 .life = {{VICTIM, "trainer", "/job", 50, 60, 20, 180},
		  {OTHER, "browser", "/desktop", 1, 60, 200, 2000}},
	 .limit = 192,
	 .constraint = OOM_MEMCG,
	 .says = "the killed process itself grew",
	 .never = "browser"},
	{.what = "a sibling grew, the victim was the largest and idle",
	 .life = {{VICTIM, "idle", "/job/a", 1, 2, 10, 100},
		  {OTHER, "sibling", "/job/b", 45, 60, 5, 90}},
	 .level = "/job",
	 .limit = 192,
	 .up = 1,
	 .constraint = OOM_MEMCG,
	 .says = "sibling[30] grew, not the killed process",
	 .never = "the killed process itself grew"},
	{.what = "a victim that took its memory half a minute ago and rests since",
	 .life = {{VICTIM, "idle", "/job", 40, 45, 2, 100},
		  {OTHER, "sibling", "/job", 48, 60, 2, 90}},
	 .level = "/job",
	 .limit = 192,
	 .constraint = OOM_MEMCG,
	 .says = "sibling[30] grew, not the killed process",
	 .never = "the killed process itself grew"},
	{.what = "one that came and grew since the last look: who asked",
	 .life = {{VICTIM, "idle", "/job", 1, 2, 10, 100}},
	 .limit = 192,
	 .by = 77,
	 .by_kept = 80,
	 .constraint = OOM_MEMCG,
	 .says = "asker[77] grew, not the killed process",
	 .never = "the killed process itself grew"},
	{.what = "the same, and the victim's last record is there already",
	 .life = {{VICTIM, "idle", "/job", 1, 2, 10, 100},
		  {OTHER, "sibling", "/job", 45, 60, 5, 90}},
	 .limit = 192,
	 .ended = true,
	 .constraint = OOM_MEMCG,
	 .says = "sibling[30] grew, not the killed process",
	 .never = "the killed process itself grew"},
	{.what = "a small one that asks when all is full already",
	 .life = {{VICTIM, "leaker", "/job", 1, 60, 10, 180}},
	 .limit = 192,
	 .by = 77,
	 .by_kept = 6,
	 .constraint = OOM_MEMCG,
	 .says = "the killed process itself grew",
	 .never = "asker[77] grew"},
	{.what = "a limit above the victim's cgroup is named",
	 .life = {{VICTIM, "trainer", "/pod/job", 40, 60, 20, 120},
		  {OTHER, "beside", "/pods/x", 40, 60, 20, 300}},
	 .level = "/pod",
	 .limit = 128,
	 .up = 1,
	 .constraint = OOM_MEMCG,
	 .says = "memory.max of /pod, above its cgroup",
	 .never = "beside"},
	{.what = "files in memory that an ended process left are what fills it",
	 .life = {{VICTIM, "late", "/job", 55, 60, 1, 17}},
	 .level = "/job",
	 .limit = 48,
	 .shmem = 30,
	 .constraint = OOM_MEMCG,
	 .says = "30.0 MiB of the 48.0 MiB are tmpfs files",
	 .never = "the killed process itself grew"},
	{.what = "shared memory that the victim itself has mapped is its own",
	 .life = {{VICTIM, "loader", "/job", 30, 60, 40, 150, 40}},
	 .level = "/job",
	 .limit = 160,
	 .shmem = 40,
	 .constraint = OOM_MEMCG,
	 .says = "the killed process itself grew",
	 .never = "no process maps"},
	{.what = "faultscope starts beside what grows",
	 .life = {{VICTIM, "idle", "/job", 1, 2, 10, 100},
		  {OTHER, "faultscope", "/job", 45, 60, 5, 60}},
	 .level = "/job",
	 .limit = 192,
	 .constraint = OOM_MEMCG,
	 .says = "killed by the OOM killer",
	 .never = "faultscope[30] grew"},
	{.what = "of the host's memory it is not named either",
	 .life = {{VICTIM, "idle", "/job", 1, 2, 10, 100},
		  {OTHER, "faultscope", "/", 45, 60, 5, 60}},
	 .constraint = OOM_NONE,
	 .says = "the host's memory",
	 .never = "faultscope[30] grew"},
	{.what = "unless it has most of the limit",
	 .life = {{VICTIM, "idle", "/job", 1, 2, 10, 60},
		  {OTHER, "faultscope", "/job", 30, 60, 5, 120}},
	 .level = "/job",
	 .limit = 192,
	 .constraint = OOM_MEMCG,
	 .says = "faultscope[30] grew",
	 .never = "the killed process itself grew"},
	{.what = "what is in no process that is watched",
	 .life = {{VICTIM, "idle", "/job", 1, 2, 10, 30}},
	 .limit = 192,
	 .constraint = OOM_MEMCG,
	 .says = "162 MiB of the 192 MiB belong to no observed process",
	 .never = "the killed process itself grew"},
};

static void test_scenes(void)
{
	for (size_t i = 0; i < sizeof(scenes) / sizeof(scenes[0]); i++) {
		const struct finding *f = killed(&scenes[i]);
		const char *text = f ? text_of(f) : "";

		ok(strstr(text, scenes[i].says) && !strstr(text, scenes[i].never), "%s",
		   scenes[i].what);
		if (!strstr(text, scenes[i].says) || strstr(text, scenes[i].never))
			for (const char *at = text; *at; at += strcspn(at, "\n"), at += *at == '\n')
				printf("# %.*s\n", (int)strcspn(at, "\n"), at);
		findings_free(&fs);
		model_free(&m);
	}
}

/* Tests that a suggested value is neither above the limit nor above the memory that is left. */
static void test_room(void)
{
	uint64_t seed = 9;

	for (int i = 0; i < 200; i++) {
		struct scene s = {.life = {{VICTIM, "trainer", "/job", 1, 60, 1, 0}},
				  .constraint = OOM_MEMCG};
		const struct finding *f;
		unsigned long long more = 0;
		const char *at;
		char unit[8] = "";
		double figure = 0;

		seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
		s.limit = 32 + (seed >> 33) % 4000;
		s.life[0].last = s.limit - 2;
		s.life[0].from = (seed >> 20) % 59;
		f = killed(&s);
		at = f ? strstr(remedy_str(f, 0), "delays the failure: ") : NULL;
		if (at && sscanf(at, "delays the failure: %lf %7s", &figure, unit) == 2)
			more = figure * (unit[0] == 'G' ? 1024 : 1) + 0.5;
		if (!f || more > s.limit + s.limit / 100 || (s.life[0].from > 1 && !more))
			ok(false, "limit %llu MiB: %s", (unsigned long long)s.limit,
			   remedy_str(f, 0));
		findings_free(&fs);
		model_free(&m);
	}
	ok(true, "more room is never more than the limit again");
}

int main(void)
{
	test_scenes();
	test_room();
	return tap_done();
}
