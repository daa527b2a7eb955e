// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Opens a page several times in Chromium, and prints as JSON how long each took, in ms: until its
// script has run, and until the first frame after that is drawn.
//   usage: speed.mjs MODULES CHROMIUM PAGE TIMES
import {createRequire} from "node:module";

const [,, modules, chromium, path, times] = process.argv;
const puppeteer = createRequire(`${modules}/x.js`)("puppeteer-core");
const browser = await puppeteer.launch({executablePath: chromium, headless: true,
	args: ["--no-sandbox", "--disable-gpu"]});
const took = [];
for (let i = 0; i < Number(times); i++) {
	const page = await browser.newPage();
	await page.setViewport({width: 1280, height: 900});
	const begin = Date.now();
	await page.goto(`file://${path}`);
	const loaded = Date.now() - begin;
	await page.evaluate(() => new Promise(done => requestAnimationFrame(() => setTimeout(done))));
	took.push({loaded, drawn: Date.now() - begin});
	await page.close();
}
await browser.close();
console.log(JSON.stringify(took));
