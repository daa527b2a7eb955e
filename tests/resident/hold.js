// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Functions that keep known amounts of memory in Node.js. Buffers are outside of the heap of V8, which
// its garbage collector moves. node --perf-basic-prof names functions of JavaScript,
// and --interpreted-frames-native-stack those that the interpreter runs.
'use strict';

const MIB = 1 << 20;
const kept = [];

function hold_buffers() {
  for (let i = 0; i < 50; i++) kept.push(Buffer.alloc(MIB, 1));
  return 50 * MIB;
}

function hold_one_array() {
  const numbers = new Float64Array(40 * MIB / 8);
  numbers.fill(1.5);
  kept.push(numbers);
  return 40 * MIB;
}

// The garbage collector moves these objects.
function hold_objects() {
  const objects = [];
  for (let i = 0; i < 300000; i++) objects.push({ number: i, text: 'x'.repeat(10) + i });
  kept.push(objects);
}

const holds = { hold_buffers: hold_buffers(), hold_one_array: hold_one_array() };
hold_objects();
process.stdout.write(JSON.stringify({ holds }) + '\n');
process.stdin.once('data', () => process.exit(0));
process.stdin.once('end', () => process.exit(0));
