// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Prints the live view of a recording without a terminal. It reads the recording to its end, or to
 * scan number SCANS, and then handles KEYS as if a user pressed them.
 *
 * usage: screens FILE WIDTH HEIGHT colour|mono|ascii|addresses [KEYS [SCANS]]
 *
 * In KEYS, ^[ is Esc and ^M is Enter.
 */
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collect/collector.h"
#include "render/tui/tui.h"

static struct model m;
static struct findings findings;
static struct collector collector = {.m = &m};
static struct tui tui;
static struct view view = {.m = &m, .findings = &findings};

static int look(struct source *src)
{
	struct sink sink = {.take = collector_take, .ctx = &collector};
	int err = src->ops->look(src, &sink);

	if (!err)
		findings_judge(&findings, &m);
	return err;
}

static void press(const char *keys)
{
	uint32_t key;

	for (; *keys; keys++) {
		bool escaped = *keys == '^' && keys[1];
		char c = escaped ? *++keys & 0x1f : *keys;

		tui_decode(&tui.keys, &c, 1, &key);
		if (key == KEY_NONE)
			tui_decode(&tui.keys, "", 0, &key);
		tui_press(&tui, &view, key);
	}
}

static int replay(struct source *src, long scans)
{
	struct sink sink = {.take = collector_take, .ctx = &collector};
	bool first = true;
	int err = src->ops->start(src, &sink);

	while (!err && !(err = look(src))) {
		if (first)
			tui_open(&tui, &view);
		first = false;
		if (tui_update(&tui, &view))
			return -1;
		if (!--scans)
			return 0;
		model_next_window(&m);
		findings_next_window(&findings);
	}
	return first ? -1 : err;
}

int main(int argc, char **argv)
{
	struct buf frame = {};
	struct source *src;
	char error[512];

	setlocale(LC_ALL, "C.UTF-8");
	if (argc < 5 || model_init(&m) || replay_open(argv[1], &src, error, sizeof(error)))
		return 2;
	view.width = atoi(argv[2]);
	view.height = atoi(argv[3]);
	view.unicode = strcmp(argv[4], "ascii") != 0;
	view.colour = !strcmp(argv[4], "colour");
	view.addresses = !strcmp(argv[4], "addresses");
	if (replay(src, argc > 6 ? atol(argv[6]) : 0) < 0)
		return 1;
	press(argc > 5 ? argv[5] : "");
	tui_frame(&tui, &view, &frame);
	fputs(frame.s ? frame.s : "", stdout);
	buf_free(&frame);
	tui_free(&tui);
	src->ops->close(src);
	collector_free(&collector);
	findings_free(&findings);
	model_free(&m);
	return 0;
}
