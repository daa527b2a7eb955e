// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * What libelf.a of elfutils 0.191 and later calls in its libeu.a, which Debian 13 does not package
 * (lib/eu-search.c): the tree of the raw chunks of a file, which nothing here asks for. Linked into
 * static programs where libelf.a lacks it.
 */
#define _GNU_SOURCE
#include <search.h>
#include <stddef.h>

struct search_tree {
	void *root; /* a lock follows where elfutils is built with threads */
};

void eu_search_tree_init(struct search_tree *tree);
void eu_search_tree_fini(struct search_tree *tree, void (*free_node)(void *));

void eu_search_tree_init(struct search_tree *tree)
{
	tree->root = NULL;
}

void eu_search_tree_fini(struct search_tree *tree, void (*free_node)(void *))
{
	tdestroy(tree->root, free_node);
}
