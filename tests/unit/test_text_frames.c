// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Tests the text of stacks, where long ones differ only in frames that are not shown at first. */
#include "fixture.h"
#include "render/text/text.h"
#include "tap.h"

static struct model m;

static const struct frames *stack(int32_t number, const char *text)
{
	struct frames_record r = RECORD(frames_record, RECORD_FRAMES, SECOND);

	r.subject = (struct process_key){.pid = 10, .start_ns = 1};
	r.stack = number;
	snprintf(r.text, sizeof(r.text), "%s", text);
	model_take(&m, &r.h);
	return model_frames(&m, &r.subject, number);
}

static const char *shown(const struct frames *f, const struct frames *const *above, size_t n)
{
	static char said[1024];
	struct buf b = {};

	text_frames_unlike(&b, f, above, n);
	snprintf(said, sizeof(said), "%s", b.s ? b.s : "");
	buf_free(&b);
	return said;
}

int main(void)
{
	const struct frames *above[4];

	model_init(&m);
	above[0] = stack(1, "malloc\na\nb\nc\nd\ne\nload\nmain");
	above[1] = NULL;
	above[2] = stack(2, "malloc\na\nb\nc\nd\ne\nsave\nmain");
	above[3] = stack(3, "malloc\nother");
	is_str(shown(above[0], above, 0), "malloc <- a <- b <- c <- d <- ...", "the first row");
	is_str(shown(above[2], above, 2),
	       "malloc <- a <- b <- c <- d <- ... <- save <- main", "where the second one differs");
	is_str(shown(stack(4, "malloc\na\nb\nc\nd\ne\nsave\np\nq\nr\ns"), above, 3),
	       "malloc <- a <- b <- c <- d <- ... <- p <- q <- r <- ...",
	       "the third one differs from the most similar row");
	is_str(shown(above[3], above, 3), "malloc <- other", "a different one needs nothing");
	is_str(shown(above[0], above, 1), "malloc <- a <- b <- c <- d <- ...", "nor an equal one");
	model_free(&m);
	return tap_done();
}
