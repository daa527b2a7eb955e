# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Tests completion in real shells: the words that each shell offers at the end of a line."""

import re
import shlex
import shutil

from harness import Skip, idle, some_of

# {command line: (words that completion must offer, words that completion must not offer)}
CASES = {
    "faultscope ": ({"run", "report", "blackbox"}, {"leak.fsr", "arm"}),
    "faultscope re": ({"record", "replay", "report"}, {"run"}),
    "faultscope --": ({"--pid", "--comm", "--replay"}, {"--heartbeat", "--redact"}),
    "faultscope --color ": ({"never", "always"}, {"leak.fsr"}),
    "faultscope --replay ": ({"leak.fsr"}, {"run"}),
    "faultscope -p 1 --fo": ({"--format", "--force"}, {"--heartbeat"}),
    "faultscope replay ": ({"leak.fsr"}, {"run", "M01"}),
    "faultscope report ": ({"leak.fsr"}, {"run", "M01"}),
    "faultscope info ": ({"leak.fsr"}, {"run"}),
    "faultscope diff leak.fsr ": ({"other.fsr"}, {"run"}),
    "faultscope triage ": ({"leak.fsr"}, {"run"}),
    "faultscope report --": ({"--redact", "--format"}, {"--heartbeat", "--pid"}),
    "faultscope report --format p": ({"pprof", "perf"}, {"leak.fsr"}),
    "faultscope diagnose --format ": ({"json", "text"}, {"pprof"}),
    "faultscope diagnose --": ({"--pid", "--duration"}, {"--redact", "--children"}),
    "faultscope blackbox ": ({"run", "arm", "status", "read"}, {"leak.fsr"}),
    "faultscope blackbox read ": ({"leak.fsr"}, {"arm"}),
    "faultscope blackbox --h": ({"--heartbeat"}, {"--html"}),
    "faultscope explain M0": ({"M01", "M09"}, {"F01", "leak.fsr"}),
    "faultscope completion ": ({"bash", "zsh", "fish"}, {"leak.fsr"}),
    "faultscope man ": ({"diagnose", "run"}, {"leak.fsr"}),
    "faultscope run -- mkdi": ({"mkdir"}, {"leak.fsr"}),
    "faultscope export --export.detail ": ({"host", "full"}, {"leak.fsr"}),
}

# bash script that prints each offered word on a line
BASH = r"""
source ./faultscope.bash
COMP_LINE=$1
read -ra COMP_WORDS <<<"$1"
[[ $1 != *' ' ]] || COMP_WORDS+=("")
COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
_faultscope
printf 'HIT %s\n' "${COMPREPLY[@]}"
"""
FISH = r"""
source ./faultscope.fish
complete -C $argv[1] | string replace -r '\t.*' '' | string replace -r '^' 'HIT '
"""
# zsh script that runs a shell on a pseudo-terminal; in this shell, compadd prints the words that it
# adds
ZSH = r"""
zmodload zsh/zpty
zpty shell zsh -f -i
zpty -w shell "PS1='WAITS> ' COLUMNS=2000; stty -echo; fpath=($PWD \$fpath); autoload -Uz compinit; compinit -u -D"
zpty -w shell 'bindkey "^I" complete-word; zstyle ":completion:*" list-colors ""'
zpty -w shell 'compadd() {
	local -a hits
	[[ " ${@[1,(i)(-|--)]} " == *" -"(O|A|D)* ]] || {
		builtin compadd -A hits "$@"
		print -r -- "HIT ${(j: :)hits} END"
	}
	builtin compadd "$@"
}'
zpty -w shell 'print -r REA""DY'
zpty -r shell out '*READY*WAITS> *'
zpty -w -n shell "$1"$'\t'
zpty -w shell $'\C-uprint -r DO""NE'
zpty -r shell out '*DONE*'
print -r -- "$out"
"""
SHELLS = {"bash": (BASH, ["bash", "--norc"], "faultscope.bash"),
          "fish": (FISH, ["fish", "--no-config"], "faultscope.fish"),
          "zsh": (ZSH, ["zsh", "-f"], "_faultscope")}


def offered(lab, shell, line):
    _, command, _ = SHELLS[shell]
    ran = lab.call(*command, lab.dir / "complete", line, cwd=lab.dir)
    text = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", ran.out)
    words = set()
    for hits in re.findall(r"HIT (.*?)(?: END|\r|\n|$)", text):
        words |= set(hits.split())
    return words, f"{text[-400:]!r} {ran.err[-200:]!r}"


def check_shell(check, lab, shell, most=len(CASES)):
    if not shutil.which(shell):
        raise Skip(f"{shell} is missing: tools/setup.sh test")
    script, _, name = SHELLS[shell]
    (lab.dir / name).write_text(lab.faultscope("completion", shell).out, encoding="utf-8")
    (lab.dir / "complete").write_text(script, encoding="utf-8")
    for recording in ("leak.fsr", "other.fsr"):
        (lab.dir / recording).touch()
    for line, (wanted, others) in some_of(CASES.items(), most):
        words, said = offered(lab, shell, line)
        check.that(wanted <= words, f"{shlex.quote(line)}: no {wanted - words} in {words}: {said}")
        check.that(not others & words, f"{shlex.quote(line)}: {others & words} is offered")


def test_completion_in_bash(check, lab):
    check_shell(check, lab, "bash")


@idle
def test_completion_in_zsh(check, lab):
    check_shell(check, lab, "zsh", 8)  # each line takes a second


def test_completion_in_fish(check, lab):
    check_shell(check, lab, "fish")
