#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Installs what tests/report and tests/mcp, and parts of tests/e2e and tests/export need. As root,
# apt installs Chromium and Node.js from Debian. npm installs Node.js packages below build/report-tools.
set -eu

cd "$(dirname "$0")/.."
tools/setup.sh report
place=build/report-tools
mkdir -p "$place"
[ -e "$place/package.json" ] || echo '{"private": true}' >"$place/package.json"
for package in puppeteer-core@25 axe-core@4 speedscope@1 \
	@modelcontextprotocol/sdk@1 @modelcontextprotocol/inspector@0 @nearform/trace-events-parser@1 \
	@duckdb/node-api; do
	name=${package%@[0-9]*}
	[ -d "$place/node_modules/$name" ] ||
		npm install --prefix "$place" --no-audit --no-fund --ignore-scripts "$package"
done
