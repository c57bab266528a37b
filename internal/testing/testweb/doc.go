// Package testweb is a web to crawl in tests, by hand and in benchmarks. It has any number of
// hosts, all generated from a seed, and logs every request with its time, so that a test can prove
// which pages were fetched, when and how often.
//
// Hosts are named h0.localhost, h1.localhost, … and selected by the Host header; any other name,
// including 127.0.0.1, is host 0. Names below .localhost are loopback by RFC 6761, but not every
// resolver knows that: Server.DialContext reaches the server under any name.
//
// The pages of a host form a binary tree (page i links to pages 2i+1 and 2i+2) with additional
// random links. So a crawler that parses HTML, resolves links, follows redirects and retries a 5xx
// can reach every page from "/". Web.Pages lists the pages that it must find; Web.Disallowed lists
// those that robots.txt forbids. Paths below HiddenPrefix are only in comments and scripts: nothing
// should ever request them.
//
// Config.Site selects other kinds of sites, with some pages of text and an endless trap: a
// calendar, session ids, a page for every path, links that lack a slash, combinations of filters. A
// crawler must get all of Web.Pages and finish; Web.Unfetched returns the pages that it missed and
// the number of its wasted requests.
package testweb
