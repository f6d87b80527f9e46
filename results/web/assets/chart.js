// chart: curves over nights or seconds. uPlot draws where it is in the site; else an SVG of our own does. Either way
// the chart takes the keyboard: left and right move along the points, Home and End to the ends, Enter picks one.
//
//   zonemark.chart(place, {x, isTime, label, unit, lines: [{name, values, low, high}], marks: [x…], outliers: [index…],
//                          phases: [{name, from, to}], say(index) -> text, pick(index)})
"use strict";
(() => {
  const z = window.zonemark, {h} = z;
  const HEIGHT = z.pixels(300);

  function colour(name) {
    return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  }

  // --- scales ---

  function reach(spec) {
    let low = Infinity, high = -Infinity;
    for (const line of spec.lines) {
      for (const values of [line.values, line.low || [], line.high || []]) {
        for (const value of values) {
          if (value === null || value === undefined)
            continue;
          low = Math.min(low, value);
          high = Math.max(high, value);
        }
      }
    }
    if (low > high)
      return [0, 1];
    const room = Math.max((high - low) * 0.08, Math.abs(high) * 0.005) || 1;
    return [low >= 0 && low - room < 0 ? 0 : low - room, high + room];
  }

  function ticks(low, high, most) {
    const raw = (high - low) / most, power = 10 ** Math.floor(Math.log10(raw));
    const step = [1, 2, 5, 10].map((factor) => factor * power).find((size) => size >= raw);
    const found = [];
    for (let at = Math.ceil(low / step) * step; at <= high + step / 1e6; at += step)
      found.push(Math.abs(at) < step / 1e6 ? 0 : at);
    return found;
  }

  function timeTicks(low, high, most) {
    const day = 86400, steps = [1, 2, 7, 14, 30, 61, 91, 182, 365].map((days) => days * day);
    const step = steps.find((size) => (high - low) / size <= most) || steps.at(-1) * Math.ceil((high - low) / steps.at(-1) / most);
    const found = [];
    for (let at = Math.ceil(low / step) * step; at <= high; at += step)
      found.push(at);
    return found;
  }

  // As many digits as tell neighbours apart.
  function tickTexts(values) {
    for (const digits of [3, 4, 5, 6, 8]) {
      const format = new Intl.NumberFormat("en-US", {notation: "compact", maximumSignificantDigits: digits});
      const texts = values.map((value) => value !== 0 && Math.abs(value) < 1e-3 ? value.toExponential(digits - 2) : format.format(value));
      if (new Set(texts).size === values.length || digits === 8)
        return texts;
    }
    return [];
  }

  const months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

  function dayText(x, length) {
    const [year, month, day] = z.dayOfX(x).split("-");
    return length > 400 * 86400 ? `${months[month - 1]} ${year}` : `${Number(day)} ${months[month - 1]}`;
  }

  // --- an SVG of our own ---

  function drawSvg(place, spec) {
    const width = Math.max(280, place.clientWidth - 14), left = z.pixels(62), right = 10, top = 10, bottom = z.pixels(26);
    const [y0, y1] = reach(spec), x0 = spec.x[0], x1 = spec.x.at(-1);
    const sx = (x) => x1 === x0 ? (left + width - right) / 2 : left + (x - x0) / (x1 - x0) * (width - left - right);
    const sy = (y) => HEIGHT - bottom - (y - y0) / (y1 - y0) * (HEIGHT - top - bottom);
    const svg = h("svg", {viewBox: `0 0 ${width} ${HEIGHT}`, height: HEIGHT, "aria-hidden": "true"});

    for (const [number, phase] of (spec.phases || []).entries()) {
      const from = sx(Math.max(x0, phase.from)), to = sx(Math.min(x1, phase.to));
      if (to <= from)
        continue;
      svg.append(h("rect", {class: number % 2 ? "phase pale" : "phase", x: from, y: top, width: to - from, height: HEIGHT - top - bottom}));
      if (to - from > phase.name.length * 7)
        svg.append(h("text", {x: from + 4, y: top + 12}, phase.name));
    }
    const ys = ticks(y0, y1, 6), yTexts = tickTexts(ys);
    ys.forEach((y, i) => svg.append(h("line", {class: "gridline", x1: left, x2: width - right, y1: sy(y), y2: sy(y)}),
      h("text", {x: left - 8, y: sy(y) + 4, "text-anchor": "end"}, yTexts[i])));
    const xs = spec.isTime ? timeTicks(x0, x1, width / 110) : ticks(x0, x1 > x0 ? x1 : x0 + 1, width / 90);
    const xTexts = spec.isTime ? xs.map((x) => dayText(x, x1 - x0)) : tickTexts(xs);
    xs.forEach((x, i) => svg.append(h("text", {x: sx(x), y: HEIGHT - 7, "text-anchor": "middle"}, xTexts[i])));
    for (const x of spec.marks || [])
      svg.append(h("line", {class: "mark", x1: sx(x), x2: sx(x), y1: top, y2: HEIGHT - bottom}));
    spec.lines.forEach((line, number) => drawLine(svg, spec, line, number, sx, sy));
    const cursor = h("line", {class: "at", y1: top, y2: HEIGHT - bottom, x1: -9, x2: -9});
    svg.append(cursor);
    place.replaceChildren(svg);
    svg.addEventListener("mousemove", (event) => {
      const box = svg.getBoundingClientRect(), at = (event.clientX - box.left) / box.width * width;
      let best = 0;
      spec.x.forEach((x, i) => { best = Math.abs(sx(x) - at) < Math.abs(sx(spec.x[best]) - at) ? i : best; });
      spec.move(best);
    });
    return (index) => {
      cursor.setAttribute("x1", sx(spec.x[index]));
      cursor.setAttribute("x2", sx(spec.x[index]));
    };
  }

  function drawLine(svg, spec, line, number, sx, sy) {
    let path = "", spread = "", back = "";
    const isFew = spec.x.length <= 120, second = number ? `-${2}` : "";
    line.values.forEach((value, i) => {
      if (value === null || value === undefined)
        return;
      path += `${path ? "L" : "M"}${sx(spec.x[i]).toFixed(1)} ${sy(value).toFixed(1)}`;
      if (line.low) {
        spread += `${spread ? "L" : "M"}${sx(spec.x[i]).toFixed(1)} ${sy(line.high[i]).toFixed(1)}`;
        back = `L${sx(spec.x[i]).toFixed(1)} ${sy(line.low[i]).toFixed(1)}${back}`;
      }
    });
    if (spread)
      svg.append(h("path", {class: "spread", d: `${spread}${back}Z`}));
    svg.append(h("path", {class: number ? "line line-2" : "line", d: path}));
    line.values.forEach((value, i) => {
      const isOutlier = !number && spec.outliers && spec.outliers.includes(i);
      if (value !== null && value !== undefined && (isOutlier || (isFew && spec.isTime)))
        svg.append(h("circle", {class: isOutlier ? "out" : `dot${second}`, cx: sx(spec.x[i]), cy: sy(value), r: isOutlier ? 4.5 : 2.4}));
    });
  }

  // --- uPlot ---

  function plotSeries(spec) {
    const data = [spec.x], series = [{}], bands = [];
    spec.lines.forEach((line, number) => {
      const stroke = colour(number ? "--series-2" : "--series");
      data.push(line.values);
      series.push({label: line.name, stroke, width: 1.6, dash: number ? [5, 3] : undefined, spanGaps: true,
        points: {show: spec.isTime && spec.x.length <= 120, size: 5, fill: stroke}});
      if (line.low) {
        data.push(line.high, line.low);
        series.push({stroke: "transparent", points: {show: false}, spanGaps: true}, {stroke: "transparent", points: {show: false}, spanGaps: true});
        bands.push({series: [data.length - 2, data.length - 1], fill: number ? "transparent" : colour("--spread")});
      }
    });
    return {data, series, bands};
  }

  function drawOver(plot, spec) {
    const {ctx, bbox} = plot, ratio = devicePixelRatio || 1;
    ctx.save();
    ctx.lineWidth = 1.5 * ratio;
    ctx.strokeStyle = colour("--other");
    ctx.setLineDash([4 * ratio, 3 * ratio]);
    for (const x of spec.marks || []) {
      const at = plot.valToPos(x, "x", true);
      ctx.beginPath();
      ctx.moveTo(at, bbox.top);
      ctx.lineTo(at, bbox.top + bbox.height);
      ctx.stroke();
    }
    ctx.setLineDash([]);
    ctx.lineWidth = 2 * ratio;
    ctx.strokeStyle = colour("--note");
    ctx.fillStyle = colour("--panel");
    for (const index of spec.outliers || []) {
      ctx.beginPath();
      ctx.arc(plot.valToPos(spec.x[index], "x", true), plot.valToPos(spec.lines[0].values[index], "y", true), 4.5 * ratio, 0, 7);
      ctx.fill();
      ctx.stroke();
    }
    ctx.restore();
  }

  function drawUnder(plot, spec) {
    const {ctx, bbox} = plot, ratio = devicePixelRatio || 1;
    ctx.save();
    ctx.font = `${z.pixels(11) * ratio}px system-ui, sans-serif`;
    ctx.textBaseline = "top";
    for (const [number, phase] of (spec.phases || []).entries()) {
      const from = Math.max(bbox.left, plot.valToPos(phase.from, "x", true));
      const to = Math.min(bbox.left + bbox.width, plot.valToPos(phase.to, "x", true));
      if (to <= from)
        continue;
      ctx.fillStyle = colour("--grid");
      ctx.globalAlpha = number % 2 ? 0.2 : 0.6;
      ctx.fillRect(from, bbox.top, to - from, bbox.height);
      ctx.globalAlpha = 1;
      ctx.fillStyle = colour("--quiet");
      if (to - from > ctx.measureText(phase.name).width + 8 * ratio)
        ctx.fillText(phase.name, from + 4 * ratio, bbox.top + 3 * ratio);
    }
    ctx.restore();
  }

  function drawPlot(place, spec) {
    const {data, series, bands} = plotSeries(spec);
    const axis = {font: `${z.pixels(12)}px system-ui, sans-serif`, size: z.pixels(50), stroke: colour("--quiet"), grid: {stroke: colour("--grid"), width: 1}, ticks: {stroke: colour("--grid"), width: 1}};
    place.replaceChildren();
    const plot = new window.uPlot({
      width: Math.max(280, place.clientWidth - 14), height: HEIGHT, series, bands, legend: {show: false},
      tzDate: (seconds) => window.uPlot.tzDate(new Date(seconds * 1e3), "UTC"),
      scales: {x: {time: Boolean(spec.isTime)}, y: {range: () => reach(spec)}},
      axes: [spec.isTime ? {...axis, space: z.pixels(70), values: (_, splits) => splits.map((x) => dayText(x, spec.x.at(-1) - spec.x[0]))} : axis, {...axis, size: z.pixels(66), space: z.pixels(40), values: (_, splits) => tickTexts(splits)}],
      cursor: {drag: {x: false, y: false}, points: {show: true}},
      hooks: {drawClear: [(self) => drawUnder(self, spec)], draw: [(self) => drawOver(self, spec)],
        setCursor: [(self) => { if (self.cursor.idx !== null && self.cursor.idx !== undefined) spec.move(self.cursor.idx, true); }]},
    }, data, place);
    plot.root.setAttribute("aria-hidden", "true");
    return (index) => plot.setCursor({left: plot.valToPos(spec.x[index], "x"), top: plot.over.clientHeight / 2});
  }

  // --- one for both ---

  z.chart = (place, given) => {
    const readout = h("p", {class: "readout", role: "status"});
    const frame = h("div", {class: "chart", tabindex: "0", role: "group", "aria-roledescription": "chart",
      "aria-label": `${given.label}. Left and right arrow keys read the points.`});
    const spec = {...given};
    let at = -1, showCursor = null, isMoving = false;

    spec.move = (index) => {
      if (isMoving || index === at)
        return;
      at = index;
      readout.textContent = spec.say(index);
      if (!window.uPlot)
        showCursor(index);
    };
    const draw = () => { showCursor = (window.uPlot ? drawPlot : drawSvg)(frame, spec); };
    const go = (index) => {
      spec.move(Math.max(0, Math.min(spec.x.length - 1, index)));
      isMoving = true;
      showCursor(at);
      isMoving = false;
    };
    frame.addEventListener("keydown", (event) => {
      const to = {ArrowLeft: at < 0 ? spec.x.length - 1 : at - 1, ArrowRight: at + 1, Home: 0, End: spec.x.length - 1}[event.key];
      if (to !== undefined) {
        event.preventDefault();
        go(to);
      } else if (event.key === "Enter" && at >= 0 && spec.pick) {
        spec.pick(at);
      }
    });
    frame.addEventListener("click", () => { if (at >= 0 && spec.pick) spec.pick(at); });
    place.replaceChildren(frame, readout);
    if (!spec.x.length) {
      frame.replaceChildren(h("p", {}, "No value yet."));
      return;
    }
    draw();
    addEventListener("zonemark-theme", draw);
    let width = frame.clientWidth;
    new ResizeObserver(() => {
      if (Math.abs(frame.clientWidth - width) > 1) {
        width = frame.clientWidth;
        draw();
      }
    }).observe(frame);
  };

  // Curves that were read at different moments, on one axis: what a curve has not is undefined there.
  z.align = (curves) => {
    const x = [...new Set(curves.flatMap((curve) => curve.x))].sort((a, b) => a - b);
    const place = new Map(x.map((value, i) => [value, i]));
    return {x, columns: curves.map((curve) => (values) => {
      const column = new Array(x.length).fill(null);
      curve.x.forEach((value, i) => { column[place.get(value)] = values[i]; });
      return column;
    })};
  };
})();
