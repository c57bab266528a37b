// What a page does beyond being read: it writes times in the reader's zone, draws its charts, and shows itself
// anew whenever the server has looked at the cluster.
import { showTimes } from "./times.js";
import { drawCharts } from "./charts.js";
import { follow } from "./events.js";
import { replaceParts } from "./parts.js";

showTimes(document);
setInterval(() => showTimes(document), 1000);
drawCharts();
for (const field of document.querySelectorAll("textarea[data-schema]")) import("./spec-editor.js").then(({ editSpec }) => editSpec(field));

if ("follow" in document.body.dataset) {
  follow(document.body.dataset.events, async () => {
    await Promise.all([replaceParts(), drawCharts()]);
    showTimes(document);
  });
}
