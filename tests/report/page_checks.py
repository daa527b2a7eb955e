# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""What the checks of the numbers of a page have in common."""
from page_texts import near, parse

class Checks:
    """Checks of elements. Each function check_KIND gets an element, the rest of its data-is, and
    its text, and raises an AssertionError if a number is wrong."""

    def __init__(self, page, truth):
        self.page, self.truth, self.data = page, truth, page.data
        self.points = page.data["points"]

    def value(self, node):
        """Returns the value of an element: its text has all digits if it has no data-v."""
        if "data-v" in node.attrs:
            return float(node.attrs["data-v"])
        return float(node.text().strip().lstrip("+").replace(",", ""))

    def text_is_value(self, node, text):
        value, exact = parse(text)
        assert near(value, self.value(node), exact), f"{text} for {node.get('data-v')}"

    def finding_times(self, node):
        return [f["t"] for f in self.truth.findings
                if f["id"] == node.get("data-finding") and (f["pid"] or 0) == int(node.get("data-pid"))]
