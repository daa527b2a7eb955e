// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Heat maps of processes, addresses and latency, and what the pointer tells about them.

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
