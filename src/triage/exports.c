// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "triage/exports.h"

#include <stdlib.h>

struct export
{
	/* owner: of a function, the module that exports it; uses: of a module, other libraries */
	const char *name, *owner, *uses;
	unsigned int importers;
};

static const struct export exports[] = {
#define EXPORT(name, owner, importers) {name, owner, "", importers},
#include "triage/exports.def"
};

static const struct export providers[] = {
#define PROVIDER(name, importers, uses) {name, "", uses, importers},
#include "triage/exports.def"
};

static int by_name(const void *key, const void *row)
{
	const struct str *name = key;
	const struct export *e = row;
	int order = strncmp(name->s, e->name, name->n);

	return order ? order : e->name[name->n] ? -1 : 0;
}

static const struct export *find(const struct export *rows, size_t n, struct str name)
{
	return name.n ? bsearch(&name, rows, n, sizeof(*rows), by_name) : NULL;
}

unsigned int export_importers(struct str function, struct str module)
{
	const struct export *e = find(exports, sizeof(exports) / sizeof(exports[0]), function);

	return e && (!module.n || str_is(module, e->owner)) ? e->importers : 0;
}

unsigned int provider_importers(struct str module)
{
	const struct export *e = find(providers, sizeof(providers) / sizeof(providers[0]), module);

	return e ? e->importers : 0;
}

bool provider_uses(struct str library, struct str other)
{
	const struct export *e =
		find(providers, sizeof(providers) / sizeof(providers[0]), library);
	struct str uses = str_of(e ? e->uses : ""), word;

	while ((word = str_word(&uses)).n)
		if (str_same(word, other))
			return true;
	return false;
}
