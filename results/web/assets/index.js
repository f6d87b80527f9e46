// index: the matrix of all primary figures, its table, and the filter over both and the changes.
"use strict";
(() => {
  const z = window.zonemark, {h} = z;
  const KIND = {few: 0, steady: 1, changed: 2};
  const VERDICT = {notEnough: 0, noisy: 1, same: 2, better: 3, worse: 4, changed: 5};
  const STATES = ["not yet confirmed", "confirmed", "withdrawn"];
  const FEW_MACHINES = 60;
  let matrix, anchors = [], pitch = z.pixels(22); // of a square and its gap; of many machines smaller ones

  function unpack(cell) {
    const [row, machine, group, kind, verdict, change, low, high, seen, p, nights, last, base, now, since, state, outlier,
      failed] = cell;
    return {row, machine, group, kind, verdict, change, low, high, seen, p, nights, last, base, now, since, state, outlier,
      failed};
  }

  function verdictWord(cell) {
    if (cell.kind === KIND.few)
      return "too few nights";
    if (cell.kind === KIND.steady)
      return "steady";
    return cell.verdict === VERDICT.better ? "better" : cell.verdict === VERDICT.worse ? "worse" : "changed";
  }

  function how(cell, row) {
    const isRatio = !row.share;
    if (cell.kind === KIND.few)
      return `too few nights to say anything (${cell.nights}); last value ${z.number(cell.now)} ${row.unit}`;
    if (cell.kind === KIND.steady)
      return (cell.verdict === VERDICT.same ? "the same" : "no change shown") +
        `: last nights ${z.change(cell.change, isRatio)} (${z.interval(cell.low, cell.high, isRatio)})` +
        (cell.seen === null ? "" : `, a change of ${z.change(cell.seen, isRatio).slice(1)} would have been seen`);
    return `${verdictWord(cell)} by ${z.change(cell.change, isRatio)} (${z.interval(cell.low, cell.high, isRatio)}) since ` +
      `${z.day(cell.since)}, ${STATES[cell.state]}`;
  }

  function describe(cell) {
    const row = matrix.rows[cell.row];
    return `${z.words(row)}, ${row.metric}, on ${matrix.machines[cell.machine].filter(Boolean).join(" (")}${matrix.machines[cell.machine][1] ? ")" : ""}: ${how(cell, row)}` +
      (cell.outlier ? "; the last night is an outlier" : "") +
      (cell.failed ? `; ${cell.failed} runs of the last night failed` : "");
  }

  function shade(cell) {
    const size = Math.abs(cell.change) * (matrix.rows[cell.row].share ? 0.01 : 1);
    return size >= 0.1 ? 3 : size >= 0.03 ? 2 : 1;
  }

  function shapeOf(cell) {
    if (cell.kind === KIND.few)
      return ["few", "", ""];
    if (cell.kind === KIND.steady)
      return ["c-steady", cell.failed ? "✕" : cell.outlier ? "!" : "", ""];
    const level = shade(cell), on = level === 3 ? " on-3" : "";
    if (cell.verdict === VERDICT.better)
      return [`c-better-${level}`, "▲", on];
    return cell.verdict === VERDICT.worse ? [`c-worse-${level}`, "▼", on] : [`c-other-${level}`, "◆", on];
  }

  function hatch() {
    return h("defs", {}, h("pattern", {id: "hatch", width: 5, height: 5, patternUnits: "userSpaceOnUse",
      patternTransform: "rotate(45)"}, h("line", {x1: 0, y1: 0, x2: 0, y2: 5, class: "hatched"})));
  }

  function square(x, y, size, [shape, glyph, on]) {
    return [h("rect", {x, y, width: size, height: size, rx: 2, class: shape}),
      glyph ? h("text", {x: x + size / 2, y: y + size / 2, dy: ".35em", class: `glyph${on}`, "aria-hidden": "true"}, glyph) : null];
  }

  function drawLegend() {
    const entries = [["c-steady", "", "", "steady"], ["c-worse-1", "▼", "", "worse"], ["c-worse-3", "▼", " on-3", "worse by 10 % or more"],
      ["c-better-1", "▲", "", "better"], ["c-better-3", "▲", " on-3", "better by 10 % or more"],
      ["c-other-2", "◆", "", "changed, neither good nor bad"], ["few", "", "", "too few nights"],
      ["c-steady", "!", "", "last night an outlier"], ["c-steady", "✕", "", "runs of the last night failed"]];
    document.getElementById("legend").append(...entries.map(([shape, glyph, on, text]) =>
      h("li", {}, h("svg", {viewBox: "0 0 18 18", class: "matrix", "aria-hidden": "true"}, square(1, 1, 16, [shape, glyph, on])), text)));
  }

  // --- the matrix ---

  function cutText(text, most) {
    return text.length > most ? `${text.slice(0, most - 1)}…` : text;
  }

  function layout(width) {
    const isNarrow = width < z.pixels(700);
    const labelWidth = isNarrow ? 0 : z.pixels(330);
    const columns = Math.max(1, Math.min(matrix.machines.length, Math.floor((width - labelWidth) / pitch)));
    const lines = Math.ceil(matrix.machines.length / columns);
    const headHeight = lines === 1 && !isNarrow ? z.pixels(74) : 0;
    return {isNarrow, labelWidth, columns, lines, headHeight, rowHeight: lines * pitch + (isNarrow ? z.pixels(22) : lines > 1 ? 8 : 0)};
  }

  function anchor(cell, x, y) {
    const row = matrix.rows[cell.row];
    const link = h("a", {svg: true, href: z.seriesAddress(cell.group, row.metric), tabindex: "-1", "aria-label": describe(cell)},
      square(x, y, pitch - 2, shapeOf(cell)));
    const show = () => { document.getElementById("readout").textContent = describe(cell); };
    link.addEventListener("focus", show);
    link.addEventListener("mouseenter", show);
    return link;
  }

  // Arrow keys go along a row and to the nearest square of another.
  function move(event, grid) {
    const steps = {ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0], Home: [0, -1e6], End: [0, 1e6]};
    const step = steps[event.key], from = anchors.findIndex((entry) => entry.link === document.activeElement);
    if (!step || from < 0)
      return;
    event.preventDefault();
    const {row, column} = anchors[from];
    let line = grid[row], next = null;
    if (step[0]) {
      for (let at = row + step[0]; at >= 0 && at < grid.length && !next; at += step[0])
        next = grid[at].reduce((best, entry) => !best || Math.abs(entry.column - column) < Math.abs(best.column - column)
          ? entry : best, null);
    } else {
      const at = line.findIndex((entry) => entry.column === column) + step[1];
      next = line[Math.max(0, Math.min(line.length - 1, at))];
    }
    if (!next)
      return;
    document.activeElement.setAttribute("tabindex", "-1");
    next.link.setAttribute("tabindex", "0");
    next.link.focus();
  }

  function drawMatrix() {
    const place = document.getElementById("matrix");
    const width = place.clientWidth || 900, form = layout(width);
    const svg = h("svg", {class: matrix.machines.length > FEW_MACHINES ? "matrix small" : "matrix", width, height: form.headHeight + matrix.rows.length * form.rowHeight + 4, role: "group",
      "aria-label": `Matrix of ${matrix.rows.length} figures on ${matrix.machines.length} machines`}, hatch());
    const grid = matrix.rows.map(() => []);
    matrix.rows.forEach((row, number) => {
      const y = form.headHeight + number * form.rowHeight + z.pixels(form.isNarrow ? 14 : 15);
      const text = cutText(`${z.words(row)} · ${row.metric.replace(/^.*\./, "")}`, form.isNarrow ? Math.floor(width / 7) : 48);
      svg.append(h("text", {x: 0, y}, text, h("title", {}, `${z.words(row)} · ${row.metric} (${row.unit})`)));
    });
    if (form.headHeight)
      svg.append(...matrix.machines.map(([name], i) => {
        const x = form.labelWidth + i * pitch + pitch / 2, y = form.headHeight - 6;
        return h("text", {class: "head", x, y, transform: `rotate(-50 ${x} ${y})`}, cutText(name, 11), h("title", {}, matrix.machines[i].filter(Boolean).join(", ")));
      }));
    for (const packed of matrix.cells) {
      const cell = unpack(packed);
      const x = form.labelWidth + cell.machine % form.columns * pitch;
      const y = form.headHeight + cell.row * form.rowHeight + Math.floor(cell.machine / form.columns) * pitch + (form.isNarrow ? z.pixels(20) : 0);
      const link = anchor(cell, x, y);
      grid[cell.row].push({link, row: cell.row, column: cell.machine, cell});
    }
    grid.forEach((line) => line.sort((a, b) => a.column - b.column));
    anchors = grid.flat();
    svg.append(...anchors.map((entry) => entry.link));
    if (anchors.length)
      anchors[0].link.setAttribute("tabindex", "0");
    svg.addEventListener("keydown", (event) => move(event, grid));
    place.replaceChildren(svg);
    filter();
  }

  function tableRow(cell) {
    const row = matrix.rows[cell.row], isRatio = !row.share;
    return h("tr", {},
      h("th", {scope: "row"}, h("a", {href: z.seriesAddress(cell.group, row.metric)}, z.words(row)), h("small", {}, row.metric)),
      h("td", {}, matrix.machines[cell.machine][0], h("small", {}, matrix.machines[cell.machine][1])),
      h("td", {class: cell.kind === KIND.changed ? verdictWord(cell) : null}, verdictWord(cell)),
      h("td", {class: "n"}, z.change(cell.change, isRatio)),
      h("td", {class: "n"}, z.interval(cell.low, cell.high, isRatio)),
      h("td", {class: "n"}, cell.seen === null ? "" : z.change(cell.seen, isRatio).slice(1)),
      h("td", {class: "n"}, z.number(cell.now)), h("td", {}, row.unit),
      h("td", {class: "n"}, String(cell.nights)), h("td", {}, z.day(cell.last)));
  }

  function fillTable() {
    const details = document.getElementById("matrix-table");
    const cells = matrix.cells.map(unpack);
    details.addEventListener("toggle", () => {
      if (details.open && !details.querySelector("table"))
        details.append(z.table("Primary figures", [["Figure"], ["Machine"], ["Verdict"], ["Change", true], ["Interval", true],
          ["Seen from", true], ["Value", true], ["Unit"], ["Nights", true], ["Last night"]], cells.map(tableRow), {tall: true}));
    });
  }

  // --- filter and downloads ---

  function filter() {
    const wanted = document.getElementById("find").value.trim().toLowerCase();
    const verdict = document.getElementById("verdict").value;
    for (const row of document.querySelectorAll("#changes-table tbody tr"))
      row.hidden = !row.textContent.toLowerCase().includes(wanted) || (verdict && row.dataset.verdict !== verdict);
    for (const {link, cell} of anchors) {
      const row = matrix.rows[cell.row];
      const text = `${z.words(row)} ${z.asked(row.asked)} ${row.metric} ${matrix.machines[cell.machine].join(" ")}`.toLowerCase();
      link.classList.toggle("dim", !text.includes(wanted) || Boolean(verdict && verdictWord(cell) !== verdict));
    }
    const state = new URLSearchParams();
    if (wanted)
      state.set("find", wanted);
    if (verdict)
      state.set("verdict", verdict);
    if (`#${state}` !== location.hash && (String(state) || /^#(find|verdict)=/.test(location.hash)))
      history.replaceState(null, "", `#${state}`);
  }

  function startFilter() {
    const state = new URLSearchParams(location.hash.slice(1));
    const form = document.getElementById("filter");
    document.getElementById("find").value = state.get("find") || "";
    document.getElementById("verdict").value = state.get("verdict") || "";
    form.hidden = false;
    form.addEventListener("input", filter);
    form.addEventListener("submit", (event) => event.preventDefault());
  }

  function records() {
    return matrix.cells.map(unpack).map((cell) => {
      const row = matrix.rows[cell.row];
      return {machine: matrix.machines[cell.machine][0], workload: row.workload, parameters: z.asked(row.asked), metric: row.metric,
        unit: row.unit, verdict: verdictWord(cell), change: cell.change, low: cell.low, high: cell.high, seen_from: cell.seen,
        is_ratio: !row.share, base: cell.base, value: cell.now, since: cell.since === null ? null : z.day(cell.since),
        state: cell.state === null ? null : ["asked", "confirmed", "withdrawn"][cell.state], nights: cell.nights,
        last_night: z.day(cell.last), failed: cell.failed, group: cell.group};
    });
  }

  function startDownloads() {
    document.getElementById("csv").addEventListener("click", () => {
      const rows = records();
      z.download("zonemark.csv", "text/csv", z.csv([Object.keys(rows[0]), ...rows.map(Object.values)]));
    });
    document.getElementById("json").addEventListener("click", () =>
      z.download("zonemark.json", "application/json", JSON.stringify({made: matrix.made, figures: records()}, null, 1)));
  }

  async function start() {
    matrix = await z.loadMatrix();
    if (matrix.machines.length > FEW_MACHINES)
      pitch = z.pixels(13);
    startFilter();
    drawLegend();
    drawMatrix();
    fillTable();
    startDownloads();
    let width = document.getElementById("matrix").clientWidth;
    addEventListener("resize", () => {
      const now = document.getElementById("matrix").clientWidth;
      if (now !== width)
        drawMatrix();
      width = now;
    });
  }
  start().catch(z.fail);
})();
