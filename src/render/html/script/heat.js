// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Latency bars and heat maps of the chosen time range.

// Draws the latency bars of the chosen time range, on the scale of the whole recording.
const latency = $("latency-svg");
const drawLatency = () => {
	if (!latency)
		return;
	const sums = [{}, {}];
	const all = [{}, {}];
	for (const p of points)
		[p.latency_minor, p.latency_major].forEach((buckets, which) => {
			for (const [bucket, n] of buckets) {
				all[which][bucket] = (all[which][bucket] || 0) + n;
				if (within(p))
					sums[which][bucket] = (sums[which][bucket] || 0) + n;
			}
		});
	const most = Math.max(1, ...Object.values(all[0]), ...Object.values(all[1]));
	for (const rect of latency.querySelectorAll("rect[data-bucket]")) {
		const which = rect.classList.contains("bar1") ? 1 : 0;
		const n = sums[which][rect.dataset.bucket] || 0;
		const width = Number(latency.dataset.width) * Math.log2(1 + n) / Math.log2(1 + most);
		rect.setAttribute("width", n ? width.toFixed(1) : 0);
		const text = rect.nextElementSibling;
		if (text && text.classList.contains("count")) {
			text.setAttribute("x", (Number(latency.dataset.left) + (n ? width : 0) + 5).toFixed(1));
			text.textContent = n ? number(n) : "";
		}
	}
};

// Heat maps show only the chosen time range, in one column per point, but at most COLUMNS.
const COLUMNS = 60;
const LEVELS = 7;
const shown = () => {
	const first = range ? points.findIndex(within) : 0;
	const some = points.filter(within);
	const columns = Math.min(some.length, COLUMNS);
	const of = i => Math.floor((i - first) * columns / some.length);
	const from = some.length ? some[0].from : begin;
	const to = some.length ? some[some.length - 1].to : end;
	// Column edges as shares of the width (0 to 1): positions are times, as on the axis.
	const edges = Array(columns + 1).fill(0);
	some.forEach((p, k) => {
		edges[of(first + k) + 1] = (p.to - from) / (to - from || 1);
	});
	return {first, n: some.length, columns, from, to, of, edges};
};
let view = shown();
const level = (n, most) => !n ? 0 : Math.min(LEVELS, Math.floor(1 +
	(most > 1 ? Math.log2(1 + n) / Math.log2(1 + most) : 1) * (LEVELS - 0.01)));
const drawCells = (parent, f, cells, most, height) => {
	parent.querySelectorAll("path[class^=h]").forEach(p => p.remove());
	const x = view.edges.map(e => tenth(f.left + (f.right - f.left) * e));
	const paths = Array(LEVELS + 1).fill("");
	cells.forEach((row, r) => {
		const y = tenth(r * height + (height - 1) / 2);
		const levels = row.map(n => level(n, most));
		for (let c = 0, end; c < levels.length; c = end) {
			for (end = c + 1; end < levels.length && levels[end] === levels[c];)
				end++;
			paths[levels[c]] += `M${x[c]} ${y}H${x[end]}`;
		}
	});
	for (let i = 1; i <= LEVELS; i++)
		if (paths[i])
			make("path", {class: `h${i}`, "stroke-width": height - 1, d: paths[i]}, parent);
};
const drawLegend = (svg, most) => {
	const legend = svg.parentNode.nextElementSibling;
	const text = legend && legend.querySelector(".most");
	if (text)
		text.textContent = number(most);
};
// Sums the visible points of a row by column.
const inColumns = pairs => {
	const row = Array(view.columns).fill(0);
	for (const [i, n] of pairs)
		if (i >= view.first && i < view.first + view.n)
			row[view.of(i)] += n;
	return row;
};
const highest = cells => Math.max(0, ...cells.map(row => Math.max(0, ...row)));
const heats = [];
const addHeat = (svg, rows, groups) => {
	if (svg)
		heats.push({svg, rows, groups, f: frame(svg), height: Number(svg.dataset.row), cells: []});
};
const drawHeats = () => {
	view = shown();
	if (!view.columns)
		return;
	for (const h of heats) {
		h.cells = h.rows.map(inColumns);
		const most = highest(h.cells);
		for (const g of h.groups || [h.svg]) {
			const first = Number(g.dataset.first || 0);
			drawCells(g, h.f, g.dataset.first ?
				h.cells.slice(first, first + Number(g.dataset.rows)) : h.cells, most, h.height);
		}
		drawAxis(h.svg, view.from, view.to);
		drawLegend(h.svg, most);
	}
};
// Finds the column at position x of a heat map, and its time span.
const columnAt = (f, x) => {
	const part = (x - f.left) / (f.right - f.left);
	const column = view.edges.findIndex((e, c) => c && part <= e) - 1;
	const some = points.filter((p, i) => i >= view.first && i < view.first + view.n &&
		view.of(i) === column);
	return some.length ? {column, text: `${at(some[0].from)} to ${at(some[some.length - 1].to)}`} :
		null;
};

let drawFlame = () => {};
let link = () => {};	// writes the state of the page to the fragment of its address
const rangeText = $("range-text");
const apply = () => {
	const some = points.filter(within);
	const sum = key => some.reduce((n, p) => n + p[key], 0);
	if (rangeText)
		rangeText.textContent = (range ? `${at(range[0])} to ${at(range[1])}` :
			"whole recording") + `: ${number(sum("minor"))} minor, ${number(sum("major"))} ` +
			`major faults, ` + (points.some(p => p.stall_ns) ? `stalled ${time(sum("stall_ns"))}, ` : "") +
			`${number(sum("events"))} event${sum("events") === 1 ? "" : "s"}`;
	drawLatency();
	drawHeats();
	drawFlame();
	showProcesses();
	for (const row of document.querySelectorAll("#event-table tbody tr"))
		row.classList.toggle("outside", Boolean(range) &&
			(Number(row.dataset.until || row.dataset.t) < range[0] || Number(row.dataset.t) > range[1]));
	link();
};
