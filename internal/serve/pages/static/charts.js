// Charts of the figures that the server keeps, drawn by uPlot.
const drawn = new Map(); // element → { plot, data }
const clock = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit", hourCycle: "h23" });
const sorts = {
  pages: { unit: "", series: [["pages", "pages", 1]] },
  urls: { unit: "", counts: true, series: [["to do", "queued", 1], ["done", "done", 2], ["failed", "failed", 4]] },
  answers: {
    unit: "", series: [["ok", "ok", 2], ["redirects", "redirects", 1], ["4xx", "client_errors", 3],
      ["5xx", "server_errors", 4], ["network", "network", 5], ["other", "other", 6]], of: "answers",
  },
  bytes: { unit: "B", series: [["bytes", "bytes", 1]] },
};

export async function drawCharts() {
  const places = [...document.querySelectorAll("[data-chart]")];
  if (places.length === 0 || typeof uPlot === "undefined") return;
  const { crawl, span } = places[0].dataset;
  const answer = await fetch(document.body.dataset.figures + "?" + new URLSearchParams({ crawl, span }), { cache: "no-store" });
  if (!answer.ok) return;
  const figures = await answer.json();
  document.querySelector(".charts").classList.toggle("empty", !figures.pages?.some((v) => v != null));
  for (const el of places) draw(el, figures);
}

function draw(el, figures) {
  const sort = sorts[el.dataset.chart];
  const from = sort.of ? figures[sort.of] : figures;
  const data = [figures.at, ...sort.series.map(([, key]) => from[key] ?? [])];
  const have = drawn.get(el);
  if (!have) {
    drawn.set(el, { plot: make(el, sort, data, figures), data, figures });
    return;
  }
  Object.assign(have, { data, figures });
  have.plot.setData(data, false);
  have.plot.setScale("x", rangeOf(figures));
}

// rangeOf is the time that a chart shows: all of it, or what there is of it while that is little.
function rangeOf({ from, to, at }) { return { min: Math.max(from, Math.min(at[0] ?? from, to - 300)), max: to }; }

// make draws a chart for the first time.
function make(el, sort, data, figures) {
  const write = (v) => v == null ? "–" : number(v) + sort.unit;
  const axis = { stroke: colour("c-muted"), grid: { stroke: colour("c-line"), width: 1 }, ticks: { show: false }, font: "11px system-ui, sans-serif" };
  return new uPlot({
    ...sizeOf(el),
    cursor: { y: false, drag: { x: false, y: false }, points: { size: 6 } },
    legend: { live: true },
    scales: { x: { time: true, auto: false, ...rangeOf(figures) }, y: { range: (u, min, max) => [0, Math.max(max ?? 0, sort.counts ? 10 : 1) * 1.08] } },
    axes: [{ ...axis, space: 70, size: 26, values: (u, all) => all.map((at) => clock.format(at * 1000)) }, { ...axis, size: 52, values: (u, all) => all.map(write) }],
    series: [{ value: (u, at) => at == null ? "–" : clock.format(at * 1000) },
      ...sort.series.map(([label, , n]) => ({ label, stroke: colour("c" + n), width: 1.5, value: (u, v) => write(v), points: { show: false, filter: alone, size: 5, fill: colour("c" + n) }, spanGaps: false }))],
  }, data, el);
}

// alone are the values of a line that have no other beside them, which would not be seen.
export function alone(u, series) { return u.data[series].flatMap((v, i, all) => v != null && all[i - 1] == null && all[i + 1] == null ? [i] : []); }

const height = 170;

function sizeOf(el) { return { width: Math.max(200, el.clientWidth), height }; }

// number writes it in few characters: 12.3k.
function number(v) {
  if (v === 0) return "0";
  for (const [unit, size] of [["G", 1e9], ["M", 1e6], ["k", 1e3]]) if (v >= size) return short(v / size) + unit;
  return short(v);
}

function short(v) { return String(v >= 100 ? Math.round(v) : Number(v.toPrecision(2))); }

// colour is what the style sheet has under a class.
function colour(name) {
  const probe = document.createElement("span");
  probe.className = name;
  document.body.append(probe);
  const value = getComputedStyle(probe).color;
  probe.remove();
  return value;
}

const resized = new ResizeObserver((all) => { for (const { target } of all) drawn.get(target)?.plot.setSize(sizeOf(target)); });
for (const el of document.querySelectorAll("[data-chart]")) resized.observe(el);

matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
  for (const [el, { plot, data, figures }] of drawn) {
    plot.destroy();
    drawn.set(el, { plot: make(el, sorts[el.dataset.chart], data, figures), data, figures });
  }
});
