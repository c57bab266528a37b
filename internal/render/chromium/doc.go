// Package chromium runs Chromium for the renderer: without a window, without root, in its own
// sandbox, with a temporary profile.
//
// Start runs an executable as a process with a DevTools connection over a pipe. It guarantees that
// the browser and all its processes end with this process, even on SIGKILL, and that the next Start
// removes the profile that a killed process left. The browser resolves no names, and connects only
// to the proxy on the loopback interface that each browser context is given. Its own background
// activity (updates, metrics, translation, spell checking) is switched off.
package chromium
