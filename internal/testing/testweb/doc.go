// Package testweb is a web to crawl in tests, by hand and in benchmarks: any number of hosts, every byte of them
// decided by a seed, and a log of every request with its time, so that a test can prove what was fetched, when and
// how often.
//
// Hosts are named h0.localhost, h1.localhost, … and told apart by the Host header; any other name, 127.0.0.1 among
// them, is host 0. Names below .localhost are loopback by RFC 6761, but not every resolver knows: Server.DialContext
// reaches the server under any name.
//
// The pages of a host are a binary tree (page i links to pages 2i+1 and 2i+2) under a layer of random links, so every
// page can be reached from "/" by a crawler that parses HTML, resolves links, follows redirects and retries a 5xx.
// Web.Pages lists what such a crawler must find and Web.Disallowed what robots.txt forbids it. What lies below
// HiddenPrefix is named only in comments and scripts: nothing should ever ask for it.
//
// Config.Site has sites of another kind: some pages of text and, beside them, a trap that has no end: a calendar,
// session ids, a page for whatever is asked, links that lack a slash, filters that multiply. A crawler must get all of
// Web.Pages and come to an end; Web.Unfetched says what it missed, and how many answers it had for nothing.
package testweb
