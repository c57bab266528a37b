// Package traps has the guards against web sites without an end: calendars,
// session ids in links, pages for whatever is asked, folders that contain
// themselves, filters that multiply.
//
// [Check] looks at one URL. [PatternCounter] compares a new URL of one crawl with those
// before it, in bounded memory, and [SortQuery] names the URL to look for where the
// order of parameters is to mean nothing.
//
// A guard that errs loses pages of a sound site or lets too many of a trap pass.
// All of them err to the second side: what is not told apart is counted as less,
// never as more.
//
// Nothing here reads a clock or does I/O.
package traps
