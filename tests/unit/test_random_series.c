// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Tests forecasts and cycles of random series: values grow, fall, stay and repeat in small whole
 * numbers, so that many comparisons of values are between equal ones. The test compares checksums.
 */
#include "fixture.h"
#include "model/series.h"
#include "sums.h"

#define SERIES	 30000
#define SUMS	 3
#define ROUNDING 1e6 /* results are compared to six digits after the point */

static uint64_t dice = 99;

static uint64_t below(uint64_t n)
{
	return roll(&dice) % n;
}

static void mix_double(uint64_t *sum, double x)
{
	mix(sum, x > 1e12 ? 1 : x < -1e12 ? 2 : (int64_t)(x * ROUNDING));
}

static void mix_forecast(uint64_t *sum, const struct forecast *f)
{
	mix(sum, f->known | f->sure << 1);
	if (!f->known)
		return;
	mix_double(sum, f->seconds);
	mix_double(sum, f->low);
	mix_double(sum, f->high);
	mix_double(sum, f->per_second);
}

static void mix_cycles(uint64_t *sum, const struct cycles *c, uint64_t now_ns)
{
	struct peak_trend t = cycles_trend(c, now_ns);

	mix_double(sum, cycles_period(c));
	mix(sum, cycles_go_on(c, now_ns) | cycles_left_behind(c, now_ns) << 1);
	mix(sum, cycles_high(c, now_ns));
	mix(sum, cycles_deepest(c));
	mix(sum, t.known | t.sure << 1 | (uint64_t)t.peaks << 2);
	if (!t.known)
		return;
	mix_double(sum, t.now);
	mix_double(sum, t.per_second);
	mix_double(sum, t.error);
	mix_double(sum, t.scatter);
	mix_double(sum, t.span);
	mix_double(sum, t.middle);
	mix_double(sum, t.period);
}

static void mix_series(uint64_t *sum, const struct series *s, uint64_t now_ns)
{
	struct bursts b = series_bursts(s);
	struct forecast f = series_forecast(s, now_ns, s->last + 1 + below(300));

	mix(sum, s->n);
	for (uint32_t i = 0; i < s->n; i++) {
		mix(sum, s->point[i].t_ns);
		mix(sum, s->point[i].high);
		mix(sum, s->point[i].low);
	}
	mix(sum, b.largest);
	mix(sum, b.second);
	mix_forecast(sum, &f);
	mix_cycles(sum, &s->cycles, now_ns);
}

/* Returns the next value of a series: a saw tooth that rises by `rise`, with small steps. */
static uint64_t next(uint64_t at, uint64_t period, uint64_t rise, uint64_t step, uint64_t noise)
{
	uint64_t cycle = at / period;

	return 10 + cycle * rise + at % period * step + (noise ? below(noise) : 0);
}

static void try_series(uint64_t *sum)
{
	uint64_t scans = 5 + below(120), period = 2 + below(30), rise = below(12), step = below(9);
	uint64_t noise = below(3) * below(6), idle = below(4) ? 0 : below(40), t_ns = SECOND;
	/* in dense series, several values are within one step of the series */
	uint64_t gap = 1 + below(3), unit = below(4) ? SECOND : SECOND / 25;
	uint64_t value;
	struct series s = {};

	for (uint64_t i = 0; i < scans; i++) {
		t_ns += gap * unit / (1 + below(2));
		value = next(i, period, rise, step, noise);
		/* a few values are told late */
		series_add(&s, t_ns - (below(40) ? 0 : unit * 4), value);
		if (i % 16 == 15)
			mix_series(sum, &s, t_ns);
	}
	mix_series(sum, &s, t_ns + idle * SECOND);
}

int main(void)
{
	struct sum sums[SUMS] = {
		{"series 0 to 9999", SUM_BEGINS, 0xe98581285707d475},
		{"series 10000 to 19999", SUM_BEGINS, 0x115c28f2223d2ad5},
		{"series 20000 to 29999", SUM_BEGINS, 0xed6417a7d23826a3},
	};

	for (int i = 0; i < SERIES; i++)
		try_series(&sums[i / (SERIES / SUMS)].got);
	are_rounded_sums(sums, SUMS);
	return tap_done();
}
