// Package devtools speaks the Chrome DevTools Protocol with a browser over a pipe.
//
// It consumes what the browser writes, and emits commands: Conn is the connection, of the browser as a whole, and
// Session one of its targets, such as a tab. Both run the typed commands of cdproto. A pipe, unlike a port, cannot be
// found by a page or by another user of the machine, and the browser ends when the other end is closed.
// Messages are JSON, each with a NUL behind it (content/browser/devtools/devtools_pipe_handler.cc in Chromium).
//
// It guarantees that each command returns: with its answer, when its context is done, or with ErrClosed.
package devtools
