package scriptweb

import "slices"

// Page is one behaviour. Paths in it are of the main origin, except those that begin with "//other/": Web.URL resolves
// them.
type Page struct {
	// Name says what is shown; it is unique.
	Name string
	// Path is that of the page at the main origin.
	Path string
	// Text must be in the text of the rendered page.
	Text []string
	// Links must be found in the rendered page, as paths with which Web.URL makes the absolute URLs.
	Links []string
	// Without must not be in the text of the rendered page.
	Without []string
	// RedirectTo is where the page leads to by itself, at once or soon after its load. Empty: it stays.
	RedirectTo string
	// Fails says that no page comes of it within the time, because its scripts do not end or its process dies.
	Fails bool
	// MayFail says that a page or a failure may come of it: all that counts is that the visit ends within its bounds.
	MayFail bool
	// Asked and NotAsked are paths that the servers must, or must not, be asked for while it is rendered, on any
	// origin. Packets by UDP count as requests for "/secret/udp-…".
	Asked, NotAsked []string
	// Attack says that the page tries to reach the second origin, which is to be refused: see NotAsked.
	Attack bool
	// NeedsOther says that the second origin must be allowed.
	NeedsOther bool
	// Render is the JSON of the options that it needs; empty for the defaults, by which the network must be idle, and
	// images, media and fonts are not loaded.
	Render string
}

// bounded is the option of pages that would take all the time that there is.
const bounded = `{"timeout":"3s"}`

// Pages returns all behaviours, in an order that stays the same.
func Pages() []Page {
	return slices.Concat(navigationPages(), dataPages(), lazyPages(), waitPages(), treePages(), workerPages(), dialogPages(), slowPages(),
		heavyPages(), policyPages(), statePages(), schemePages(), attackPages())
}

// Named returns one of Pages. It panics for a name that is none.
func Named(name string) Page {
	all := Pages()
	i := slices.IndexFunc(all, func(p Page) bool { return p.Name == name })
	if i < 0 {
		panic("scriptweb has no page " + name + ": see Pages")
	}
	return all[i]
}

// at is a page whose path is its name.
func at(name string, p Page) Page {
	p.Name, p.Path = name, "/"+name
	return p
}
