package httpclient

import (
	"strings"

	"seine/pkg/messages"
)

const (
	okHead   = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"
	twoBytes = "Content-Length: 2\r\n\r\nok"
	hints    = "HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n"
)

// hostileHeads respond with an invalid header, or an excessive one.
var hostileHeads = []hostile{
	// Status lines.
	{name: "no HTTP", serve: holds("SSH-2.0-OpenSSH_9.6\r\n\r\n"), want: messages.ProtocolError, text: "malformed HTTP response"},
	{name: "HTTP/0.9", serve: says("<html>hello</html>"), want: messages.ProtocolError, text: "malformed HTTP response"},
	{name: "TLS alert on the plain port", serve: says("\x15\x03\x01\x00\x02\x02\x46"), want: messages.ProtocolError, text: "malformed HTTP response"},
	{name: "empty line first", serve: holds("\r\n" + okHead + twoBytes), want: messages.OK, text: "ok"},
	{name: "version of letters", serve: holds("HTTP/x.y 200 OK\r\n\r\n"), want: messages.ProtocolError, text: "malformed HTTP version"},
	{name: "no version", serve: holds("HTTP 200 OK\r\n\r\n"), want: messages.ProtocolError, text: "malformed HTTP version"},
	{name: "status 1000", serve: holds("HTTP/1.1 1000 Much\r\n\r\n"), want: messages.ProtocolError, text: `malformed HTTP status code "1000"`},
	{name: "status 99", serve: holds("HTTP/1.1 99 Little\r\n\r\n"), want: messages.ProtocolError, text: `malformed HTTP status code "99"`},
	{name: "status 099", serve: holds("HTTP/1.1 099 Little\r\nContent-Length: 0\r\n\r\n"), want: messages.ProtocolError, text: "99 is not a valid response status"},
	{name: "status 600", serve: holds("HTTP/1.1 600 Much\r\nContent-Length: 0\r\n\r\n"), want: messages.ProtocolError, text: "600 is not a valid response status"},
	{name: "status -20", serve: holds("HTTP/1.1 -20 Less\r\n\r\n"), want: messages.ProtocolError, text: `malformed HTTP status code "-20"`},
	{name: "status of letters", serve: holds("HTTP/1.1 two OK\r\n\r\n"), want: messages.ProtocolError, text: `malformed HTTP status code "two"`},
	{name: "status line alone", serve: holds("HTTP/1.1\r\n\r\n"), want: messages.ProtocolError, text: "malformed HTTP response"},
	// A version that does not exist is accepted: the rest is read as HTTP/1.1.
	{name: "HTTP/9.9", serve: holds("HTTP/9.9 200 OK\r\nContent-Type: text/html\r\n" + twoBytes), want: messages.OK, text: "ok"},

	// Fields.
	{name: "field without colon", serve: holds(okHead + "no colon here\r\n" + twoBytes), want: messages.OK, text: "ok"},
	{name: "field with a space in its name", serve: holds(okHead + "X Name: x\r\n" + twoBytes), want: messages.OK, text: "ok"},
	{name: "field without a name", serve: holds(okHead + ": x\r\n" + twoBytes), want: messages.OK, text: "ok"},
	{name: "first line is folded", serve: holds("HTTP/1.1 200 OK\r\n folded: x\r\nContent-Type: text/html\r\n" + twoBytes), want: messages.OK, text: "ok"},
	{name: "name with U+2010", serve: holds(okHead + "X\u2010Name: x\r\n" + twoBytes), want: messages.OK, text: "ok"},
	{name: "name with U+2010 of a length", serve: holds(okHead + "Content\u2010Length: 1\r\n" + twoBytes), want: messages.OK, text: "ok"},
	{name: "status line twice", serve: holds("HTTP/1.1 200 OK\r\n" + okHead + twoBytes), want: messages.OK, text: "ok"},
	{name: "folds of what is no field", serve: holds(okHead + "no colon\r\n folded: x\r\n" + twoBytes), want: messages.OK, text: "ok"},
	{name: "space before the colon of a length", serve: holds(okHead + "Content-Length : 2\r\n\r\nok"), want: messages.OK, text: "ok"},
	{name: "control characters in a length", serve: holds(okHead + "Content-Length: 2\x01\r\n\r\nok"), want: messages.ProtocolError, text: "malformed MIME header"},
	{name: "hints with bad lines", serve: holds("\r\nHTTP/1.1 103 Early Hints\r\nno colon\r\n\r\n\r\n" + okHead + "no colon\r\n" + twoBytes), want: messages.OK, text: "ok"},
	{name: "NUL in a field", serve: holds(okHead + "X-Name: a\x00b\r\n" + twoBytes), want: messages.OK, text: "ok"},
	{name: "bare CR in a field", serve: holds(okHead + "X-Name: a\rSet-Cookie: b\r\n" + twoBytes), want: messages.OK, text: "ok"},
	{name: "folded field", serve: holds(okHead + "X-Name: a\r\n\t b\r\n" + twoBytes), want: messages.OK, text: "ok"},
	{name: "lines end in LF alone", serve: holds("HTTP/1.1 200 OK\nContent-Type: text/html\nContent-Length: 2\n\nok"), want: messages.OK, text: "ok"},

	// Too large, or too slow.
	{name: "header byte by byte", serve: drips("", "HTTP/1.1 200 OK\r\nX-Slow: "+strings.Repeat("x", 1000)), set: shortFirstByte, want: messages.Timeout, text: "no response within 200ms"},
	{name: "header stalls", serve: holds(okHead), set: shortFirstByte, want: messages.Timeout, text: "no response within 200ms"},
	{name: "status line without end", serve: floods("HTTP/1.1 200 ", "x"), bulk: true, want: messages.TooLarge, text: "response header is over the limit"},
	{name: "field without end", serve: floods("HTTP/1.1 200 OK\r\nX-Long: ", "x"), bulk: true, want: messages.TooLarge, text: "response header is over the limit"},
	{name: "fields without end", serve: floods("HTTP/1.1 200 OK\r\n", "X-Many: x\r\n"), bulk: true, want: messages.TooLarge, text: "response header is over the limit"},
	{name: "folds without end", serve: floods("HTTP/1.1 200 OK\r\nX-Fold: ", "x\r\n "), bulk: true, want: messages.TooLarge, text: "response header is over the limit"},
	{name: "a megabyte of cookies", serve: holds(okHead + strings.Repeat("Set-Cookie: "+strings.Repeat("c", 1012)+"\r\n", 1024) + twoBytes), want: messages.TooLarge, text: "response header is over the limit"},

	// Responses before the response.
	{name: "a hundred hints", serve: holds(strings.Repeat(hints, 100) + okHead + twoBytes), want: messages.OK, text: "ok"},
	{name: "hints without end", serve: floods("", hints), bulk: true, want: messages.TooLarge, text: "response header is over the limit"},
	{name: "hints, then silence", serve: holds(hints), set: shortFirstByte, want: messages.Timeout, text: "no response within 200ms"},
	{name: "hints one at a time", serve: drips("", hints), set: shortTotal, want: messages.Timeout, text: "not done within 200ms"},
	{name: "100 Continue unasked", serve: holds("HTTP/1.1 100 Continue\r\n\r\n" + okHead + twoBytes), want: messages.OK, text: "ok"},
	{name: "another protocol, then silence", serve: holds("HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n"), want: messages.ProtocolError, text: "101 Switching Protocols is not a valid response status"},
	{name: "another protocol without end", serve: floods("HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n", "\x81\x05hello"), bulk: true, want: messages.ProtocolError, text: "101 Switching Protocols"},
	{name: "another protocol without saying which", serve: holds("HTTP/1.1 101 Switching Protocols\r\n\r\n"), want: messages.ProtocolError, text: "101 Switching Protocols"},
	{name: "304 unasked", serve: holds("HTTP/1.1 304 Not Modified\r\n\r\n"), want: messages.ClientError, text: "though the request had no condition"},

	// Redirects.
	{name: "redirect without Location", serve: redirects(""), want: messages.ClientError, text: "has no Location"},
	{name: "redirect to garbage", serve: redirects("Location: http://[::1\r\n"), want: messages.ClientError, text: "redirect without a valid target"},
	{name: "redirect to a bad port", serve: redirects("Location: http://h.example:99999/\r\n"), want: messages.ClientError, text: "redirect without a valid target"},
	{name: "redirect to javascript", serve: redirects("Location: javascript:alert(1)\r\n"), want: messages.ClientError, text: "redirect without a valid target"},
	{name: "redirect to a file", serve: redirects("Location: file:///etc/passwd\r\n"), want: messages.ClientError, text: "redirect without a valid target"},
	{name: "redirect to data", serve: redirects("Location: data:text/html,x\r\n"), want: messages.ClientError, text: "redirect without a valid target"},
	{name: "redirect to a megabyte", serve: redirects("Location: /" + strings.Repeat("x", 1<<20) + "\r\n"), want: messages.TooLarge, text: "response header is over the limit"},
	{name: "redirect to all a header may hold", serve: redirects("Location: /" + strings.Repeat("x", hostileHeader/2) + "\r\n"), want: messages.ClientError, text: "redirect without a valid target"},
	{name: "redirect with bytes of no encoding", serve: redirects("Location: /\xff\xfe\r\n"), want: messages.Redirect, text: "/%FF%FE"},
	{name: "redirect with an injected field", serve: redirects("Location: http://h.example/\r\nX-Injected: x\r\n"), want: messages.Redirect, text: "http://h.example/"},
	{name: "redirect with an encoded line end", serve: redirects("Location: http://h.example/%0d%0aX-Injected:%20x\r\n"), want: messages.Redirect, text: "http://h.example/%0D%0AX-Injected:%20x"},
	{name: "redirect with a bare CR", serve: redirects("Location: http://h.example/\rX-Injected: x\r\n"), want: messages.Redirect, text: "http://h.example/%20X-Injected:%20x"},
	{name: "redirect over two lines", serve: redirects("Location: http://h.example/a\r\n b\r\n"), want: messages.Redirect, text: "http://h.example/a%20b"},
	{name: "redirect with a body without end", serve: floods("HTTP/1.1 301 Moved Permanently\r\nLocation: http://h.example/\r\n\r\n", "x"), bulk: true, want: messages.Redirect, text: "http://h.example/"},
}

