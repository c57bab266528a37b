// Package structured reads the machine-readable declarations of a page: JSON-LD, microdata, RDFa,
// Open Graph and Twitter cards, and from all of these the page's author and dates.
//
// It takes the tree of the decoded page from golang.org/x/net/html, and the document's base URL
// ([BaseURL]), against which references are resolved. The page should be parsed with scripting off,
// so that the content of noscript counts. [FromHTML] reads everything; each part can be read
// separately.
//
// The parts and their standards:
//
//   - JSON-LD: each script of type application/ld+json (JSON-LD 1.1 section 7), as JSON text.
//     Contexts are not loaded and nothing is expanded.
//   - Microdata: the HTML standard, section 5, with the differences listed at [Microdata].
//   - RDFa Lite 1.1, by the processing rules of RDFa Core 1.1 and HTML+RDFa 1.1; see [RDFa].
//   - Open Graph (ogp.me) and Twitter cards: meta elements; see [Meta].
//
// For a page with faults, the package returns the readable parts, and a [Problem] for the rest; it
// returns no errors. The same tree always gives the same bytes: everything is in document order.
//
// Time is linear in the page, and memory is bounded by the limits in limits.go. Data beyond them is
// omitted, with a Problem except for meta elements, types of one item and authors. The Go stack
// grows with the depth of the data, which is bounded, not with the depth of the tree.
//
// A tree must not be changed while it is read; any number of readers may read it at once.
package structured
