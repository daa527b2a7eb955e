# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Checks of the flame graph and the table of functions of a page."""
import re
from functools import cached_property

from page_checks import Checks
from page_texts import near, parse, plain

class Profile(Checks):
    @cached_property
    def sums(self):
        """Returns {(depth, name): values} of the boxes of the flame graph, by their samples."""
        names, sums = self.data["profile"]["names"], {}
        tree = {}
        for sample in self.data["profile"]["samples"]:
            for depth in range(len(sample["f"])):
                key = tuple(sample["f"][:depth + 1])
                values = tree.setdefault(key, [0] * len(sample["v"]))
                for i, n in enumerate(sample["v"]):
                    values[i] += n
        for key, values in tree.items():
            sums.setdefault((len(key), names[key[-1]]), []).append(values)
        return sums

    def measure(self):
        option = next((n for n in self.page.root.walk()
                       if n.tag == "option" and "selected" in n.attrs), None)
        return int(option.attrs["value"]) if option else 0

    def check_frame(self, node, rest, text):
        title = next(n for n in node.walk() if n.tag == "title")
        label = plain("".join(c for c in title.children if isinstance(c, str)))
        name, _, number = label.rpartition(": ")
        assert near(parse(number)[0], self.value(node)), label
        if name == "all":
            assert self.value(node) == self.data["profile"]["measures"][self.measure()]["total"]
            return
        if self.data["profile"]["samples_left_out"]:
            return
        assert any(name == n or name.startswith(n + " in ")
                   for n in self.by_value.get(self.value(node), ())), label

    @cached_property
    def by_value(self):
        """Returns {value: names} of the boxes, for the measure that is drawn."""
        out, measure = {}, self.measure()
        for (_, name), values in self.sums.items():
            for value in values:
                out.setdefault(value[measure], set()).add(name)
        return out

    @cached_property
    def functions(self):
        """Returns {name: [self, total]} of the functions."""
        measure, out, names = self.measure(), {}, self.data["profile"]["names"]
        for s in self.data["profile"]["samples"]:
            # a workload, a process, and the kind of a fault or mapping are no functions
            stack = [names[i] for i in s["f"][2:]
                     if not re.match(r"\[|(minor|major) faults$", names[i])]
            for name in set(stack):
                out.setdefault(name, [0, 0])[1] += s["v"][measure]
            if stack:
                out[stack[-1]][0] += s["v"][measure]
        return out

    def check_self(self, node, rest, text, which=0):
        self.text_is_value(node, text)
        if self.data["profile"]["samples_left_out"]:
            return
        assert any(n[which] == self.value(node) for n in self.functions.values())

    def check_function(self, node, rest, text):
        assert any(text in name for name in self.data["profile"]["names"]) or \
            text in self.data["profile"]["modules"] or \
            any(place and place["file"] in text for place in self.data["profile"]["places"]), text

    def check_stack(self, node, rest, text):
        for item in (n for n in node.walk() if n.tag == "li"):
            frame = item.text()
            assert frame in self.truth.text or frame in self.data["profile"]["names"], frame
