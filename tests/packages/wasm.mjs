/* wasm.mjs LOADER MODULE DATA BITS: whether the module predicts every row of DATA with the bits that export_bits printed.
 * DATA is a table, or libsvm text (.svm). */
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const [loader, module, data, bits] = process.argv.slice(2);
const { load } = await import(`data:text/javascript,${encodeURIComponent(readFileSync(loader, "utf8"))}`);
const model = await load(readFileSync(module));
const lines = readFileSync(data, "utf8").trimEnd().split("\n");
const expected = readFileSync(bits, "utf8").trimEnd().split("\n");

/* Cells in quotes are in the header only, and none has a comma. */
const names = lines[0].split(",").map((name) => name.replace(/^"(.*)"$/, "$1").replaceAll('""', '"'));
const table = !data.endsWith(".svm");
if (table) lines.shift();
const cellsOf = (line) => Object.fromEntries(line.split(",").map((cell, i) => [names[i], cell]));
const featuresOf = (line) => line.split(" ").slice(1).map((pair) => pair.split(":").map(Number));

const hex = (number) => {
  const view = new DataView(new ArrayBuffer(8));
  view.setFloat64(0, number);
  return view.getBigUint64(0).toString(16).padStart(16, "0");
};
let different = lines.length === expected.length ? 0 : 1;
lines.forEach((line, i) => {
  const features = table ? null : featuresOf(line);
  const result = table
    ? model.predict(cellsOf(line))
    : model.predictFeatures(features.map(([index]) => index - 1), features.map(([, value]) => value));
  const got = result.out.map(hex).join(" ");
  const best = result.out.length > 1 ? result.out.indexOf(Math.max(...result.out)) : result.index;
  if (got !== expected[i] || best !== result.index) {
    if (different++ === 0) console.log(`row ${i + 1}: ${got}, not ${expected[i]}: ${line}`);
  }
});
const refused = (name, row) => {
  try {
    model.predict(row);
    console.log(`not refused: ${name}`);
    different++;
  } catch (error) {
    if (!error.message.startsWith("cannot predict: ")) throw error;
  }
};
if (table) {
  const row = cellsOf(lines[0]);
  refused("text as a number", { ...row, b: "many" });
  refused("a number above those of floats", { ...row, b: 1e39 });
  refused("a date that is none", { ...row, seen: "yesterday" });
  refused("a row without a column", { b: 1 });
  /* Numbers and dates in place of their texts. */
  const typed = { ...row, b: Number(row.b), seen: new Date(`${row.seen}Z`), place: row.place === "NA" ? null : row.place };
  if (model.predict(typed).out.map(hex).join(" ") !== expected[0]) different++;
}
console.log(`${module.replace(/.*\//, "")}: ${lines.length} rows, ${different} different`);
process.exit(different > 0 ? 1 : 0);
