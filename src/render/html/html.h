/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * render: HTML pages. A page is one file that needs no network access, and whose charts need no
 * script. The styles are in report.css. The script adds interaction; its parts are in script/.
 */
#ifndef FS_RENDER_HTML_HTML_H
#define FS_RENDER_HTML_HTML_H

#include "base/units.h"
#include "render/html/address_map.h"
#include "render/diff.h"
#include "render/profile.h"
#include "render/recording_story.h"

/* html_report() and html_diff() write a whole page. */
void html_report(struct buf *b, const struct story_view *s);
void html_diff(struct buf *b, const struct diff *d, const struct story_view *before,
	       const struct story_view *after);
/* Appends text, escaped for use in an element or an attribute. */
void html_text(struct buf *b, const char *s);

/* Appends text, and escapes the bytes of each %s. */
void html_printf(struct buf *b, const char *format, ...) __attribute__((format(printf, 2, 3)));

void html_text_len(struct buf *b, const char *s, size_t len);
/* Writes the lines of a text one by one, because html_text() escapes newlines. */
void html_lines(struct buf *b, const char *text);

/* `clock`: the page has times, and a button that shows them in UTC. */
void html_begin(struct buf *b, const char *title, const char *subtitle, bool clock);
void html_end(struct buf *b);
/* Embeds JSON in a page. `<`, `>` and `&` become escapes, so that no text can end the element. */
void html_data(struct buf *b, const char *id, const struct buf *json);

/*
 * Every number on a page of a recording names its source in an attribute `data-is` of its element,
 * or of an element around it. tests/report/page_numbers.py compares the number with the JSON output
 * of the recording: it knows each kind of source, and finds numbers without one. `data-v` has the
 * value if the text is rounded.
 *
 * A long table has the class "numbers", and names the source of a column once, in an attribute
 * `data-of` of the column's head. Its cells have no attribute `data-is`: `is` is NULL.
 *
 * html_value() writes an element with a value, html_cell() a cell of a table. html_note() writes a
 * paragraph that begins with a count, such as of what is left out; `rest` is markup.
 */
void html_value(struct buf *b, const char *is, double value, const char *text);
void html_cell(struct buf *b, const char *is, double value, const char *text);
void html_note(struct buf *b, const char *is, uint64_t count, const char *rest);

void html_section(struct buf *b, const char *id, const char *title, const char *about);
void html_section_end(struct buf *b);

/* Values beside their limits, with forecasts. `of` is owned; free it with free(). */
struct gauge_list {
	struct gauge *of;
	size_t n;
};

/* Finds the values that the page shows. Sets b->failed, and finds none, without memory. */
void html_find_gauges(struct buf *b, const struct story_view *s, struct gauge_list *ret);

/* Lists the processes that ended by a fault or SIGABRT. Returns their number. */
size_t html_crashes(struct buf *b, const struct story_view *s);

void html_verdict(struct buf *b, const struct story_view *s, const struct gauge_list *g);

/* Writes the note "Incomplete: …", or nothing if there is no gap (render/completeness.h). */
void html_gaps(struct buf *b, const struct buf *gaps);
void html_facts(struct buf *b, const struct story_view *s);
void html_timeline(struct buf *b, const struct story_view *s);
void html_flame(struct buf *b, const struct story_view *s, const struct profile *p);
void html_heat(struct buf *b, const struct story_view *s);
void html_addresses(struct buf *b, const struct story_view *s, const struct address_map *m);
void html_latency(struct buf *b, const struct story_view *s);
void html_memory(struct buf *b, const struct story_view *s);
void html_oom(struct buf *b, const struct story_view *s);
void html_gauges(struct buf *b, const struct story_view *s, const struct gauge_list *g);
/* Lists the limits that were reached at the end of the recording, or will be reached next. */
void html_next(struct buf *b, const struct story_view *s, const struct gauge_list *g);
void html_processes(struct buf *b, const struct story_view *s);
void html_held(struct buf *b, const struct story_view *s, enum what what);
void html_events(struct buf *b, const struct story_view *s);
void html_story_data(struct buf *b, const struct story_view *s, const struct profile *p,
		     const struct address_map *m);

/* Writes the data of a comparison: the profiles of two recordings. */
void html_diff_data(struct buf *b, const struct story_view *before, const struct profile *then,
		    const struct story_view *after, const struct profile *now);
/* Returns the colour of a module, from 1 to HTML_MODULES; 0: the module is not known. */
unsigned int html_module_colour(const char *module, size_t len);
/* Returns the module of a frame, or else its source file; empty: not known. */
const char *html_module(const struct profile_name *n);

/* Writes a cell of a table with a bar of n of `most`. */
void html_bar(struct buf *b, uint64_t n, uint64_t most);

/* Writes a stack as a list of frames, at most `most`, the innermost first. */
void html_stack(struct buf *b, const struct frames *f, size_t most);
/* The same for the texts of a stack, one frame per line. */
void html_stack_text(struct buf *b, const char *text, size_t most);

#define HTML_HEAT_ROWS 24 /* maximum number of processes in the heat map */
#define HTML_MODULES   7  /* number of colours of modules in a flame graph */
#define HTML_LEVELS    7  /* number of colours for values above 0 */

/* SVG drawings are 1000 units wide. Time axes go from x = HTML_LEFT to HTML_RIGHT. */
#define HTML_LEFT  132.0
#define HTML_RIGHT 988.0

/*
 * Times. html_zone() returns the offset of the host's time zone from UTC, in seconds; 0 if the
 * recording does not have it. html_zone_name() writes its name, such as "UTC+02:00". html_dated()
 * returns whether times need a date, because the recording contains midnight.
 *
 * html_clock() returns a time as the host's clock showed it; `step` is the resolution in ms.
 * html_time() writes it as an element, with its source (see html_value()).
 */
int64_t html_zone(const struct story_view *s);
void html_zone_name(const struct story_view *s, char *ret, size_t size);
bool html_dated(const struct story_view *s);
struct number_text html_clock(const struct story_view *s, uint64_t t_ns, int64_t step);
void html_time(struct buf *b, const struct story_view *s, const char *is, uint64_t t_ns);

/* Returns the x coordinate of a time on the axis of the whole recording. */
double html_x(const struct story_view *s, uint64_t t_ns);

/*
 * Appends a coordinate, rounded to a tenth, without a decimal 0. `before` is the letter of a path's
 * command, or a separator.
 */
void html_at(struct buf *b, const char *before, double v);

/*
 * Write parts of charts over time: the time axis of the whole recording or of a part, rows of
 * coloured cells, the legend of colours.
 */
void html_axis(struct buf *b, const struct story_view *s, double y);
void html_axis_between(struct buf *b, const struct story_view *s, double y, uint64_t from_ns,
		       uint64_t to_ns);
void html_cells(struct buf *b, const struct story_view *s, const uint64_t *cell, size_t rows,
		uint64_t most, double height);
void html_legend(struct buf *b, const char *what, uint64_t most);

/* Returns the colour of a value on a logarithmic scale: 1 to HTML_LEVELS, or 0 for the value 0. */
int html_level(uint64_t n, uint64_t most);

#endif
