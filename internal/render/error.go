package render

import "errors"

// Kind is in which way a page could not be rendered.
type Kind string

// Kinds.
const (
	NoAnswer Kind = "no_answer" // it does not answer: a script that never ends, a dialog after the other
	Crash    Kind = "crash"     // its process ended, for want of memory above all
	TooLarge Kind = "too_large" // its document is larger than may be kept
	NoStart  Kind = "no_start"  // the browser does not show it at all
	HalfRead Kind = "half_read" // the browser stops reading it

	LoginFailed  Kind = "login_failed"  // the login before it does not come to its end
	LoginRefused Kind = "login_refused" // the site refuses it
	NoSession    Kind = "no_session"    // it shows after a login that there is no session
)

// Error is why a page cannot be rendered, where that is the page's doing.
type Error struct {
	Kind Kind
	Text string
}

// Error returns the text.
func (e *Error) Error() string { return e.Text }

var (
	errTooLarge  = &Error{TooLarge, "the document that scripts have made is larger than max_body"}
	errElements  = &Error{TooLarge, "the document that scripts have made has too many nodes: at most 1,000,000"}
	errHalfRead  = &Error{HalfRead, "a script leads to an address without content before the document is read to its end"}
	errCrash     = &Error{Crash, "the page crashed in the browser: its scripts may take 512 MB of memory, and all of it 1 GiB"}
	errNoSession = &Error{NoSession, "the login has failed: the page after it matches render.login.when or redirects to render.login.url"}
	errDialogs   = &Error{NoAnswer, "the page opens one dialog after the other"}
)

// errBrowserGone is the end of what a browser was doing that ended.
var errBrowserGone = errors.New("the browser ended while it showed the page")
