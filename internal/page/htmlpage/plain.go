package htmlpage

import "seine/internal/page/charset"

// Plain returns the text of a document that is not markup, as valid UTF-8, and the name of its
// encoding.
func Plain(body []byte, contentType string) (text, encoding string, err error) {
	b, e := charset.DecodeText(body, contentType)
	return string(b), e.Name(), nil
}
