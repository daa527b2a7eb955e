# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Healthy programs of Debian that end without a signal. healthy.py runs them."""
import os
import shutil
import subprocess

from program import Program, amount, need_setup, quiet, write
from run import Skip


def node(folder):
    need_setup("node")
    script = write(folder, "serve.js", """\
        const http = require('http'), fs = require('fs'), crypto = require('crypto');
        const path = process.cwd() + '/http', agent = new http.Agent({keepAlive: true});
        const server = http.createServer((request, answer) => {
          const rows = Array.from({length: 2000}, (_, i) => ({i, text: 'x'.repeat(40)}));
          fs.readFile(__filename, (error, text) => answer.end(JSON.stringify(rows) +
            crypto.createHash('sha256').update(text).digest('hex')));
        });
        let asked = 0, answered = 0;
        function next() {
          if (++answered === COUNT) return agent.destroy(), server.close();
          if (asked < COUNT) ask();
        }
        function ask() {
          asked++;
          http.get({socketPath: path, agent}, (got) => got.resume().on('end', next));
        }
        server.keepAliveTimeout = 0;  // a slow machine is well, too
        fs.rmSync(path, {force: true});
        server.listen(path, () => { for (let i = 0; i < 8; i++) ask(); });
        """.replace("COUNT", str(amount(4000))))
    return Program(folder, [shutil.which("node"), script])


def pytest(folder):
    python = "/usr/bin/python3"
    if subprocess.run([python, "-c", "import pytest"], stderr=subprocess.DEVNULL,
                      check=False).returncode:
        raise Skip("no pytest: tools/setup.sh healthy")
    for i in range(amount(20)):
        write(folder, f"test_{i}.py", f"""\
            import json, subprocess, sqlite3, threading
            import pytest
            @pytest.mark.parametrize("n", range({amount(50)}))
            def test_file(tmp_path, n):
                file = tmp_path / "rows"
                file.write_text(json.dumps(list(range(n * 100))))
                assert json.loads(file.read_text()) == list(range(n * 100))
            def test_child():
                assert subprocess.check_output(["echo", "{i}"]) == b"{i}\\n"
            def test_rows():
                with sqlite3.connect(":memory:") as base:
                    base.execute("create table t (i)")
                    base.executemany("insert into t values (?)", ((i,) for i in range(20000)))
                    assert base.execute("select count(*) from t").fetchone() == (20000,)
            def test_threads():
                threads = [threading.Thread(target=bytes, args=(1 << 20,)) for _ in range(8)]
                for one in threads: one.start()
                for one in threads: one.join()
            """)
    return Program(folder, [python, "-m", "pytest", "-q", "-p", "no:cacheprovider",
                            f"--basetemp={folder}/base", folder])


def apt(folder):
    need_setup("apt-get", "apt-cache")
    for name in ("cache/archives/partial", "state/lists/partial"):
        os.makedirs(f"{folder}/{name}")
    own = (f"-o Dir::Cache={folder}/cache -o Dir::State={folder}/state"
           f" -o Dir::State::lists={folder}/state/lists -o Debug::NoLocking=1"
           " -o APT::Update::Error-Mode=any -o APT::Sandbox::User=root")
    try:
        quiet(["apt-get", *own.split(), "-q", "update"], folder)
    except AssertionError as reason:
        raise Skip(f"no mirror of Debian answers: {str(reason)[-200:]}") from None
    # Script in which apt downloads package lists and packages into a folder in each round, and
    # installs nothing.
    script = write(folder, "apt.sh", f"""\
        set -e
        rm -rf {folder}/state/lists {folder}/cache
        mkdir -p {folder}/state/lists/partial {folder}/cache/archives/partial
        apt-get {own} -q update
        apt-cache {own} gencaches
        apt-get {own} -s dist-upgrade
        apt-get {own} -s --no-install-recommends install gimp
        apt-get {own} -q -y -d --reinstall install coreutils
        """)
    return Program(folder, ["sh", script])


def make_parallel(folder):
    need_setup("make", "cc")
    units = range(amount(60))
    for i in units:
        write(folder, f"u{i}.c", "#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n"
              + "".join(f"int f{i}_{n}(int x) {{ char t[64]; snprintf(t, 64, \"%d\", x * {n});"
                        f" return atoi(t) + (int)strlen(t); }}\n" for n in range(100)))
    write(folder, "main.c", "int f0_1(int); int main(void) { return f0_1(1) != 2; }\n")
    objects = " ".join(f"u{i}.o" for i in units)
    write(folder, "Makefile", f"all: main\n\t./main\nmain: main.o {objects}\n"
          "\tcc -o $@ $^\n%.o: %.c\n\tcc -O2 -c -o $@ $<\n")
    return Program(folder, ["make", "-B", "-j", "8"])


