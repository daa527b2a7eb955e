// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Opens files in speedscope, as the speedscope command does, in Chromium without a network. Prints
// what speedscope shows for each file as JSON, which tests/report/run.py judges.
//   usage: speedscope.mjs MODULES CHROMIUM FILE...
import {createRequire} from "node:module";
import {mkdtempSync, readFileSync, rmSync, writeFileSync} from "node:fs";
import {basename, dirname, join} from "node:path";
import {tmpdir} from "node:os";

const [,, modules, chromium, ...files] = process.argv;
const require = createRequire(`${modules}/x.js`);
const puppeteer = require("puppeteer-core");
const app = join(dirname(require.resolve("speedscope/package.json")), "dist/release/index.html");
const place = mkdtempSync(join(tmpdir(), "speedscope-"));
const browser = await puppeteer.launch({executablePath: chromium, headless: true,
	args: ["--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"]});
const seen = {};

for (const file of files) {
	const page = await browser.newPage();
	const errors = [];
	page.on("pageerror", e => errors.push(String(e)));
	// speedscope reports files that it cannot import in a dialog and on the console
	page.on("dialog", dialog => {
		errors.push(dialog.message());
		dialog.dismiss();
	});
	await page.setOfflineMode(true);
	const name = basename(file);
	const load = join(place, `${name}.js`);
	writeFileSync(load, `speedscope.loadFileFromBase64(${JSON.stringify(name)}, ` +
		`${JSON.stringify(readFileSync(file).toString("base64"))})`);
	await page.goto(`file://${app}#localProfilePath=${load}`);
	await page.waitForFunction(() => document.title !== "speedscope", {timeout: 20000})
		.catch(() => errors.push("it shows no profile"));
	await page.keyboard.press("3"); // speedscope's table of functions
	await page.waitForFunction(() => document.querySelectorAll("table td").length, {timeout: 10000})
		.catch(() => errors.push("no table"));
	seen[name] = {errors, title: await page.title(),
		rows: await page.$$eval("table tr", all => all.map(row => row.textContent))};
	await page.close();
}
await browser.close();
rmSync(place, {recursive: true});
console.log(JSON.stringify(seen));
