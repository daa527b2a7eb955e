// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Tests growth findings M03 to M12 and F08 to F11. Each finding must open for its own pattern of
 * growth, but not for similar patterns.
 */
#include "growth_fixture.h"
#include "tap.h"
#include "finding_text.h"

static void begin_with(uint32_t maps, uint32_t fds)
{
	struct process_record r = process_with(maps, fds);

	begin();
	model_take(&m, &r.h);
}

static void judged(const char *want, const char *name)
{
	judge_window();
	is_str(open_ids(), want, name);
}

/* Checks the contents that all findings about growth have in common. */
static void has_finding(const char *id, enum severity severity, const char *title,
			const char *holds, const char *from, const char *fix)
{
	const struct finding *f = find(id);
	const char *what = evidence_of(f, "holds"), *stack = evidence_of(f, "from");

	if (!what)
		what = evidence_of(f, "created");
	if (!ok(f, "%s opens", id))
		return;
	ok(f->severity == severity, "%s: %s", id, severity_name(severity));
	ok(strstr(f->title, title), "%s says \"%s\": %s", id, title, f->title);
	ok(what && strstr(what, holds), "%s names %s: %s", id, holds, what ? what : "");
	ok(!from ? !stack : stack && strstr(stack, from), "%s comes from %s: %s", id,
	   from ? from : "nowhere that is known", stack ? stack : "");
	ok(advises(f, fix), "%s advises: %s", id, fix);
	ok(f->cause && *f->cause, "%s has a cause", id);
}

#define RAISE_MAPS "sysctl -w vm.max_map_count=1048576"

static void test_torch(void)
{
	const struct finding *f;

	begin_with(40000, 50);
	holds(WHAT_MAPS, 0, HOLDING_SHARED_MEMORY, "/dev/shm/torch_# (deleted)", 38000);
	holds(WHAT_MAPS, 1, HOLDING_FILE_PRIVATE, "/usr/lib/libtorch_cpu.so", 12);
	made_file(WHAT_MAPS, 3, "torch_#", 1000, 0);
	stack_reads(3, "mmap (libc.so.6)\nTHManagedMapAllocator (libtorch_cpu.so)\nmain (python3)",
		    0);
	judged("M03 M25", "tensors in shared memory");
	has_finding("M03", SEVERITY_WARNING, "39,000 of 40,000 mappings", "/dev/shm/torch_#",
		    "mmap (libc.so.6) <- THManagedMapAllocator (libtorch_cpu.so) <- main (python3)",
		    "DataLoader(multiprocessing_context='fork')");
	f = find("M03");
	ok(evidence_of(f, "sharing strategy") &&
		   !strncmp(evidence_of(f, "sharing strategy"), "file_system:", 12),
	   "no descriptor each: file_system");
	ok(advises(f, RAISE_MAPS), "and to gain time");
	ok(!evidence_of(f, "its process tree"), "no tree of one process");
	ok(find("M25")->nr_because == 1 && !strcmp(find("M25")->because[0]->id, "M03"),
	   "the near limit is because of it");
	end();

	begin_with(5000, 5000);
	holds(WHAT_MAPS, 0, HOLDING_SHARED_MEMORY, "/torch_# (deleted)", 4800);
	holds(WHAT_FDS, 0, HOLDING_SHARED_MEMORY, "/torch_# (deleted)", 4800);
	judged("M03 F10", "and a descriptor each");
	ok(!strncmp(evidence_of(find("M03"), "sharing strategy"), "file_descriptor:", 16),
	   "file_descriptor");
	has_finding("F10", SEVERITY_INFO, "4,800 of 5,000 file descriptors", "/torch_#", NULL,
		    "set_sharing_strategy('file_system')");
	end();

	begin_with(5000, 50);
	holds(WHAT_MAPS, 0, HOLDING_ANONYMOUS, "rw-p", 4000);
	holds(WHAT_MAPS, 1, HOLDING_SHARED_MEMORY, "/dev/shm/torch_# (deleted)", 900);
	judged("", "900 tensors among 5,000 mappings are no pattern");
	end();

	begin_with(5000, 50);
	made_file(WHAT_MAPS, 3, "torch_#", 3000, 0);
	unmapped(2500);
	judged("", "3,000 made and 2,500 unmapped: not known to be left");
	end();
}

