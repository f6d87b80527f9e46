// series: one figure on one machine: every night, its spread, its changes.
"use strict";
(() => {
  const z = window.zonemark, {h} = z;
  let group, line, metric, number;

  function verdictOf(change) {
    return h("span", {class: change.verdict}, change.verdict);
  }

  function nightText(i) {
    const [began, , ok, failed] = group.nights[i];
    const value = line.v[i];
    const spread = line.lo && line.n[i] > 1 ? `, from ${z.number(line.lo[i])} to ${z.number(line.hi[i])} in ${line.n[i]} runs` : "";
    return `Night of ${z.day(began)}: ` + (value === null ? `no value (${ok} good runs, ${failed} failed)` : `${z.number(value)} ${metric.unit}${spread}`) +
      `, kernel ${z.kernel(group, i)}` + (line.outliers.includes(i) ? "; an outlier" : "") +
      (line.changes.some((change) => change.first === i) ? "; a change begins here" : "");
  }

  function headline() {
    const last = line.changes.filter((change) => change.state !== "withdrawn").at(-1);
    if (line.few)
      return "Too few nights to say anything: six are needed.";
    if (!last)
      return "No change in all of these nights.";
    return `Last change: ${last.verdict} by ${z.change(last.change, last.ratio)} since the night of ${z.day(group.nights[last.first][0])}` +
      (last.state === "confirmed" ? ", confirmed." : ", not yet confirmed.");
  }

  // --- parts of the page ---

  function chooser() {
    const select = h("select", {id: "metric"});
    for (const [label, isPrimary] of [["Figures that verdicts are given on", true], ["What else was measured", false]]) {
      const options = group.metrics.map((item, i) => [item, i]).filter(([item]) => item.primary === isPrimary)
        .map(([item, i]) => h("option", {value: String(i), selected: i === number}, `${item.name} (${item.unit})`));
      if (options.length)
        select.append(h("optgroup", {label}, options));
    }
    select.addEventListener("change", () => { location.href = z.seriesAddress(group.id, group.metrics[select.value].name); });
    return h("label", {}, "Figure ", select);
  }

  function changesTable() {
    if (!line.changes.length)
      return h("p", {class: "quiet"}, line.few ? "Six nights or more are needed to see one." : "None.");
    return z.table("Changes, the newest first", [["Since"], ["Verdict"], ["Before", true], ["After", true], ["Change", true],
      ["Interval", true], ["How sure"], ["Kernel"]],
      [...line.changes].reverse().map((change) => h("tr", {},
        h("th", {scope: "row"}, z.day(group.nights[change.first][0])), h("td", {}, verdictOf(change)),
        h("td", {class: "n"}, z.number(change.base)), h("td", {class: "n"}, z.number(change.new)),
        h("td", {class: "n"}, z.change(change.change, change.ratio)),
        h("td", {class: "n"}, z.interval(change.low, change.high, change.ratio)),
        h("td", {}, { asked: "seen, not yet confirmed", confirmed: "confirmed", withdrawn: "withdrawn: a run of its own did not find it" }[change.state],
          h("small", {}, `${change.nr[0]} + ${change.nr[1]} nights, seen after that of ${z.day(group.nights[change.seen][0])}`)),
        h("td", {}, z.kernel(group, change.first)))), {id: "changes-table"});
  }

  function runLinks(i) {
    const curves = new Set(group.curves);
    return group.runs[i].flatMap((run, k) => [k ? " " : null, curves.has(run)
      ? h("a", {href: `run.html?r=${run}`, class: "mono"}, run.slice(0, 8)) : h("span", {class: "mono"}, run.slice(0, 8))]);
  }

  function nightRow(i) {
    const [began, , ok, failed] = group.nights[i];
    const marks = [line.changes.some((change) => change.first === i) ? "change" : null, line.outliers.includes(i) ? "outlier" : null];
    return h("tr", {id: `n${i}`, class: marks[0] ? "marked" : null},
      h("th", {scope: "row"}, z.day(began), h("small", {}, `${z.moment(began)} UTC`)),
      h("td", {class: "n", "data-value": line.v[i] === null ? "" : String(line.v[i])}, z.number(line.v[i])),
      line.lo ? h("td", {class: "n"}, line.n[i] > 1 ? `${z.number(line.lo[i])} … ${z.number(line.hi[i])}` : "") : null,
      h("td", {class: "n"}, failed ? `${ok}, ${failed} failed` : String(ok)), h("td", {}, z.kernel(group, i)),
      h("td", {}, marks.filter(Boolean).join(", ")), h("td", {}, runLinks(i)),
      h("td", {}, i ? h("a", {href: `compare.html?a=${group.id}.${i - 1}&b=${group.id}.${i}`, "aria-label": `Compare the night of ${z.day(began)} with the one before`}, "compare") : null));
  }

  function nightsTable() {
    const columns = [["Night"], [`Value (${metric.unit})`, true], line.lo ? ["Smallest … largest run", true] : null, ["Runs", true],
      ["Kernel"], ["Marked"], ["Run"], ["Before it"]];
    return z.table("Every night, the newest first; a run that is a link has its curves here", columns.filter(Boolean),
      group.nights.map((_, i) => nightRow(i)).reverse(), {tall: true, id: "nights-table"});
  }

  function records() {
    return group.nights.map((night, i) => ({night: z.day(night[0]), began: new Date(night[0] * 1000).toISOString(), value: line.v[i],
      low: line.lo ? line.lo[i] : line.v[i], high: line.hi ? line.hi[i] : line.v[i], unit: metric.unit, runs: night[2], failed: night[3],
      kernel: z.kernel(group, i), change: line.changes.some((change) => change.first === i), outlier: line.outliers.includes(i),
      run: group.runs[i].join(" ")}));
  }

  function downloads() {
    const name = `${group.workload}-${metric.name}`.replace(/[^A-Za-z0-9._-]+/g, "_");
    return h("div", {class: "bar"},
      h("button", {type: "button", onclick: () => { const rows = records(); z.download(`${name}.csv`, "text/csv", z.csv([Object.keys(rows[0]), ...rows.map(Object.values)])); }}, "Download CSV"),
      h("button", {type: "button", onclick: () => z.download(`${name}.json`, "application/json", JSON.stringify({machine: group.machine,
        workload: group.workload, parameters: group.asked, metric, changes: line.changes, nights: records()}, null, 1))}, "Download JSON"));
  }

  function pick(i) {
    const row = document.getElementById(`n${i}`);
    row.scrollIntoView({block: "center"});
    row.querySelector("a")?.focus();
  }

  function show() {
    const place = h("div"), title = `${metric.name}: ${z.words(group)}`;
    document.title = `${title} · zonemark`;
    document.getElementById("main").replaceChildren(
      h("p", {class: "when"}, `${group.machine} · ${group.workload} ${z.asked(group.asked)}`),
      h("h1", {}, metric.name, " ", h("small", {class: "quiet"}, `of ${z.words(group)}, in ${metric.unit}`)),
      h("p", {class: "lead", id: "headline"}, headline()),
      h("div", {class: "bar"}, chooser()), place,
      h("p", {class: "quiet"}, "Dashed lines: a change begins. Open circles: outliers.", line.lo ? " Shaded: from the smallest run of a night to the largest." : "",
        { more: " More is better.", less: " Less is better.", neither: "" }[metric.better]),
      h("h2", {}, "Changes"), changesTable(), h("h2", {}, "Nights"), nightsTable(), downloads());
    z.chart(place, {x: group.nights.map(z.nightX), isTime: true, unit: metric.unit, outliers: line.outliers, pick,
      label: `${title}, ${group.nights.length} nights. ${headline()}`, say: nightText,
      lines: [{name: metric.name, values: line.v, low: line.lo, high: line.hi}],
      marks: line.changes.map((change) => z.nightX(group.nights[change.first]))});
  }

  async function start() {
    group = await z.loadGroup(z.parameters.get("g") || "");
    number = group.metrics.findIndex((item) => item.name === z.parameters.get("m"));
    if (number < 0)
      number = Math.max(0, group.metrics.findIndex((item) => item.primary));
    metric = group.metrics[number];
    if (!metric)
      throw new Error("no run of this has a figure");
    line = await z.loadLine(group, number);
    show();
  }
  start().catch(z.fail);
})();
