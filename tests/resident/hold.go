// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause

// Functions that keep known amounts of memory in Go. The garbage collector does not move objects.
package main

import (
	"fmt"
	"os"
	"syscall"
)

const mib = 1 << 20

type node struct {
	next *node
	data [1016]byte
}

var (
	blocks [][]byte
	list   *node
	wide   []uint64
	parted [][]byte
)

//go:noinline
func hold_blocks() int {
	for i := 0; i < 60; i++ {
		block := make([]byte, mib)
		for j := 0; j < mib; j += 4096 {
			block[j] = 1
		}
		blocks = append(blocks, block)
	}
	return 60 * mib
}

//go:noinline
func hold_list() int {
	for i := 0; i < 32*1024; i++ {
		one := &node{next: list}
		one.data[0] = 1
		list = one
	}
	return 32 * mib
}

//go:noinline
func hold_numbers() int {
	wide = make([]uint64, 40*mib/8)
	for i := range wide {
		wide[i] = uint64(i)
	}
	return 40 * mib
}

func hold_in_goroutine(done chan int) {
	for i := 0; i < 20*1024; i++ {
		block := make([]byte, 1024)
		block[0] = 1
		parted = append(parted, block)
	}
	done <- 20 * mib
}

func main() {
	syscall.Syscall6(syscall.SYS_PRCTL, 41, 1, 0, 0, 0, 0) // PR_SET_THP_DISABLE
	parted = make([][]byte, 0, 20*1024)
	done := make(chan int)
	a, b, c := hold_blocks(), hold_list(), hold_numbers()
	go hold_in_goroutine(done)
	d := <-done
	fmt.Printf("{\"holds\":{\"hold_blocks\":%d,\"hold_list\":%d,\"hold_numbers\":%d,"+
		"\"hold_in_goroutine\":%d}}\n", a, b, c, d)
	os.Stdin.Read(make([]byte, 1))
}
