// Package samplesites has small sites of the shapes that scrapers are written for: a sports statistics site with JSON
// APIs, an opportunities listing, a newspaper, a shop, and documentation. Each is decided by a seed, down to the byte,
// and comes with its truth: the records that right rules make of it. The rules are in examples/, one spec a shape.
//
// The markup is what such sites have, noise included: menus, footers, teasers with the same classes as what matters,
// two generations of templates side by side, pages that lack a field, links that only sort a list.
//
// A Shape holds what it serves in memory. It is safe for concurrent use, and takes any host for its own: absolute URLs
// in its pages have the host that was asked for.
package samplesites
