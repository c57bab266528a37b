// Package parser turns pages into records and links.
//
// It consumes PAGES, or the pages that a fetcher in the same process hands it
// (Chain), and emits RECORDS, and URLS: for each partition one message with the
// links that lead there, and in the page's own partition the message that ends
// the visit. That one is published when all others are stored, so
// when the frontier has seen it, it has seen all that was found on the page.
//
// It has no state to lose: a crash makes another instance parse the page again,
// and everything that comes of it has the same identity. A page that cannot be
// parsed goes to DEAD, and its visit ends with the reason.
package parser