/* Tests a training process and two worker processes. The workers have mappings as well. */
static void test_tree(void)
{
	struct process_record r = process_with(5000, 50);
	const char *tree;

	begin();
	model_take(&m, &r.h);
	for (uint32_t pid = 11; pid <= 12; pid++) {
		r.subject.pid = pid;
		r.g.ppid = 10;
		sprintf(r.g.comm, "worker%u", pid);
		r.g.map_count = 3000;
		model_take(&m, &r.h);
		holds_of(pid, WHAT_MAPS, 0, HOLDING_SHARED_MEMORY, "/dev/shm/torch_#", pid * 200);
	}
	r.subject.pid = 90;
	r.g.ppid = 1;
	strcpy(r.g.comm, "stranger");
	model_take(&m, &r.h);
	holds(WHAT_MAPS, 0, HOLDING_SHARED_MEMORY, "/dev/shm/torch_#", 4000);
	judge_window();
	tree = evidence_of(find("M03"), "its process tree");
	is_str(tree,
	       "3 processes: grower[10] 4,000; worker12[12] 2,400, child of 10; worker11[11] "
	       "2,200, child of 10",
	       "whose tensors they are");
	is_str(evidence_of(find_of("M03", 12), "its process tree"), tree,
	       "a child tells the same tree");
	ok(!find_of("M03", 90), "a stranger has no part in it");

	r.g.flags = PROC_FINAL;
	for (uint32_t pid = 11; pid <= 12; pid++) {
		r.subject.pid = pid;
		r.g.ppid = 10;
		model_next_window(&m);
		findings_next_window(&fs);
		model_take(&m, &r.h);
		judge_window();
	}
	r = process_with(5001, 50);
	model_next_window(&m);
	findings_next_window(&fs);
	model_take(&m, &r.h);
	judge_window();
	ok(evidence_of(find("M03"), "its process tree") &&
		   !strncmp(evidence_of(find("M03"), "its process tree"), "2 processes:", 12),
	   "the tree as it was last stays when only one is left");
	end();
}

static void test_threads(void)
{
	struct process_record r = process_with(8100, 20);

	begin();
	r.g.threads = 4000;
	model_take(&m, &r.h);
	holds(WHAT_MAPS, 0, HOLDING_ANONYMOUS, "rw-p", 4010);
	holds(WHAT_MAPS, 1, HOLDING_GUARD, "---p 4 KiB", 4000);
	judged("M04", "a guard a thread");
	has_finding("M04", SEVERITY_INFO,
		    "4,000 threads: their stacks and guards are most of 8,100", "---p", NULL,
		    "fewer threads");
	is_str(evidence_of(find("M04"), "threads"), "4,000", "it counts the threads");
	end();

	begin();
	r.g.threads = 3000;
	model_take(&m, &r.h);
	made_split(1, CALL_MPROTECT, 6000);
	stack_reads(1, "mprotect (libc.so.6)\npthread_create (libc.so.6)\nspawn (app)", 0);
	judged("M04", "made while watched, and nothing was read");
	has_finding("M04", SEVERITY_INFO,
		    "3,000 threads: their stacks and guards are most of 8,100", "stacks of threads",
		    "pthread_create (libc.so.6) <- spawn (app)", "fewer threads");
	end();

	begin();
	r.g.threads = 3000;
	r.g.map_count = r.g.map_high = 20000;
	model_take(&m, &r.h);
	made_split(1, CALL_MPROTECT, 14000);
	stack_reads(1, "mprotect (libc.so.6)\nsomebody_else (app)", 0);
	judged("M10", "many threads, but more of something else");
	end();
	r.g.map_count = r.g.map_high = 8100;

	begin();
	r.g.threads = 1;
	model_take(&m, &r.h);
	holds(WHAT_MAPS, 0, HOLDING_GUARD, "---p 4 KiB", 4000);
	judged("", "4,000 guards of one thread are none of stacks");
	end();
}

