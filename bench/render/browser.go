package main

import "context"

// browser shows pages.
type browser interface {
	// show returns the HTML of a page after its scripts. It is called by as many goroutines as there are tabs.
	show(ctx context.Context, url string) (string, error)
	// close ends the browser.
	close()
}

// setup is how a browser is to work.
type setup struct {
	path         string // of the browser, "" for the first on the PATH
	tabs         int
	until        string // load or idle
	browserPages int    // after which Seine replaces its browser
	work         string // a folder
	windows      bool   // chromedp's tabs have a window each
}

// kinds are the browsers that are compared, in their order.
var kinds = []struct {
	name  string
	start func(setup) (browser, error)
}{
	{"Seine", startSeine},
	{"bare chromedp", startBare},
}
