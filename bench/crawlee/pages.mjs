// A minimal crawler with Crawlee's CheerioCrawler: every HTML page of one host, or of the hosts of a list with a delay,
// with the fields Seine writes. Links and text are taken the way Crawlee's documentation shows.
//
//   node pages.mjs NODE_MODULES PARALLEL URL
//   node pages.mjs NODE_MODULES PARALLEL FILE SECONDS REGEXP
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

const [modules, parallel, start, delay, scope] = process.argv.slice(2);
const { CheerioCrawler, log } = createRequire(modules + "/")("@crawlee/cheerio");

log.setLevel(log.LEVELS.OFF);
const crawler = new CheerioCrawler({
  maxConcurrency: Number(parallel),
  sameDomainDelaySecs: Number(delay ?? 0),
  respectRobotsTxtFile: delay !== undefined,
  async requestHandler({ $, request, enqueueLinks, pushData }) {
    await enqueueLinks({ strategy: "same-hostname", regexps: scope ? [new RegExp(scope)] : undefined });
    $("script, style, noscript, template").remove();
    await pushData({
      url: request.loadedUrl,
      title: $("title").first().text().trim(),
      text: $("body").text().split(/\s+/).join(" ").trim(),
    });
  },
});
await crawler.run(delay ? readFileSync(start, "utf8").split("\n").filter(Boolean) : [start]);