static void test_java(void)
{
	begin_with(40000, 300);
	holds(WHAT_MAPS, 0, HOLDING_SHARED_MEMORY, "/memfd:java_heap (deleted)", 30000);
	judged("M05 M25", "pieces of a heap");
	has_finding("M05", SEVERITY_WARNING, "30,000 of 40,000 mappings", "java_heap", NULL,
		    "-XX:+UseG1GC");
	end();
	begin_with(40000, 300);
	holds(WHAT_MAPS, 0, HOLDING_FILE_SHARED, "/srv/java/classes.jsa", 30000);
	judged("M25", "another file of Java's is not its heap");
	end();
}

static void test_allocator(void)
{
	static const char *const stacks[] = {
		"mprotect (libc.so.6)\nje_pages_decommit (libjemalloc.so.2)\nmain (redis-server)",
		"madvise (libc.so.6)\n_mi_os_decommit (libmimalloc.so.2)\nmain (app)",
		"munmap (libc.so.6)\nheap_trim (libc.so.6)\n_int_free (libc.so.6)\nmain (app)"};
	struct tick_record t;

	for (size_t i = 0; i < 3; i++) {
		begin_with(5000, 10);
		made_split(7, CALL_MPROTECT, 3000);
		stack_reads(7, stacks[i], 0);
		judged("M06", "an allocator that splits");
		has_finding("M06", SEVERITY_INFO, "3,000 of 3,000 mappings created while watched",
			    "split by mprotect", "main", "retain:true");
		ok(!advises(find("M06"), "overcommit_memory=2"), "nothing of overcommit");
		end();
	}
	begin_with(5000, 10);
	made_split(7, CALL_MADVISE, 3000);
	stack_reads(7, stacks[0], 0);
	t = tick_record(now += SECOND);
	t.limits.overcommit_memory = 2;
	model_take(&m, &t.h);
	findings_judge(&fs, &m);
	ok(advises(find("M06"), "with 2, allocators call mprotect(), which splits mappings"),
	   "in mode 2 it says so");
	end();

	begin_with(5000, 10);
	made_split(7, CALL_MPROTECT, 3000);
	stack_reads(7, "mprotect (libc.so.6)\nprotect_page (app)\nmain (app)", 0);
	judged("M10", "splits of the program's own are no allocator's");
	has_finding("M10", SEVERITY_INFO, "3,000 of 3,000", "split by mprotect", "protect_page",
		    "a change in the middle of a mapping splits it into three");
	end();
	begin_with(5000, 10);
	made_split(7, CALL_MPROTECT, 3000);
	unmapped(2900);
	stack_reads(7, stacks[0], 0);
	judged("", "splits that merge again are no growth");
	end();
}

static void test_go(void)
{
	begin_with(5000, 10);
	made_split(7, CALL_MADVISE, 3000);
	stack_reads(7, "runtime.madvise (app)\nruntime.sysHugePageOS (app)\nmain.main (app)", 0);
	judged("M08", "the Go runtime splits");
	has_finding("M08", SEVERITY_INFO, "3,000 of 3,000", "split by madvise",
		    "runtime.sysHugePageOS", "Go 1.21.1 to 1.21.3");
	end();
	begin_with(5000, 10);
	made_split(7, CALL_MADVISE, 3000);
	stack_reads(7, "madvise (libc.so.6)\nruntime (app)", 0);
	judged("M10", "a function that is called runtime is not it");
	end();
}

