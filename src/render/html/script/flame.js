// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// The flame graph and the table of functions.

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
