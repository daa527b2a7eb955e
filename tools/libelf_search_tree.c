// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The functions of elfutils' libeu.a (lib/eu-search.h) that libelf.a of 0.191 and later calls, and
 * which Debian 13 does not package. libelf keeps the raw chunks of a file in such a tree;
 * faultscope never asks libelf for a raw chunk. Static programs link this where libelf.a lacks them.
 */
#define _GNU_SOURCE
#include <search.h>
#include <stddef.h>

struct search_tree {
	void *root; /* a lock follows where elfutils is built with threads */
};

typedef int compare_nodes(const void *a, const void *b);

void *eu_tsearch(const void *key, struct search_tree *tree, compare_nodes *compare);
void *eu_tfind(const void *key, struct search_tree *tree, compare_nodes *compare);
void *eu_tdelete(const void *key, struct search_tree *tree, compare_nodes *compare);
void eu_tdestroy(struct search_tree *tree, void (*free_node)(void *));
void eu_search_tree_init(struct search_tree *tree);
void eu_search_tree_fini(struct search_tree *tree, void (*free_node)(void *));

void *eu_tsearch(const void *key, struct search_tree *tree, compare_nodes *compare)
{
	return tsearch(key, &tree->root, compare);
}

void *eu_tfind(const void *key, struct search_tree *tree, compare_nodes *compare)
{
	return tfind(key, &tree->root, compare);
}

void *eu_tdelete(const void *key, struct search_tree *tree, compare_nodes *compare)
{
	return tdelete(key, &tree->root, compare);
}

void eu_tdestroy(struct search_tree *tree, void (*free_node)(void *))
{
	tdestroy(tree->root, free_node);
	tree->root = NULL;
}

void eu_search_tree_init(struct search_tree *tree)
{
	tree->root = NULL;
}

void eu_search_tree_fini(struct search_tree *tree, void (*free_node)(void *))
{
	eu_tdestroy(tree, free_node);
}
