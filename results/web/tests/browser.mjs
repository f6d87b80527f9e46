// browser: the site in a real browser, opened from the disk as a user would.
//
//   what the pages show is what the store has, no console error and no request to anywhere else, keyboard, light and
//   dark, 360 pixels without a horizontal bar, hostile names, axe's rules for WCAG A and AA, with uPlot and without
//
// Skips (77) where chromium or its driver are not installed. ZM_SHOTS=FOLDER keeps pictures.
import {execFileSync} from "node:child_process";
import {existsSync, mkdtempSync, readFileSync, rmSync} from "node:fs";
import {createRequire} from "node:module";
import {tmpdir} from "node:os";
import {join} from "node:path";
import {pathToFileURL} from "node:url";

function skip(reason) {
  console.log(`skipped: ${reason}`);
  process.exit(77);
}

const need = createRequire(join(process.env.NODE_PATH || ".", "x.js"));
let chromium, axe;
try {
  ({chromium} = need("playwright-core"));
  axe = readFileSync(need.resolve("axe-core/axe.min.js"), "utf8");
} catch {
  skip("playwright-core and axe-core are not here; npm brings them when the build is configured");
}
if (Number(process.versions.node.split(".")[0]) < 20)
  skip("playwright-core needs node 20");
const executablePath = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].find((path) => existsSync(path));
if (!executablePath)
  skip("no chromium here");

const folder = mkdtempSync(join(tmpdir(), "zm-browser-"));
const database = join(folder, "store.db"), site = join(folder, "site");
const shots = process.env.ZM_SHOTS;
let failures = 0;

function check(is, what) {
  if (!is) {
    failures++;
    console.log(`FAILED: ${what}`);
  }
}

// A page of the site; whatever it says on the console or asks for elsewhere is a failure.
async function open(context, address, options = {}) {
  const page = await context.newPage();
  page.on("console", (message) => check(!["error", "warning"].includes(message.type()), `${address}: console: ${message.text()}`));
  page.on("pageerror", (error) => check(false, `${address}: ${error.stack}`));
  page.on("dialog", (dialog) => { check(false, `${address}: a hostile name ran`); dialog.dismiss(); });
  page.on("request", (request) => check(/^(file|data|blob):/.test(request.url()), `${address}: asks for ${request.url()}`));
  if (options.block)
    await page.route(options.block, (route) => route.fulfill({contentType: "text/javascript", body: ""}));
  await page.goto(pathToFileURL(site).href + "/" + address);
  await page.waitForLoadState("load");
  return page;
}

async function picture(page, name) {
  if (shots)
    await page.screenshot({path: join(shots, `${name}.png`), fullPage: true});
}

// A content security policy keeps scripts out; the driver's own evaluation is not held by it.
async function accessible(page, what) {
  await page.evaluate(axe);
  const found = await page.evaluate(() => window.axe.run(document, {preload: false, runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "best-practice"]}));
  for (const violation of found.violations)
    check(false, `${what}: ${violation.id}: ${violation.help}: ${violation.nodes.slice(0, 3).map((node) => `${node.html.slice(0, 160)} ${node.failureSummary || ""}`).join(" | ")}`);
}

async function fits(page, what) {
  const [content, screen] = await page.evaluate(() => [document.documentElement.scrollWidth, document.documentElement.clientWidth]);
  check(content <= screen, `${what}: ${content} pixels wide on ${screen}`);
}

function ask(sql) {
  return JSON.parse(execFileSync("python3", ["-c", "import json, sqlite3, sys; print(json.dumps(sqlite3.connect(sys.argv[1]).execute(sys.argv[2]).fetchall()))",
    database, sql], {encoding: "utf8"}));
}

const close = (a, b) => Math.abs(a - b) <= 1e-8 * Math.abs(b);

// --- the tests ---

