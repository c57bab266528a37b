// Package weburl computes canonical URLs, the crawler's identity of a page.
//
// Two spellings of one address must give one canonical URL, or the crawler
// fetches a page twice; two addresses must never give the same one, or it
// misses a page. The canonical form therefore applies only rules that a server
// cannot observe:
//
//   - the URL is parsed and serialised by the WHATWG URL standard, as a browser
//     would: relative references, dot segments, backslashes, IDNA hosts, odd
//     IPv4 spellings, default ports, characters that need encoding;
//   - only http and https are kept;
//   - the fragment and the user information are dropped: the first is never
//     sent, the second is not part of the identity and is a secret besides;
//   - an empty query ("?" with nothing after it) is dropped;
//   - percent-encoding is normalised by RFC 3986 section 6.2.2: upper-case
//     hexadecimal digits, and escapes of unreserved characters decoded;
//   - "^" in a path is encoded: the standard asks for it, the parser used here
//     is from before that change;
//   - the trailing dot of a host name is dropped.
//
// The order of query parameters, letter case in paths, doubled slashes and
// stray percent signs are kept: servers do tell them apart.
//
// The form is a fixed point: canonicalising a canonical URL returns it
// unchanged. An input for which the parser has no such form is refused with
// [ErrInvalid].
//
// References are read as UTF-8. The standard encodes the query of a link in a
// document of another charset by that charset; a caller that needs this encodes
// the query before calling [Base.Resolve].
//
// # Beyond the canonical form
//
// A crawl may take more URLs for one than servers must: those that differ only
// in tracking parameters, session ids or the order of parameters. A [Normalizer]
// does that to canonical URLs, by the crawl's own options.
//
// # Two paths
//
// The complete parser costs microseconds and tens of allocations, and a page
// holds hundreds of links. A fast path handles plain references in one pass and
// declines whatever it is not sure of, which then goes to the parser. Both give
// the same answer for every input the fast path accepts; FuzzResolve holds them
// to it.
package weburl
