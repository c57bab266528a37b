// Package htmlpage reads one HTML page in a single forward pass and yields what
// a crawler keeps of it: title, description, language, robots directives, the
// visible text, and the links with the URLs they resolve to.
//
// No tree is built. The tokenizer follows the tokenization states of the HTML
// standard (section 13.2.5) over the page's bytes in place, and the little tree
// construction that changes the outcome is kept as three counters: how deep the
// scan is inside template, noscript and svg. What a tree would add and this
// package therefore does not know: implied end tags, misnested formatting,
// foster parenting, the hidden attribute and anything styled away.
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
// A link's query is encoded as UTF-8 whatever the page's encoding; a browser
// would use the page's for anything outside ASCII.
//
// Section numbers in this package are those of the HTML standard (WHATWG).
//
// A Scan shares nothing with another; any number may run at once.
package htmlpage
