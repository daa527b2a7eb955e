// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "finding_pages.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "rules/diagnoses.h"
#include "triage/crash_signs.h"

/* The families of findings. All findings of a family have ids that begin with the same letter. */
static const struct {
	char letter;
	const char *page, *title, *about;
} families[] = {
	{'M', "mappings", "Mappings, address space and memory limits",
	 "`mmap`, `brk`, `mprotect`, `munmap`, `fork` or `pthread_create` fails, or will soon: "
	 "vm.max_map_count, RLIMIT_AS, RLIMIT_DATA, RLIMIT_MEMLOCK, overcommit, threads."},
	{'F', "file-descriptors", "File descriptors",
	 "`open`, `socket`, `accept` or `inotify_init` fails with EMFILE or ENFILE, or will soon; "
	 "file descriptors leak."},
	{'P', "page-faults", "Page faults and memory pressure",
	 "SIGBUS, SIGSEGV and OOM kills; programs that wait for swap, disks, compaction or "
	 "mmap_lock."},
	{'K', "kernel", "The kernel",
	 "The kernel accessed a bad address, or recorded what often comes before a crash."},
};

#define NR_FAMILIES (sizeof(families) / sizeof(families[0]))

#define ID_LEN 3 /* length of an id: a letter and two digits */

/* Prints a text with Markdown's special characters escaped. */
static void put_markdown(const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++)
		printf("%s%c", strchr("*_`<>|[]\\", text[i]) ? "\\" : "", text[i]);
}

/* Returns the finding whose id is at the start of the text. Returns NULL if there is none. */
static const struct diagnosis *finding_at(const char *text, size_t len)
{
	char id[ID_LEN + 1] = "";

	if (len < ID_LEN || !isupper((unsigned char)text[0]) || !isdigit((unsigned char)text[1]) ||
	    !isdigit((unsigned char)text[2]) || (len > ID_LEN && isalnum((unsigned char)text[3])))
		return NULL;
	memcpy(id, text, ID_LEN);
	return diagnosis_find(id);
}

/* Prints a paragraph. Ids of findings in the paragraph become links to their pages. */
static void put_paragraph(const char *text, size_t len)
{
	size_t from = 0;

	for (size_t i = 0; i < len; i++) {
		const struct diagnosis *d = finding_at(text + i, len - i);

		if (!d || (i && isalnum((unsigned char)text[i - 1])))
			continue;
		put_markdown(text + from, i - from);
		printf("[%s](%s.md)", d->id, d->id);
		from = i + ID_LEN;
		i = from - 1;
	}
	put_markdown(text + from, len - from);
}

/* Prints a section. Adjacent lines with commands form one code block. */
static void put_section(const char *heading, const char *text)
{
	bool block = false;

	printf("\n## %c%s\n", toupper((unsigned char)heading[0]), heading + 1);
	while (*text) {
		size_t len = strcspn(text, "\n");
		bool command = !strncmp(text, "$ ", 2);

		if (command != block)
			puts(command ? "\n```" : "```");
		block = command;
		if (command) {
			printf("%.*s\n", (int)len - 2, text + 2);
		} else {
			puts("");
			put_paragraph(text, len);
			puts("");
		}
		text += len + (text[len] == '\n');
	}
	if (block)
		puts("```");
}

static void put_sources(const char *sources)
{
	if (!*sources)
		return;
	printf("\n## Public reports\n\n");
	while (*sources) {
		size_t len = strcspn(sources, " "), name = strcspn(sources, "#");

		printf("[%.*s](https://github.com/%.*s/issues/%.*s)%s\n", (int)len, sources,
		       (int)name, sources, (int)(len - name - 1), sources + name + 1,
		       sources[len] ? "," : "");
		sources += len + (sources[len] == ' ');
	}
}

/* Prints how faultscope detects a finding, for a table cell or a sentence. */
static void put_detection(const struct diagnosis *d)
{
	const struct rule *rule = diagnosis_rule(d);

	if (rule && rule->needs)
		printf("probe `%s`%s", rule->needs,
		       crash_signs_flag(d->id) ? " and the flight recorder" : "");
	else if (rule)
		printf("every scan");
	else
		printf(crash_signs_flag(d->id) ? "the flight recorder" : "by hand");
}

static size_t family_of(const struct diagnosis *d)
{
	for (size_t i = 0; i < NR_FAMILIES; i++)
		if (families[i].letter == d->id[0])
			return i;
	return 0;
}

static void put_finding(const struct diagnosis *d)
{
	printf("%%%%%% %s.md\n# %s %s: ", d->id, d->id, d->slug);
	put_markdown(d->title, strlen(d->title));
	printf("\n\nFamily: [%s](%s.md). Severity: up to %s. Detected by: ",
	       families[family_of(d)].title, families[family_of(d)].page,
	       severity_name(d->severity));
	put_detection(d);
	puts(".");
	for (size_t i = 0; i < NR_ABOUTS; i++)
		put_section(abouts[i].heading, d->about[i]);
	put_sources(d->sources);
}

static void put_family(size_t f)
{
	const struct diagnosis *d;

	printf("%%%%%% %s.md\n# %s\n\n%s\n\n", families[f].page, families[f].title,
	       families[f].about);
	puts("`faultscope explain ID` prints a page of this table in the terminal.\n");
	puts("| id | finding | severity, up to | detected by |");
	puts("| --- | --- | --- | --- |");
	for (size_t i = 0; (d = diagnosis_at(i)); i++) {
		if (family_of(d) != f)
			continue;
		printf("| [%s %s](%s.md) | ", d->id, d->slug, d->id);
		put_markdown(d->title, strlen(d->title));
		printf(" | %s | ", severity_name(d->severity));
		put_detection(d);
		puts(" |");
	}
}

void put_findings(void)
{
	const struct diagnosis *d;

	for (size_t f = 0; f < NR_FAMILIES; f++)
		put_family(f);
	for (size_t i = 0; (d = diagnosis_at(i)); i++)
		put_finding(d);
}

void put_families(void)
{
	puts("| ids | family | what went wrong |");
	puts("| --- | --- | --- |");
	for (size_t f = 0; f < NR_FAMILIES; f++)
		printf("| %c | [%s](%s.md) | %s |\n", families[f].letter, families[f].title,
		       families[f].page, families[f].about);
}
