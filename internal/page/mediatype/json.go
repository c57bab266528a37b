package mediatype

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
)

// jsonFeed is part of the version of every JSON Feed (jsonfeed.org/version/1.1).
var jsonFeed = []byte("https://jsonfeed.org/version/")

// findJSON classifies a body that begins with a brace or a bracket. If JSON is declared, it only
// checks for the version of a feed.
func findJSON(start []byte, cut bool, declared Class) finding {
	feed := start[0] == '{' && (bytes.Contains(start, jsonFeed) || bytes.Contains(start, []byte(`https:\/\/jsonfeed.org\/version\/`)))
	if declared == JSON || declared == NDJSON || declared == Feed && feed {
		if feed {
			return finding{mediaJSONFeed, Feed}
		}
		return finding{}
	}
	values, lines, ok := jsonValues(start, cut)
	switch {
	case !ok:
		return finding{}
	case feed:
		return finding{mediaJSONFeed, Feed}
	case values > 1 && lines:
		return finding{mediaNDJSON, NDJSON}
	case values > 1:
		return finding{}
	}
	return finding{mediaJSON, JSON}
}

// jsonValues counts the top-level values, including one that is truncated at the end of the head,
// and reports whether each is on a separate line. ok is false if there is other text, or only a
// bracket, with which texts may begin too.
func jsonValues(head []byte, cut bool) (values int, lines, ok bool) {
	d := json.NewDecoder(bytes.NewReader(head)) //nolint:forbidigo // not decoded into a struct
	depth, tokens, last := 0, 0, int64(0)
	lines = true
	for {
		t, err := d.Token()
		if err != nil {
			ended := errors.Is(err, io.EOF) && depth == 0
			broken := cut && (errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF))
			return values, lines, (ended || broken) && tokens > 1
		}
		tokens++
		if depth == 0 {
			values++
			lines = lines && (values == 1 || bytes.IndexByte(head[last:d.InputOffset()], '\n') >= 0)
		}
		switch t {
		case json.Delim('{'), json.Delim('['):
			depth++
		case json.Delim('}'), json.Delim(']'):
			depth--
		}
		last = d.InputOffset()
	}
}
