# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The JSON Schema that `faultscope schema` prints, for comparison with lines of JSON output.

fastjsonschema compiles the schema to Python code, which checks a line ten times faster than
jsonschema does. The tests check hundreds of thousands of lines.
"""
import json

try:
    import fastjsonschema
    MISSING = None
except ImportError:
    MISSING = "python3-fastjsonschema is missing"


class Schema:
    """A compiled schema. `text` is the output of `faultscope schema`. Without fastjsonschema, each
    line conforms to it."""

    def __init__(self, text):
        self.of_type = {} if MISSING else {
            one["properties"]["type"]["const"]: fastjsonschema.compile(one)
            for one in json.loads(text)["oneOf"]}

    def complaint(self, line):
        """Returns what the schema forbids in a line, or "" if the line conforms."""
        if MISSING:
            return ""
        kind = line.get("type")
        if kind not in self.of_type:
            return f"no such type of line: {kind!r}"
        try:
            self.of_type[kind](line)
        except fastjsonschema.JsonSchemaException as wrong:
            return f"{wrong}"[:300]
        return ""
