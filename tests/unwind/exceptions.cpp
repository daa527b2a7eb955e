// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Test program: C++ code with exceptions, sorting, streams and threads. System calls are made
 * below functions of the standard library, in destructors that run while an exception is thrown,
 * and in code that GCC moves to .text.unlikely. It exits with 0 after as many rounds as its first
 * argument says.
 */
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

static void call()
{
	syscall(SYS_getppid);
}

struct Caller {
	~Caller()
	{
		call();
	}
};

__attribute__((cold, noinline)) static void refuse(int n)
{
	std::ostringstream text;

	call();
	text << "refused " << n;
	throw std::runtime_error(text.str());
}

__attribute__((noinline)) static int deep(int n, int depth)
{
	Caller here;

	if (!depth) {
		if (n % 3 == 0)
			refuse(n);
		return n;
	}
	return deep(n, depth - 1) + depth;
}

static size_t round_of(int n)
{
	std::map<std::string, std::vector<int>> rows;
	size_t sum = 0;

	for (int i = 0; i < 20; i++)
		rows["row " + std::to_string(i * n % 7)].push_back(i);
	for (auto &[name, row] : rows) {
		std::sort(row.begin(), row.end(), [](int a, int b) {
			if (a == 3 || b == 3)
				call();
			return a > b;
		});
		sum += name.size() + row.size();
	}
	try {
		sum += deep(n, n % 30);
	} catch (const std::exception &e) {
		sum += std::string(e.what()).size();
	}
	std::ifstream file("/proc/self/comm");
	std::string line;

	while (std::getline(file, line))
		sum += line.size();
	return sum;
}

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? std::atoi(argv[1]) : 20;
	std::vector<std::thread> threads;
	std::vector<size_t> sums(3);

	for (size_t t = 0; t < sums.size(); t++)
		threads.emplace_back([&sums, t, rounds] {
			for (int i = 0; i < rounds; i++)
				sums[t] += round_of(i);
		});
	for (auto &thread : threads)
		thread.join();
	return std::count(sums.begin(), sums.end(), sums[0]) != 3;
}
