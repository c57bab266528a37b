package format

import (
	"io"

	"seine/pkg/messages"
)

// Page is the decoded content of a Record of PAGES.
type Page struct {
	*messages.Page
	// Request and Head are the request as sent, and the response up to its body as received. They
	// are nil for a page that was not archived.
	Request, Head []byte
	// Body opens the body, decoded from its content codings.
	Body func() (io.ReadCloser, error)
	// Wire opens the body as received, in its content codings. It is nil for a page that was not
	// archived.
	Wire func() (io.ReadCloser, error)
}
