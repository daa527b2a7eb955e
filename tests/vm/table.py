# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The results as a Markdown table: a row for each mechanism of each hook, a column a kernel."""


class Cells:
    def __init__(self):
        self.kernels = []
        self.rows = {}
        self.skipped = {}

    def put(self, hook, mechanism, kernel, good, wrong, best=False):
        """What holds if nothing is wrong, or the first of what is wrong."""
        if kernel not in self.kernels:
            self.kernels.append(kernel)
        text = f"WRONG: {wrong[0]}" if wrong else good
        self.rows.setdefault((hook, mechanism), {})[kernel] = f"**{text}**" if best else text

    def skip(self, kernel, reason):
        self.skipped[kernel] = reason

    def markdown(self):
        head = ["hook", "mechanism", *self.kernels]
        lines = [head, ["---"] * len(head)]
        # "none" comes last of each hook, whichever kernel was first to know of an alternate
        hooks = list(dict.fromkeys(hook for hook, _ in self.rows))
        for hook, mechanism in sorted(self.rows, key=lambda key: (hooks.index(key[0]),
                                                                  key[1] == "none")):
            cells = self.rows[hook, mechanism]
            lines.append([f"`{hook}`", mechanism,
                          *(cells.get(kernel, "") for kernel in self.kernels)])
        text = "".join("| " + " | ".join(one.replace("|", "\\|").replace("\n", " ")
                                         for one in line) + " |\n" for line in lines)
        for kernel, reason in self.skipped.items():
            text += f"\n{kernel}: not tested: {reason}\n"
        return text + "\nBold: the mechanism that is taken there.\n"
