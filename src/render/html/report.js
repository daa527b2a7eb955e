// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Interaction in the page of a report. Without this script, the page shows all charts and tables.
"use strict";
(() => {
	const $ = id => document.getElementById(id);
	const holder = $("report-data");
	const data = holder ? JSON.parse(holder.textContent) : null;
	const SVG = "http://www.w3.org/2000/svg";

	const make = (name, attributes, parent) => {
		const e = document.createElementNS(SVG, name);
		for (const [key, value] of Object.entries(attributes))
			e.setAttribute(key, value);
		if (parent)
			parent.append(e);
		return e;
	};
	const number = n => Math.round(n).toLocaleString("en-US");
	const tenth = n => Number(n.toFixed(1));
	const rounded = t => Number(t.toFixed(6));
	const scaled = (n, base, units) => {
		let i = 0;
		while (n >= base && i < units.length - 1) {
			n /= base;
			i++;
		}
		return `${n >= 100 || !i ? Math.round(n) : n.toFixed(1)} ${units[i]}`;
	};
	const bytes = n => scaled(n, 1024, ["B", "KiB", "MiB", "GiB", "TiB"]);
	const time = ns => scaled(ns, 1000, ["ns", "\u00b5s", "ms"].concat(ns >= 1e9 ? ["s"] : []));
	const measured = (n, unit) =>
		unit === "bytes" ? bytes(n) : unit === "nanoseconds" ? time(n) : number(n);

	const tip = document.createElement("div");
	tip.className = "tip";
	tip.hidden = true;
	tip.setAttribute("aria-hidden", "true");
	document.body.append(tip);
	const tell = (event, text) => {
		tip.hidden = !text;
		tip.textContent = text || "";
		tip.style.left = `${Math.min(event.clientX + 14, innerWidth - 300)}px`;
		tip.style.top = `${Math.min(event.clientY + 14, innerHeight - 90)}px`;
	};

	for (const e of document.querySelectorAll(".tools"))
		e.hidden = false;
	for (const e of document.querySelectorAll("button[data-save]"))
		e.hidden = false;

	// Marks the visible section in the list of sections.
	const links = new Map([...document.querySelectorAll("nav a")].map(a => [a.hash.slice(1), a]));
	if (links.size && "IntersectionObserver" in window) {
		const seen = new Set();
		const observer = new IntersectionObserver(entries => {
			for (const e of entries)
				seen[e.isIntersecting ? "add" : "delete"](e.target.id);
			let first = true;
			for (const [id, a] of links) {
				const here = first && seen.has(id);
				a.classList.toggle("here", here);
				if (here)
					a.setAttribute("aria-current", "true");
				else
					a.removeAttribute("aria-current");
				first = first && !here;
			}
		}, {rootMargin: "-10% 0px -50% 0px"});
		for (const id of links.keys())
			if ($(id))
				observer.observe($(id));
	}

	const save = (name, type, text) => {
		const a = document.createElement("a");
		a.href = URL.createObjectURL(new Blob([text], {type}));
		a.download = name;
		a.click();
		setTimeout(() => URL.revokeObjectURL(a.href), 1000);
	};
	const folded = measure => data.profile.samples.filter(s => s.v[measure]).map(s =>
		`${s.f.map(i => data.profile.names[i].replaceAll(";", ":")).join(";")} ${s.v[measure]}`)
		.join("\n") + "\n";
	const speedscope = () => JSON.stringify({
		"$schema": "https://www.speedscope.app/file-format-schema.json",
		name: data.file,
		exporter: "faultscope",
		shared: {frames: data.profile.names.map((name, i) => {
			const place = data.profile.places[i];
			return place ? {name: place.function, file: place.file,
				...place.line && {line: place.line}} : {name};
		})},
		profiles: data.profile.measures.map((m, i) => {
			const some = data.profile.samples.filter(s => s.v[i]);
			return {type: "sampled", name: m.title, startValue: 0, endValue: m.total,
				unit: {bytes: "bytes", nanoseconds: "nanoseconds"}[m.unit] || "none",
				samples: some.map(s => s.f), weights: some.map(s => s.v[i])};
		}).filter(p => p.weights.length),
	});
	document.addEventListener("click", event => {
		const what = event.target.dataset && event.target.dataset.save;
		if (what === "json")
			save("report.json", "application/json", holder.textContent);
		else if (what === "folded")
			save("report.folded", "text/plain", folded(Number(($("flame-measure") || {}).value || 0)));
		else if (what === "speedscope")
			save("report.speedscope.json", "application/json", speedscope());
	});

	// A click on a heading sorts the table by that column.
	for (const table of document.querySelectorAll("table.sortable")) {
		const body = table.tBodies[0];
		table.querySelectorAll("thead th").forEach((th, column) => {
			const button = document.createElement("button");
			button.type = "button";
			button.append(...th.childNodes);
			th.append(button);
			button.addEventListener("click", () => {
				const down = th.getAttribute("aria-sort") !== "descending";
				for (const other of table.querySelectorAll("th[aria-sort]"))
					other.removeAttribute("aria-sort");
				th.setAttribute("aria-sort", down ? "descending" : "ascending");
				const key = row => {
					const cell = row.cells[column];
					return cell.dataset.v !== undefined ? Number(cell.dataset.v) :
						/^[\d,]+$/.test(cell.textContent) ?
							Number(cell.textContent.replaceAll(",", "")) : cell.textContent;
				};
				const order = (a, b) => a < b ? -1 : a > b ? 1 : 0;
				body.append(...[...body.rows].sort((a, b) =>
					(down ? -1 : 1) * order(key(a), key(b))));
			});
		});
	}

	const filter = $("process-filter");
	let range = null;
	const showProcesses = () => {
		const word = filter ? filter.value.toLowerCase() : "";
		for (const row of document.querySelectorAll("#process-table tbody tr")) {
			const there = !range || (Number(row.dataset.first) <= range[1] &&
				Number(row.dataset.last) >= range[0]);
			row.classList.toggle("outside", !there ||
				!row.textContent.toLowerCase().includes(word));
		}
	};
	if (filter)
		filter.addEventListener("input", showProcesses);

	if (!data || !data.profile)
		return;

	// A table in the data has an array for each column. Returns an object for each of its rows.
	const rowsOf = table => (table.from || table.pid || []).map((_, i) => Object.fromEntries(
		Object.entries(table).map(([key, column]) => [key, column[i]])));
	const points = rowsOf(data.points);
	for (const profile of [data.profile, data.baseline].filter(Boolean))
		for (const s of profile.samples)
			if (s.row !== undefined) {
				const [first, ...faults] = profile.rows[s.row];
				s.t = faults.map((n, i) => [first + i, n]);
			}
	const begin = points.length ? points[0].from : 0;
	const end = points.length ? points[points.length - 1].to : 0;

	// Times as the host's clock showed them, or in UTC. Without a clock: seconds since the start.
	let utc = false;
	const MONTHS = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split(" ");
	const two = n => String(n).padStart(2, "0");
	const wall = t => data.begin_ms + Math.round(t * 1000) + (utc ? 0 : data.zone_s * 1000);
	const clockText = (ms, step) => {
		const d = new Date(ms);
		return (data.dated ? `${MONTHS[d.getUTCMonth()]} ${String(d.getUTCDate()).padStart(2)} ` : "") +
			`${two(d.getUTCHours())}:${two(d.getUTCMinutes())}` +
			(step < 60000 ? `:${two(d.getUTCSeconds())}` : "") +
			(step < 1000 ? `.${String(d.getUTCMilliseconds()).padStart(3, "0")}` : "");
	};
	const at = (t, step = end - begin < 10 ? 1 : 1000) => data.begin_ms ? clockText(wall(t), step) :
		`${t.toFixed(end - begin < 10 ? 3 : 1)} s`;
	const STEPS = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1e3, 2e3, 5e3, 1e4, 15e3, 3e4, 6e4, 12e4, 3e5, 6e5,
		9e5, 18e5, 36e5, 72e5, 108e5, 216e5, 432e5, 864e5, 1728e5, 6048e5];
	const drawAxis = (svg, from, to) => {
		const g = svg.querySelector(":scope > g.axis");
		if (!g || to <= from)
			return;
		const [left, right, y] = [132, 988, Number(g.dataset.y)];
		const base = data.begin_ms ? wall(from) : from * 1000;
		const span = (to - from) * 1000;
		const step = STEPS.find(n => span / n < 6) || STEPS[STEPS.length - 1];
		g.replaceChildren();
		for (let ms = Math.ceil(base / step) * step; ms <= base + span; ms += step) {
			const x = left + (right - left) * (ms - base) / span;
			const text = make("text", {class: "tick", x, y,
				"text-anchor": x > right - 40 ? "end" : x < left + 40 ? "start" : "middle"}, g);
			text.textContent = data.begin_ms ? clockText(ms, step) : `${ms / 1000} s`;
			make("path", {class: "grid", d: `M${x} ${y - 10}v-4`}, g);
		}
	};

	const frame = svg => ({left: Number(svg.dataset.left), right: Number(svg.dataset.right),
		height: svg.viewBox.baseVal.height});
	const toX = (f, t) => f.left + (f.right - f.left) * (t - begin) / (end - begin || 1);
	const toTime = (f, x) => begin + (end - begin) *
		Math.min(1, Math.max(0, (x - f.left) / (f.right - f.left)));
	const svgPoint = (svg, event) => {
		const box = svg.getBoundingClientRect();
		const view = svg.viewBox.baseVal;
		return {x: (event.clientX - box.left) * view.width / box.width,
			y: (event.clientY - box.top) * view.height / box.height};
	};
	const pointAt = t => points.find(p => t <= p.to) || points[points.length - 1];
	const inside = (p, r) => !r || (p.to > r[0] && p.from < r[1]);
	const within = p => inside(p, range);
	let baseline = null;	// the range that the flame graph is compared with

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

	// The timeline: choose a range by dragging with a pointer, or by keys on its two handles.
	const timeline = $("timeline-svg");
	let choose = () => {};
	if (timeline && end > begin) {
		const f = frame(timeline);
		const height = f.height - 18;
		const brush = make("rect", {class: "brush", y: 0, height, x: f.left, width: 0,
			visibility: "hidden"}, timeline);
		const cursor = make("line", {class: "cursor", y1: 0, y2: height,
			visibility: "hidden"}, timeline);
		timeline.setAttribute("role", "group");
		const handles = ["begin", "end"].map((name, which) => {
			const h = make("rect", {class: "handle", y: height / 2 - 14, width: 7, height: 28, rx: 3,
				tabindex: 0, role: "slider", "aria-label": `${name} of the range`,
				"aria-valuemin": begin, "aria-valuemax": end}, timeline);
			h.addEventListener("keydown", event => {
				const step = (end - begin) / (event.shiftKey ? 10 : 60);
				const by = {ArrowLeft: -step, ArrowDown: -step, ArrowRight: step, ArrowUp: step,
					Home: begin - end, End: end - begin}[event.key];
				if (event.key === "Escape")
					choose(null);
				if (by === undefined)
					return;
				event.preventDefault();
				const next = range ? [...range] : [begin, end];
				next[which] = Math.min(end, Math.max(begin, next[which] + by));
				if (next[0] < next[1])
					choose(next);
			});
			return h;
		});
		choose = next => {
			// rounded as in the address of the page, so that a link shows the same
			range = next && next[1] - next[0] > (end - begin) / 500 ? next.map(rounded) : null;
			const [a, b] = range || [begin, end];
			brush.setAttribute("visibility", range ? "visible" : "hidden");
			brush.setAttribute("x", toX(f, a));
			brush.setAttribute("width", toX(f, b) - toX(f, a));
			[a, b].forEach((t, which) => {
				handles[which].setAttribute("x", toX(f, t) - 3.5);
				handles[which].setAttribute("aria-valuenow", t.toFixed(2));
				handles[which].setAttribute("aria-valuetext", at(t));
			});
			apply();
		};
		let from = null;
		timeline.addEventListener("pointerdown", event => {
			from = toTime(f, svgPoint(timeline, event).x);
			timeline.setPointerCapture(event.pointerId);
		});
		timeline.addEventListener("pointermove", event => {
			const x = svgPoint(timeline, event).x;
			const t = toTime(f, x);
			cursor.setAttribute("x1", toX(f, t));
			cursor.setAttribute("x2", toX(f, t));
			cursor.setAttribute("visibility", "visible");
			if (from !== null)
				choose([Math.min(from, t), Math.max(from, t)]);
			const p = pointAt(t);
			const span = p.to - p.from || 1;
			tell(event, `${at(p.from)} to ${at(p.to)}\n` +
				`minor ${number(p.minor / span)}/s, major ${number(p.major / span)}/s\n` +
				`stall ${time(p.stall_ns / span)}/s\nmappings ${number(p.mappings)}, ` +
				`file descriptors ${number(p.fds)}\nresident ${bytes(p.rss_bytes)}, ` +
				`swapped ${bytes(p.swap_bytes)}`);
		});
		timeline.addEventListener("pointerup", () => { from = null; });
		timeline.addEventListener("pointerleave", event => {
			cursor.setAttribute("visibility", "hidden");
			tell(event, "");
		});
		$("range-clear").addEventListener("click", () => choose(null));
		choose(null);
	}

	// Finds a time of day in the recording, and selects its minute, or ten seconds if it has seconds.
	const goto = $("range-goto");
	const goTo = text => {
		const m = /^\s*(\d{1,2}):(\d{2})(?::(\d{2}))?\s*$/.exec(text);
		if (!m || !data.begin_ms)
			return false;
		const day = 86400;
		const first = wall(begin) / 1000;
		const long = m[3] === undefined ? 60 : 10;
		for (let n = Math.floor(first / day); n <= Math.floor(wall(end) / 1000 / day); n++) {
			const t = begin + n * day + m[1] * 3600 + m[2] * 60 + Number(m[3] || 0) - first;
			if (t + long <= begin || t > end)
				continue;
			const p = pointAt(Math.max(t, begin));
			choose([Math.max(begin, Math.min(t, p.from)), Math.min(end, Math.max(t + long, p.to))]);
			return true;
		}
		return false;
	};
	if (goto)
		goto.addEventListener("change", () => {
			const found = !goto.value.trim() || goTo(goto.value);
			goto.setAttribute("aria-invalid", String(!found));
			goto.setCustomValidity(found ? "" : "This time is not in the recording.");
			goto.reportValidity();
		});

	const heat = $("heat-svg");
	const heatRows = rowsOf(data.processes).filter(p => p.faults_by_point && p.faults_by_point.length);
	const addressMap = $("address-svg");
	const latencyHeat = $("latency-heat");
	addHeat(heat, heatRows.slice(0, heat ? Number(heat.dataset.rows) : 0)
		.map(p => p.faults_by_point.map((n, i) => [i, n])));
	addHeat(addressMap, data.addresses.map(a => a.by_point),
		addressMap ? [...addressMap.querySelectorAll("g.cells")] : []);
	if (latencyHeat) {
		const last = Number(latencyHeat.dataset.last);
		addHeat(latencyHeat, Array.from({length: Number(latencyHeat.dataset.rows)}, (_, r) =>
			points.map((p, i) => [i, [...p.latency_minor, ...p.latency_major]
				.reduce((sum, [b, n]) => sum + (b === last - r ? n : 0), 0)])));
	}
	const hover = (svg, rowOf, describeRow) => {
		const h = heats.find(one => one.svg === svg);
		if (!h)
			return;
		svg.addEventListener("pointermove", event => {
			const where = svgPoint(svg, event);
			const row = rowOf(where.y, event);
			const column = columnAt(h.f, where.x);
			tell(event, column && h.cells[row] ?
				`${describeRow(row)}\n${column.text}: ${number(h.cells[row][column.column])} faults` : "");
		});
		svg.addEventListener("pointerleave", event => tell(event, ""));
	};
	const plainRow = svg => y => Math.floor(y / Number(svg.dataset.row));
	if (heat)
		hover(heat, plainRow(heat), i => `${heatRows[i].comm} [${heatRows[i].pid}]`);
	if (latencyHeat)
		hover(latencyHeat, plainRow(latencyHeat), i =>
			`below ${time(2 ** (Number(latencyHeat.dataset.last) - i + 1 + data.latency_shift))}`);
	if (addressMap)
		hover(addressMap, y => {
			for (const g of addressMap.querySelectorAll("g.cells")) {
				const row = Math.floor((y - g.transform.baseVal[0].matrix.f) / Number(addressMap.dataset.row));
				if (row >= 0 && row < Number(g.dataset.rows))
					return Number(g.dataset.first) + row;
			}
			return -1;
		}, i => {
			const a = data.addresses[i];
			return `[${a.pid}] ${a.mapping} +${bytes(a.offset)}, ${bytes(a.bytes)}; about`;
		});

	// The flame graph. A frame is a name; with two recordings, pids differ, so they are left out.
	const flame = $("flame-svg");
	const profile = data.profile;
	const isDiff = data.type === "diff";
	const tools = {measure: $("flame-measure"), search: $("flame-search"),
		matched: $("flame-matched"), inverted: $("flame-inverted"), reset: $("flame-reset"),
		detail: $("flame-detail"), table: $("flame-table"), legend: $("flame-legend")};
	const ROW = 18;
	let root, zoomed, boxes;

	// The part of a stack in a range, by its time columns or the time of its growth.
	const columnTime = [];
	points.forEach((p, i) => {
		const c = Math.floor(i * profile.columns / points.length);
		columnTime[c] = columnTime[c] || {from: p.from, to: p.to};
		columnTime[c].to = p.to;
	});
	const partOf = (s, measure, r) => {
		const n = s.v[measure];
		if (!r || !n)
			return n;
		if (s.span)
			return s.span[0] <= r[1] && s.span[1] >= r[0] ? n : 0;
		if (!s.t || !s.t.length)
			return n;
		const key = profile.measures[measure].key === "stall" &&
			s.t.some(cell => cell[2]) ? 2 : 1;
		let all = 0, some = 0;
		for (const cell of s.t) {
			all += cell[key];
			some += inside(columnTime[cell[0]], r) ? cell[key] : 0;
		}
		return all ? n * some / all : 0;
	};
	const nameOf = (from, i) => isDiff ? from.names[i].replace(/ \[\d+\]$/, "") : from.names[i];
	const isKind = name => /^(\[|(minor|major) faults$)/.test(name);

	// Modules in the order of their share get the colours m1 to m7; other modules have the colour m0.
	const modules = new Map();
	const moduleOf = (from, i) => {
		const place = from.places[i];
		return from.modules[i] || (place ? place.file.replace(/.*\//, "") : "");
	};
	const rankModules = measure => {
		const sums = new Map();
		for (const s of profile.samples)
			for (const m of new Set(s.f.map(i => moduleOf(profile, i)).filter(Boolean)))
				sums.set(m, (sums.get(m) || 0) + s.v[measure]);
		modules.clear();
		[...sums].filter(([, n]) => n).sort((a, b) => b[1] - a[1]).slice(0, 7).forEach(([m], i) => modules.set(m, i + 1));
		const colours = compared() ? [["grew", "up2"], ["shrank", "down2"]] :
			[...modules].map(([m, i]) => [m, `m${i}`]);
		tools.legend.replaceChildren(...colours.map(([text, colour]) => {
			const item = document.createElement("span");
			const key = document.createElement("span");
			key.className = `key ${colour}`;
			item.append(key, ` ${text} `);
			return item;
		}), compared() ? "\u2003in parentheses: change of the share, in percentage points" : "");
	};

	// Adds the stacks of a profile to the tree: to `value`, or to `base`, with which it is compared.
	const grow = (from, measure, r, key) => {
		for (const s of from.samples) {
			const n = partOf(s, measure, r);
			if (!n)
				continue;
			let node = root;
			root[key] += n;
			for (const i of tools.inverted.checked ? [...s.f].reverse() : s.f) {
				const name = nameOf(from, i);
				let next = node.children.get(name);
				if (!next) {
					next = {name, place: from.places[i], module: moduleOf(from, i), value: 0, base: 0,
						children: new Map(), parent: node, depth: node.depth + 1};
					node.children.set(name, next);
				}
				next[key] += n;
				node = next;
			}
		}
	};
	const compared = () => isDiff || Boolean(baseline);
	const build = () => {
		const measure = Number(tools.measure.value);
		root = {name: "all", value: 0, base: 0, children: new Map(), parent: null, depth: 0};
		rankModules(measure);
		grow(profile, measure, range, "value");
		if (compared())
			grow(isDiff ? data.baseline : profile, measure, isDiff ? null : baseline, "base");
		zoomed = root;
	};
	// How much the share of a function differs from that in the base, from -1 to 1.
	const change = node => {
		const now = root.value ? node.value / root.value : 0;
		const then = root.base ? node.base / root.base : 0;
		return now - then;
	};
	const signed = share => `${share < 0 ? "\u2212" : "+"}${Math.abs(100 * share).toFixed(1)}`;
	const describe = node => {
		const unit = profile.measures[Number(tools.measure.value)].unit;
		const place = node.place ? ` in ${node.place.file}:${node.place.line || "?"}` : "";
		const module = node.module && !node.place ? ` (${node.module})` : "";
		return `${node.name}${node.name.includes("(") ? "" : module}${place}: ` +
			`${measured(node.value, unit)}, ` +
			`${(100 * node.value / (root.value || 1)).toFixed(1)}%` +
			(compared() ? `, ${signed(change(node))} percentage points` : "");
	};
	const matches = node => {
		const word = tools.search.value.trim().toLowerCase();
		return word && `${node.name} ${node.module}`.toLowerCase().includes(word);
	};
	const classOf = node => {
		if (compared()) {
			const share = change(node);
			const step = Math.min(3, Math.ceil(Math.abs(share) * 20));
			return Math.abs(share) < 0.002 ? "same" : `${share > 0 ? "up" : "down"}${step}`;
		}
		if (isKind(node.name) || !node.module)
			return "who";
		return `m${modules.get(node.module) || 0}`;
	};
	const order = node => [...node.children.values()].sort((a, b) => b.value - a.value);

	// Self and total of each function: a workload, a process, and a kind such as
	// [minor faults: anonymous] are no functions.
	const functions = () => {
		const all = new Map();
		const of = node => {
			if (!all.has(node.name))
				all.set(node.name, {name: node.name, place: node.place, module: node.module, self: 0,
					total: 0, selfBase: 0, totalBase: 0});
			return all.get(node.name);
		};
		const walk = (node, above, owner) => {
			const kind = node.depth <= 2 || isKind(node.name);
			const f = kind ? owner : of(node);
			if (f && f !== owner && !above.has(node.name)) {
				f.total += node.value;
				f.totalBase += node.base;
			}
			let [own, ownBase] = [node.value, node.base];
			for (const child of node.children.values()) {
				own -= child.value;
				ownBase -= child.base;
			}
			if (f) {
				f.self += own;
				f.selfBase += ownBase;
			}
			const names = kind ? above : new Set(above).add(node.name);
			for (const child of node.children.values())
				walk(child, names, f);
		};
		if (!tools.inverted.checked)
			walk(root, new Set(), null);
		return [...all.values()];
	};
	let tableBy = "self";
	const drawTable = () => {
		if (!tools.table || tools.inverted.checked)
			return;
		const unit = profile.measures[Number(tools.measure.value)].unit;
		const body = tools.table.tBodies[0];
		const rows = functions().filter(f => f.self || f.total || f.totalBase)
			.sort((a, b) => compared() ? Math.abs(b[`${tableBy}`] / (root.value || 1) - b[`${tableBy}Base`] / (root.base || 1)) -
				Math.abs(a[`${tableBy}`] / (root.value || 1) - a[`${tableBy}Base`] / (root.base || 1)) :
				b[tableBy] - a[tableBy] || b.total - a.total).slice(0, 40);
		const cell = (text, number_) => {
			const td = document.createElement("td");
			td.textContent = text;
			if (number_)
				td.className = "n";
			return td;
		};
		tools.table.parentNode.hidden = !rows.length;
		body.replaceChildren(...rows.map(f => {
			const tr = document.createElement("tr");
			const th = document.createElement("th");
			th.scope = "row";
			const button = document.createElement("button");
			button.type = "button";
			button.textContent = f.place ? f.place.function :
				f.module ? f.name.replace(` (${f.module})`, "") : f.name;
			button.title = f.place ? `${f.place.file}:${f.place.line || "?"}` : f.module;
			button.addEventListener("click", () => {
				tools.search.value = f.name;
				draw();
			});
			th.append(button);
			const share = (n, base) => compared() ?
				`${measured(n, unit)} (${signed(n / (root.value || 1) - base / (root.base || 1))})` :
				measured(n, unit);
			tr.append(th, cell(share(f.self, f.selfBase), true), cell(share(f.total, f.totalBase), true),
				cell(f.place ? `${f.place.file.replace(/.*\//, "")}:${f.place.line || "?"}` : f.module));
			return tr;
		}));
	};
	const draw = focus => {
		flame.replaceChildren();
		boxes = [];
		let deepest = 0;
		const place = (node, x, width) => {
			if (width < 0.8)
				return;
			const depth = node.depth;
			const g = make("g", {tabindex: -1, role: "img", "aria-label": describe(node)}, flame);
			if (matches(node))
				g.classList.add("match");
			make("rect", {class: classOf(node), x, y: depth * ROW,
				width: Math.max(0.4, width - 0.5), height: ROW - 1}, g);
			if (width > 40) {
				const room = Math.floor((width - 3) / 7);
				const text = make("text", {x: x + 3, y: depth * ROW + 13, "aria-hidden": "true"}, g);
				text.textContent = node.name.length > room ? `${node.name.slice(0, room - 1)}\u2026` :
					node.name;
			}
			g.node = node;
			node.box = g;
			boxes.push(g);
			deepest = Math.max(deepest, depth);
		};
		const descend = (node, x, width) => {
			place(node, x, width);
			if (width < 0.8)
				return;
			for (const child of order(node)) {
				const part = width * child.value / node.value;
				descend(child, x, part);
				x += part;
			}
		};
		const above = [];
		for (let node = zoomed.parent; node; node = node.parent)
			above.unshift(node);
		above.forEach(node => place(node, 0, 1000));
		descend(zoomed, 0, 1000);
		flame.setAttribute("viewBox", `0 0 1000 ${(deepest + 1) * ROW}`);
		const first = (focus && focus.box) || boxes[0];
		first.setAttribute("tabindex", 0);
		if (focus)
			first.focus();
		count();
		link();
	};
	const count = () => {
		let n = 0;
		const walk = node => {
			if (matches(node))
				n += node.value;
			else
				node.children.forEach(walk);
		};
		walk(root);
		tools.matched.textContent = tools.search.value.trim() ?
			`${(100 * n / (root.value || 1)).toFixed(1)}% matched` : "";
	};
	const zoom = node => {
		zoomed = node;
		draw(node);
		tools.detail.textContent = describe(node);
	};
	if (!flame || !profile.samples.length)
		return finish();
	flame.addEventListener("click", event => {
		const g = event.target.closest("g");
		if (g && g.node)
			zoom(g.node);
	});
	flame.addEventListener("pointermove", event => {
		const g = event.target.closest("g");
		tell(event, g && g.node ? describe(g.node) : "");
	});
	flame.addEventListener("pointerleave", event => tell(event, ""));
	flame.addEventListener("focusin", event => {
		const g = event.target.closest("g");
		if (g && g.node)
			tools.detail.textContent = describe(g.node);
	});
	flame.addEventListener("keydown", event => {
		const g = event.target.closest("g");
		const node = g && g.node;
		if (!node)
			return;
		const beside = node.parent ? order(node.parent).filter(n => n.box && n.box.isConnected) : [node];
		const nth = beside.indexOf(node);
		const next = {ArrowUp: node.parent, ArrowDown: order(node)[0], ArrowLeft: beside[nth - 1],
			ArrowRight: beside[nth + 1]}[event.key];
		if (event.key === "Enter" || event.key === " ")
			zoom(node);
		else if (event.key === "Escape")
			zoom(root);
		else if (!next || !next.box || !next.box.isConnected)
			return;
		else {
			g.setAttribute("tabindex", -1);
			next.box.setAttribute("tabindex", 0);
			next.box.focus();
		}
		event.preventDefault();
	});
	const path = () => {
		const names = [];
		for (let node = zoomed; node && node.parent; node = node.parent)
			names.unshift(node.name);
		return names;
	};
	// Draws again, and zooms into the boxes of a path that still exist.
	const again = (names = path()) => {
		build();
		for (const name of names) {
			const next = zoomed.children.get(name);
			if (!next)
				break;
			zoomed = next;
		}
		draw();
		drawTable();
	};
	drawFlame = () => again();
	tools.measure.addEventListener("change", () => again());
	tools.inverted.addEventListener("change", () => again());
	tools.reset.addEventListener("click", () => { zoomed = root; draw(); });
	tools.search.addEventListener("input", () => draw());
	for (const button of document.querySelectorAll("button[data-by]"))
		button.addEventListener("click", () => {
			tableBy = button.dataset.by;
			for (const other of document.querySelectorAll("button[data-by]"))
				other.setAttribute("aria-pressed", String(other === button));
			drawTable();
		});
	again();
	finish();

	// The state of the page is the fragment of its address, so that a link shows the same.
	function finish() {
		const button = $("clock-utc");
		const setClock = on => {
			utc = on;
			button.setAttribute("aria-pressed", String(on));
			for (const e of document.querySelectorAll("time[data-ms]"))
				if (Number(e.dataset.ms))
					e.textContent = clockText(Number(e.dataset.ms) + (on ? 0 : data.zone_s * 1000), 1000);
			for (const svg of document.querySelectorAll(".gauge svg"))
				drawAxis(svg, Number(svg.dataset.from), Number(svg.dataset.to));
			if (timeline)
				drawAxis(timeline, begin, end);
			apply();
		};
		if (button && data.begin_ms && data.zone_s)
			button.addEventListener("click", () => setClock(!utc));
		else if (button)
			button.hidden = true;
		const base = $("range-base");
		const setBase = next => {
			baseline = next && next.map(rounded);
			$("range-base-text").textContent = next ?
				`The flame graph is compared with ${at(next[0])} to ${at(next[1])}.` : "";
			base.textContent = next ? "Compare no more" : "Compare with this range";
			base.setAttribute("aria-pressed", String(Boolean(next)));
			drawFlame();
			link();
		};
		if (base)
			base.addEventListener("click", () => setBase(baseline ? null : range || [begin, end]));

		const fields = new URLSearchParams(location.hash.includes("=") ? location.hash.slice(1) : "");
		const pair = text => {
			const two_ = (text || "").split("-").map(Number);
			return two_.length === 2 && two_.every(Number.isFinite) && two_[0] < two_[1] ? two_ : null;
		};
		if (fields.get("utc") && button)
			setClock(true);
		if (tools.measure) {
			if ([...tools.measure.options].some(o => o.value === fields.get("measure")))
				tools.measure.value = fields.get("measure");
			tools.search.value = fields.get("search") || "";
			tools.inverted.checked = fields.has("inverted");
		}
		if (pair(fields.get("range")))
			choose(pair(fields.get("range")));
		if (base && pair(fields.get("base")))
			setBase(pair(fields.get("base")));
		if (flame && profile.samples.length)
			again((fields.get("zoom") || "").split("\n").filter(Boolean));
		if (fields.get("at") && $(fields.get("at")))
			$(fields.get("at")).scrollIntoView();
		const state = () => {
			const next = new URLSearchParams();
			const put = (key, value) => value && next.set(key, value);
			put("range", range && range.map(t => t.toFixed(6)).join("-"));
			put("base", baseline && baseline.map(t => t.toFixed(6)).join("-"));
			put("utc", utc && "1");
			if (root) {
				put("measure", tools.measure.selectedIndex > 0 && tools.measure.value);
				put("search", tools.search.value.trim());
				put("inverted", tools.inverted.checked && "1");
				put("zoom", path().join("\n"));
			}
			return next;
		};
		let before = String(state());
		link = () => {
			const next = state();
			if (String(next) === before)
				return;
			before = String(next);
			if (before)
				next.set("at", next.has("zoom") || next.has("search") ? "flame" : "timeline");
			history.replaceState(null, "", location.href.split("#")[0] + (before ? `#${next}` : ""));
		};
	}
})();
