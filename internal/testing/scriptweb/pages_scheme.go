package scriptweb

// schemePages link to non-web schemes, which must be refused.
func schemePages() []Page {
	return []Page{
		at("file-urls", Page{Text: []string{"shown beside file addresses", "file refused"}, Without: []string{"root:"}}),
		at("chrome-urls", Page{Text: []string{"shown beside browser addresses"}}),
		at("external-schemes", Page{Text: []string{"shown beside other programs"}}),
	}
}
