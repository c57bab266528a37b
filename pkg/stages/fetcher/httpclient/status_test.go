package httpclient

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"seine/pkg/messages"
)

func TestRetryAfter(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	const year = 365 * 24 * time.Hour
	for text, want := range map[string]time.Duration{
		"": 0, " ": 0, "0": 0, " 0 ": 0, "7": 7 * time.Second, " 120\t": 2 * time.Minute, "007": 7 * time.Second,
		"-5": 0, "+5": 0, "-0": 0, "1.5": 0, "1e3": 0, "0x10": 0, "5s": 0, "1,5": 0, "7, 8": 0, "soon": 0, "\u0667": 0,
		"31535999": year - time.Second, "31536000": year, "31536001": year,
		"9223372036854775807": year, "9223372036854775808": year, "1" + strings.Repeat("0", 30): year,
		// The three forms of RFC 9110 5.6.7.
		"Fri, 02 Jan 2026 03:05:05 GMT":  time.Minute,
		"Friday, 02-Jan-26 03:05:05 GMT": time.Minute,
		"Fri Jan  2 03:05:05 2026":       time.Minute,
		"Fri, 02 Jan 2026 03:04:05 GMT":  0,
		"Fri, 02 Jan 2026 03:00:00 GMT":  0,
		"Sunday, 06-Nov-94 08:49:37 GMT": 0,
		"Thu, 01 Jan 1970 00:00:00 GMT":  0,
		"Sat, 01 Jan 0000 00:00:00 GMT":  0,
		"Sat, 02 Jan 2027 03:00:00 GMT":  year - 4*time.Minute - 5*time.Second,
		"Fri, 31 Dec 9999 23:59:59 GMT":  year,
		"Fri, 32 Jan 2026 03:05:05 GMT":  0,
		"2026-01-02T03:05:05Z":           0,
		"1767323105000000000000000":      year,
	} {
		if got := retryAfter(http.Header{"Retry-After": {text}}, now); got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
	if got := retryAfter(http.Header{}, now); got != 0 {
		t.Errorf("without the field: %s", got)
	}
	skewed := http.Header{"Retry-After": {"Fri, 02 Jan 2026 01:00:10 GMT"}, "Date": {"Fri, 02 Jan 2026 01:00:00 GMT"}}
	if got := retryAfter(skewed, now); got != 10*time.Second {
		t.Errorf("with the server's own date: %s", got)
	}
}

func TestValidatorsThatCannotTravelAreDropped(t *testing.T) {
	t.Parallel()
	s := newClientFixture(t)
	long := strings.Repeat("x", messages.MaxValidator)
	for value, want := range map[string]string{
		"": "", `"a"`: `"a"`, "any text": "any text", long: long, long + "x": "", "a\tb": "", `"é"`: `"é"`,
		"\"\xe9\"": "", strings.Repeat("é", messages.MaxValidator/2+1): "", "<&>": "<&>",
	} {
		s.web.Handle(0, "/", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/html")
			w.Header()["Etag"], w.Header()["Last-Modified"] = []string{value}, []string{value}
		})
		h := s.get(s.url("/"))
		if h.wants(t, messages.OK); h.ETag != want || h.LastModified != want {
			t.Errorf("%q: %q and %q, want %q", value, h.ETag, h.LastModified, want)
		}
	}
	// net/http would refuse to send these; another client would not.
	for _, bad := range []string{"a\r\nb", "a\x00", "a\x7f", "\n"} {
		if got := validator(http.Header{"Etag": {bad}}, "Etag"); got != "" {
			t.Errorf("%q is kept as %q", bad, got)
		}
	}
}
