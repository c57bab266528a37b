package format

import (
	"strings"
	"testing"

	"seine/pkg/messages"
)

// The media type of a body is the one that its site sent, if a header can contain it.
func TestTypeOfABodyIsWhatTheSiteSaid(t *testing.T) {
	for said, want := range map[string]string{
		"text/html; charset=utf-8": "text/html; charset=utf-8", "TEXT/HTML;charset=\"UTF-8\"": "text/html; charset=UTF-8", "image/png": "image/png",
		"text/html; charset=utf-8, text/html": "text/html", "text/html; charset": "text/html", "text/html\r\nx: y": "text/html",
		"": AnyType, "nonsense": AnyType, "text/plain; x=" + strings.Repeat("y", 300): "text/plain",
		"text/" + strings.Repeat("y", 300): AnyType,
	} {
		r := &Record{Page: &Page{Page: &messages.Page{ContentType: said}}}
		if got := (rawBody{}).Type(r); got != want {
			t.Errorf("%.40q is said to be %.40q, want %q", said, got, want)
		}
	}
	if got := (rawBody{}).Type(&Record{}); got != AnyType {
		t.Errorf("of no page: %q", got)
	}
}
