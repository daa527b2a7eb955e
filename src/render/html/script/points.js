// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// The points of the timeline: their values, their times, and their places in a drawing.

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
