# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The tree of the elements of an HTML report."""
from html.parser import HTMLParser

from page_data import data_of

VOID = {"meta", "link", "br", "hr", "img", "input", "wbr", "rect", "path", "line", "circle"}


class Node:
    def __init__(self, tag, attrs, parent):
        self.tag, self.attrs, self.parent = tag, attrs, parent
        self.children = []

    def get(self, name):
        """Returns the attribute of the nearest element that has it."""
        node = self
        while node and name not in node.attrs:
            node = node.parent
        return node.attrs[name] if node else None

    def walk(self):
        yield self
        for child in self.children:
            if isinstance(child, Node):
                yield from child.walk()

    def cells(self):
        """Returns the cells of a row, or of the first row of a part of a table."""
        return [node for node in self.walk() if node.tag in ("td", "th")]

    def text(self, own=False):
        """Returns the text; with `own`, without elements that have a source of their own."""
        return "".join(child if isinstance(child, str) else child.text(own) for child in self.children
                       if isinstance(child, str) or
                       (child.tag != "title" and not (own and "data-is" in child.attrs)))


class Page(HTMLParser):
    """The tree of a page, and its JSON data."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.root = self.at = Node("page", {}, None)
        self.feed(text)
        self.data = data_of(text)
        for node in self.root.walk():
            if "numbers" in node.attrs.get("class", "").split():
                self.name_sources(node)

    @staticmethod
    def name_sources(table):
        """Gives each cell of a table the source that the head of its column names."""
        head = next(node for node in table.walk() if node.tag == "thead").cells()
        body = next(node for node in table.walk() if node.tag == "tbody")
        for nth, row in enumerate(node for node in body.walk() if node.tag == "tr"):
            row.attrs["data-nth"] = str(nth)
            for cell, column in zip(row.cells(), head):
                if "data-of" in column.attrs:
                    cell.attrs.setdefault("data-is", column.attrs["data-of"])

    def handle_starttag(self, tag, attrs):
        node = Node(tag, {key: value or "" for key, value in attrs}, self.at)
        self.at.children.append(node)
        if tag not in VOID:
            self.at = node

    def handle_startendtag(self, tag, attrs):
        self.at.children.append(Node(tag, dict(attrs), self.at))

    def handle_endtag(self, tag):
        if tag in VOID:
            return
        node = self.at
        while node.parent and node.tag != tag:
            node = node.parent
        if node.parent:
            self.at = node.parent

    def handle_data(self, data):
        self.at.children.append(data)
