// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/** Has an unbounded thread pool. Requests wait, so that each needs a new thread. */
public class Threads {
	public static void main(String[] args) throws Exception {
		int requests = Integer.parseInt(args[0]);
		ExecutorService pool = Executors.newCachedThreadPool();
		CountDownLatch answer = new CountDownLatch(1);
		List<Object> waiting = new ArrayList<>();

		System.out.println("ready");
		System.in.read();
		for (int i = 0; i < requests; i++)
			waiting.add(pool.submit(() -> {
				answer.await();
				return null;
			}));
		System.out.println("ok");
		while (System.in.read() >= 0)
			;
		System.exit(0);
	}
}