async function landing(context) {
  const page = await open(context, "index.html");
  await page.waitForSelector("#matrix svg a");
  check(/^1 figure changed in the last 14 nights: 1 worse\.$/.test(await page.textContent("h1")), `headline: ${await page.textContent("h1")}`);
  check(await page.locator("#changes-table tbody tr").count() === 1, "one change");
  check(/page_fault1 nr_task=4/.test(await page.textContent("#changes-table tbody tr")), "of the right cell");
  check(/−[78]\.\d+%/.test(await page.textContent("#changes-table tbody tr")), "by about 8 %");
  check(await page.locator("#matrix svg a").count() === 4, "four squares");
  check(await page.locator("#matrix svg rect.few").count() === 1, "one is hatched");
  check(await page.locator("#matrix svg .c-worse-2").count() === 1, "one is worse");
  await accessible(page, "landing");
  await picture(page, "landing");

  await page.locator("#matrix svg a[tabindex='0']").focus();
  const first = await page.textContent("#readout");
  await page.keyboard.press("ArrowDown");
  const second = await page.textContent("#readout");
  check(first && second && first !== second, "arrow keys move in the matrix");
  await page.click("#matrix-table summary");
  await page.waitForSelector("#matrix-table tbody tr");
  check(await page.locator("#matrix-table tbody tr").count() === 4, "the matrix has a table");
  await page.fill("#find", "bbbb");
  check(await page.locator("#changes-table tbody tr:visible").count() === 0, "the filter hides");
  check(page.url().endsWith("#find=bbbb"), "the filter is in the address");
  await page.close();

  const again = await open(context, "index.html#find=nr_task%3D4");
  check(await again.inputValue("#find") === "nr_task=4", "the address sets the filter");
  check(await again.locator("#changes-table tbody tr:visible").count() === 1, "and it holds");
  const [file] = await Promise.all([again.waitForEvent("download"), again.click("#csv")]);
  const rows = readFileSync(await file.path(), "utf8").trim().split("\r\n");
  check(rows.length === 5 && rows[0].startsWith("machine,workload,"), `CSV: ${rows[0]}`);
  const [json] = await Promise.all([again.waitForEvent("download"), again.click("#json")]);
  check(JSON.parse(readFileSync(await json.path(), "utf8")).figures.length === 4, "JSON");
  await again.close();
}

async function series(context) {
  const start = await open(context, "index.html");
  await start.click("#changes-table tbody a");
  await start.waitForSelector("#nights-table");
  const address = start.url().split("/").at(-1);
  await start.close();

  const page = await open(context, address);
  await page.waitForSelector("#nights-table");
  const shown = await page.$$eval("#nights-table tbody td[data-value]", (cells) => cells.map((cell) => Number(cell.dataset.value)).reverse());
  const stored = ask("SELECT avg(value) FROM result JOIN run ON run.id = run JOIN boot ON boot.id = boot JOIN machine ON machine.id = machine" +
    " JOIN metric ON metric.id = metric JOIN cell ON cell.id = cell WHERE machine.key LIKE 'aaaa%' AND cell.json LIKE '%4%'" +
    " AND metric.name = 'will-it-scale.per_process_ops' GROUP BY boot ORDER BY min(wall_ns)").map(([value]) => value);
  check(shown.length === 40 && shown.every((value, i) => close(value, stored[i])), "every night's value is the store's");
  check(await page.locator("#changes-table tbody tr").count() === 1, "the change is in its table");
  check(/2026-03-30/.test(await page.textContent("#changes-table tbody tr")), "on its night");
  check(await page.locator("#nights-table tr.marked").count() === 1, "and marked");
  check(/outlier/.test(await page.textContent("#n11")), "the bad night is an outlier, not a change");
  check(await page.locator(".chart canvas").count() === (existsSync(join(site, "uplot.js")) ? 1 : 0), "uPlot draws where it is");
  await accessible(page, "series");
  await picture(page, "series");
  await page.focus(".chart");
  await page.keyboard.press("End");
  const last = await page.textContent(".readout");
  await page.keyboard.press("ArrowLeft");
  check(/2026-04-09/.test(last) && /2026-04-08/.test(await page.textContent(".readout")), `the chart reads its points: ${last}`);
  await page.selectOption("#metric", {label: "fault.latency (ns)"});
  await page.waitForFunction(() => document.querySelector("h1")?.textContent.startsWith("fault.latency"));
  check(await page.locator("#nights-table tbody tr").count() === 40, "other figures have their nights");
  await page.close();

  const own = await open(context, address, {block: "**/uplot.js"});
  await own.waitForSelector(".chart svg path.line");
  check(await own.locator(".chart svg line.mark").count() === 1, "without uPlot the change is marked");
  check(await own.locator(".chart svg circle.out").count() === 1, "and the outlier is");
  await own.focus(".chart");
  await own.keyboard.press("Home");
  check(/2026-03-01/.test(await own.textContent(".readout")), "and the keyboard works");
  await picture(own, "series-own");
  await own.close();
  return address;
}

async function compare(context, address) {
  const group = /g=([0-9a-f]{16})/.exec(address)[1];
  const page = await open(context, `compare.html?a=${group}.28&b=${group}.29`);
  await page.waitForSelector("#compare-table");
  const row = page.locator("#compare-table tbody tr").first();
  check(/worse/.test(await row.textContent()), "a large difference is named");
  const [a, b] = await row.locator("td[data-value]").evaluateAll((cells) => cells.map((cell) => Number(cell.dataset.value)));
  check(b < a * 0.94 && b > a * 0.9, "and is the step");
  await accessible(page, "compare");
  await picture(page, "compare");
  await page.selectOption("#night-b", "0");
  await page.waitForURL(/b=[0-9a-f]{16}\.0$/);
  await page.close();
  const usual = await open(context, "compare.html");
  await usual.waitForSelector("#compare-table");
  await usual.close();
}

