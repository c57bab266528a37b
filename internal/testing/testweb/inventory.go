package testweb

// Path returns the escaped path, and query, of HTML page number page of a host. Page 0 is "/".
func (w *Web) Path(host, page int) string { return string(w.site.appendPath(nil, host, page)) }

// Pages lists the paths of the HTML pages that a correct crawler must find with status 200 if it
// starts at "/" and obeys robots.txt. Traps and special pages are not among them.
func (w *Web) Pages(host int) []string {
	s := w.site
	if !s.robotsAllowPages() {
		return nil
	}
	pages := s.tree(host)
	return append(pages, s.private(host, func(page int) bool {
		return s.cfg.RobotsTxt == RobotsMissing || s.isOpen(host, page)
	})...)
}

// Disallowed lists the paths of linked HTML pages that robots.txt forbids.
func (w *Web) Disallowed(host int) []string {
	s := w.site
	switch {
	case s.cfg.RobotsTxt == RobotsMissing:
		return nil
	case !s.robotsAllowPages():
		return append(s.tree(host), s.private(host, func(int) bool { return true })...)
	}
	return s.private(host, func(page int) bool { return !s.isOpen(host, page) })
}

// Missing lists linked paths that always answer 404 or 410.
func (w *Web) Missing(host int) []string {
	return w.site.collect(host, w.site.hasMissing, w.site.appendMissing)
}

// Flaky lists the paths that answer 5xx the first Config.ErrorTries times. Pages includes them.
func (w *Web) Flaky(host int) []string {
	return w.site.collect(host, w.site.isFlaky, w.site.appendPath)
}

// Redirects lists the paths that a parent page links instead of a page, and that redirect to it.
func (w *Web) Redirects(host int) []string {
	return w.site.collect(host, w.site.isRedirected, w.site.appendRedirect)
}

func (s *site) robotsAllowPages() bool {
	return s.cfg.RobotsTxt == RobotsRules || s.cfg.RobotsTxt == RobotsMissing
}

func (s *site) tree(host int) []string {
	return s.collect(host, func(int, int) bool { return true }, s.appendPath)
}

func (s *site) private(host int, keep func(page int) bool) []string {
	return s.collect(host, func(host, page int) bool {
		return s.hasPrivate(host, page) && keep(page)
	}, s.appendPrivate)
}

// collect returns a path for each page number of the host that keep accepts.
func (s *site) collect(host int, keep func(host, page int) bool, write func([]byte, int, int) []byte) []string {
	var paths []string
	for page := range s.cfg.PagesPerHost {
		if keep(host, page) {
			paths = append(paths, string(write(nil, host, page)))
		}
	}
	return paths
}
