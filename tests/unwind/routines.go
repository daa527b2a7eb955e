// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause

// Runs goroutines that sort, encode JSON, panic and make system calls.
package main

import (
	"encoding/json"
	"os"
	"sort"
	"strconv"
	"sync"
)

type caller struct{}

func (caller) leave() {
	os.Stat("/etc")
}

func deep(n, depth int) int {
	defer caller{}.leave()
	if depth == 0 {
		if n%3 == 0 {
			panic("refused")
		}
		return n
	}
	return deep(n, depth-1) + depth
}

func try(n int) (sum int) {
	defer func() {
		if recover() != nil {
			os.Stat("/")
		}
	}()
	return deep(n, n%30)
}

func round(n int) int {
	rows := map[string][]int{}
	for i := 0; i < 20; i++ {
		name := strconv.Itoa(i * n % 7)
		rows[name] = append(rows[name], i)
	}
	for _, row := range rows {
		sort.Slice(row, func(a, b int) bool {
			if row[a] == 3 {
				os.Stat("/etc/passwd")
			}
			return row[a] > row[b]
		})
	}
	text, _ := json.Marshal(rows)
	return len(text) + try(n)
}

func main() {
	rounds, _ := strconv.Atoi(os.Args[1])
	var group sync.WaitGroup
	for t := 0; t < 4; t++ {
		group.Add(1)
		go func() {
			defer group.Done()
			for i := 0; i < rounds; i++ {
				round(i)
			}
		}()
	}
	group.Wait()
}
