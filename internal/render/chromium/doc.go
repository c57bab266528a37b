// Package chromium runs Chromium for the renderer: without a window, without root, in its own sandbox, in a profile that
// is its own and that goes with it.
//
// Start consumes the path of an executable, and emits a process with a DevTools connection over a pipe. It guarantees
// that the browser and all its processes end with this process, also where that is killed with SIGKILL, and that the next
// Start removes the profile that such a process has left. The browser resolves no name and opens no connection but to
// the proxy on the loopback interface that each browser context is given; what it would do of its own (updates, metrics,
// translation, spell checking) is switched off.
package chromium
