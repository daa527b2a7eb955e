// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Functions of elfutils' libeu.a (lib/eu-search.h) that libelf.a calls from elfutils 0.191 on.
 * Debian 13 does not package libeu.a. libelf keeps the raw chunks of a file in this search tree;
 * faultscope never asks libelf for raw chunks. Static programs link this file if libelf.a lacks
 * these functions.
 */
#define _GNU_SOURCE
#include <search.h>
#include <stddef.h>

struct search_tree {
	void *root; /* if elfutils is built with threads, a lock follows this member */
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
