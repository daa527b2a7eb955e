// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Tests CRC-32C with the examples of RFC 3720, section B.4, and SHA-1 of texts whose lengths are
 * about those of its blocks; the hashes are from sha1sum.
 */
#include "base/crc32c.h"
#include "base/sha1.h"
#include "tap.h"

static void test_crc(void)
{
	unsigned char bytes[32];

	is_u64(crc32c(0, "", 0), 0, "nothing");
	is_u64(crc32c(0, "123456789", 9), 0xe3069283, "nine digits");
	is_u64(crc32c(crc32c(0, "1234", 4), "56789", 5), 0xe3069283, "in two pieces");
	memset(bytes, 0, sizeof(bytes));
	is_u64(crc32c(0, bytes, sizeof(bytes)), 0x8a9136aa, "zeros");
	memset(bytes, 0xff, sizeof(bytes));
	is_u64(crc32c(0, bytes, sizeof(bytes)), 0x62a8ab43, "ones");
	for (int i = 0; i < 32; i++)
		bytes[i] = i;
	is_u64(crc32c(0, bytes, sizeof(bytes)), 0x46dd794e, "ascending bytes");
	for (int i = 0; i < 32; i++)
		bytes[i] = 31 - i;
	is_u64(crc32c(0, bytes, sizeof(bytes)), 0x113fdb5c, "descending bytes");
}

static void test_sha1(void)
{
	static const struct {
		size_t n; /* length of a text of the letter a */
		const char *hash;
	} rows[] = {
		{0, "da39a3ee5e6b4b0d3255bfef95601890afd80709"},
		{1, "86f7e437faa5a7fce15d1ddcb9eaeaea377667b8"},
		{3, "7e240de74fb1ed08fa08d38063f6a6a91462a815"},
		{55, "c1c8bbdc22796e28c0e15163d20899b65621d65a"},
		{56, "c2db330f6083854c99d4b5bfb6e8f29f201be699"},
		{57, "f08f24908d682555111be7ff6f004e78283d989a"},
		{63, "03f09f5b158a7a8cdad920bddc29b81c18a551f5"},
		{64, "0098ba824b5c16427bd7a1122a5a442a25ec644d"},
		{65, "11655326c708d70319be2610e8a57d9a5b959d3b"},
		{119, "ee971065aaa017e0632a8ca6c77bb3bf8b1dfc56"},
		{120, "f34c1488385346a55709ba056ddd08280dd4c6d6"},
		{128, "ad5b3fdbcb526778c2839d2f151ea753995e26a0"},
	};
	char text[128], hash[SHA1_HEX_LEN];

	memset(text, 'a', sizeof(text));
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		sha1_hex(text, rows[i].n, hash);
		is_str(hash, rows[i].hash, "a text of one letter");
	}
	sha1_hex("abc", 3, hash);
	is_str(hash, "a9993e364706816aba3e25717850c26c9cd0d89d", "the example of RFC 3174");
}

int main(void)
{
	test_crc();
	test_sha1();
	return tap_done();
}
