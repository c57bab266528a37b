// Package render shows pages in a browser, and returns the documents that their scripts make.
//
// Its input is a document that was fetched before, with a transport for the other requests of its
// page; its output is HTML. A Renderer has a fixed number of tabs. Each has its own browser context
// and proxy (package pageproxy), which is its only access to the web: the document is served from
// memory, and all other requests use the transport of the job, with its address guard.
//
// # Guarantees
//
// Every call ends: with a page, with an *Error about the page, or with an error of the context. A
// page that takes too long is taken in its current state, and a page that does not answer affects
// only its tab. A browser that ends or stops answering is replaced, and the page is shown once
// more. Crawls never share cookies, storage and cache: these are in a browser context of the crawl,
// and removed with it. Nothing is downloaded, printed or asked of a user.
//
// # Sessions
//
// For a job with a login, the tab logs in before its first page, and again if a page shows that
// there is no session. That page is shown once more, and is an *Error if it still shows none. The
// secrets of a login are not recorded.
//
// # Effects of a crash
//
// A crash affects the pages that are being shown: their requests are sent again. Package chromium
// ensures that no process and no directory is left behind.
//
// # Memory
//
// A tab takes 60 to 150 MB in the browser. Its scripts may take 512 MB; a page that needs more
// crashes, without affecting others.
package render
