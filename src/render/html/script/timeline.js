// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// The timeline, on which the user chooses a time range, or goes to a time.

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
