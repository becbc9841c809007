"""The style of the page: one column on a phone, two columns of figures on a desktop, light or dark as the reader's."""

CSS = """
:root {
  color-scheme: light dark;
  --font: system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "DejaVu Sans", sans-serif;
  --mono: ui-monospace, "SF Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace;
  --ink: #1b1f24; --muted: #59626d; --grid: #e3e6ea; --card: #fefefe; --page: #f3f5f7;
  --blue: #2866b0; --orange: #c8641b; --green: #2c8a5b; --grey: #8a939d; --bad: #b3261e;
}
@media (prefers-color-scheme: dark) {
  :root {
    --ink: #e8eaed; --muted: #a8b0ba; --grid: #343a42; --card: #1d2126; --page: #14171a;
    --blue: #6fa8ea; --orange: #eb9a5d; --green: #66c296; --grey: #7d8691; --bad: #f2867f;
  }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--page); color: var(--ink); font: 16px/1.5 var(--font); }
main { max-width: 1180px; margin: 0 auto; padding: 24px 20px 48px; }
h1 { font-size: 1.6rem; line-height: 1.25; margin: 0 0 4px; overflow-wrap: anywhere; }
h2 { font-size: 1.2rem; margin: 36px 0 12px; }
p { margin: 0 0 12px; }
.muted, figcaption, .note { color: var(--muted); }
.note { font-size: 0.9rem; }
.status { display: inline-block; padding: 1px 10px; border-radius: 999px; border: 1px solid var(--green);
  color: var(--green); font-size: 0.9rem; font-weight: 600; }
.status.warn { border-color: var(--orange); color: var(--orange); }
.status.bad { border-color: var(--bad); color: var(--bad); }
pre { background: var(--card); border: 1px solid var(--grid); border-radius: 8px; padding: 10px 14px; margin: 0 0 12px;
  font: 0.88rem/1.5 var(--mono); white-space: pre-wrap; overflow-wrap: anywhere; }
pre span { display: inline-block; max-width: 100%; }
.cards { display: grid; gap: 10px; grid-template-columns: repeat(auto-fill, minmax(150px, 1fr)); margin: 16px 0; }
.card, figure, .table { background: var(--card); border: 1px solid var(--grid); border-radius: 10px; }
.card { padding: 10px 14px; }
.card b { display: block; font-size: 1.3rem; line-height: 1.3; font-variant-numeric: tabular-nums;
  overflow-wrap: anywhere; }
.card span { color: var(--muted); font-size: 0.86rem; }
.pictures { display: grid; gap: 14px; align-items: start;
  grid-template-columns: repeat(auto-fit, minmax(min(100%, 440px), 1fr)); }
.pictures.small { grid-template-columns: repeat(auto-fill, minmax(min(100%, 240px), 1fr)); margin: 0 0 14px; }
figure { margin: 0; padding: 10px; }
figure svg { display: block; width: 100%; height: auto; max-width: 640px; margin: 0 auto; }
figcaption { font-size: 0.86rem; padding: 6px 4px 0; }
.table { overflow-x: auto; padding: 4px 14px; margin: 0 0 14px; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
th, td { text-align: left; padding: 5px 14px 5px 0; border-bottom: 1px solid var(--grid); vertical-align: top; }
tr:last-child > * { border-bottom: 0; }
th { color: var(--muted); font-weight: 500; }
td { overflow-wrap: anywhere; }
td.number, th.number { text-align: right; }
td.number { white-space: nowrap; }
.bar { display: block; height: 8px; border-radius: 4px; background: var(--blue); min-width: 2px; }
td.wide { width: 45%; vertical-align: middle; }
details { margin: 0 0 14px; }
summary { cursor: pointer; color: var(--blue); padding: 4px 0; }
@media (max-width: 480px) {
  main { padding: 16px 12px 32px; }
  .cards { grid-template-columns: repeat(2, 1fr); gap: 8px; }
  .card { padding: 8px 10px; }
  .card b { font-size: 1.12rem; }
  figure { padding: 8px 4px; }
  th, td { padding-right: 10px; }
  td.wide { width: 30%; }
}
@media print { body { background: none; } figure, .card, .table { break-inside: avoid; } }
""".strip()
