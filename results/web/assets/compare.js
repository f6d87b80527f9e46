// compare: any two nights, figure by figure. How far two nights of one figure usually are from each other stands
// beside how far these two are.
"use strict";
(() => {
  const z = window.zonemark, {h} = z;
  const sides = {a: null, b: null};

  function parse(text) {
    const match = /^([0-9a-f]{16})\.(\d+)$/.exec(text || "");
    return match ? {id: match[1], night: Number(match[2])} : null;
  }

  function address(a, b) {
    return `compare.html?a=${a.group.id}.${a.night}&b=${b.group.id}.${b.night}`;
  }

  // --- choosing ---

  async function load(side) {
    side.group = await z.loadGroup(side.id);
    side.night = Math.min(side.night, side.group.nights.length - 1);
  }

  async function usual() {
    const matrix = await z.loadMatrix();
    const cell = matrix.cells.find((packed) => packed[3] === 2) || matrix.cells[0];
    if (!cell)
      throw new Error("no figure to compare");
    const group = await z.loadGroup(cell[2]), last = group.nights.length - 1;
    const since = group.nights.findIndex((night) => night[0] === cell[14]);
    return [{id: group.id, night: Math.max(0, (since > 0 ? since : last) - 1)}, {id: group.id, night: last}];
  }

  async function chooser(key, title) {
    const side = sides[key], matrix = await z.loadMatrix(), seen = new Map();
    for (const packed of matrix.cells) {
      const row = matrix.rows[packed[0]];
      seen.set(packed[2], `${z.words(row)} · ${matrix.machines[packed[1]][0]}`);
    }
    const groups = h("select", {id: `group-${key}`}, [...seen].sort((x, y) => x[1].localeCompare(y[1], "en", {numeric: true}))
      .map(([id, text]) => h("option", {value: id, selected: id === side.group.id}, text)));
    const nights = h("select", {id: `night-${key}`}, side.group.nights.map((night, i) =>
      h("option", {value: String(i), selected: i === side.night}, `${z.day(night[0])} · ${z.kernel(side.group, i)}`)).reverse());
    groups.addEventListener("change", async () => {
      Object.assign(side, {id: groups.value, night: Infinity});
      await load(side);
      location.href = address(sides.a, sides.b);
    });
    nights.addEventListener("change", () => {
      side.night = Number(nights.value);
      location.href = address(sides.a, sides.b);
    });
    return h("fieldset", {class: "bar"}, h("legend", {}, title), h("label", {}, "Workload and machine ", groups), h("label", {}, "Night ", nights));
  }

  // --- figures ---

  // Of the differences between nights that follow each other: their usual size, as a share or in points.
  function usualStep(line, isShare) {
    const values = line.v.filter((value) => value !== null), steps = [];
    for (let i = 1; i < values.length; i++)
      steps.push(Math.abs(isShare ? values[i] - values[i - 1] : values[i - 1] ? values[i] / values[i - 1] - 1 : 0));
    return steps.length >= 5 ? z.median(steps) : null;
  }

  async function figures() {
    const rows = [];
    for (let i = 0; i < sides.a.group.metrics.length; i++) {
      const metric = sides.a.group.metrics[i];
      const k = sides.b.group.metrics.findIndex((item) => item.name === metric.name && item.unit === metric.unit);
      if (k < 0)
        continue;
      const line = await z.loadLine(sides.a.group, i), other = await z.loadLine(sides.b.group, k);
      const a = line.v[sides.a.night], b = other.v[sides.b.night];
      if (a === null && b === null)
        continue;
      const change = a === null || b === null ? null : metric.share ? b - a : a ? b / a - 1 : null;
      rows.push({metric, a, b, change, usual: usualStep(line, metric.share)});
    }
    return rows.sort((x, y) => Number(y.metric.primary) - Number(x.metric.primary) || x.metric.name.localeCompare(y.metric.name));
  }

  function beyond(row) {
    if (row.change === null || row.usual === null || Math.abs(row.change) <= 3 * row.usual)
      return "";
    const isGood = row.metric.better === "neither" ? null : (row.change > 0) === (row.metric.better === "more");
    return isGood === null ? "more than usual" : isGood ? "better" : "worse";
  }

  function rowOf(row) {
    const word = beyond(row), isRatio = !row.metric.share;
    return h("tr", {},
      h("th", {scope: "row"}, h("a", {href: z.seriesAddress(sides.b.group.id, row.metric.name)}, row.metric.name),
        row.metric.primary ? h("small", {}, "verdicts are given on it") : null),
      h("td", {class: "n", "data-value": row.a === null ? "" : String(row.a)}, z.number(row.a)),
      h("td", {class: "n", "data-value": row.b === null ? "" : String(row.b)}, z.number(row.b)),
      h("td", {}, row.metric.unit), h("td", {class: "n"}, z.change(row.change, isRatio)),
      h("td", {class: "n"}, row.usual === null ? "–" : z.change(row.usual, isRatio).slice(1)),
      h("td", {class: word === "more than usual" ? "changed" : word}, word));
  }

  function nameOf(side) {
    const night = side.group.nights[side.night];
    return `${z.day(night[0])}, kernel ${z.kernel(side.group, side.night)}, ${z.words(side.group)} on ${side.group.machine}`;
  }

  function command() {
    const runs = [sides.a, sides.b].map((side) => side.group.runs[side.night][0]);
    return runs[0] && runs[1] ? h("pre", {tabindex: "0"}, h("code", {}, `zonemark compare ${runs[0]} ${runs[1]}`)) : null;
  }

  function curves(rows) {
    const row = rows.find((item) => item.metric.primary) || rows[0], place = h("div");
    if (!row)
      return place;
    const sets = sides.a.group.id === sides.b.group.id ? [sides.a] : [sides.a, sides.b];
    Promise.all(sets.map((side) => z.loadLine(side.group, side.group.metrics.findIndex((item) => item.name === row.metric.name)))).then((lines) => {
      const axes = sets.map((side) => ({x: side.group.nights.map(z.nightX)}));
      const {x, columns} = z.align(axes);
      z.chart(place, {x, isTime: true, unit: row.metric.unit, label: `${row.metric.name} over all nights, the two marked`,
        lines: lines.map((line, i) => ({name: sets[i].group.machine, values: columns[i](line.v)})),
        marks: [sides.a, sides.b].map((side) => z.nightX(side.group.nights[side.night])),
        say: (at) => `Night of ${z.dayOfX(x[at])}: ` + lines.map((line, i) => `${sets.length > 1 ? `${sets[i].group.machine} ` : ""}${z.number(columns[i](line.v)[at])} ${row.metric.unit}`).join(", ")});
    });
    return place;
  }

  async function show() {
    const rows = await figures();
    const table = z.table("Figures", [["Figure"], ["A", true], ["B", true], ["Unit"], ["B against A", true], ["Usual from night to night", true], ["Beyond it"]],
      rows.map(rowOf), {id: "compare-table"});
    document.title = "Two nights side by side · zonemark";
    document.getElementById("main").replaceChildren(
      h("h1", {}, "Two nights side by side"),
      h("p", {class: "lead"}, h("b", {}, "A "), nameOf(sides.a), h("br"), h("b", {}, "B "), nameOf(sides.b)),
      await chooser("a", "A"), await chooser("b", "B"),
      curves(rows), table,
      h("p", {class: "quiet"}, "Two single nights can mislead. The last column names a difference only where it is more than three times what " +
        "two nights in a row usually differ by. For a verdict with its interval, ask for:"), command(),
      h("div", {class: "bar"}, h("button", {type: "button", onclick: () => z.download("zonemark-compare.csv", "text/csv",
        z.csv([["metric", "unit", "a", "b", "change", "is_ratio", "usual"], ...rows.map((row) => [row.metric.name, row.metric.unit, row.a, row.b, row.change, String(!row.metric.share), row.usual])]))}, "Download CSV"),
        h("button", {type: "button", onclick: () => z.download("zonemark-compare.json", "application/json", JSON.stringify({a: nameOf(sides.a), b: nameOf(sides.b), figures: rows}, null, 1))}, "Download JSON")));
  }

  async function start() {
    const asked = [parse(z.parameters.get("a")), parse(z.parameters.get("b"))];
    const [a, b] = asked[0] && asked[1] ? asked : await usual();
    Object.assign(sides, {a, b});
    await load(a);
    await load(b);
    await show();
  }
  start().catch(z.fail);
})();
