/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * rules: what the mappings and descriptors of a process are, and who made them. By what it holds
 * where that was read, else by what its calls added while it was watched.
 */
#ifndef FS_RULES_GROWTH_RULES_H
#define FS_RULES_GROWTH_RULES_H

#include "rules/rules.h"

/* Evidence for any finding about a count: the sorts that make it up, and the stack behind most. */
void growth_evidence(struct finding *f, const struct model *m, const struct process_key *id,
		     enum what what);

/* Evidence: the innermost frames of a stack, where they are known. */
void stack_evidence(struct finding *f, const struct model *m, const struct process_key *id,
		    int32_t stack);

/* Tests of rules[]. */
bool torch_shares(const struct occasion *o, const struct finding *open, struct finding *f);
bool thread_stacks(const struct occasion *o, const struct finding *open, struct finding *f);
bool zgc_heap(const struct occasion *o, const struct finding *open, struct finding *f);
bool allocator_splits(const struct occasion *o, const struct finding *open, struct finding *f);
bool dotnet_double_maps(const struct occasion *o, const struct finding *open, struct finding *f);
bool go_splits(const struct occasion *o, const struct finding *open, struct finding *f);
bool map_per_file(const struct occasion *o, const struct finding *open, struct finding *f);
bool maps_leak(const struct occasion *o, const struct finding *open, struct finding *f);
bool maps_burst(const struct occasion *o, const struct finding *open, struct finding *f);
bool wine_demand(const struct occasion *o, const struct finding *open, struct finding *f);
bool fd_class_leaks(const struct occasion *o, const struct finding *open, struct finding *f);
bool sockets_not_closed(const struct occasion *o, const struct finding *open, struct finding *f);
bool sharing_by_fd(const struct occasion *o, const struct finding *open, struct finding *f);
bool wine_esync(const struct occasion *o, const struct finding *open, struct finding *f);

#endif
