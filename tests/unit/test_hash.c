// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Tests FNV-1a hashes of texts. The expected hashes are from appendix C of draft-eastlake-fnv. */
#include "base/hash.h"
#include "tap.h"

int main(void)
{
	is_u64(hash_text(HASH_BEGIN, ""), 0x811c9dc5, "nothing");
	is_u64(hash_text(HASH_BEGIN, "a"), 0xe40c292c, "a byte");
	is_u64(hash_text(HASH_BEGIN, "foobar"), 0xbf9cf968, "a word");
	is_u64(hash_text(hash_text(HASH_BEGIN, "foo"), "bar"), 0xbf9cf968, "in two pieces");
	is_u64(hash64_bytes(HASH64_BEGIN, "", 0), 0xcbf29ce484222325ULL, "nothing, in 64 bits");
	is_u64(hash64_bytes(HASH64_BEGIN, "a", 1), 0xaf63dc4c8601ec8cULL, "a byte");
	is_u64(hash64_bytes(HASH64_BEGIN, "foobar", 6), 0x85944171f73967e8ULL, "a word");
	return tap_done();
}
