// Package parser turns pages into records and links.
//
// It consumes PAGES, or pages from a fetcher in the same process (Chain), and emits RECORDS, and
// URLS: for each partition one message with the links in that partition, and in the page's own
// partition the message that ends the visit. The parser publishes that message when all others are
// stored, so the frontier has all links of the page when it receives it.
//
// It has no state to lose: after a crash another instance parses the page again, and its records
// and links have the same identities. A page that cannot be parsed goes to DEAD, and its visit ends
// with the reason.
package parser