def git_gc(folder):
    need_setup("git")
    at = f"{folder}/repository"
    quiet(["git", "init", "-q", at], folder)
    with subprocess.Popen(["git", "-C", at, "fast-import", "--quiet"], stdin=subprocess.PIPE,
                          text=True) as importer:
        out = importer.stdin
        for i in range(amount(3000)):
            out.write(f"commit refs/heads/main\ncommitter T <t@localhost> {1700000000 + i} +0000\n"
                      "data 1\nc\n")
            for j in range(10):
                text = "".join(f"{line * 7919 % 1009} {i if line % 97 == j else 0}\n"
                               for line in range(400))
                out.write(f"M 100644 inline f{(i + j * 37) % 500}\ndata {len(text)}\n{text}\n")
        out.close()
    assert importer.returncode == 0, "git fast-import failed"
    return Program(folder, ["git", "-C", at, "-c", "pack.window=50", "gc", "-q"])


def chromium(folder):
    need_setup("chromium")
    page = write(folder, "page.html", f"""\
        <html><body><canvas id=c width=800 height=600></canvas><p id=p></p><script>
        const pen = document.getElementById('c').getContext('2d');
        const rows = [];
        for (let i = 0; i < {amount(300000)}; i++) {{
          if (i < {amount(20000)}) pen.fillRect(i % 800, i % 600, 3, 3);
          rows.push({{i, text: 'x' + i}});
        }}
        document.getElementById('p').textContent = 'well ' + rows.length;
        </script></body></html>
        """)
    return Program(folder, [shutil.which("chromium"), "--headless", "--no-sandbox",
                            "--disable-gpu", f"--user-data-dir={folder}/profile", "--dump-dom",
                            f"file://{page}"])


def jvm(folder):
    need_setup("java")
    write(folder, "Well.java", """\
        import java.util.*;
        import java.util.concurrent.*;
        public class Well {
          static long work(int seed) {
            Map<Integer, String> rows = new HashMap<>();
            for (int i = 0; i < ROWS; i++) rows.put(i, "row " + (i ^ seed));
            long sum = 0;
            for (String row : rows.values()) sum += row.length();
            return sum;
          }
          public static void main(String[] given) throws Exception {
            ExecutorService pool = Executors.newFixedThreadPool(8);
            List<Future<Long>> all = new ArrayList<>();
            for (int i = 0; i < 24; i++) { int seed = i; all.add(pool.submit(() -> work(seed))); }
            for (Future<Long> one : all) one.get();
            pool.shutdown();
          }
        }
        """.replace("ROWS", str(amount(200000))))
    return Program(folder, [shutil.which("java"), f"{folder}/Well.java"])


def torch(folder):
    python = "/usr/bin/python3"
    probe = [python, "-c", "import importlib.util as u; raise SystemExit(not u.find_spec('torch'))"]
    if subprocess.run(probe, check=False).returncode:
        raise Skip("no python3-torch: tools/setup.sh torch")
    return Program(folder, [python, "-c", "import torch; x = torch.rand(1000, 1000);"
                            f" print([(x @ x).sum().item() for _ in range({amount(20)})][-1])"])


def ffmpeg(folder):
    need_setup("ffmpeg")
    seconds = amount(6)
    return Program(folder, [shutil.which("ffmpeg"), "-v", "error", "-y", "-f", "lavfi", "-i",
                            f"testsrc2=duration={seconds}:size=1280x720:rate=25", "-f", "lavfi",
                            "-i", f"sine=duration={seconds}", "-c:v", "libx264", "-preset",
                            "veryfast", "-c:a", "aac", "film.mp4"])


def large_source(folder):
    need_setup("cc", "sh")
    write(folder, "large.c", "#include <stdlib.h>\n#include <string.h>\n" + "".join(
        f"struct s{n} {{ char name[{n % 50 + 8}]; struct s{n} *next; int value; }};\n"
        f"int f{n}(struct s{n} *s, const char *name) {{ int sum = 0; for (; s; s = s->next)"
        f" if (!strcmp(s->name, name)) sum += s->value * {n}; return sum + abs(sum); }}\n"
        for n in range(amount(6000))) + "int main(void) { return f0(NULL, NULL); }\n")
    script = write(folder, "large.sh", "set -e\ncc -g -O2 -flto -c -o large.o large.c\n"
                   "cc -g -O2 -flto -o large large.o\n./large\n")
    return Program(folder, ["sh", script])


def rsync(folder):
    need_setup("rsync")
    for i in range(amount(5000)):
        os.makedirs(f"{folder}/from/{i % 50}", exist_ok=True)
        write(folder, f"from/{i % 50}/{i}", f"{i}\n" * (i % 700))
    write(folder, "from/large", "0123456789abcdef" * amount(4 << 20))
    script = write(folder, "rsync.sh", """\
        set -e
        rsync -a --delete from/ to/
        for i in to/*/*7; do echo more >>$i; done
        rsync -a --delete --checksum --no-whole-file from/ to/
        """)
    return Program(folder, ["sh", script])


