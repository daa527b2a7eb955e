// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Functions that keep known amounts of memory in containers of C++. The truth is the sum of the
 * sizes that the allocator says it gave. With glibc, each block also has a header of 8 bytes.
 */
#include <malloc.h>
#include <sys/prctl.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <list>
#include <memory>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

#define own __attribute__((noinline, noclone))

static size_t header; /* of a block */

static size_t size_of(const void *block)
{
	return malloc_usable_size(const_cast<void *>(block)) + header;
}

struct Node {
	long key;
	char text[200];
};

static std::vector<std::vector<char>> vectors;
static std::vector<std::string> strings;
static std::list<Node> nodes;
static std::unordered_map<long, std::unique_ptr<Node>> table;
static std::vector<std::unique_ptr<char[]>> blocks;

own size_t hold_vectors()
{
	size_t sum = 0;

	for (int i = 0; i < 50; i++) {
		vectors.emplace_back(1 << 20, 'x');
		sum += size_of(vectors.back().data());
	}
	return sum;
}

own size_t hold_strings()
{
	size_t sum = 0;

	strings.reserve(1 << 18);
	for (int i = 0; i < 1 << 18; i++) {
		strings.emplace_back(100 + i % 50, 'y');
		sum += size_of(strings.back().c_str());
	}
	return sum + size_of(strings.data());
}

own size_t hold_nodes()
{
	size_t sum = 0;

	for (long i = 0; i < 1 << 17; i++) {
		nodes.push_back({i, ""});
		memset(nodes.back().text, 1, sizeof(Node::text));
		sum += size_of(reinterpret_cast<char *>(&nodes.back()) - 2 * sizeof(void *));
	}
	return sum;
}

own size_t hold_in_thread()
{
	size_t sum = 0;

	for (int i = 0; i < 4000; i++) {
		blocks.emplace_back(new char[8192]);
		memset(blocks.back().get(), 1, 8192);
		sum += size_of(blocks.back().get());
	}
	return sum;
}

int main(int argc, char **argv)
{
	const bool glibc = argc < 2 || strcmp(argv[1], "other");
	size_t vectors_sum, strings_sum, nodes_sum, thread_sum = 0;

	header = glibc ? 8 : 0;
	if (argc < 3 || strcmp(argv[2], "huge"))
		prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0);
	blocks.reserve(4000);
	vectors.reserve(50);
	vectors_sum = hold_vectors();
	strings_sum = hold_strings();
	nodes_sum = hold_nodes();
	std::thread([&] { thread_sum = hold_in_thread(); }).join();
	printf("{\"holds\":{\"hold_vectors\":%zu,\"hold_strings\":%zu,\"hold_nodes\":%zu,"
	       "\"hold_in_thread\":%zu}}\n",
	       vectors_sum, strings_sum, nodes_sum, thread_sum);
	fflush(stdout);
	getchar();
	return 0;
}
