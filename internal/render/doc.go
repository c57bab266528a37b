// Package render shows pages in a browser, and returns the document that their scripts have made.
//
// It consumes a document that was fetched before, with the way by which the rest of its page may be asked for, and emits
// HTML. A Renderer has so many tabs, each with a browser context and a proxy (package pageproxy) of its own, by which
// alone it reaches the web: the document is answered from memory, and everything else is asked for by the transport of
// the job, with its guard of addresses.
//
// # Guarantees
//
// Every call ends: with a page, with an *Error that says what the page did, or with an error of the context. What takes
// too long is taken as it stands, and a page that does not answer costs its tab alone. A browser that ends or stops
// answering is replaced, and the page shown once more. Cookies, storage and cache of one crawl are never of another: they
// are in a browser context of the crawl, which goes with it. Nothing is downloaded, printed or asked of a user.
//
// # Sessions
//
// A job with a login has its tab log in before the tab's first page, and again where a page shows that there is no session; that
// page is shown once more, and is an *Error if it still shows none. The secrets of a login are in no record.
//
// # What a crash costs
//
// The pages that are being shown: their requests are sent again. Package chromium ensures that no process and no
// folder is left behind.
//
// # Memory
//
// A tab takes 60 to 150 MB in the browser. Its scripts may take 512 MB; a page that wants more crashes alone.
package render
