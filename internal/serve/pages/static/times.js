// Times as a reader has them: in the zone and the manner of the browser.
const whole = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium" });
const relative = new Intl.RelativeTimeFormat("en", { numeric: "always", style: "short" });
const units = [["day", 86400], ["hour", 3600], ["minute", 60], ["second", 1]];

export function showTimes(root) {
  for (const el of root.querySelectorAll("time[datetime]")) {
    const at = new Date(el.dateTime);
    const text = "ago" in el.dataset ? distance((at - Date.now()) / 1000) : whole.format(at);
    if (el.textContent !== text) el.textContent = text;
    el.title = whole.format(at);
  }
}

function distance(seconds) {
  const [unit, size] = units.find(([, size]) => Math.abs(seconds) >= size) ?? units.at(-1);
  const n = Math.trunc(seconds / size);
  return n === 0 ? "now" : relative.format(n, unit);
}
