// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! Test program: Rust code with panics, sorting, closures and threads, and with system calls in the
//! innermost functions.
use std::collections::HashMap;
use std::panic;
use std::thread;

struct Caller(u32);

impl Drop for Caller {
    fn drop(&mut self) {
        call();
    }
}

fn call() {
    let _ = std::fs::metadata("/etc");
}

#[inline(never)]
fn deep(n: u32, depth: u32) -> u32 {
    let here = Caller(depth);
    if depth == 0 {
        if n % 3 == 0 {
            panic!("refused {}", n);
        }
        return here.0;
    }
    deep(n, depth - 1) + here.0
}

fn round(n: u32) -> usize {
    let mut rows: HashMap<String, Vec<u32>> = HashMap::new();
    for i in 0..20 {
        rows.entry(format!("row {}", i * n % 7)).or_default().push(i);
    }
    for row in rows.values_mut() {
        row.sort_by(|a, b| {
            if *a == 3 {
                call();
            }
            b.cmp(a)
        });
    }
    let sum = panic::catch_unwind(|| deep(n, n % 30)).unwrap_or(1);
    rows.len() + sum as usize
}

fn main() {
    let rounds = std::env::args().nth(1).and_then(|text| text.parse().ok()).unwrap_or(20);
    panic::set_hook(Box::new(|_| call()));
    let threads: Vec<_> =
        (0..3).map(|_| thread::spawn(move || (0..rounds).map(round).sum::<usize>())).collect();
    let sums: Vec<usize> = threads.into_iter().map(|one| one.join().unwrap()).collect();
    assert!(sums.iter().all(|sum| *sum == sums[0]));
}
