package charset

import (
	"bytes"

	"seine/internal/base/ascii"
	"seine/internal/page/mediatype"
)

// fromHeader returns the encoding of a Content-Type header's charset parameter, or the zero value
// if it is unknown.
func fromHeader(contentType string) Encoding {
	return labelled([]byte(mediatype.Charset(contentType)))
}

// fromContent extracts the encoding from a meta element's content attribute (section 2.5.3). With
// an unclosed quote there is none.
func fromContent(b []byte) Encoding {
	const key = "charset"
	for i := 0; i+len(key) <= len(b); i++ {
		if !ascii.HasPrefix(b[i:], key) {
			continue
		}
		rest := bytes.TrimLeft(b[i+len(key):], asciiSpace)
		if len(rest) > 0 && rest[0] == '=' {
			return labelled(contentValue(bytes.TrimLeft(rest[1:], asciiSpace)))
		}
		i = len(b) - len(rest) - 1
	}
	return Encoding{}
}

func contentValue(b []byte) []byte {
	if len(b) > 0 && (b[0] == '"' || b[0] == '\'') {
		end := bytes.IndexByte(b[1:], b[0])
		if end < 0 {
			return nil
		}
		return b[1 : 1+end]
	}
	if end := bytes.IndexAny(b, asciiSpace+";"); end >= 0 {
		return b[:end]
	}
	return b
}
