// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! Functions that keep known amounts of memory in containers of Rust.
use std::collections::BTreeMap;
use std::io::Read;

const MIB: usize = 1 << 20;

#[inline(never)]
fn hold_vector() -> (Vec<u64>, usize) {
    (vec![7u64; 48 * MIB / 8], 48 * MIB)
}

#[inline(never)]
fn hold_boxes() -> (Vec<Box<[u8; 1000]>>, usize) {
    // 1000 bytes and a header of 8 bytes
    let boxes: Vec<_> = (0..32 * MIB / 1008).map(|i| Box::new([i as u8; 1000])).collect();
    (boxes, 32 * MIB + 32 * MIB / 1008 * 8)
}

#[inline(never)]
fn hold_strings() -> (Vec<String>, usize) {
    let mut all = Vec::with_capacity(200_000);
    for i in 0..200_000 {
        all.push(format!("{:0152}", i));
    }
    // the string's block grows to at most twice its length
    let blocks: usize = all.iter().map(|s: &String| (s.capacity() + 8 + 15) & !15).sum();
    (all, blocks + 200_000 * 24)
}

#[inline(never)]
fn hold_map() -> (BTreeMap<u64, [u64; 31]>, usize) {
    let mut map = BTreeMap::new();
    for i in 0..100_000u64 {
        map.insert(i, [i; 31]);
    }
    // Keys that come in order leave 6 keys in each node, and the next key in its parent. A leaf has
    // 2,832 bytes and a header; a node above also has 12 pointers.
    let mut nodes = 100_000 / 7;
    let mut sum = nodes * 2848;
    while nodes > 0 {
        nodes /= 7;
        sum += nodes * 2944;
    }
    (map, sum)
}

extern "C" {
    fn prctl(option: i32, ...) -> i32;
}

fn main() {
    unsafe { prctl(41, 1u64, 0u64, 0u64, 0u64) }; // PR_SET_THP_DISABLE
    let vector = hold_vector();
    let boxes = hold_boxes();
    let strings = hold_strings();
    let map = hold_map();
    println!(
        "{{\"holds\":{{\"hold_vector\":{},\"hold_boxes\":{},\"hold_strings\":{},\"hold_map\":{}}}}}",
        vector.1, boxes.1, strings.1, map.1
    );
    let _ = std::io::stdin().read(&mut [0]);
    drop((vector, boxes, strings, map));
}
