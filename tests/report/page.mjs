// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Opens an HTML page of faultscope in Chromium without a network, and uses it by mouse and keys.
// Prints its observations as JSON, which tests/report/run.py judges.
//   usage: page.mjs MODULES CHROMIUM PAGE [SCREENSHOT-PREFIX]
import {createRequire} from "node:module";
import {readFileSync} from "node:fs";

const [,, modules, chromium, path, shots] = process.argv;
const require = createRequire(`${modules}/x.js`);
const puppeteer = require("puppeteer-core");
const axe = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");
const seen = {requests: [], errors: [], axe: {}, charts: {}};

const browser = await puppeteer.launch({executablePath: chromium, headless: true,
	args: ["--no-sandbox", "--disable-gpu"]});

const open = async (scheme, script = true, hash = "") => {
	const page = await browser.newPage();
	await page.setViewport({width: 1280, height: 1000});
	await page.emulateMediaFeatures([{name: "prefers-color-scheme", value: scheme},
		{name: "prefers-reduced-motion", value: "reduce"}]);
	await page.setJavaScriptEnabled(script);
	page.on("request", r => {
		if (r.url().split("#")[0] !== `file://${path}` && !r.url().startsWith("blob:"))
			seen.requests.push(r.url());
	});
	page.on("console", m => {
		if (["error", "warn"].includes(m.type()))
			seen.errors.push(m.text());
	});
	page.on("pageerror", e => seen.errors.push(String(e)));
	await page.setOfflineMode(true);
	await page.goto(`file://${path}${hash}`);
	return page;
};

const text = (page, id) => page.$eval(`#${id}`, e => e.textContent).catch(() => null);
const count = (page, selector) => page.$$eval(selector, all => all.length);

const judge = async (page, scheme) => {
	// axe is added through DevTools, since the page's content security policy blocks other scripts
	await page.evaluate(axe);
	const told = await page.evaluate(() => window.axe.run(document, {resultTypes: ["violations"]}));
	seen.axe[scheme] = told.violations.map(v => ({id: v.id, impact: v.impact,
		nodes: v.nodes.slice(0, 3).map(n => n.html.slice(0, 200))}));
};

// Returns what depends on the selected time range: heat map shapes and the base of the flame graph.
const drawn = page => page.evaluate(() => Object.fromEntries(
	["heat-svg", "address-svg", "latency-heat"].map(id => [id,
		[...document.querySelectorAll(`#${id} path[class^=h]`)].map(p => p.getAttribute("d")).join("")])
		.concat([["flame-svg", (document.querySelector("#flame-svg g[aria-label]") || document.body)
			.getAttribute("aria-label") || ""]])));

const useTimeline = async page => {
	const svg = await page.$("#timeline-svg");
	if (!svg)
		return;
	const box = await svg.boundingBox();
	const at = share => box.x + box.width * (0.132 + (0.988 - 0.132) * share);
	seen.whole = await text(page, "range-text");
	seen.atFirst = await drawn(page);
	await svg.scrollIntoView();
	const now = await svg.boundingBox();
	await page.mouse.move(at(0.25), now.y + 30);
	await page.mouse.down();
	await page.mouse.move(at(0.5), now.y + 30, {steps: 4});
	seen.tip = await page.$eval(".tip", e => e.hidden ? "" : e.textContent);
	await page.mouse.move(at(0.75), now.y + 30, {steps: 4});
	await page.mouse.up();
	seen.brushed = await text(page, "range-text");
	seen.inRange = await drawn(page);
	const linked = await open("light", true, await page.evaluate(() => location.hash));
	seen.linked = {text: await text(linked, "range-text"), drawn: await drawn(linked)};
	await linked.close();
	if (shots)
		await page.screenshot({path: `${shots}-brush.png`});
	await page.$eval(".handle", e => e.focus());
	for (let i = 0; i < 6; i++)
		await page.keyboard.press("ArrowRight");
	seen.keyed = await text(page, "range-text");
	await page.click("#range-clear");
	seen.cleared = await text(page, "range-text");
	seen.inAll = await drawn(page);
};

const useFlame = async page => {
	if (!await page.$("#flame-svg"))
		return;
	seen.boxes = await count(page, "#flame-svg g");
	seen.measures = await page.$$eval("#flame-measure option", all => all.map(o => o.textContent));
	await page.type("#flame-search", "faults");
	seen.matched = await text(page, "flame-matched");
	seen.marked = await count(page, "#flame-svg g.match");
	const names = await page.$$eval("#flame-svg g", all => all.map(g => g.getAttribute("aria-label")));
	seen.first = names[0];
	await page.$$eval("#flame-svg g", all => all[1].dispatchEvent(
		new MouseEvent("click", {bubbles: true})));
	seen.zoomed = await text(page, "flame-detail");
	await page.keyboard.press("Escape");
	await page.click("#flame-inverted");
	seen.inverted = await page.$$eval("#flame-svg g", all => all[1].getAttribute("aria-label"));
	await page.click("#flame-inverted");
	if (seen.measures.length > 1) {
		await page.select("#flame-measure", await page.$eval("#flame-measure option:last-child",
			o => o.value));
		seen.other = await page.$eval("#flame-svg g", g => g.getAttribute("aria-label"));
	}
};

const useProcesses = async page => {
	if (!await page.$("#process-table"))
		return;
	const cells = () => page.$$eval("#process-table tbody tr:not(.outside) td:nth-child(3)",
		all => all.map(td => Number(td.dataset.v ?? td.textContent.replaceAll(",", ""))));
	await page.click("#process-table thead th:nth-child(3) button");
	seen.down = await cells();
	await page.click("#process-table thead th:nth-child(3) button");
	seen.up = await cells();
	await page.type("#process-filter", "no such process");
	seen.filtered = (await cells()).length;
};

const light = await open("light");
seen.charts = {svg: await count(light, "svg[role]"), tables: await count(light, "table")};
seen.title = await light.title();
await judge(light, "light");
if (shots)
	await light.screenshot({path: `${shots}.png`, fullPage: true});
await useTimeline(light);
await useFlame(light);
await useProcesses(light);
const dark = await open("dark");
await judge(dark, "dark");
if (shots)
	await dark.screenshot({path: `${shots}-dark.png`, fullPage: true});
const still = await open("light", false);
seen.still = {svg: await count(still, "svg[role]"), boxes: await count(still, "#flame-svg rect"),
	areas: await count(still, "#timeline-svg .area"), tables: await count(still, "table"),
	tools: await still.$$eval(".tools", all => all.filter(e => e.offsetParent).length)};
await browser.close();
console.log(JSON.stringify(seen));
