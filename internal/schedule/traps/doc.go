// Package traps implements guards against endless web sites: calendars, session ids in links, pages
// for any request, folders that contain themselves, combinations of filters.
//
// [Check] checks one URL. [PatternCounter] compares a new URL of one crawl with earlier ones, in bounded memory. [SortQuery] returns the URL to look up if the order of parameters is irrelevant.
//
// A guard may err in two ways: lose pages of a sound site, or let too many pages of a trap pass.
// All of them err in the second way: URLs that cannot be distinguished reduce a count, never
// increase it.
//
// The package reads no clock and does no I/O.
package traps