static void test_dotnet(void)
{
	begin_with(4000, 10);
	holds(WHAT_MAPS, 0, HOLDING_SHARED_MEMORY, "/memfd:doublemapper (deleted)", 2000);
	judged("M07", "code mapped twice");
	has_finding("M07", SEVERITY_INFO, "2,000 of 4,000 mappings", "doublemapper", NULL,
		    "DOTNET_EnableWriteXorExecute=0");
	end();
	begin_with(40000, 10);
	holds(WHAT_MAPS, 0, HOLDING_ANONYMOUS, "rw-p", 38000);
	holds(WHAT_MAPS, 1, HOLDING_SHARED_MEMORY, "/memfd:doublemapper (deleted)", 600);
	judged("M25", "a few among many are not what grew");
	end();
}

static void test_files(void)
{
	begin_with(6000, 10);
	holds(WHAT_MAPS, 0, HOLDING_FILE_SHARED, "/srv/index/#.doc", 4000);
	judged("M09", "a map a file");
	has_finding("M09", SEVERITY_INFO, "4,000 of 6,000 mappings are mapped files",
		    "/srv/index/#.doc", NULL, "unmap each file");
	ok(!advises(find("M09"), "Lucene"), "only Java's indexes are Lucene's");
	end();
	begin_with(6000, 10);
	struct process_record java = process_with(6000, 10);

	strcpy(java.g.comm, "java");
	model_take(&m, &java.h);
	holds(WHAT_MAPS, 0, HOLDING_FILE_SHARED, "/srv/index/#.doc", 4000);
	judged("M09", "the same of Java");
	ok(advises(find("M09"), "merge segments"), "its segments can be merged");
	end();
	begin_with(6000, 10);
	holds(WHAT_MAPS, 0, HOLDING_FILE_SHARED, "/srv/one.db", 4000);
	judged("", "many mappings of one file are not many files");
	end();
	begin_with(6000, 10);
	holds(WHAT_MAPS, 0, HOLDING_SPECIAL, "[anon_shmem:buffer#]", 4000);
	judged("", "names that are no files are not files");
	end();
}

/* Simulates a program `comm` that leaks mappings from call stack 2. */
static void leak_of(const char *comm)
{
	struct process_record r;

	begin_with(4100, 10);
	r = process_with(4100, 10);
	strcpy(r.g.comm, comm);
	model_take(&m, &r.h);
	made_anonymous(2, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, 4000);
}

static void leaks_as(const char *comm, uint32_t flags)
{
	leak_of(comm);
	stack_reads(2, "mmap (libc.so.6)\nerts_mmap (beam.smp)", flags);
	judged("M10", comm);
}

static void test_runtimes(void)
{
	leaks_as("beam.smp", FRAMES_SHORT);
	ok(advises(find("M10"), "+JPperf true"), "a short stack of Erlang: what to switch on");
	end();
	leaks_as("java", FRAMES_SHORT);
	ok(advises(find("M10"), "PreserveFramePointer"), "of Java");
	ok(advises(find("M10"), "jcmd 10 Compiler.perfmap"), "and the command for its names");
	end();
	leak_of("node");
	walk_reads(2, "mmap (libc.so.6)\n[unknown]\nmain (node)", STACK_END_ENTRY, 1, "");
	judged("M10", "node");
	ok(advises(find("M10"), "--perf-basic-prof"), "of Node.js: frames without names");
	end();
	leak_of("node");
	walk_reads(2, "mmap (libc.so.6)\nload ([jit])\nmain (node)", STACK_END_ENTRY, 1, "");
	judged("M10", "node with a perf map");
	ok(!advises(find("M10"), "--perf-basic-prof"), "frames with names need nothing");
	end();
	leaks_as("beam.smp", 0);
	ok(!advises(find("M10"), "JPperf"), "a whole one needs nothing");
	end();
	leaks_as("grower", FRAMES_SHORT);
	ok(!advises(find("M10"), "to see"), "of another program nothing is known");
	end();
}