def sqlite(folder):
    need_setup("sqlite3")
    script = write(folder, "rows.sql", f"""\
        pragma journal_mode = wal;
        create table t (a integer primary key, b text, c real);
        with recursive n(i) as (select 1 union all select i + 1 from n limit {amount(400000)})
            insert into t select i, hex(randomblob(20)), i * 0.5 from n;
        create index t_b on t (b);
        select count(*), sum(c) from t where b glob 'A*';
        select count(*) from t x join t y on x.a = y.a + 1 where x.b > y.b;
        delete from t where a % 3 = 0;
        vacuum;
        pragma integrity_check;
        """)
    return Program(folder, ["sh", "-c", f"rm -f base*; sqlite3 -bail base <{script}"])


def ruby(folder):
    need_setup("ruby")
    script = write(folder, "work.rb", f"""\
        rows = (0...{amount(400000)}).map {{ |i| {{id: i, text: "row #{{i * 7919 % 1009}}"}} }}
        groups = rows.group_by {{ |row| row[:text] }}
        raise "wrong" unless groups.values.sum(&:size) == rows.size
        threads = 8.times.map {{ Thread.new {{ rows.map {{ |row| row[:text].reverse }}.uniq.size }} }}
        raise "wrong" unless threads.map(&:value).uniq.size == 1
        4.times {{ fork {{ GC.compact; exit!(rows.count {{ |row| row[:id].odd? }} ? 0 : 1) }} }}
        raise "wrong" unless Process.waitall.all? {{ |_, status| status.success? }}
        """)
    return Program(folder, [shutil.which("ruby"), script])


def perl(folder):
    need_setup("perl")
    script = write(folder, "work.pl", f"""\
        use strict; use warnings;
        my @rows = map {{ "row " . ($_ * 7919 % 10007) }} 1 .. {amount(400000)};
        my (%count, @pids);
        $count{{$_}}++ for @rows;
        my @sorted = sort {{ $count{{$b}} <=> $count{{$a}} || $a cmp $b }} keys %count;
        my $text = join "\\n", @rows;
        my $n = () = $text =~ /row (\\d*)7$/mg;
        for my $i (1 .. 8) {{
            my $pid = fork;
            if (!$pid) {{ $count{{"$i $_"}} = $_ for 1 .. {amount(50000)}; exit 0 }}
            push @pids, $pid;
        }}
        for (@pids) {{ waitpid $_, 0; die "wrong" if $? }}
        """)
    return Program(folder, [shutil.which("perl"), script])


def emacs(folder):
    need_setup("emacs")
    script = write(folder, "work.el", f"""\
        (with-temp-buffer
          (dotimes (i {amount(60000)}) (insert (format "%d line\\n" (% (* i 7919) 100003))))
          (sort-lines nil (point-min) (point-max))
          (goto-char (point-min))
          (while (re-search-forward "9\\\\([0-9]\\\\)" nil t) (replace-match "\\\\1"))
          (write-region nil nil "lines"))
        (with-temp-file "code.el"
          (dotimes (i {amount(800)})
            (insert (format "(defun f%d (x) (if (> x %d) (list x) (mapcar #'1+ (list x))))\\n" i i))))
        (unless (byte-compile-file "code.el") (kill-emacs 1))
        """)
    return Program(folder, [shutil.which("emacs"), "--batch", "-Q", "-l", script])


def go_build(folder):
    need_setup("go")
    os.mkdir(f"{folder}/main")
    # The Go program includes most of the standard library. On an emulated machine, it includes
    # little of the library, so that the build takes less time.
    package, use = ("net/http", "http.ListenAndServe(os.Args[1], nil)") if amount(10) > 5 else \
        ("sort", "sort.Strings(os.Args)")
    write(folder, "main/main.go", f"""\
        package main

        import (
        	"encoding/json"
        	"{package}"
        	"os"
        )

        func main() {{
        	if len(os.Args) > 1 {{
        		{use}
        	}}
        	json.NewEncoder(os.Stdout).Encode(os.Args)
        }}
        """)
    return Program(folder, ["sh", "-c", "rm -rf cache && go build -o program main/main.go"
                            " && ./program"],
                   {"GOCACHE": f"{folder}/cache", "GOFLAGS": "-mod=mod", "GO111MODULE": "off"})


def xz(folder):
    need_setup("tar", "xz")
    for i in range(amount(300)):
        write(folder, f"file{i}", "".join(f"{i * n % 10007} {n}\n" for n in range(20000)))
    # Full paths, because the shell of busybox has a built-in xz that cannot compress.
    tar, compress = shutil.which("tar"), shutil.which("xz")
    return Program(folder, ["sh", "-c", f"{tar} c file* | {compress} -T0 -3 >all.tar.xz"
                                        f" && {compress} -t all.tar.xz"])


def buildah(folder):
    need_setup("buildah")
    write(folder, "Containerfile", "FROM scratch\nCOPY Containerfile /\nLABEL well=yes\n")
    at = f"--root {folder}/root --runroot {folder}/runroot --storage-driver vfs"
    return Program(folder, ["sh", "-c", f"buildah {at} build -q --isolation chroot -t well ."
                                        f" && buildah {at} images"])