async function run(context, address) {
  const page = await open(context, address);
  await page.waitForSelector("#nights-table");
  await page.locator("#nights-table a[href^='run.html']").first().click();
  await page.locator(".chart").nth(1).waitFor(); // throughput and used memory
  check(/other <b>processes<\/b> had/.test(await page.textContent("main")), "notes are texts");
  check(/zonemark run page_fault1 --label nightly/.test(await page.textContent("main")), "the command that repeats it");
  await accessible(page, "run");
  await picture(page, "run");
  await page.close();
}

async function hostile(context) {
  const page = await open(context, "index.html");
  await page.waitForSelector("#matrix svg a");
  const few = page.locator("#matrix svg a:has(rect.few)");
  check((await few.getAttribute("aria-label")).includes("<img src=x onerror=alert(1)>"), "names are shown as they are");
  await few.focus();
  await page.keyboard.press("Enter");
  await page.waitForSelector("#nights-table");
  check((await page.textContent("h1")).includes('"><script>alert(2)</script>'), "in a title, too");
  check(/Too few nights/.test(await page.textContent("#headline")), "too few nights are said to be");
  await picture(page, "hostile");
  await page.close();
  for (const wrong of ["series.html", "series.html?g=../../x", "series.html?g=0000000000000000", "run.html?r=%3Cscript%3E", "compare.html?a=x&b=y"]) {
    const lost = await context.newPage();
    await lost.goto(pathToFileURL(site).href + "/" + wrong);
    await lost.waitForSelector("h1");
    await lost.close();
  }
}

const devices = [
  ["phone", {viewport: {width: 360, height: 740}, colorScheme: "light", hasTouch: true, isMobile: true, deviceScaleFactor: 2},
    ["index.html", "series.html", "compare.html"]],
  ["dark", {viewport: {width: 1280, height: 900}, colorScheme: "dark"}, ["index.html", "series.html"]],
  ["wall", {viewport: {width: 3840, height: 2160}, colorScheme: "dark"}, ["index.html"]],
];

async function screens(browser, address) {
  for (const [name, options, places] of devices) {
    const context = await browser.newContext(options);
    for (const place of places) {
      const page = await open(context, place === "series.html" ? address : place);
      await page.waitForSelector("#matrix svg, #nights-table, #compare-table");
      await fits(page, `${place} on ${name}`);
      if (name === "dark")
        await accessible(page, `${place} on ${name}`);
      await picture(page, `${place.replace(/\W.*/, "")}-${name}`);
      const paper = await page.evaluate(() => getComputedStyle(document.body).backgroundColor);
      check((options.colorScheme === "dark") === (paper === "rgb(20, 23, 26)"), `${place} on ${name}: paper ${paper}`);
      await page.close();
    }
    await context.close();
  }
}

async function theme(context) {
  const page = await open(context, "index.html");
  await page.waitForSelector("#matrix svg");
  await page.click("#theme");
  await page.click("#theme");
  check(await page.evaluate(() => document.documentElement.dataset.theme) === "dark", "the theme can be chosen");
  await page.keyboard.press("Tab");
  await page.reload();
  check(await page.evaluate(() => document.documentElement.dataset.theme) === "dark", "and is kept");
  await page.keyboard.press("Tab");
  check(await page.evaluate(() => document.activeElement.className) === "skip", "the first stop of the keyboard skips the header");
  await page.close();
}

// --- all of them ---

execFileSync(join(process.env.ZM_BINARY_DIR, "tests", "sample_nights"), [database]);
execFileSync(process.env.ZONEMARK, ["dashboard", "--db", database, "--output", site]);
let browser;
try {
  browser = await chromium.launch({executablePath, args: ["--no-sandbox", "--disable-gpu"], timeout: 60000});
} catch (error) {
  rmSync(folder, {recursive: true, force: true});
  skip(`chromium does not start here: ${String(error.message).split("\n")[0]}`);
}
try {
  const context = await browser.newContext({viewport: {width: 1280, height: 900}, colorScheme: "light", acceptDownloads: true});
  await landing(context);
  const address = await series(context);
  await compare(context, address);
  await run(context, address);
  await hostile(context);
  await screens(browser, address);
  await theme(context);
} finally {
  await browser.close();
  rmSync(folder, {recursive: true, force: true});
}
console.log(failures ? `${failures} failures` : "all is well");
process.exit(failures ? 1 : 0);
