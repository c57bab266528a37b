// Package structured reads what a page declares for machines: JSON-LD,
// microdata, RDFa, Open Graph and Twitter cards, and from all of these the
// page's author and dates.
//
// It takes the tree that golang.org/x/net/html made of the decoded page, best
// parsed with scripting off, so that what is in noscript counts, and the
// document's base URL ([BaseURL]), against which references are resolved.
// [FromHTML] reads everything; each part can be had alone.
//
// What is read, and by what:
//
//   - JSON-LD: each script of type application/ld+json (JSON-LD 1.1 section 7),
//     as JSON text. Contexts are not loaded and nothing is expanded.
//   - Microdata: the HTML standard, section 5, with the differences told at
//     [Microdata].
//   - RDFa Lite 1.1, by the processing rules of RDFa Core 1.1 and HTML+RDFa 1.1;
//     see [RDFa].
//   - Open Graph (ogp.me) and Twitter cards: meta elements; see [Meta].
//
// A page that is broken in a part gives what can be read of it, and a [Problem]
// for the rest; there are no errors. The same tree gives the same bytes, always:
// everything is in the order of the page.
//
// Time is linear in the page, and memory is bounded, by the limits in limits.go:
// what exceeds them is left out, with a Problem but for meta elements,
// types of one item and authors. The Go stack grows with the depth of data, which
// is bounded, not with that of the tree.
//
// A tree must not be changed while it is read; any number of readers may read
// one at once.
package structured
