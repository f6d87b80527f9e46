// site: what all pages share. Data files call zonemark.group(), .line(), .matrix(), .run(); pages load them with
// zonemark.load(). Texts go into the page as texts, never as markup.
"use strict";
window.zonemark = (() => {
  const groups = new Map(), lines = new Map(), runs = new Map(), loading = new Map();
  let matrix = null;

  // --- data ---

  function load(file) {
    if (!loading.has(file)) {
      loading.set(file, new Promise((resolve, reject) => {
        const script = document.createElement("script");
        script.src = file;
        script.onload = resolve;
        script.onerror = () => reject(new Error(`${file} is not there`));
        document.head.append(script);
      }));
    }
    return loading.get(file);
  }

  async function loadGroup(id) {
    if (!/^[0-9a-f]{16}$/.test(id))
      throw new Error("the address names no series");
    await load(`data/g/${id}.js`);
    return groups.get(id);
  }

  async function loadLine(group, number) {
    const metric = group.metrics[number];
    if (metric.file)
      await load(`data/g/${group.id}.${metric.file}.js`);
    const line = lines.get(`${group.id} ${number}`);
    if (!line)
      throw new Error("the figure is not there");
    return line;
  }

  async function loadRun(id) {
    if (!/^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}$/.test(id))
      throw new Error("the address names no run");
    await load(`data/r1/${id}.js`);
    return runs.get(id);
  }

  async function loadMatrix() {
    if (!matrix)
      await load("data/matrix.js");
    return matrix;
  }

  // --- elements ---

  const svgNames = new Set(["svg", "g", "rect", "line", "path", "text", "circle", "defs", "pattern", "title"]);

  // h("p", {class: "quiet"}, "text", element…)
  function h(name, attributes = {}, ...children) {
    const isSvg = svgNames.has(name) || attributes.svg;
    const element = isSvg ? document.createElementNS("http://www.w3.org/2000/svg", name)
                          : document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) {
      if (key === "svg" || value === null || value === undefined || value === false)
        continue;
      if (key.startsWith("on"))
        element.addEventListener(key.slice(2), value);
      else
        element.setAttribute(key, value === true ? "" : value);
    }
    element.append(...children.flat().filter((child) => child !== null && child !== undefined));
    return element;
  }

  // A table in a box of its own that scrolls; columns: [title, is a number].
  function table(caption, columns, rows, options = {}) {
    return h("div", {class: options.tall ? "box tall" : "box", tabindex: "0", role: "region", "aria-label": caption},
      h("table", {id: options.id},
        h("caption", {}, caption),
        h("thead", {}, h("tr", {}, columns.map(([title, isNumber]) =>
          h("th", {scope: "col", class: isNumber ? "n" : null}, title)))),
        h("tbody", {}, rows)));
  }

  // --- numbers ---

  const usual = new Intl.NumberFormat("en-US", {maximumSignificantDigits: 6});
  const large = new Intl.NumberFormat("en-US", {maximumFractionDigits: 0});

  function number(value) {
    if (value === null || value === undefined)
      return "–";
    if (value !== 0 && (Math.abs(value) < 1e-4 || Math.abs(value) >= 1e15))
      return value.toExponential(4);
    return Math.abs(value) >= 1e6 ? large.format(value) : usual.format(value);
  }

  // isRatio: a share of the value; else a difference in its own unit (points).
  function change(value, isRatio = true) {
    if (value === null || value === undefined)
      return "–";
    const scaled = isRatio ? value * 100 : value;
    const digits = Math.abs(scaled) >= 100 ? 0 : Math.abs(scaled) >= 9.95 ? 1 : 2;
    const text = Math.abs(scaled).toFixed(digits);
    const sign = Number(text) === 0 ? "±" : scaled < 0 ? "−" : "+";
    return sign + text + (isRatio ? " %" : " points");
  }

  function interval(low, high, isRatio = true) {
    return low === null || high === null ? "" : `${change(low, isRatio)} … ${change(high, isRatio)}`;
  }

  // Nights begin at noon: on a chart a night stands on the day that it is called by.
  function nightX(night) {
    return night[0] - 12 * 3600;
  }

  function dayOfX(x) {
    return new Date(x * 1000).toISOString().slice(0, 10);
  }

  function day(seconds) {
    return dayOfX(seconds - 12 * 3600);
  }

  function moment(seconds) {
    return new Date(seconds * 1000).toISOString().slice(0, 16).replace("T", " ");
  }

  // --- words ---

  function words(item) {
    return item.words ? `${item.workload} ${item.words}` : item.workload;
  }

  // "nr_task=4 mode=process" of what was asked for.
  function asked(json) {
    try {
      return Object.entries(JSON.parse(json)).map(([key, value]) =>
        `${key}=${typeof value === "string" ? value : JSON.stringify(value)}`).join(" ");
    } catch {
      return json;
    }
  }

  function kernel(group, night) {
    return group.kernels[group.nights[night][1] - group.kernel0];
  }

  function seriesAddress(group, metric) {
    return `series.html?g=${group}&m=${encodeURIComponent(metric)}`;
  }

  function median(values) {
    const sorted = values.filter((value) => value !== null).sort((a, b) => a - b);
    const middle = sorted.length >> 1;
    if (!sorted.length)
      return null;
    return sorted.length % 2 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
  }

  // On a wall everything is larger; what is drawn in pixels follows the text.
  function pixels(size) {
    return Math.round(size * parseFloat(getComputedStyle(document.documentElement).fontSize) / 16);
  }

  // --- downloads ---

  function download(name, type, text) {
    const link = h("a", {href: URL.createObjectURL(new Blob([text], {type})), download: name});
    document.body.append(link);
    link.click();
    link.remove();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
  }

  // A text that a spreadsheet would take for a formula is kept from it.
  function csvField(value) {
    if (value === null || value === undefined)
      return "";
    if (typeof value === "number")
      return String(value);
    const text = /^[=+\-@\t\r]/.test(value) ? `'${value}` : String(value);
    return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  }

  function csv(rows) {
    return rows.map((row) => row.map(csvField).join(",")).join("\r\n") + "\r\n";
  }

  // --- page ---

  function fail(error) {
    document.getElementById("main").replaceChildren(
      h("h1", {}, "This page has nothing to show"),
      h("p", {role: "alert"}, `${error.message}.`),
      h("p", {}, h("a", {href: "index.html"}, "To the overview")));
  }

  function startTheme() {
    const button = document.getElementById("theme"), root = document.documentElement;
    const order = ["auto", "light", "dark"];
    const show = () => { button.textContent = `Theme: ${root.dataset.theme || "auto"}`; };
    button.hidden = false;
    show();
    button.addEventListener("click", () => {
      const next = order[(order.indexOf(root.dataset.theme || "auto") + 1) % order.length];
      if (next === "auto")
        delete root.dataset.theme;
      else
        root.dataset.theme = next;
      try {
        localStorage.setItem("zonemark-theme", next);
      } catch {
        // Not remembered, then.
      }
      show();
      dispatchEvent(new Event("zonemark-theme"));
    });
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change",
      () => dispatchEvent(new Event("zonemark-theme")));
  }
  startTheme();

  return {
    group: (group) => groups.set(group.id, group),
    line: (id, number, line) => lines.set(`${id} ${number}`, line),
    run: (run) => runs.set(run.id, run),
    matrix: (given) => { matrix = given; },
    loadGroup, loadLine, loadRun, loadMatrix, h, table, number, change, interval, day, nightX, dayOfX, moment, words, asked, kernel,
    seriesAddress, median, pixels, download, csv, fail,
    parameters: new URLSearchParams(location.search),
  };
})();
