package feed

import "testing"

// Feeds write the namespaces of Atom and RSS in many ways, or use their own.
func TestNamespacesAsWritten(t *testing.T) {
	for _, space := range []string{
		"http://www.w3.org/2005/Atom", "https://www.w3.org/2005/Atom", "http://www.w3.org/2005/Atom/", "HTTPS://WWW.W3.ORG/2005/ATOM#", " http://www.w3.org/2005/atom ",
		"http://purl.org/atom/ns#", "https://purl.org/atom/ns", "http://example.com/own", "urn:own", "/", "",
	} {
		for _, prefix := range []string{"", "a:"} {
			declared := "xmlns"
			if prefix != "" {
				declared += ":a"
			}
			body := "<" + prefix + "feed " + declared + "='" + space + "' xmlns:media='http://search.yahoo.com/mrss/'><media:title>no</media:title><" + prefix + "title>F</" + prefix + "title>" +
				"<" + prefix + "entry><media:title>no</media:title><" + prefix + "title>E</" + prefix + "title><" + prefix + "link href='/e'/></" + prefix + "entry></" + prefix + "feed>"
			wantFeed(t, body)
		}
		wantFeed(t, "<rss version='2.0' xmlns='"+space+"'><channel><title>F</title><item><title>E</title><link>/e</link></item></channel></rss>")
	}
	for _, space := range []string{"http://purl.org/rss/1.0/", "https://purl.org/rss/1.0/", "http://purl.org/rss/1.0"} {
		wantFeed(t, "<rdf:RDF xmlns:rdf='https://www.w3.org/1999/02/22-rdf-syntax-ns#' xmlns='"+space+"'><channel><title>F</title></channel><item><title>E</title><link>/e</link></item></rdf:RDF>")
	}
}

func wantFeed(t *testing.T, body string) {
	t.Helper()
	f, err := Parse([]byte(body), "application/xml", "http://h.test/feed")
	if err != nil || f.Title != "F" || len(f.Items) != 1 || f.Items[0] != (Item{URL: "http://h.test/e", Title: "E"}) {
		t.Errorf("%s: %+v, %v", body, f, err)
	}
}