static void test_leak(void)
{
	begin_with(4100, 10);
	made_anonymous(2, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, 2000);
	made_anonymous(3, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, 2000);
	made_file(WHAT_MAPS, 4, "libx.so", 5, 0);
	stack_reads(2, "mmap (libc.so.6)\nleak (app)", FRAMES_SHORT);
	stack_reads(3, "mmap (libc.so.6)\nleak (app)", FRAMES_SHORT);
	judged("M10", "two sorts, one place");
	has_finding("M10", SEVERITY_INFO,
		    "4,000 of 4,005 mappings created while watched are from one call stack",
		    "anonymous", "leak (app) (stack may be short)", "unmap on every path");
	end();

	begin_with(4100, 10);
	made_anonymous(2, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, 4000);
	made_file(WHAT_MAPS, 4, "libx.so", 5, 0);
	walk_reads(2, "mmap (libc.so.6)\nload (train.py:57)", STACK_END_ENTRY, 0,
		   "train.py:57 load");
	judged("M10", "made by Python code");
	has_finding("M10", SEVERITY_INFO, "almost none are unmapped, made by train.py:57 load",
		    "anonymous", "train.py:57 load: mmap (libc.so.6) <- load (train.py:57)",
		    "unmap on every path");
	end();

	begin_with(4100, 10);
	made_anonymous(2, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, 4000);
	made_file(WHAT_MAPS, 4, "libx.so", 5, 0);
	walk_reads(2, "mmap (libc.so.6)\nleak (app)", STACK_END_GAP, 0, "");
	judged("M10", "a walk that ended early");
	has_finding("M10", SEVERITY_INFO, "are from one call stack", "anonymous",
		    "(stack may be short: the file has no call frame information for the address)",
		    "unmap on every path");
	end();

	begin_with(4100, 10);
	made_anonymous(2, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, 1900);
	made_anonymous(-1, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, 2100);
	stack_reads(2, "mmap (libc.so.6)\nleak (app)", 0);
	judged("M10", "stacks that were lost say nothing against it");
	end();

	begin_with(4100, 10);
	made_anonymous(2, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, 4000);
	unmapped(3990);
	stack_reads(2, "mmap (libc.so.6)\nchurn (app)", 0);
	judged("", "what is unmapped again is no leak");
	end();

	begin_with(4100, 10);
	made_anonymous(2, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, 2000);
	made_anonymous(3, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, 2000);
	stack_reads(2, "mmap (libc.so.6)\none (app)", 0);
	stack_reads(3, "mmap (libc.so.6)\nother (app)", 0);
	judged("", "two places, each half: no one place");
	end();

	begin_with(4100, 10);
	made_anonymous(-1, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, 4000);
	judged("", "no stack, no place");
	end();

	begin_with(900, 10);
	made_anonymous(2, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, 900);
	judged("", "few are no news");
	end();
}

static void test_burst(void)
{
	struct process_record r = process_with(1000, 10);

	begin();
	r.g.map_high = 60000;
	model_take(&m, &r.h);
	judge_window();
	ok(find("M11") && find("M11")->severity == SEVERITY_INFO &&
		   strstr(find("M11")->title, "at 60,000, 91% of vm.max_map_count"),
	   "a burst that is over opens M11");
	ok(advises(find("M11"), "above the peak of the map count"), "size it for the mark");
	end();
	begin();
	r.g.map_count = 31000;
	model_take(&m, &r.h);
	judge_window();
	ok(!find("M11"), "still half of it there: no burst");
	end();
	begin();
	r.g.map_count = 1000;
	r.g.map_high = 45000;
	model_take(&m, &r.h);
	judge_window();
	ok(!find("M11"), "below 70 %%: none");
	end();
}

