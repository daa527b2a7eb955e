// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// The list of sections, saved files, sorted tables, and the filter of processes.

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