func redirects(fields string) func(*peer) {
	return holds("HTTP/1.1 302 Found\r\nContent-Length: 0\r\n" + fields + "\r\n")
}

// hostileEnds close the connection at unsuitable points, or do not respond at all.
var hostileEnds = []hostile{
	{name: "nobody accepts", serve: nil, set: shortFirstByte, want: messages.Timeout, text: "no response within 200ms of the connection"},
	{name: "nobody answers", serve: holds(""), set: shortFirstByte, want: messages.Timeout, text: "no response within 200ms of the connection"},
	{name: "nobody answers in the whole time", serve: holds(""), set: shortTotal, want: messages.Timeout, text: "not done within 200ms"},
	{name: "closed before the request", serve: func(*peer) {}, want: messages.ConnectFailure, text: "connection"},
	{name: "closed before anything", serve: says(""), want: messages.ConnectFailure, text: "closed the connection without a response"},
	{name: "closed in the version", serve: says("HTT"), want: messages.ProtocolError, text: "malformed HTTP response"},
	{name: "closed in the status", serve: says("HTTP/1.1 20"), want: messages.ProtocolError, text: "malformed HTTP status code"},
	{name: "closed in the reason", serve: says("HTTP/1.1 200 O"), want: messages.ProtocolError, text: "header was cut short"},
	{name: "closed in a field", serve: says(okHead + "Content-Len"), want: messages.ProtocolError, text: "missing colon"},
	{name: "closed between fields", serve: says(okHead), want: messages.ProtocolError, text: "header was cut short"},
	{name: "closed after hints", serve: says(hints), want: messages.ProtocolError, text: "header was cut short"},
	{name: "closed in the body", serve: says(okHead + "Content-Length: 9\r\n\r\nshort"), want: messages.ProtocolError, text: "the body was cut short"},
	{name: "reset before anything", serve: resets(""), want: messages.ConnectFailure, text: "the connection was reset before a response"},
	{name: "reset in the header", serve: resets(okHead), want: messages.ProtocolError, text: "header was cut short"},
	{name: "reset in the body", serve: resets(okHead + "Content-Length: 9\r\n\r\nshort"), want: messages.ProtocolError, text: "the connection was reset within the body"},
	{name: "reset in a body without length", serve: resets(okHead + "\r\nshort"), want: messages.ProtocolError, text: "the connection was reset within the body"},
}
