/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Patterns of a growing value. Some patterns reach LIMIT, and some never do. The unit test of
 * forecasts computes the values of a pattern without waiting. The workload `patterns` opens and
 * closes fds in real time, so that their number follows a pattern.
 */
#ifndef GROWTH_PATTERNS_H
#define GROWTH_PATTERNS_H

#include <math.h>
#include <stdbool.h>

#include "chance.h"

#define LIMIT 1000

/* Random parameters for one run of a pattern. No pattern uses all of them. */
struct life {
	double first, top, period, rate, noise, phase, sum, wait;
};

struct kind {
	const char *name;
	bool reaches;
	double (*value)(struct life *l, double t);
};

static double linear(struct life *l, double t)
{
	return l->first + l->rate * t;
}

static double noisy(struct life *l, double t)
{
	return linear(l, t) + 4 * l->noise * normal();
}

static double bursty(struct life *l, double t)
{
	(void)t;
	if (--l->wait <= 0) {
		l->wait = between(1, 0.4 * l->period);
		l->sum += l->rate * 0.2 * l->period * between(0.5, 1.5);
	}
	return l->first + l->sum;
}

static double faster(struct life *l, double t)
{
	return l->first + (LIMIT - l->first) * t * t / (6 * l->period) / (6 * l->period);
}

/* A saw-tooth whose lower end rises. */
static double leaky_saw(struct life *l, double t)
{
	return l->first + 0.4 * l->rate * t +
	       0.35 * (LIMIT - l->first) * fmod(t / l->period + l->phase, 1);
}

/* A saw-tooth whose lower end rises, with teeth of different lengths. */
static double ragged_leak(struct life *l, double t)
{
	if (--l->wait <= 0) {
		l->wait = l->period * between(0.7, 1.3);
		l->sum = 0;
	}
	l->sum += 0.3 * (LIMIT - l->first) / l->period * between(0.8, 1.2);
	return l->first + 0.4 * l->rate * t + l->sum;
}

static double plateau(struct life *l, double t)
{
	return l->first + (l->top - l->first) * fmin(1, t / (3 * l->period));
}

static double noisy_plateau(struct life *l, double t)
{
	return fmin(plateau(l, t) + l->noise * normal(), l->top);
}

static double warm_up(struct life *l, double t)
{
	return l->first + (l->top - l->first) * (1 - exp(-t / l->period));
}

/* A value that grows in steps until it reaches its top, such as files opened in batches. */
static double stairs(struct life *l, double t)
{
	return l->first + (l->top - l->first) * fmin(1, floor(t / l->period) / 5);
}

static double saw(struct life *l, double t)
{
	return l->first + (l->top - l->first) * fmod(t / l->period + l->phase, 1);
}

static double high_saw(struct life *l, double t)
{
	double foot = 0.6 * l->top;

	return foot + (l->top - foot) * fmod(t / l->period + l->phase, 1);
}

/* A value that slowly rises and falls, such as the size of a pool that follows the load. */
static double wave(struct life *l, double t)
{
	return l->first + (l->top - l->first) * (0.5 - 0.5 * cos(t / l->period * 6.2831853));
}

static double ragged_saw(struct life *l, double t)
{
	(void)t;
	if (--l->wait <= 0) {
		l->wait = l->period * between(0.5, 1.5);
		l->sum = 0;
		l->rate = (l->top - l->first) / l->wait * between(0.4, 1);
	}
	return fmin(l->top, l->first + (l->sum += l->rate));
}

static double noise(struct life *l, double t)
{
	(void)t;
	return fmin(0.6 * l->top + 0.1 * l->top * normal(), l->top);
}

/* A saw-tooth whose first teeth become higher, like a cache that fills. Later teeth are equal. */
static double rising_saw(struct life *l, double t)
{
	double high = fmin(1, (floor(t / l->period) + 1) / 3);

	return l->first + (l->top - l->first) * high * fmod(t / l->period, 1);
}

static const struct kind kinds[] = {
	{"linear", true, linear},
	{"linear with noise", true, noisy},
	{"bursty", true, bursty},
	{"faster and faster", true, faster},
	{"a leak under a saw-tooth", true, leaky_saw},
	{"a leak under a ragged one", true, ragged_leak},
	{"plateau", false, plateau},
	{"plateau with noise", false, noisy_plateau},
	{"warm-up", false, warm_up},
	{"stairs", false, stairs},
	{"saw-tooth", false, saw},
	{"high saw-tooth", false, high_saw},
	{"wave", false, wave},
	{"ragged saw-tooth", false, ragged_saw},
	{"noise", false, noise},
	{"teeth that rise, and stop", false, rising_saw},
};

#define NR_KINDS (sizeof(kinds) / sizeof(kinds[0]))

static struct life draw(void)
{
	struct life l = {.first = between(20, 250), .top = between(550, 950)};

	l.period = exp(between(log(8), log(90)));
	l.rate = (LIMIT - l.first) / (6 * l.period);
	l.noise = between(0, 0.01) * LIMIT;
	l.phase = chance();
	return l;
}

#endif
