package weburl

import (
	"fmt"
	"hash/fnv"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// normalizeVersion is part of every [NormalizeOptions.Fingerprint]. A change to
// what [Normalizer.Normalize] does must increment it, unless it is one of the
// built-in lists, which the fingerprint covers.
const normalizeVersion = 1

// NormalizeOptions say which canonical URLs a crawl takes for one, beyond the
// canonical form itself. The zero value leaves every URL as it is.
type NormalizeOptions struct {
	// DropTracking removes the parameters of [trackingParameters], and
	// DropSessions those of [sessionParameters] and the session ids in paths.
	DropTracking, DropSessions bool

	// DropParameters removes query parameters by name; "ref_*" those that start
	// with "ref_", and "*" the whole query. Case matters. A name is compared as
	// it is in a canonical URL: characters that are always encoded there may be
	// given plain, but "[" and "%5B" are two names, as they are to Canonicalize.
	DropParameters []string

	// SortQuery sorts the parameters of a query by name, byte by byte. Those of
	// one name stay in their order, which servers do observe.
	SortQuery bool

	// DropMatching removes query parameters of the URLs that match a pattern. Of
	// the patterns that a URL matches, the first holds. A URL that would match
	// another one without the parameters, or none, keeps them without a value.
	DropMatching []DropMatching

	// KeepRoutes keeps the [Route] of a URL.
	KeepRoutes bool
}

// DropMatching removes parameters, by their decoded names, from the URLs that match.
type DropMatching struct {
	Match      *regexp.Regexp
	Parameters []string
}

// Fingerprint identifies what the options do: equal ones give the same in every
// process, whatever the order and repetitions of DropParameters. It changes with
// the built-in lists, too, where they are on. A store of normalised URLs keeps
// it beside them, and normalises them again when it has changed.
func (o NormalizeOptions) Fingerprint() uint32 {
	var texts []string
	for _, r := range o.rules() {
		texts = append(texts, r.String())
	}
	slices.Sort(texts)
	h := fnv.New32a()
	fmt.Fprintf(h, "%d %t %t", normalizeVersion, o.DropSessions, o.SortQuery)
	if o.KeepRoutes {
		fmt.Fprint(h, " routes")
	}
	for _, t := range slices.Compact(texts) {
		fmt.Fprintf(h, "\n%s", t)
	}
	for _, m := range o.DropMatching {
		fmt.Fprintf(h, "\n%s %q", m.Match, m.Parameters)
	}
	return h.Sum32()
}

// rules lists what the options remove from queries.
func (o NormalizeOptions) rules() []rule {
	var rules []rule
	if o.DropTracking {
		rules = append(rules, trackingParameters...)
	}
	if o.DropSessions {
		rules = append(rules, sessionParameters...)
	}
	for _, p := range o.DropParameters {
		name, prefix := strings.CutSuffix(p, "*")
		if encoded, _, ok := appendEncoded(nil, name, &queryBytes); ok {
			name = string(encoded)
		}
		if name != "" || prefix {
			rules = append(rules, rule{name: name, prefix: prefix, exact: true})
		}
	}
	return rules
}

// Normalizer turns canonical URLs, with or without a [Route], into the one that a crawl
// knows a page by. A nil one leaves them as they are, but for the route. It is safe for concurrent use.
//
// Unlike the canonical form this is a guess about servers: most ignore what is
// removed, but one that does not loses pages.
type Normalizer struct {
	byFirst  [256]bucket // of names, by their first byte
	all      bool        // drop every query
	sessions bool        // drop session ids from paths
	sort     bool
	routes   bool // keep them
	matching []DropMatching
}

// NewNormalizer compiles options: nil for those that do nothing. Options without lists
// share what is compiled, which takes 30 KiB.
func NewNormalizer(o NormalizeOptions) *Normalizer {
	if len(o.DropParameters) > 0 || len(o.DropMatching) > 0 {
		return compileNormalizer(o)
	}
	c := commonOptions{o.DropTracking, o.DropSessions, o.SortQuery, o.KeepRoutes}
	if n, ok := commonNormalizers.Load(c); ok {
		return n.(*Normalizer)
	}
	n, _ := commonNormalizers.LoadOrStore(c, compileNormalizer(o))
	return n.(*Normalizer)
}

// commonOptions are those without lists.
type commonOptions struct{ tracking, sessions, sort, routes bool }

var commonNormalizers sync.Map // of *Normalizer by commonOptions, 16 at most

func compileNormalizer(o NormalizeOptions) *Normalizer {
	rules := o.rules()
	if len(rules) == 0 && !o.DropSessions && !o.SortQuery && !o.KeepRoutes && len(o.DropMatching) == 0 {
		return nil
	}
	n := &Normalizer{sessions: o.DropSessions, sort: o.SortQuery, routes: o.KeepRoutes, matching: o.DropMatching}
	for _, r := range rules {
		if r.name == "" {
			n.all = true
			continue
		}
		first := r.name[0]
		n.byFirst[first].add(r)
		if other := first ^ 0x20; !r.exact && isLetter(first) {
			n.byFirst[other].add(r)
		}
	}
	return n
}

// Normalize returns the canonical URL that u, a canonical one, is taken for: u
// itself, without an allocation, where nothing applies. Scheme, host and port
// are never changed, so neither is the partition.
//
// What is not removed stays byte for byte, empty parameters and doubled "&"
// included; with the last parameter goes the "?". Normalising the result again
// returns it unchanged. For an input that is not canonical the result is
// unspecified, though it does not panic.
func (n *Normalizer) Normalize(u string) string {
	hash := strings.IndexByte(u, '#')
	switch {
	case hash >= 0 && n != nil && n.routes:
		return n.query(u[:hash]) + u[hash:]
	case hash >= 0:
		u = u[:hash]
	}
	return n.query(u)
}

// query is Normalize for a URL without a route.
func (n *Normalizer) query(u string) string {
	if n == nil {
		return u
	}
	mark := strings.IndexByte(u, '?')
	if mark < 0 {
		mark = len(u)
	}
	if n.sessions && (strings.IndexByte(u[:mark], ';') >= 0 || strings.IndexByte(u[:mark], '(') >= 0) {
		u, mark = dropPathSessions(u, mark)
	}
	switch {
	case mark == len(u):
		return u
	case n.all:
		return u[:mark]
	case n.applies(u, mark):
		u = n.rewrite(u, mark)
	}
	if len(n.matching) > 0 {
		u = n.dropMatching(u)
	}
	return u
}

// parameter is a part of a query between two "&".
type parameter struct {
	path        string // the URL up to its query
	text        string // name and value as they are
	name, value string // around the first "="
	rest        string // what follows, without the "&"
	more        bool   // something does, if empty
}

// next cuts the first parameter from p.rest.
func (p *parameter) next() {
	p.text, p.rest, p.more = strings.Cut(p.rest, "&")
	p.name, p.value, _ = strings.Cut(p.text, "=")
}

// applies reports whether rewrite would change the query, which is rare.
func (n *Normalizer) applies(u string, mark int) bool {
	p := parameter{path: u[:mark], rest: u[mark+1:], more: true}
	for before := ""; p.more; before = p.name {
		p.next()
		if n.drops(&p) || n.sort && p.name < before {
			return true
		}
	}
	return false
}

func (n *Normalizer) drops(p *parameter) bool {
	if p.name == "" {
		return false
	}
	b := &n.byFirst[p.name[0]]
	if b.lengths&lengthBit(len(p.name)) == 0 {
		return false
	}
	for i := range b.rules {
		if b.rules[i].drops(p) {
			return true
		}
	}
	return false
}

// rewrite makes the URL with the parameters that stay.
func (n *Normalizer) rewrite(u string, mark int) string {
	var few [16]string
	kept := few[:0]
	p := parameter{path: u[:mark], rest: u[mark+1:], more: true}
	for p.more {
		if p.next(); !n.drops(&p) {
			kept = append(kept, p.text)
		}
	}
	if n.sort {
		slices.SortStableFunc(kept, compareNames)
	}
	var stack [stackBuffer]byte
	out := append(stack[:0], p.path...)
	for i, text := range kept {
		out = append(append(out, "?&"[min(i, 1)]), text...)
	}
	if len(out) == mark+1 { // one parameter is left, an empty one
		out = out[:mark]
	}
	return string(out)
}

func compareNames(a, b string) int {
	a, _, _ = strings.Cut(a, "=")
	b, _, _ = strings.Cut(b, "=")
	return strings.Compare(a, b)
}
