#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Measures how long the page of a day with 1,000 processes takes to be made and to open in Chromium.

Prints the size of the page, and the least and the median time of several runs. The goals are 2 MB
and 2 s. Times depend on the machine and its load, so nothing here fails.

usage: speed.py [TIMES]
"""
import json
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / "build"
# a scan every minute for a day, 1,000 processes, and 5 short-lived ones in each interval
DAY = ("1", "1000", "5", "1440", "60")


def main(args):
    times = args[0] if args else "7"
    with tempfile.TemporaryDirectory() as folder:
        recording, page = Path(folder) / "day.fsr", Path(folder) / "day.html"
        subprocess.run([BUILD / "busy_recording", *DAY, recording], check=True)
        begin = time.monotonic()
        subprocess.run([BUILD / "faultscope", "report", recording, "-o", page], check=False)
        print(f"recording: {recording.stat().st_size} bytes; page: {page.stat().st_size} bytes, "
              f"made in {time.monotonic() - begin:.1f} s")
        ran = subprocess.run(["node", ROOT / "tests" / "report" / "speed.mjs",
                              BUILD / "report-tools" / "node_modules", shutil.which("chromium"), page,
                              times], text=True, capture_output=True, check=True)
    for what in ("loaded", "drawn"):
        took = [one[what] for one in json.loads(ran.stdout)]
        print(f"{what}: least {min(took)} ms, median {statistics.median(took):.0f} ms "
              f"of {len(took)} runs")


if __name__ == "__main__":
    main(sys.argv[1:])
