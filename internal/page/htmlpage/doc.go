// Package htmlpage reads one HTML page in a single forward pass and yields what
// a crawler keeps of it: title, description, language, robots directives, the
// visible text, the links with the URLs they resolve to and, where asked for,
// their texts and the headings. HeaderLinks reads the links of a response header.
//
// No tree is built. The tokenizer follows the tokenization states of the HTML
// standard (section 13.2.5) over the page's bytes in place, and the little tree
// construction that changes the outcome is kept as three counters: how deep the
// scan is inside template, noscript and svg. What a tree would add and this
// package therefore does not know: implied end tags, misnested formatting,
// foster parenting, the hidden attribute and anything styled away. Over the
// PostgreSQL and Python documentation none of it makes a difference; package htmltree
// holds the two together there, and its tests show where they part. Of the 1,497 pages of
// the development split of WCXB, four differ: three have text in a noscript element of the head,
// and one has a paragraph in the desc element of an svg.
//
// A page that needs rules, main content or structured data is read again, into
// the tree of package document. To read all pages from that tree would be less code, and
// would cost a default crawl some 40 % more CPU: over 122 pages of 16 KB in the mean, the
// least of 9 rounds, this pass takes 126 µs a page, the tree 485 µs, and the tree with its
// links and text by goquery 1,199 µs; the whole crawl takes some 700 µs a page. So the pass
// stays while it saves more than 10 %. Its tokens ([Tokens]) also forecast the size of the
// tree.
//
// The scripting flag is off, as for any reader without JavaScript: noscript is
// ordinary markup, so its links and meta elements count. Its text does not: it
// mostly tells the reader to switch JavaScript on.
//
// Time is linear in the page, whatever the page. Memory beyond the page and its
// decoded copy, where the page is not UTF-8, is bounded by Options and the
// limits in page.go. The whole page is in memory, so there is no token too long
// to read and no result cut short for that reason.
//
// The page is read in the encoding that package charset finds, and the queries
// of its links are encoded in it, as browsers do.
//
// Section numbers in this package are those of the HTML standard (WHATWG).
//
// A Scan shares nothing with another; any number may run at once.
package htmlpage
