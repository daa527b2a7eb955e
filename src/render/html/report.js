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
					return cell.dataset.v === undefined ? cell.textContent : Number(cell.dataset.v);
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

	if (!data || data.type !== "report")
		return;

	const points = data.points;
	const begin = points.length ? points[0].from : 0;
	const end = points.length ? points[points.length - 1].to : 0;
	const at = t => `${t.toFixed(end - begin < 10 ? 3 : 1)} s`;
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
	const within = p => !range || (p.to > range[0] && p.from < range[1]);

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
		parent.querySelectorAll("path").forEach(p => p.remove());
		const x = view.edges.map(e => f.left + (f.right - f.left) * e);
		const paths = Array(LEVELS + 1).fill("");
		cells.forEach((row, r) => row.forEach((n, c) => {
			const width = (x[c + 1] - x[c] + 0.3).toFixed(1);
			paths[level(n, most)] += `M${x[c].toFixed(1)} ${(r * height).toFixed(1)}` +
				`h${width}v${(height - 1).toFixed(1)}h-${width}z`;
		}));
		for (let i = 1; i <= LEVELS; i++)
			if (paths[i])
				make("path", {class: `h${i}`, d: paths[i]}, parent);
	};
	const drawAxis = svg => {
		const ticks = [...svg.querySelectorAll(":scope > text.tick[text-anchor]")].slice(-6);
		ticks.forEach((text, i) => {
			text.textContent = at(view.from + (view.to - view.from) * i / (ticks.length - 1));
		});
	};
	const drawLegend = (svg, most) => {
		const legend = svg.parentNode.nextElementSibling;
		if (legend && legend.classList.contains("legend"))
			legend.lastChild.textContent = legend.lastChild.textContent
				.replace(/[\d,.]+/, number(most));
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
			drawAxis(h.svg);
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
	const rangeText = $("range-text");
	const apply = () => {
		const some = points.filter(within);
		const sum = key => some.reduce((n, p) => n + p[key], 0);
		if (rangeText)
			rangeText.textContent = (range ? `${at(range[0])} to ${at(range[1])}` :
				"whole recording") + `: ${number(sum("minor"))} minor, ${number(sum("major"))} ` +
				`major faults, ` + (points.some(p => p.stall_ns) ? `stalled ${time(sum("stall_ns"))}, ` : "") +
				`${number(sum("events"))} events`;
		drawLatency();
		drawHeats();
		drawFlame();
		showProcesses();
		for (const row of document.querySelectorAll("#event-table tbody tr"))
			row.classList.toggle("outside", Boolean(range) &&
				(Number(row.dataset.t) < range[0] || Number(row.dataset.t) > range[1]));
	};

	// The timeline: choose a range by dragging with a pointer, or by keys on its two handles.
	const timeline = $("timeline-svg");
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
		const choose = next => {
			range = next && next[1] - next[0] > (end - begin) / 500 ? next : null;
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

	const heat = $("heat-svg");
	const heatRows = data.processes.filter(p => p.faults_by_point);
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

	// The flame graph.
	const flame = $("flame-svg");
	const profile = data.profile;
	if (!flame || !profile.samples.length)
		return;
	const ROW = 18;
	const tools = {measure: $("flame-measure"), search: $("flame-search"),
		matched: $("flame-matched"), inverted: $("flame-inverted"), reset: $("flame-reset"),
		detail: $("flame-detail")};
	let root, zoomed, boxes;

	// The part of a stack in the chosen range, by its time columns or the time of its growth.
	const columnTime = [];
	points.forEach((p, i) => {
		const c = Math.floor(i * profile.columns / points.length);
		columnTime[c] = columnTime[c] || {from: p.from, to: p.to};
		columnTime[c].to = p.to;
	});
	const partOf = (s, measure) => {
		const n = s.v[measure];
		if (!range || !n)
			return n;
		if (s.span)
			return s.span[0] <= range[1] && s.span[1] >= range[0] ? n : 0;
		if (!s.t.length)
			return n;
		const key = profile.measures[measure].key === "stall" &&
			s.t.some(cell => cell[2]) ? 2 : 1;
		let all = 0, some = 0;
		for (const cell of s.t) {
			all += cell[key];
			some += within(columnTime[cell[0]]) ? cell[key] : 0;
		}
		return all ? n * some / all : 0;
	};

	const build = () => {
		const measure = Number(tools.measure.value);
		root = {name: "all", value: 0, children: new Map(), parent: null, depth: 0};
		for (const s of profile.samples) {
			const n = partOf(s, measure);
			if (!n)
				continue;
			let at = root;
			root.value += n;
			for (const i of tools.inverted.checked ? [...s.f].reverse() : s.f) {
				let next = at.children.get(i);
				if (!next) {
					next = {name: profile.names[i], place: profile.places[i], value: 0,
						children: new Map(), parent: at, depth: at.depth + 1};
					at.children.set(i, next);
				}
				next.value += n;
				at = next;
			}
		}
		zoomed = root;
	};
	const hue = name => {
		let x = 0;
		for (const c of name)
			x = (x * 31 + c.codePointAt(0)) >>> 0;
		return x % 6;
	};
	const matches = node => {
		const word = tools.search.value.trim().toLowerCase();
		return word && node.name.toLowerCase().includes(word);
	};
	const describe = node => {
		const unit = profile.measures[Number(tools.measure.value)].unit;
		const where = node.place ? ` in ${node.place.file}:${node.place.line}` : "";
		return `${node.name}${where}: ${measured(node.value, unit)}, ` +
			`${(100 * node.value / (root.value || 1)).toFixed(1)}%` +
			(range ? `, ${at(range[0])} to ${at(range[1])}` : "");
	};
	const draw = focus => {
		boxes = [];
		flame.replaceChildren();
		let deepest = 0;
		const place = (node, x, width) => {
			if (width < 0.8)
				return;
			const depth = node.depth;
			const g = make("g", {tabindex: -1, role: "img", "aria-label": describe(node)}, flame);
			if (matches(node))
				g.classList.add("match");
			make("rect", {class: `f${hue(node.name)}`, x, y: depth * ROW,
				width: Math.max(0.4, width - 0.5), height: ROW - 1}, g);
			if (width > 34) {
				const room = Math.floor(width / 6.4);
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
			for (const child of [...node.children.values()].sort((a, b) => b.value - a.value)) {
				const part = width * child.value / node.value;
				descend(child, x, part);
				x += part;
			}
		};
		const above = [];
		for (let at = zoomed.parent; at; at = at.parent)
			above.unshift(at);
		above.forEach(node => place(node, 0, 1000));
		descend(zoomed, 0, 1000);
		flame.setAttribute("viewBox", `0 0 1000 ${(deepest + 1) * ROW}`);
		const first = (focus && focus.box) || boxes[0];
		first.setAttribute("tabindex", 0);
		if (focus)
			first.focus();
		count();
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
		const beside = node.parent ? [...node.parent.children.values()]
			.sort((a, b) => b.value - a.value).filter(n => n.box && n.box.isConnected) : [node];
		const at = beside.indexOf(node);
		const below = [...node.children.values()].sort((a, b) => b.value - a.value)[0];
		const next = {ArrowUp: node.parent, ArrowDown: below, ArrowLeft: beside[at - 1],
			ArrowRight: beside[at + 1]}[event.key];
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
	const again = () => {
		const path = [];
		for (let node = zoomed; node && node.parent; node = node.parent)
			path.unshift(node.name);
		build();
		// zoom again into the previous boxes that still exist
		for (const name of path) {
			const next = [...zoomed.children.values()].find(node => node.name === name);
			if (!next)
				break;
			zoomed = next;
		}
		draw();
	};
	drawFlame = again;
	tools.measure.addEventListener("change", again);
	tools.inverted.addEventListener("change", again);
	tools.reset.addEventListener("click", () => { zoomed = root; draw(); });
	tools.search.addEventListener("input", () => draw());
	again();
})();
