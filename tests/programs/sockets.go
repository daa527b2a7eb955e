// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause

// Connects to a service repeatedly. Keeps its sockets open when the service closes theirs.
package main

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
)

var forgotten []net.Conn

func serve(listener net.Listener) {
	for {
		conn, err := listener.Accept()
		if err != nil {
			return
		}
		fmt.Fprintln(conn, "answer")
		conn.Close()
	}
}

func askService(address string) error {
	conn, err := net.Dial("tcp", address)
	if err != nil {
		return err
	}
	forgotten = append(forgotten, conn)
	_, err = io.ReadAll(conn)
	return err
}

func main() {
	in := bufio.NewReader(os.Stdin)
	questions, _ := strconv.Atoi(os.Args[1])
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	go serve(listener)
	ask := func() {
		for i := 0; i < questions; i++ {
			if err := askService(listener.Addr().String()); err != nil {
				panic(err)
			}
		}
	}
	ask()
	fmt.Println("ready")
	in.ReadString('\n')
	ask()
	fmt.Println("ok")
	io.Copy(io.Discard, in)
}
