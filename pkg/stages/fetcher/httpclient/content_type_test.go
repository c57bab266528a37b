package httpclient

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"strings"
	"testing"

	"seine/internal/testing/rawserver"
	"seine/pkg/messages"
)

const shownPage = "<!DOCTYPE html><title>shown</title>"

// A faulty header is read as browsers read it: by the last valid type, otherwise by the bytes, and
// ignoring values that are not codings.
func TestPagesThatBrowsersShowAreKept(t *testing.T) {
	t.Parallel()
	zipped := string(packed(shownPage))
	s := newClientFixture(t)
	binary := "\x89PNG\r\n\x1a\n" + strings.Repeat("\x00", 100)
	for name, c := range map[string]struct {
		fields, body string
		want         messages.Class
		contentType  string
	}{
		"the type twice":            {"Content-Type: text/html, text/html; charset=utf-8", shownPage, messages.OK, "text/html, text/html; charset=utf-8"},
		"two fields":                {"Content-Type: application/x-junk\r\nContent-Type: text/html", shownPage, messages.OK, "application/x-junk, text/html"},
		"the last type counts":      {"Content-Type: text/html, application/zip", shownPage, messages.UnsupportedType, ""},
		"any type after one":        {"Content-Type: text/html, */*", shownPage, messages.OK, "text/html, */*"},
		"no semicolon":              {"Content-Type: text/html charset=utf-8", shownPage, messages.OK, "text/html charset=utf-8"},
		"capitals and quotes":       {`Content-Type: "Text/HTML"`, shownPage, messages.OK, `"Text/HTML"`},
		"a charset alone":           {"Content-Type: ; charset=windows-1251", shownPage, messages.OK, "text/html; charset=windows-1251"},
		"any type":                  {"Content-Type: */*", shownPage, messages.OK, "text/html"},
		"half a type":               {"Content-Type: html", shownPage, messages.OK, "text/html"},
		"half a type with charset":  {"Content-Type: html; charset=utf-8", shownPage, messages.OK, "text/html; charset=utf-8"},
		"no subtype":                {"Content-Type: text/", shownPage, messages.OK, "text/html"},
		"unknown":                   {"Content-Type: unknown/unknown", shownPage, messages.OK, "text/html"},
		"application/unknown":       {"Content-Type: application/unknown", shownPage, messages.OK, "text/html"},
		"no type":                   {"Content-Type:", shownPage, messages.OK, "text/html"},
		"an image of any type":      {"Content-Type: */*", binary, messages.UnsupportedType, ""},
		"an image of half a type":   {"Content-Type: html", binary, messages.UnsupportedType, ""},
		"a download":                {"Content-Type: application/octet-stream", shownPage, messages.UnsupportedType, ""},
		"charset as coding":         {"Content-Type: text/html\r\nContent-Encoding: UTF-8", shownPage, messages.OK, "text/html"},
		"no coding":                 {"Content-Type: text/html\r\nContent-Encoding: none", shownPage, messages.OK, "text/html"},
		"another charset as coding": {"Content-Type: text/html\r\nContent-Encoding: iso-8859-1", shownPage, messages.OK, "text/html"},
		"binary as coding":          {"Content-Type: text/html\r\nContent-Encoding: binary", shownPage, messages.OK, "text/html"},
		"a coding and none":         {"Content-Type: text/html\r\nContent-Encoding: gzip, none", zipped, messages.OK, "text/html"},
		"a charset and a coding":    {"Content-Type: text/html\r\nContent-Encoding: utf-8\r\nContent-Encoding: x-gzip", zipped, messages.OK, "text/html"},
		"a coding that exists":      {"Content-Type: text/html\r\nContent-Encoding: x-compress", "x", messages.BadEncoding, ""},
	} {
		for _, archive := range []bool{false, true} {
			r := rawserver.New(t, func(int) (string, bool) {
				return fmt.Sprintf("HTTP/1.1 200 OK\r\n%s\r\nContent-Length: %d\r\n\r\n%s", c.fields, len(c.body), c.body), true
			})
			a := s.request(r.URL + "/")
			a.Archive = archive
			h := s.do(a)
			h.wants(t, c.want)
			if c.want == messages.OK && (string(decoded(h.Body.Data, []string{h.Body.Encoding})) != shownPage || h.ContentType != c.contentType) {
				t.Errorf("%s: %q of type %s, want %s", name, h.Body.Data, h.ContentType, c.contentType)
			}
		}
	}
}

func packed(text string) []byte {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, _ = z.Write([]byte(text))
	_ = z.Close()
	return b.Bytes()
}
