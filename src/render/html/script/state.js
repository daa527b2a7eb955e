// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// The state of the page in its address.

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