static void test_wine(void)
{
	struct process_record r = process_with(50000, 1000);

	begin();
	strcpy(r.g.comm, "Game.EXE");
	model_take(&m, &r.h);
	holds(WHAT_FDS, 0, HOLDING_ANON_INODE, "anon_inode:[eventfd]", 950);
	judged("M12 M25 F11", "a Windows program");
	ok(find("M12")->severity == SEVERITY_WARNING &&
		   advises(find("M12"), "vm.max_map_count=1048576"),
	   "what distributions for games set");
	has_finding("F11", SEVERITY_INFO, "950 of 1,000 file descriptors", "eventfd", NULL,
		    "ntsync");
	end();
	begin();
	strcpy(r.g.comm, "game.exec");
	model_take(&m, &r.h);
	holds(WHAT_FDS, 0, HOLDING_ANON_INODE, "anon_inode:[eventfd]", 950);
	judged("M25", "another program with as many");
	end();
	begin();
	strcpy(r.g.comm, "small.exe");
	r.g.map_count = r.g.map_high = 30000;
	model_take(&m, &r.h);
	judged("", "a small one");
	end();
}

static void test_class(void)
{
	static const char *const classes[] = {"[timerfd]",
					      "anon_inode:[perf_event]",
					      "anon_inode:sync_file",
					      "/dmabuf:",
					      "dmabuf",
					      "/memfd:pool (deleted)",
					      "memfd:x"};
	struct process_record r = process_with(100, 700);
	struct growth sampled = growth_of(10, WHAT_FDS, CALL_OPEN, 5, 600);

	begin_with(100, 700);
	made_file(WHAT_FDS, 5, "[eventpoll]", 500, 20);
	made_file(WHAT_FDS, 6, "data", 20, 0);
	stack_reads(5, "epoll_create1 (libc.so.6)\nwatch (app)", 0);
	judged("F08", "one class grows");
	has_finding("F08", SEVERITY_INFO, "480 of 500 file descriptors created while watched",
		    "[eventpoll]", "epoll_create1 (libc.so.6) <- watch (app)",
		    "close the file descriptors that the function");
	end();

	begin_with(100, 700);
	made_file(WHAT_FDS, 5, "[eventpoll]", 500, 480);
	judged("", "opened and closed again: no leak");
	end();
	begin_with(100, 700);
	made_file(WHAT_FDS, 5, "[eventpoll]", 800, 200);
	judged("F08", "a quarter closed again: still one");
	end();
	begin_with(100, 700);
	made_file(WHAT_FDS, 5, "[eventpoll]", 800, 201);
	judged("", "more than a quarter: none");
	end();
	begin_with(100, 700);
	holds(WHAT_FDS, 0, HOLDING_ANON_INODE, "anon_inode:[eventfd]", 690);
	judged("", "held, and not growing: no leak");
	end();
	begin_with(100, 700);
	made_file(WHAT_FDS, 5, "log.#", 500, 0);
	judged("", "files are no class of their own");
	end();
	for (size_t i = 0; i < sizeof(classes) / sizeof(classes[0]); i++) {
		begin_with(100, 700);
		made_file(WHAT_FDS, 5, classes[i], 500, 0);
		judge_window();
		ok(find("F08"), "descriptors of %s grow", classes[i]);
		end();
	}
	begin_with(100, 700);
	sampled.flags |= FILE_KNOWN | GROWTH_SAMPLED;
	sampled.mode = S_IFREG;
	strcpy(sampled.name, "[eventpoll]");
	take_growth(sampled);
	judge_window();
	has_finding("F08", SEVERITY_INFO, "about 600 of 600 file descriptors",
		    "[eventpoll] (estimated from samples)", NULL,
		    "close the file descriptors that the function");
	end();
	begin();
	strcpy(r.g.comm, "wineserver");
	model_take(&m, &r.h);
	made_file(WHAT_FDS, 5, "[eventfd]", 500, 0);
	judge_window();
	ok(!find("F08"), "Wine's have a name of their own");
	end();
}

