// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// The stacks of the flame graph: their tree, their colours, and their functions.

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
