// Package devtools implements the Chrome DevTools Protocol over a pipe.
//
// Conn is the connection to a browser, and Session is one of its targets, such as a tab. Both run
// the typed commands of cdproto and pass on events. Unlike a port, a pipe cannot be found by a page
// or by another user of the machine, and the browser ends when the other end is closed. Messages
// are JSON, each followed by a NUL byte (content/browser/devtools/devtools_pipe_handler.cc in
// Chromium).
//
// Each command is guaranteed to return: with its response, when its context is done, or with
// ErrClosed.
package devtools
