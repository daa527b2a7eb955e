# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Reads the JSON data of an HTML report. A table in it has an array for each column."""
import json
import re


def rows_of(table):
    """Returns the rows of a table as {column: value}. A column of columns is such a value itself."""
    first = next((column for column in table.values() if isinstance(column, list)), [])

    def cell(column, i):
        if isinstance(column, dict):
            return {key: cell(inner, i) for key, inner in column.items()}
        return column[i] if i < len(column) else None

    return [{key: cell(column, i) for key, column in table.items()} for i in range(len(first))]


def data_of(page):
    """Returns the data of the text of a page, with tables as lists of rows. Samples whose times are
    those of their process have them as "t", too."""
    data = json.loads(re.search(r'<script type="application/json" id="report-data">(.*?)</script>',
                                page, re.S)[1])
    for key in ("points", "processes"):
        if isinstance(data[key], dict):
            data[key] = rows_of(data[key])
    for sample in data["profile"]["samples"]:
        if "row" in sample:
            first, *faults = data["profile"]["rows"][sample["row"]]
            sample["t"] = [[first + i, n] for i, n in enumerate(faults) if n]
    return data
