package document

import (
	"bytes"
	"fmt"

	"golang.org/x/net/html"
)

// buildHTML builds the tree of a page, unless that might take more than MaxTree bytes.
func buildHTML(body []byte) (*html.Node, error) {
	if !treeFits(body, MaxTree) {
		return nil, errTree("its DOM")
	}
	root, err := html.ParseWithOptions(bytes.NewReader(body), html.ParseOptionEnableScripting(false))
	if err != nil {
		return nil, fmt.Errorf("build DOM: %w", err)
	}
	return root, nil
}

// treeFits reports whether the tree of a page takes at most this many bytes, without building it:
// by a [forecast].
func treeFits(body []byte, most int) bool {
	f := newForecast(body, most)
	f.run()
	return f.left >= 0
}
