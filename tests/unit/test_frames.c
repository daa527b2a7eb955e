// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "fixture.h"
#include "model/frames.h"
#include "tap.h"

/* Returns the shown stack frames, joined by " <- ". "..." follows if there are more. */
static const char *telling(const char *text, size_t room)
{
	static char said[8 * FRAME_TEXT_BYTES];
	struct frames *f = calloc(1, sizeof(*f) + strlen(text) + 1);
	size_t frame[8], len = 0, n;
	bool more;

	if (!f)
		abort();
	strcpy(f->text, text);
	n = frames_telling(f, frame, room, &more);
	for (size_t i = 0; i < n; i++) {
		char text[FRAME_TEXT_BYTES];

		frames_show(f, frame[i], text, sizeof(text));
		len += sprintf(said + len, "%s%s", i ? " <- " : "", text);
	}
	sprintf(said + len, "%s", more ? " ..." : "");
	free(f);
	return said;
}

/* Returns why a stack may be short. */
static const char *end_text(uint32_t end, uint32_t flags)
{
	static char text[256];
	struct frames f = {.end = end, .flags = flags};

	return frames_end_text(&f, text, sizeof(text));
}

static void test_ends(void)
{
	is_str(end_text(STACK_END_LOST, 0), "", "a whole stack");
	for (uint32_t end = 1; end < NR_STACK_ENDS; end++) {
		const char *text = end_text(end, FRAMES_SHORT);

		ok(!strncmp(text, " (stack may be short", 20) && text[strlen(text) - 1] == ')',
		   "an end: %s", text);
		ok(stack_end_name(end), "has a name");
	}
	ok(strstr(end_text(STACK_END_LOST, FRAMES_SHORT), "short: "), "why it ends");
	is_str(end_text(NR_STACK_ENDS, FRAMES_SHORT), " (stack may be short)",
	       "an end that this version does not know");
	is_str(stack_end_name(NR_STACK_ENDS), NULL, "has no name");
}

/* Frames without names get a reason, if the process ended too early. */
static void test_no_names(void)
{
	static const char missed[] =
		" (no names: the process ended before its mappings could be read)";
	static const struct {
		const char *text;
		uint32_t flags;
		const char *want;
	} cases[] = {
		{"[unknown]\n[unknown]", FRAMES_UNREAD, missed},
		{"mmap (libc.so.6)\n[unknown]", FRAMES_UNREAD | FRAMES_SHORT, missed},
		{"[unknown]", FRAMES_SHORT, " (stack may be short)"},
		{"[unknown]", 0, ""},
		{"mmap (libc.so.6)", FRAMES_UNREAD, ""},
		{"mmap (libc.so.6)", FRAMES_UNREAD | FRAMES_SHORT, " (stack may be short)"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct frames *f = calloc(1, sizeof(*f) + strlen(cases[i].text) + 1);
		char text[FRAMES_END_BYTES];

		if (!f)
			abort();
		strcpy(f->text, cases[i].text);
		f->flags = cases[i].flags;
		is_str(frames_end_text(f, text, sizeof(text)), cases[i].want, "what a stack lacks");
		free(f);
	}
}

int main(void)
{
	test_ends();
	test_no_names();
	is_str(telling("mmap (libc.so.6)\nshare (x)\nmain (x)", 5),
	       "mmap (libc.so.6) <- share (x) <- main (x)", "all of a short one");
	is_str(telling("a\nb\nc", 2), "a <- b ...", "the innermost of a long one");
	is_str(telling("a\nb", 2), "a <- b", "as many as there are");
	is_str(telling("", 2), "", "none");
	is_str(telling("syscall.Syscall6 (x)\nsyscall.socket (x)\nnet.(*netFD).dial (x)\n"
		       "net/http.(*Client).Do (x)\ngithub.com/x/net.Ask (x)\nmyapp/os.Do (x)\n"
		       "main.ask (x)\nruntime.main (x)\nruntime.goexit (x)",
		       5),
	       "syscall.Syscall6 (x) <- github.com/x/net.Ask (x) <- myapp/os.Do (x) <- main.ask "
	       "(x)",
	       "of Go, who called its library");
	is_str(telling("std::fill<int*> (x)\nstd::vector<int>::resize (x)\nload (x)\n"
		       "std::function<void ()>::operator() (x)\nmain (x)",
		       5),
	       "std::fill<int*> (x) <- load (x) <- std::function<void ()>::operator() (x) <- main "
	       "(x)",
	       "C++: the program's code follows the innermost frame");
	is_str(telling("<alloc::vec::Vec<T>>::resize (x)\ncore::ptr::write (x)\nhold (x)", 5),
	       "<alloc::vec::Vec<T>>::resize (x) <- hold (x)", "the same for Rust");
	is_str(telling("read (libc.so.6)\nos (x)\nnet.part.0 (x)\nmain (x)", 5),
	       "read (libc.so.6) <- os (x) <- net.part.0 (x) <- main (x)",
	       "of others, names that read like it stay");
	return tap_done();
}
