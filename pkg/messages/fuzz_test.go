package messages

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/nats-io/nats.go"

	"seine/internal/base/weburl"
)

// fixedPoint checks that a decoded value, encoded and decoded again, stays the same: two encodings
// in a row are equal.
func fixedPoint[T any](t *testing.T, in []byte, v *T, decode func([]byte) (*T, error), encode func(*T) []byte) {
	t.Helper()
	once := encode(v)
	again, err := decode(once)
	if err != nil {
		t.Fatalf("%q decodes, but not as written again:\n%s\n%v", in, once, err)
	}
	if twice := encode(again); !bytes.Equal(once, twice) {
		t.Fatalf("%q became\n%s\nand then\n%s", in, once, twice)
	}
}

func FuzzDecodeCandidates(f *testing.F) {
	f.Add([]byte(candidates))
	f.Add([]byte(`{"v":1,"crawl":"c","source":"seed","depth":0,"urls":[{"u":"\ud800"}],"parse_error":"\u0000"}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		if c, err := DecodeCandidates(b); err == nil {
			fixedPoint(t, b, c, DecodeCandidates, (*Candidates).Encode)
		}
	})
}

func FuzzDecodeRequest(f *testing.F) {
	f.Add([]byte(visited))
	f.Add(edited(visited, map[string]any{"delay_ms": 1000, "epoch": 7, "redirects": 1, "rev": 3, "interval_ms": 5, "run": 2, "etag": `W/"x"`, "last_modified": "now"}))
	f.Fuzz(func(t *testing.T, b []byte) {
		if r, err := DecodeRequest(b); err == nil {
			fixedPoint(t, b, r, DecodeRequest, (*Request).Encode)
		}
	})
}

func FuzzDecodeResult(f *testing.F) {
	f.Add([]byte(visited))
	f.Add(edited(visited, map[string]any{
		"crawl_delay_ms": 1, "retry_after_ms": 5, "timings": map[string]any{"dns_ms": 1, "total_ms": 2}, "error": "x", "bytes_wire": 1,
		"etag": `"é"`, "last_modified": "Fri, 02 Jan 2026 03:05:05 GMT", "digest": strings.Repeat("0a", 16),
	}))
	f.Fuzz(func(t *testing.T, b []byte) {
		if r, err := DecodeResult(b); err == nil {
			fixedPoint(t, b, r, DecodeResult, (*Result).Encode)
		}
	})
}

func FuzzDecodePage(f *testing.F) {
	f.Add([]byte(visited))
	f.Add(edited(visited, map[string]any{"header": map[string]any{"É": []string{"漢", "🎣"}}, "body_encoding": "zstd"}))
	f.Fuzz(func(t *testing.T, b []byte) {
		if pg, err := decodePageText(b); err == nil {
			fixedPoint(t, b, pg, decodePageText, func(pg *Page) []byte { return []byte(pg.Msg(0, nil).Header.Get(HeaderPage)) })
		}
	})
}

func FuzzDecodeSeeds(f *testing.F) {
	for _, s := range []string{
		"https://a.org/", "\ufeff# c\r\nhttps://a.org/\r\nx", `["https://a.org/",{"url":"https://b.org/","priority":1}]`,
		`{"url":"https://a.org/"}` + "\n" + `"https://b.org/"`, "{}}", "[", `"`, "null", "1",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		seeds, bad := DecodeSeeds(b)
		for _, s := range seeds {
			if got, err := weburl.Canonicalize(s.URL); err != nil || got != s.URL {
				t.Fatalf("%q is not canonical: %q, %v", s.URL, got, err)
			}
			if s.Priority != nil && (*s.Priority < 0 || *s.Priority > MaxPriority) {
				t.Fatalf("priority %d", *s.Priority)
			}
			one, err := json.Marshal(s)
			if err != nil {
				t.Fatal(err)
			}
			if again, bad := DecodeSeeds(one); len(again) != 1 || again[0].URL != s.URL || len(bad) > 0 {
				t.Fatalf("%s gives %v, bad %v", one, again, bad)
			}
		}
		for _, x := range bad {
			if x.Err == nil || x.Err.Error() == "" {
				t.Fatalf("%q is bad without a reason", x.Text)
			}
			if x.Line < 1 || x.Line > 1+bytes.Count(b, []byte("\n")) {
				t.Fatalf("%q is in line %d", x.Text, x.Line)
			}
		}
	})
}

func FuzzVisit(f *testing.F) {
	f.Add([]byte(testVisit))
	f.Add([]byte(""))
	f.Add([]byte("00000000000000000000000000000000.1"))
	f.Add([]byte("FFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFF.007"))
	f.Fuzz(func(t *testing.T, b []byte) {
		var v, again Visit
		if v.UnmarshalText(b) != nil {
			return
		}
		text, err := v.MarshalText()
		if err != nil {
			t.Fatal(err)
		}
		if err := again.UnmarshalText(text); err != nil || again != v {
			t.Fatalf("%q became %q and then %v: %v", b, text, again, err)
		}
	})
}

func FuzzDeadHeader(f *testing.F) {
	f.Add("X", "value", "reason\r\nInjected: yes")
	f.Fuzz(func(t *testing.T, k, v, reason string) {
		d := Dead{Stage: StageWriter, Header: nats.Header{k: {v}}, Reason: reason}
		got := d.Msg().Header.Get(HeaderDeadReason)
		for _, c := range []byte(got) {
			if c < ' ' || c == 0x7f {
				t.Fatalf("reason %q", got)
			}
		}
	})
}