static void test_close_wait(void)
{
	struct growth g = growth_of(10, WHAT_FDS, CALL_SOCKET, 8, 300);

	begin_with(100, 700);
	holds(WHAT_FDS, 0, HOLDING_SOCKET, "tcp CLOSE_WAIT to 10.0.0.9:6379", 600);
	holds(WHAT_FDS, 1, HOLDING_SOCKET, "tcp ESTABLISHED to 10.0.0.9:6379", 40);
	g.flags = FILE_KNOWN;
	g.mode = S_IFSOCK;
	take_growth(g);
	stack_reads(8, "connect (libc.so.6)\nredis_get (cart)", 0);
	judge_window();
	has_finding("F09", SEVERITY_INFO, "600 of 700 file descriptors",
		    "CLOSE_WAIT to 10.0.0.9:6379", "redis_get (cart)",
		    "when a read from it returns 0");
	end();
	begin_with(100, 700);
	holds(WHAT_FDS, 0, HOLDING_SOCKET, "tcp ESTABLISHED to 10.0.0.9:6379", 600);
	holds(WHAT_FDS, 1, HOLDING_SOCKET, "tcp CLOSE_WAIT to 10.0.0.9:6379", 60);
	judged("", "a few among many that are in use");
	end();
}

/* Tests that the severity depends on how close the value is to its limit. */
static void test_severity(void)
{
	begin_with(100, 15000);
	made_file(WHAT_FDS, 5, "[eventfd]", 500, 0);
	judge_window();
	ok(find("F08") && find("F08")->severity == SEVERITY_WARNING,
	   "past half of the limit it is a warning");
	end();
}

static bool ends_with(const char *text, const char *end)
{
	size_t len = text ? strlen(text) : 0;

	return len >= strlen(end) && !strcmp(text + len - strlen(end), end);
}

/* A stack that has no room for all frames has no part of a frame. */
static void test_long_stacks(void)
{
	for (int wide = 1; wide < 60; wide++) {
		char text[300];
		const char *from;

		begin_with(4100, 10);
		made_anonymous(2, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, 4000);
		snprintf(text, sizeof(text), "mmap (libc.so.6)\nf%0*d (app)\ng%0*d (app)\nh (app)",
			 wide, 0, wide, 0);
		stack_reads(2, text, wide & 1 ? FRAMES_SHORT : 0);
		judge_window();
		from = find("M10") ? evidence_of(find("M10"), "from") : NULL;
		ok(from && (ends_with(from, ")") || ends_with(from, " <- ...")),
		   "names of %d characters: %s", wide, from ? from : "nothing");
		end();
	}
}

/* Tests hostile records: a recording may contain any text and any number. */
static void test_hostile(void)
{
	char long_text[3000];
	const struct finding *f;

	begin_with(60000, 10);
	memset(long_text, 'x', sizeof(long_text) - 1);
	long_text[sizeof(long_text) - 1] = 0;
	for (size_t i = 200; i < sizeof(long_text); i += 200)
		long_text[i] = '\n';
	made_file(WHAT_MAPS, 3, "torch_#\x01\x01\x1b[31m", UINT64_MAX / 2, 0);
	stack_reads(3, long_text, 0);
	judge_window();
	f = find("M03");
	ok(f && strlen(evidence_of(f, "from")) < sizeof(f->evidence[0].text),
	   "a stack of long lines is cut");
	ok(f && ends_with(evidence_of(f, "from"), "xxx..."), "the end of a long name is marked");
	end();
	begin_with(60000, 10);
	made_file(WHAT_MAPS, 3, "torch_#", 10, UINT64_MAX);
	judge_window();
	ok(!find("M03"), "more taken away than was made: nothing is left");
	end();
}

int main(void)
{
	test_torch();
	test_tree();
	test_threads();
	test_java();
	test_allocator();
	test_go();
	test_dotnet();
	test_files();
	test_runtimes();
	test_leak();
	test_burst();
	test_wine();
	test_class();
	test_close_wait();
	test_severity();
	test_hostile();
	test_long_stacks();
	numbers_are(0x2ce8f48e);
	return tap_done();
}
