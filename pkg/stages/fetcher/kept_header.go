package fetcher

import (
	"maps"
	"net/http"
	"slices"
	"strings"

	"seine/internal/base/weburl"
	"seine/pkg/messages"
)

// keptShare bounds the response header kept with a page, in bytes of names and values, to a
// fraction of the inline body: 32 KiB by default. In JSON a byte may become six, and header and
// body must fit in one message.
const keptShare = messages.InlineBody / (32 << 10)

// dropped are the fields that are not kept with a page: the hop-by-hop ones (RFC 9110 7.6.1), and
// cookies, which may hold a session and end up in files that others read.
var dropped = []string{
	"Connection", "Keep-Alive", "Proxy-Connection", "Proxy-Authenticate", "Proxy-Authentication-Info",
	"Te", "Trailer", "Transfer-Encoding", "Upgrade", "Set-Cookie", "Set-Cookie2",
}

// linking are the fields with URLs, which the parser reads.
var linking = []string{"Link", "Refresh"}

// keptHeader strips h in place to at most most bytes. In URLs it escapes bytes that are not UTF-8,
// which JSON would lose.
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
			continue // the parser needs it
		}
		size -= fieldSize(name, h[name])
		delete(h, name)
	}
}
