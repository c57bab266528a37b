package fetcher

import (
	"maps"
	"net/http"
	"slices"
	"strings"

	"seine/internal/base/weburl"
	"seine/pkg/messages"
)

// keptShare bounds the response header that goes with a page, in bytes of
// names and values, to a part of what the message carries of the body: 32 KiB by default.
// In JSON a byte may become six, and header and body must fit in one message.
const keptShare = messages.InlineBody / (32 << 10)

// dropped are the fields that do not go with a page: the hop-by-hop ones
// (RFC 9110 7.6.1), and cookies, which may hold a session and end up in files
// that others read.
var dropped = []string{
	"Connection", "Keep-Alive", "Proxy-Connection", "Proxy-Authenticate", "Proxy-Authentication-Info",
	"Te", "Trailer", "Transfer-Encoding", "Upgrade", "Set-Cookie", "Set-Cookie2",
}

// linking are the fields that hold URLs, which the parser reads.
var linking = []string{"Link", "Refresh"}

// keptHeader strips h in place to at most so many bytes. In JSON a byte that is not UTF-8 would be lost; in a
// URL it is written so that it is not.
func keptHeader(h http.Header, most int) http.Header {
	for _, name := range linking {
		for i, v := range h[name] {
			h[name][i] = weburl.EscapeInvalid(v)
		}
	}
	for _, v := range h["Connection"] {
		for name := range strings.SplitSeq(v, ",") {
			h.Del(strings.TrimSpace(name))
		}
	}
	for _, name := range dropped {
		delete(h, name)
	}
	if size := headerSize(h); size > most {
		shrink(h, size, most)
	}
	return h
}

func headerSize(h http.Header) int {
	size := 0
	for name, values := range h {
		size += fieldSize(name, values)
	}
	return size
}

func fieldSize(name string, values []string) int {
	size := 0
	for _, v := range values {
		size += len(name) + len(v)
	}
	return size
}

// shrink drops the largest fields until the rest is small enough.
func shrink(h http.Header, size, most int) {
	names := slices.SortedFunc(maps.Keys(h), func(a, b string) int {
		if d := fieldSize(b, h[b]) - fieldSize(a, h[a]); d != 0 {
			return d
		}
		return strings.Compare(a, b)
	})
	for _, name := range names {
		if size <= most {
			return
		}
		if name == messages.HeaderRobots && fieldSize(name, h[name]) < most/8 {
			continue // which the parser must know
		}
		size -= fieldSize(name, h[name])
		delete(h, name)
	}
}
