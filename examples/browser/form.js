/* A form for a model: a slider or a list for each column, beside the prediction over the values of this column while the
 * others stay as they are, and how far each column moves the prediction from that of a typical row.
 *
 *     <div data-greedystep="my.wasm"></div> <script type="module" src="form.js"></script>
 *
 * The module is made with a table (scripts/wasm MODEL my.wasm TABLE.csv), which has the ranges. Numbers and categories only.
 * Attributes, none of which is needed: data-class, the label whose probability is shown (the last one); data-says, words
 * before the prediction; data-start, a row as JSON to begin with (the typical one: medians and most frequent categories). */

import { load } from "./greedystep.js";

const [WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM] = [300, 120, 34, 8, 14, 18];
const POINTS = 120;

function html(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

function svg(tag, attributes = {}, ...children) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

/* The predicted number that is shown, and where columns add up: the log of the odds, of a count, or the number itself. */
function shownBy(model, label) {
  const k = Math.max(0, label === undefined ? model.labels.length - 1 : model.labels.indexOf(label));
  const isShare = model.labels.length > 0 && model.outputs === model.labels.length && !model.loss.endsWith("hinge");
  return {
    of: (row) => model.predict(row).out[model.outputs > 1 ? k : 0],
    sum: (y) => (isShare ? Math.log(y / (1 - y)) : model.loss === "poisson" ? Math.log(y) : y),
    text: (y, digits = 1) => (isShare ? `${(100 * y).toFixed(digits)} %` : String(Number(y.toPrecision(digits + 2)))),
    unit: isShare ? "log-odds" : model.loss === "poisson" ? "log of the count" : "added",
    isShare,
  };
}

class Form {
  constructor(place, model) {
    this.model = model;
    this.shown = shownBy(model, place.dataset.class);
    this.typical = {};
    for (const column of model.columns)
      this.typical[column.name] = column.choices ? column.choices[0] : column.range ? column.range[1] : null;
    this.row = { ...this.typical, ...JSON.parse(place.dataset.start ?? "{}") };
    const says = place.dataset.says ?? `${place.dataset.class ?? model.labels.at(-1) ?? "prediction"}:`;
    this.result = html("strong");
    this.before = html("span");
    this.bars = html("div", { class: "gs-bars" });
    this.panels = model.columns.filter((column) => column.range || column.choices).map((column) => this.panel(column));
    const again = html("button", { type: "button" }, "typical row");
    again.addEventListener("click", () => this.set({ ...this.typical }));
    place.replaceChildren(
      html("p", { class: "gs-result", "aria-live": "polite" }, `${says} `, this.result, this.before, again),
      html("div", { class: "gs-panels" }, ...this.panels.map((panel) => panel.element)),
      html("p", { class: "gs-title" }, `From the typical row to this one, by column (${this.shown.unit})`),
      this.bars,
    );
    this.set(this.row);
  }

  panel(column) {
    const id = `gs-${Math.random().toString(36).slice(2)}`;
    const value = html("output", { for: id });
    let control;
    if (column.choices) {
      control = html("select", { id }, ...column.choices.map((choice) => html("option", { value: choice }, choice)));
    } else {
      const [low, , high] = column.range;
      control = html("input", { id, type: "range", min: low, max: high, step: column.whole ? 1 : (high - low) / 200 || 1 });
    }
    control.addEventListener("input", () =>
      this.set({ ...this.row, [column.name]: column.choices ? control.value : Number(control.value) }),
    );
    const picture = svg("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img" });
    const element = html("div", { class: "gs-panel" }, html("label", { for: id }, column.name, value), control, picture);
    return { column, control, value, picture, element };
  }

  set(row) {
    this.row = row;
    const { shown } = this;
    const now = shown.of(row);
    const start = shown.of(this.typical);
    const lines = this.panels.map(({ column }) =>
      this.values(column).map((value) => [value, shown.of({ ...row, [column.name]: value })]),
    );
    const all = lines.flat().map(([, y]) => y);
    const low = shown.isShare ? 0 : Math.min(...all);
    const high = Math.max(...all);
    const scale = [low, high > low ? high + (high - low) / 20 : low + 1];
    this.panels.forEach((panel, i) => this.draw(panel, lines[i], now, scale));
    this.result.textContent = shown.text(now);
    this.before.textContent = `(typical: ${shown.text(start)})`;
    this.drawBars(now, start);
  }

  values(column) {
    if (column.choices) return column.choices;
    const [low, , high] = column.range;
    const n = column.whole ? Math.min(POINTS, high - low) : POINTS;
    const values = Array.from({ length: n + 1 }, (_, i) => low + ((high - low) * i) / Math.max(n, 1));
    const own = this.row[column.name];
    return own === null ? values : [...new Set([...values, own])].sort((a, b) => a - b);
  }

  draw({ column, control, value, picture }, line, now, [low, high]) {
    const own = this.row[column.name];
    control.value = own;
    value.textContent = column.choices ? "" : column.whole ? String(own) : String(Number(own.toPrecision(4)));
    const last = Math.max(line.length - 1, 1);
    const [from, to] = column.choices ? [0, last] : [column.range[0], column.range[2]];
    const x = (at) => LEFT + 6 + ((at - from) / (to - from || 1)) * (WIDTH - LEFT - RIGHT - 12);
    const y = (at) => HEIGHT - BOTTOM - ((at - low) / (high - low)) * (HEIGHT - TOP - BOTTOM);
    const text = (at, height, anchor, words) => svg("text", { x: at, y: height, "text-anchor": anchor }, words);
    const parts = [
      svg("path", { class: "gs-axis", d: `M${LEFT} ${y(low)}H${WIDTH - RIGHT}M${LEFT} ${y(high)}H${WIDTH - RIGHT}` }),
      text(LEFT - 4, y(low), "end", this.shown.text(low, 0)),
      text(LEFT - 4, y(high) + 8, "end", this.shown.text(high, 0)),
    ];
    let mark;
    if (column.choices) {
      const fits = column.choices.join("").length * 6 + column.choices.length * 3 < WIDTH - LEFT - RIGHT;
      line.forEach(([choice, at], i) => {
        parts.push(svg("path", { class: "gs-stem", d: `M${x(i)} ${y(low)}V${y(at)}` }));
        parts.push(svg("circle", { class: "gs-choice", cx: x(i), cy: y(at), r: 2.5 }));
        if (fits) parts.push(text(x(i), HEIGHT - 6, "middle", choice));
        if (choice === own) mark = x(i);
      });
    } else {
      parts.push(svg("path", { class: "gs-curve", d: `M${line.map(([v, at]) => `${x(v).toFixed(1)} ${y(at).toFixed(1)}`).join("L")}` }));
      parts.push(text(x(from), HEIGHT - 5, "start", String(Number(from.toPrecision(4)))));
      parts.push(text(x(to), HEIGHT - 5, "end", String(Number(to.toPrecision(4)))));
      mark = own === null ? undefined : x(own);
    }
    if (mark !== undefined) {
      parts.push(svg("path", { class: "gs-here", d: `M${mark} ${y(low)}V${y(now)}` }));
      parts.push(svg("circle", { class: "gs-mark", cx: mark, cy: y(now), r: 4.5 }));
      const side = mark > WIDTH - 60 ? "end" : mark < LEFT + 40 ? "start" : "middle";
      const number = text(mark, Math.max(y(now) - 8, 10), side, this.shown.text(now));
      number.setAttribute("class", "gs-number");
      parts.push(number);
    }
    picture.setAttribute("aria-label", `prediction by ${column.name}: ${this.shown.text(now)} at ${own}`);
    picture.classList.toggle("gs-many", (column.choices ?? []).length > 8);
    picture.replaceChildren(...parts);
  }

  /* A bar per column: the change if it alone goes back to the typical row. Pairs of columns leave a rest. */
  drawBars(now, start) {
    const { shown } = this;
    const changes = this.panels.map(({ column }) => {
      const without = { ...this.row, [column.name]: this.typical[column.name] };
      return [column.name, shown.sum(now) - shown.sum(shown.of(without))];
    });
    const whole = shown.sum(now) - shown.sum(start);
    const rest = whole - changes.reduce((sum, [, change]) => sum + change, 0);
    if (Math.abs(rest) > 1e-6 * (1 + Math.abs(whole))) changes.push(["together", rest]);
    changes.push(["all", whole]);
    const most = Math.max(...changes.map(([, change]) => Math.abs(change)), shown.isShare ? 1 : 1e-300);
    this.bars.replaceChildren(
      ...changes.map(([name, change]) => {
        const width = (50 * Math.abs(change)) / most;
        const bar = html("i", { class: change < 0 ? "gs-less" : "gs-more" });
        bar.style.width = `${width}%`;
        bar.style.left = `${change < 0 ? 50 - width : 50}%`;
        const digits = Math.abs(change) < 5e-5 ? "0" : change.toFixed(2);
        const number = change > 0 && digits !== "0" ? `+${digits}` : digits.replace("-", "\u2212");
        return html("div", { class: name === "all" ? "gs-all" : "" }, html("span", {}, name), html("b", {}, bar), html("span", {}, number));
      }),
    );
  }
}

for (const place of document.querySelectorAll("[data-greedystep]")) {
  try {
    const response = await fetch(place.dataset.greedystep);
    if (!response.ok) throw new Error(`cannot open ${place.dataset.greedystep}: ${response.statusText}`);
    new Form(place, await load(await response.arrayBuffer()));
  } catch (error) {
    place.textContent = error.message;
  }
}
