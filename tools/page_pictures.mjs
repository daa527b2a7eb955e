// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Makes docs/pictures/report-*.png from the example pages, in Chromium. `make pictures` runs it.
//   usage: page_pictures.mjs MODULES CHROMIUM EXAMPLES OUT
import {createRequire} from "node:module";

const [,, modules, chromium, examples, out] = process.argv;
const puppeteer = createRequire(`${modules}/x.js`)("puppeteer-core");
const browser = await puppeteer.launch({executablePath: chromium, headless: true,
	args: ["--no-sandbox", "--disable-gpu"]});

const open = async (example, scheme) => {
	const page = await browser.newPage();
	await page.setViewport({width: 1280, height: 900});
	await page.emulateMediaFeatures([{name: "prefers-color-scheme", value: scheme},
		{name: "prefers-reduced-motion", value: "reduce"}]);
	await page.setOfflineMode(true);
	await page.goto(`file://${examples}/${example}.html`);
	return page;
};

const sectionOf = async (page, id, name) => {
	const section = await page.$(`#${id}`);
	await section.screenshot({path: `${out}/report-${name}.png`});
};

// Selects the part of the timeline between two shares of its width.
const select = async (page, from, to) => {
	const svg = await page.$("#timeline-svg");
	await svg.scrollIntoView();
	const box = await svg.boundingBox();
	const at = share => box.x + box.width * (0.132 + (0.988 - 0.132) * share);
	await page.mouse.move(at(from), box.y + 30);
	await page.mouse.down();
	await page.mouse.move(at(to), box.y + 30, {steps: 8});
	await page.mouse.up();
};

const light = await open("too-many-mappings", "light");
await light.screenshot({path: `${out}/report-verdict.png`});
await select(light, 0.35, 0.7);
await sectionOf(light, "timeline", "timeline");
await sectionOf(await open("memory-limit", "light"), "addresses", "addresses");
const dark = await open("too-many-mappings", "dark");
await sectionOf(dark, "flame", "flame-dark");
await sectionOf(dark, "latency", "latency-dark");
await browser.close();
