package htmlpage

// Plain returns the text of a document that is not markup, as valid UTF-8, and
// the encoding it was read with, found as for a page.
func Plain(body []byte, contentType string) (text, charset string, err error) {
	b, charset, err := decode(body, contentType)
	if err != nil {
		return "", "", err
	}
	return string(b), charset, nil
}
