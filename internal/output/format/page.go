package format

import (
	"io"

	"seine/pkg/messages"
)

// Page is what a Record of PAGES has beside its message.
type Page struct {
	*messages.Page
	// Request and Head are of an archived page: the request as it was sent, and the
	// response up to its body as received. Of any other page they are nil.
	Request, Head []byte
	// Body opens the body as the site meant it, without any encoding.
	Body func() (io.ReadCloser, error)
	// Wire opens the body as received, in its content codings. It is unknown of a
	// page that was not archived: there it is nil.
	Wire func() (io.ReadCloser, error)
}
