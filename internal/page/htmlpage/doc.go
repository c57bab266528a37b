// Package htmlpage reads an HTML page in a single forward pass and returns the parts that a crawler
// keeps: title, description, language, robots directives, visible text, and links with the URLs
// they resolve to. On request it also returns the texts of links, and the headings. HeaderLinks
// reads the links of a response header.
//
// It builds no tree. The tokenizer follows the tokenization states of the HTML standard (section
// 13.2.5) over the page's bytes in place. The few parts of tree construction that change the
// outcome are kept as counters: how deep the scan is inside template, noscript and svg. So the
// package does not handle implied end tags, misnested formatting, foster parenting, the hidden
// attribute, and elements hidden by styles. Over the PostgreSQL and Python documentation these make
// no difference. Package htmltree compares the two readers there, and its tests show the
// differences. Of the 1,497 pages of the development split of WCXB, four differ: three have text in
// a noscript element of the head, and one has a paragraph in the desc element of an svg.
//
// A page that needs rules, main content or structured data is read again, into the tree of package
// document. Reading all pages from that tree would be less code, but would cost a default crawl
// some 40 % more CPU. Over 122 pages of 16 KB on average, the best of 9 rounds, this pass takes 126
// µs a page, the tree 485 µs, and the tree with its links and text by goquery 1,199 µs; the whole
// crawl takes some 700 µs a page. So the pass stays while it saves more than 10 %. Its tokens
// ([Tokens]) also forecast the size of the tree.
//
// The scripting flag is off, as for any reader without JavaScript. So noscript is ordinary markup,
// and its links and meta elements count. Its text does not: it mostly asks the reader to enable
// JavaScript.
//
// Time is linear in the size of any page. Memory beyond the page, and beyond its decoded copy if
// the page is not UTF-8, is bounded by Options and the limits in page.go. The whole page is in
// memory, so no token is too long to read, and no result is truncated for that reason.
//
// The page is read in the encoding that package charset detects, and the queries of its links are
// encoded in it, as browsers do.
//
// Section numbers in this package are those of the HTML standard (WHATWG).
//
// Scans share nothing; any number may run at once.
package htmlpage
