package pageproxy

import (
	"bytes"
	"io"
	"net/http"
)

// maxReadAhead bounds the body of a redirect that is read before the browser gets the response, in
// bytes.
const maxReadAhead = 64 << 10

// isShortRedirect reports whether a response is a redirect with a short body, which usually arrives
// at once.
func isShortRedirect(res *http.Response) bool {
	return res.StatusCode/100 == 3 && res.Header.Get("Location") != "" && res.ContentLength > 0 && res.ContentLength <= maxReadAhead
}

// readAhead reads the body for the record: browsers follow a redirect without reading its body, and
// end the request.
func readAhead(res *http.Response) {
	read, err := io.ReadAll(res.Body)
	_ = res.Body.Close() // it was read completely
	var end io.Reader = http.NoBody
	if err != nil {
		end = broken{err}
	}
	res.Body = io.NopCloser(io.MultiReader(bytes.NewReader(read), end))
}

// broken is a body that ends with an error.
type broken struct{ err error }

func (b broken) Read([]byte) (int, error) { return 0, b.err }
