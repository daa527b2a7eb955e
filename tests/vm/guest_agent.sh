#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Runs commands that arrive on a serial line, each in a session of its own. The answer to a command
# has its number, status and output. A command is one line: a number, and a text for `printf %b`. A
# line with a minus and a number kills the command with this number.
#   usage: guest_agent.sh LINE
line=$1
top=/run/agent
export PATH=/bin HOME=/ TMPDIR=/tmp
mkdir -p $top
exec 3<>"$line"
stty raw -echo <&3

serve() {
	dir=$top/$1
	mkdir "$dir"
	printf %b "$2" >"$dir/command"
	setsid sh "$dir/command" </dev/null >"$dir/out" 2>"$dir/err" 3>&- &
	echo $! >"$dir/pid"
	wait $!
	status=$?
	# processes that the command left running may still write
	cp "$dir/out" "$dir/said"
	cp "$dir/err" "$dir/complained"
	until mkdir $top/answering 2>/dev/null; do
		usleep 1000
	done
	{
		# shellcheck disable=SC2046 # two numbers
		echo @@ "$1" $status $(stat -c %s "$dir/said" "$dir/complained")
		cat "$dir/said" "$dir/complained"
	} >&3
	rmdir $top/answering
	rm -r "$dir"
}

echo @@ 0 0 0 0 >&3
while read -r number text <&3; do
	case $number in
	-*) kill -KILL "-$(cat "$top/${number#-}/pid")" ;;
	# A double fork runs the command in the background: if a direct child ends during `read`,
	# the shell of busybox loses the part of the line that it has already read.
	*) (serve "$number" "$text" &) ;;
	esac
done
