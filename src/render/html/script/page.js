// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Basic functions of the page: numbers, the tip beside the pointer, and tools that need a script.

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
