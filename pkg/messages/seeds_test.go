package messages

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

func TestDecodeSeeds(t *testing.T) {
	tests := []struct {
		name, payload string
		seeds         []string // URL, or "URL priority"
		bad           []string // part of each error
	}{
		{"one line", "https://example.org", []string{"https://example.org/"}, nil},
		{"lines", "https://a.org/\nhttp://b.org:80/x#y\n", []string{"https://a.org/", "http://b.org/x"}, nil},
		{"CRLF, blanks, comments", "# mine\r\n\r\nhttps://a.org/\r\n  # more\r\n\thttps://b.org/  \r\n",
			[]string{"https://a.org/", "https://b.org/"}, nil},
		{"byte order mark", "\ufeffhttps://a.org/\nhttps://b.org/", []string{"https://a.org/", "https://b.org/"}, nil},
		{"byte order mark, JSON", "\ufeff[\"https://a.org/\"]", []string{"https://a.org/"}, nil},
		{"JSON string", `"https://a.org/"`, []string{"https://a.org/"}, nil},
		{"JSON object", `{"url":"https://a.org/","priority":0}`, []string{"https://a.org/ 0"}, nil},
		{"pretty-printed object", "{\n  \"url\": \"https://a.org/\",\n  \"priority\": 9\n}\n", []string{"https://a.org/ 9"}, nil},
		{"pretty-printed objects", "{\n  \"url\": \"https://a.org/\"\n}\n{\n  \"url\": \"https://b.org/\"}\n", []string{"https://a.org/", "https://b.org/"}, nil},
		{"a pretty-printed object that is bad", "{\n\"url\": \"x\"}\n{\n\"url\": \"https://b.org/\"}\n", []string{"https://b.org/"}, []string{"invalid URL"}},
		{"pretty-printed objects that break off", "{\n\"url\": \"https://a.org/\"}\n{\n\"url\": \n\n\n", []string{"https://a.org/"}, []string{"decode JSON of seeds"}},
		{"UTF-16", "\xff\xfeh\x00t\x00t\x00p\x00\n\x00x\x00", nil, []string{"UTF-16"}},
		{"UTF-16, big-endian, no mark", "\x00h\x00t\x00t\x00p\x00\n\x00x", nil, []string{"UTF-16"}},
		{"a line that is not UTF-8", "https://a.org/\nhttps://b.org/\xe9\nhttps://c.org/", []string{"https://a.org/", "https://c.org/"}, []string{"not UTF-8"}},
		{"JSON array", ` [ "https://a.org/", {"url": "https://b.org/", "priority": 3} ] `, []string{"https://a.org/", "https://b.org/ 3"}, nil},
		{"empty array", `[]`, nil, nil},
		{"NDJSON", "{\"url\":\"https://a.org/\"}\n\"https://b.org/\"\r\n{\"url\":\"https://c.org/\",\"priority\":1}\n",
			[]string{"https://a.org/", "https://b.org/", "https://c.org/ 1"}, nil},
		{"a mixture", "# x\n{\"url\":\"https://a.org/\"}\nhttps://b.org/\n\n\"https://c.org/\"",
			[]string{"https://a.org/", "https://b.org/", "https://c.org/"}, nil},
		{"only comments", "# nothing\n", nil, nil},

		{"empty", " \n", nil, []string{"the message is empty: send at least one URL"}},
		{"one bad line", "https://a.org/\nexample.org/x\nhttps://b.org/", []string{"https://a.org/", "https://b.org/"},
			[]string{"did you mean https://example.org/x?"}},
		{"one bad of an array", `["https://a.org/", 7, {"url":"https://b.org/"}, null, ["https://c.org/"]]`,
			[]string{"https://a.org/", "https://b.org/"}, []string{"invalid URL", "invalid URL", "invalid URL"}},
		{"priorities", "{\"url\":\"https://a.org/\",\"priority\":10}\n{\"url\":\"https://b.org/\",\"priority\":-1}\n{\"url\":\"https://c.org/\",\"priority\":1.5}",
			nil, []string{"priority 10: must be from 0 (first) to 9", "priority -1: must be", "cannot unmarshal number 1.5"}},
		{"unknown field", `{"url":"https://a.org/","prio":1}`, nil, []string{`unknown field "prio"`}},
		{"no url", `{}`, nil, []string{"invalid URL"}},
		{"other schemes", "mailto:a@b.org\nftp://a.org/\nhttps://a.org/", []string{"https://a.org/"},
			[]string{"scheme is not http or https", "scheme is not http or https"}},
		{"two objects on a line", "{\"url\":\"https://a.org/\"}{\"url\":\"https://b.org/\"}", nil, []string{"after top-level value"}},
		{"something behind an object", "{\"url\":\"https://a.org/\"}}\n{\"url\":\"https://b.org/\"}]\nhttps://c.org/",
			[]string{"https://c.org/"}, []string{"after top-level value", "after top-level value"}},
		{"broken array", `["https://a.org/"`, nil, []string{"decode JSON array of seeds"}},
		{"broken string", "\"https://a.org/\nhttps://b.org/", []string{"https://b.org/"}, []string{"decode seed"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			seeds, bad := DecodeSeeds([]byte(tt.payload))
			var got []string
			for _, s := range seeds {
				text := s.URL
				if s.Priority != nil {
					text += fmt.Sprintf(" %d", *s.Priority)
				}
				got = append(got, text)
			}
			if !slices.Equal(got, tt.seeds) {
				t.Errorf("seeds %q, want %q", got, tt.seeds)
			}
			if len(bad) != len(tt.bad) {
				t.Fatalf("bad %v, want %d", bad, len(tt.bad))
			}
			for i, b := range bad {
				if !strings.Contains(b.Err.Error(), tt.bad[i]) || b.Text == "" && len(strings.TrimSpace(tt.payload)) > 0 {
					t.Errorf("%q: %v, want ... %s", b.Text, b.Err, tt.bad[i])
				}
			}
		})
	}
}

// A bad seed is reported with the line where it begins.
func TestLinesOfBadSeeds(t *testing.T) {
	for payload, want := range map[string][]int{
		"": {1}, "no url": {1}, "\ufeff\n\n# c\nno url\r\nhttps://a.org/\n\nnor this\n": {4, 7}, "\n{\n\"url\": 1}": {2},
		"\n[7,\n\"https://a.org/\",\n{\n\"url\":\n7}, 7]": {2, 4, 6}, "\n\n[": {3}, "[7, 7,\n7]": {1, 1, 2},
	} {
		_, bad := DecodeSeeds([]byte(payload))
		var got []int
		for _, b := range bad {
			got = append(got, b.Line)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q: lines %v, want %v", payload, got, want)
		}
	}
}

// A line may be as long as the message, and a message as long as NATS allows.
func TestDecodeSeedsLongLines(t *testing.T) {
	for _, n := range []int{4095, 4096, 4097, 1 << 16, 1 << 20} {
		long := "https://a.org/" + strings.Repeat("x", n-14)
		for _, payload := range []string{long, "https://b.org/\n" + long, long + "\nhttps://b.org/"} {
			seeds, bad := DecodeSeeds([]byte(payload))
			if lines := strings.Count(payload, "\n") + 1; len(seeds)+len(bad) != lines || len(bad) != 1 {
				t.Errorf("%d bytes, %d lines: %d seeds, %d bad", n, lines, len(seeds), len(bad))
			}
		}
	}
}
