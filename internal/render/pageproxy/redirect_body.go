package pageproxy

import (
	"bytes"
	"io"
	"net/http"
)

// maxReadAhead bounds the body of a redirect that is read before the browser
// has the response, in bytes.
const maxReadAhead = 64 << 10

// isShortRedirect is true of a redirect whose body comes at once, as a rule.
func isShortRedirect(res *http.Response) bool {
	return res.StatusCode/100 == 3 && res.Header.Get("Location") != "" && res.ContentLength > 0 && res.ContentLength <= maxReadAhead
}

// readAhead reads the body, so that the record has it: browsers follow a redirect
// without a look at its body, and end the request.
func readAhead(res *http.Response) {
	read, err := io.ReadAll(res.Body)
	_ = res.Body.Close() // was read
	var end io.Reader = http.NoBody
	if err != nil {
		end = broken{err}
	}
	res.Body = io.NopCloser(io.MultiReader(bytes.NewReader(read), end))
}

// broken is a body that breaks off.
type broken struct{ err error }

func (b broken) Read([]byte) (int, error) { return 0, b.err }
