package scriptweb

import "slices"

// Page describes one behaviour. Its paths are of the main origin, except those that begin with
// "//other/": Web.URL resolves them.
type Page struct {
	// Name is a unique description.
	Name string
	// Path is the path of the page on the main origin.
	Path string
	// Text must be in the text of the rendered page.
	Text []string
	// Links are paths that must be found in the rendered page. Web.URL makes absolute URLs of them.
	Links []string
	// Without must not be in the text of the rendered page.
	Without []string
	// RedirectTo is the target of a redirect at once or soon after the load. It is empty if the
	// page stays.
	RedirectTo string
	// Fails marks pages that cannot be rendered in time, because their scripts do not end or their
	// process dies.
	Fails bool
	// MayFail allows a page or a failure; the visit only has to end within its bounds.
	MayFail bool
	// Asked and NotAsked are paths that the servers must, or must not, get requests for while the
	// page is rendered, on any origin. UDP packets count as requests for "/secret/udp-…".
	Asked, NotAsked []string
	// Attack marks pages that try to reach the second origin, which must be refused: see NotAsked.
	Attack bool
	// NeedsOther says that the second origin must be allowed.
	NeedsOther bool
	// Render has the options of the page as JSON. By default (empty), the renderer waits for an
	// idle network and does not load images, media and fonts.
	Render string
}

// bounded limits pages that would use all the available time.
const bounded = `{"timeout":"3s"}`

// Pages returns all behaviours in a fixed order.
func Pages() []Page {
	return slices.Concat(navigationPages(), dataPages(), lazyPages(), waitPages(), treePages(), workerPages(), dialogPages(), slowPages(),
		heavyPages(), policyPages(), statePages(), schemePages(), attackPages())
}

// Named returns the page with a name. It panics if Pages has no such page.
func Named(name string) Page {
	all := Pages()
	i := slices.IndexFunc(all, func(p Page) bool { return p.Name == name })
	if i < 0 {
		panic("scriptweb has no page " + name + ": see Pages")
	}
	return all[i]
}

// at sets the name of a page, and its path to match.
func at(name string, p Page) Page {
	p.Name, p.Path = name, "/"+name
	return p
}
