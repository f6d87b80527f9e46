// run: the curves of one run on one time axis, its figures, what was noted, and the command that repeats it.
"use strict";
(() => {
  const z = window.zonemark, {h} = z;

  function panel(run, item) {
    const place = h("div"), {x, columns} = z.align(item.curves);
    const lines = item.curves.map((curve, i) => ({name: curve.title || item.label, values: columns[i](curve.y)}));
    setTimeout(() => z.chart(place, {x, isTime: false, label: `${item.label} over the seconds of the run`, lines, phases: run.phases,
      say: (at) => `${x[at].toFixed(2)} s: ` + lines.map((line) => `${lines.length > 1 ? `${line.name} ` : ""}${z.number(line.values[at])}`).join(", ") + ` · ${item.label}`}));
    return [h("h3", {}, item.label), place];
  }

  function figures(run) {
    return z.table("Figures of this run", [["Figure"], ["Value", true], ["Unit"]], run.figures.map(([name, value, unit, isPrimary]) =>
      h("tr", {}, h("th", {scope: "row"}, name, isPrimary ? h("small", {}, "verdicts are given on it") : null),
        h("td", {class: "n", "data-value": value === null ? "" : String(value)}, z.number(value)), h("td", {}, unit))), {id: "figures-table"});
  }

  function list(title, rows) {
    return rows.length ? [h("h2", {}, title), h("ul", {}, rows.map(([kind, text]) => h("li", {}, h("b", {}, `${kind}: `), text)))] : [];
  }

  function downloads(run) {
    const rows = run.panels.flatMap((item) => item.curves.flatMap((curve) => curve.x.map((x, i) => [item.label, curve.title || "", x, curve.y[i]])));
    return h("div", {class: "bar"},
      h("button", {type: "button", onclick: () => z.download(`${run.id}.csv`, "text/csv", z.csv([["panel", "curve", "seconds", "value"], ...rows]))}, "Download the curves as CSV"),
      h("button", {type: "button", onclick: () => z.download(`${run.id}.json`, "application/json", JSON.stringify(run, null, 1))}, "Download JSON"));
  }

  async function start() {
    const run = await z.loadRun(z.parameters.get("r") || "");
    document.title = `${run.workload}, ${z.moment(run.began)} · zonemark`;
    document.getElementById("main").replaceChildren(
      h("p", {class: "when"}, `${run.machine} · kernel ${run.kernel} · ${z.moment(run.began)} UTC`),
      h("h1", {}, `${run.workload}, one run`),
      h("p", {class: "lead"}, `${run.tasks} tasks (${run.kind}), launch ${run.repeat + 1}`, run.label ? `, label ${run.label}` : "", ". Parameters: ", h("span", {class: "mono"}, z.asked(run.parameters))),
      h("h2", {}, "Curves"), run.panels.length ? h("p", {class: "quiet"}, "Phases are shaded and named.") : h("p", {}, "None were recorded."),
      ...run.panels.flatMap((item) => panel(run, item)),
      h("h2", {}, "Figures"), figures(run), ...list("To know", run.notes), ...list("What could not be had", run.absent),
      h("h2", {}, "Again"), h("pre", {tabindex: "0"}, h("code", {}, run.command)),
      h("p", {class: "quiet"}, "All that was recorded of it:"), h("pre", {tabindex: "0"}, h("code", {}, `zonemark show ${run.id}`)), downloads(run));
  }
  start().catch(z.fail);
})();
