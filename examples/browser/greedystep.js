/* Predicts with a model of greedystep that scripts/wasm made into a WebAssembly module, in browsers and in Node:
 *
 *     import { load } from "./greedystep.js";
 *     const model = await load(await (await fetch("my.wasm")).arrayBuffer());
 *     model.predict({ hour: 18, carrier: "UA" });    // { index: 0, label: "no", out: [0.79, 0.21] }
 *
 * The numbers in `out` have the bits of `greedystep predict`: probabilities, margins of hinge losses, or one number. */

const PAGE = 65536;
const DAY = 86400;
const MISSING = new Set(["", "nan", "null", "na", "n/a", "none", "-", "?", "."]);
const WEEKDAYS = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"];
const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
const DATE = /^(\d{4})-(\d{1,2})-(\d{1,2})(?:[T ](\d{1,2}):(\d{2})(?::(\d{2}))?.*)?$/;

/** Makes a model of the bytes of a module. */
export async function load(bytes) {
  const module = await WebAssembly.compile(bytes);
  const [about] = WebAssembly.Module.customSections(module, "greedystep");
  if (!about) throw new Error("cannot load the module: it has no section greedystep; make it by scripts/wasm");
  return new Model(await WebAssembly.instantiate(module), JSON.parse(new TextDecoder().decode(about)));
}

class Model {
  #functions;
  #top;

  constructor(instance, about) {
    this.#functions = instance.exports;
    this.loss = about.loss;
    this.columns = about.columns;
    this.outputs = about.outputs;
    this.labels = Array.from({ length: about.classes }, (_, k) => this.#label(k));
  }

  /** Predicts a row from its cells, an object by the names of the columns. A cell is a number, a text, a Date (its time in
   * UTC) or, if it is missing, null; a column that the object does not have is an error. */
  predict(cells) {
    if (!this.columns) throw new Error("cannot predict: the model has no columns; use predictFeatures");
    const index = [];
    const value = [];
    let number = 0;
    this.#begin();
    for (const column of this.columns) {
      if (!(column.name in cells)) throw new Error(`cannot predict: no column '${column.name}'`);
      const cell = this.#cell(column, cells[column.name]);
      if (column.kind === "words") {
        if (cell !== null) this.#addWord(column.name, cell, index, value);
        continue;
      }
      if (cell === null) {
        this.#addMissing(number, index, value);
      } else if (column.kind === "number") {
        index.push(number);
        value.push(column.offset ? this.#functions.model_number(number, cell) : cell);
      } else {
        const days = cell.days + cell.seconds / DAY;
        index.push(number);
        value.push(column.offset ? this.#functions.model_number(number, days) : days);
        this.#addWord(`${column.name} weekday`, WEEKDAYS[((cell.days % 7) + 7) % 7], index, value);
        this.#addWord(`${column.name} month`, MONTHS[new Date(cell.days * DAY * 1000).getUTCMonth()], index, value);
        if (column.time) this.#addWord(`${column.name} hour`, String(Math.floor(cell.seconds / 3600)), index, value);
      }
      number++;
    }
    return this.#predict(index, value, true);
  }

  /** Predicts a row from numbers of features, from 0, and their values (docs/export.md), for models without columns. */
  predictFeatures(index, value) {
    this.#begin();
    return this.#predict(index, value, false);
  }

  #predict(index, value, unordered) {
    const n = index.length;
    const [out, ids, values] = [this.#take(8 * this.outputs), this.#take(4 * n), this.#take(4 * n)];
    const { buffer } = this.#functions.memory;
    new Uint32Array(buffer, ids, n).set(index);
    new Float32Array(buffer, values, n).set(value);
    const length = unordered ? this.#functions.model_tidy(ids, values, n) : n;
    const best = this.#functions.model_predict(ids, values, length, out);
    if (best < 0) throw new Error("cannot predict: a value is not a finite number");
    return { index: best, label: this.labels[best], out: [...new Float64Array(buffer, out, this.outputs)] };
  }

  /* Returns a cell as a number, a text, or days and seconds; null if it is missing. */
  #cell(column, given) {
    const cell = typeof given === "string" ? given.replace(/^[ \t]+|[ \t]+$/g, "") : given;
    const wrong = () => new Error(`cannot predict: column '${column.name}' is a ${column.kind}, and not ${given}`);
    if (cell === null || cell === undefined || Number.isNaN(cell)) return null;
    if (typeof cell === "string" && MISSING.has(cell.toLowerCase())) return null;
    for (const word of column.missing ?? [])
      if (cell === word || (column.kind === "number" && word !== "" && Number(cell) === Number(word))) return null;
    if (column.kind === "words") return String(cell);
    if (column.kind === "date") {
      const part = DATE.exec(cell instanceof Date ? cell.toISOString() : cell);
      if (!part) throw wrong();
      const [year, month, day, hours, minutes, seconds] = part.slice(1).map((digits) => Number(digits ?? 0));
      const midnight = Date.UTC(year, month - 1, day) / 1000;
      return { days: midnight / DAY, seconds: hours * 3600 + minutes * 60 + Math.min(seconds, 59) };
    }
    const number = Number(cell);
    if (typeof cell === "boolean" || !Number.isFinite(Math.fround(number))) throw wrong();
    return number;
  }

  #addMissing(number, index, value) {
    const ids = this.#take(8);
    const values = this.#take(8);
    const n = this.#functions.model_missing(number, ids, values);
    const { buffer } = this.#functions.memory;
    index.push(...new Uint32Array(buffer, ids, n));
    value.push(...new Float32Array(buffer, values, n));
  }

  #addWord(column, word, index, value) {
    const id = this.#functions.model_word(this.#text(column), this.#text(word));
    index.push(id >>> 0);
    value.push(1);
  }

  /* The memory behind the model's data is a stack that every prediction begins anew. */
  #begin() {
    this.#top = this.#functions.__heap_base.value;
  }

  #take(size) {
    const { memory } = this.#functions;
    const at = Math.ceil(this.#top / 8) * 8;
    this.#top = at + size;
    if (this.#top > memory.buffer.byteLength) memory.grow(Math.ceil((this.#top - memory.buffer.byteLength) / PAGE));
    return at;
  }

  #text(text) {
    const bytes = new TextEncoder().encode(text);
    const at = this.#take(bytes.length + 1);
    const place = new Uint8Array(this.#functions.memory.buffer, at, bytes.length + 1);
    place.set(bytes);
    place[bytes.length] = 0;
    return at;
  }

  #label(k) {
    const { memory, model_label: table } = this.#functions;
    const from = new DataView(memory.buffer).getUint32(table.value + 4 * k, true);
    const bytes = new Uint8Array(memory.buffer, from);
    return new TextDecoder().decode(bytes.subarray(0, bytes.indexOf(0)));
  }
}
