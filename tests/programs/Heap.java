// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
import java.util.Random;

/** Replaces large values of different sizes in a cache at random, which fragments ZGC's heap. */
public class Heap {
	public static void main(String[] args) throws Exception {
		int slots = Integer.parseInt(args[0]), rounds = Integer.parseInt(args[1]);
		byte[][] cache = new byte[slots][];
		Random random = new Random(1);

		System.out.println("ready");
		System.in.read();
		for (int i = 0; i < rounds; i++)
			cache[random.nextInt(slots)] = new byte[(4 << 20) + (random.nextInt(4) << 20)];
		System.out.println("ok");
		while (System.in.read() >= 0)
			;
		System.exit(cache[0] == null ? 0 : 0);
	}
}
