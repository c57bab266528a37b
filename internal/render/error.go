package render

import "errors"

// Kind is the reason why a page could not be rendered.
type Kind string

// Kinds.
const (
	NoAnswer Kind = "no_answer" // it does not answer: a script that never ends, or one dialog after the other
	Crash    Kind = "crash"     // its process ended, mostly for lack of memory
	TooLarge Kind = "too_large" // its document is larger than max_body
	NoStart  Kind = "no_start"  // the browser does not show it at all
	HalfRead Kind = "half_read" // the browser stopped reading its document

	LoginFailed  Kind = "login_failed"  // the login before it did not complete
	LoginRefused Kind = "login_refused" // the site refused the login
	NoSession    Kind = "no_session"    // after a login, the page shows that there is no session
)

// Error is the error of a page that cannot be rendered because of the page itself.
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

// errBrowserGone is the error of operations whose browser ended.
var errBrowserGone = errors.New("the browser ended while it loaded the page")
