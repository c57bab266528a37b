// Package samplesites has small sites of the shapes that scrapers are written for: a sports
// statistics site with JSON APIs, an opportunities listing, a newspaper, a shop, and documentation.
// A seed determines every byte of a site. Each site comes with its truth: the records that correct
// rules extract. The rules are in examples/, one spec per shape.
//
// The markup is that of real sites, noise included: menus, footers, teasers with the same classes
// as the content, two generations of templates side by side, pages that lack a field, links that
// only sort a list.
//
// A SampleSite keeps its pages in memory and is safe for concurrent use. It answers for any host;
// absolute URLs in its pages have the requested host.
package samplesites
