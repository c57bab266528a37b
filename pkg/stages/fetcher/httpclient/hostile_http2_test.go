package httpclient

import (
	"bytes"
	"io"
	"strings"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"seine/pkg/messages"
)

// framer is a server's end of an HTTP/2 connection, which writes arbitrary frames. Write errors
// mean that the client has hung up, which ends all cases, so they are not checked.
type framer struct {
	*http2.Framer
	p      *peer
	stream uint32 // of the latest request
}

// http2Server serves HTTP/2 up to the client's preface, and then calls serve.
func http2Server(serve func(*framer)) func(*peer) {
	return session{issuer: authority, protos: []string{"h2"}}.over(func(p *peer) {
		if _, err := io.ReadFull(p.in, make([]byte, len(http2.ClientPreface))); err != nil {
			return
		}
		f := &framer{Framer: http2.NewFramer(p.Conn, p.in), p: p}
		f.AllowIllegalWrites = true
		serve(f)
	})
}

// answers follows the protocol up to the first request, and then calls serve; then it waits for the
// client to hang up.
func answers(serve func(*framer)) func(*peer) {
	return http2Server(func(f *framer) {
		_ = f.WriteSettings()
		if f.request() {
			serve(f)
			f.p.wait()
		}
	})
}

// drained is answers while the client's data is read.
func drained(serve func(*framer)) func(*peer) {
	return answers(func(f *framer) {
		done := make(chan struct{})
		go func() { f.p.wait(); close(done) }()
		serve(f)
		<-done
	})
}

// request reads frames until one begins a request.
func (f *framer) request() bool {
	for {
		frame, err := f.ReadFrame()
		if err != nil {
			return false
		}
		if h, ok := frame.(*http2.HeadersFrame); ok {
			f.stream = h.StreamID
			return true
		}
	}
}

// block encodes fields, given as names and values in turn. It uses no dynamic table, so that blocks
// can be repeated.
func block(fields ...string) []byte {
	var b bytes.Buffer
	for i := 0; i < len(fields); i += 2 {
		e := hpack.NewEncoder(&b)
		_ = e.WriteField(hpack.HeaderField{Name: fields[i], Value: fields[i+1], Sensitive: true})
	}
	return b.Bytes()
}

func (f *framer) headers(end bool, fields ...string) {
	_ = f.WriteHeaders(http2.HeadersFrameParam{StreamID: f.stream, BlockFragment: block(fields...), EndHeaders: true, EndStream: end})
}

// head begins a valid response with additional fields.
func (f *framer) head(fields ...string) {
	f.headers(false, append([]string{":status", "200", "content-type", "text/html"}, fields...)...)
}

func (f *framer) data(end bool, text string) { _ = f.WriteData(f.stream, end, []byte(text)) }

// page is a complete response.
func (f *framer) page() {
	f.head()
	f.data(true, "ok")
}

// untilGone repeats a write until the client has hung up.
func untilGone(write func() error) {
	for write() == nil {
		continue
	}
}

// flood is the number of frames that each ask for an answer.
const flood = 5000

// hostileHTTP2 break the protocol, or follow it in bad faith.
var hostileHTTP2 = []hostile{
	{name: "HTTP/2: silence", https: true, serve: http2Server(func(f *framer) { f.p.wait() }), set: shortFirstByte, want: messages.Timeout, text: "no response within 200ms"},
	{name: "HTTP/2: no answer", https: true, serve: answers(func(*framer) {}), set: shortFirstByte, want: messages.Timeout, text: "no response within 200ms"},
	{name: "HTTP/2: HTTP/1.1 in place of SETTINGS", https: true, serve: http2Server(func(f *framer) {
		f.p.say("HTTP/1.1 400 Bad Request\r\n\r\n")
		hangUp(f.p)
	}), want: messages.ProtocolError, or: messages.ConnectFailure, text: "HTTP/1.1"},
	{name: "HTTP/2: garbage in place of SETTINGS", https: true, serve: http2Server(func(f *framer) {
		f.p.say(strings.Repeat("garbage ", 100))
		f.p.wait()
	}), want: messages.ProtocolError, or: messages.ConnectFailure, text: "http2: "},
	{name: "HTTP/2: PING in place of SETTINGS", https: true, serve: http2Server(func(f *framer) {
		_ = f.WritePing(false, [8]byte{})
		f.p.wait()
	}), want: messages.ProtocolError, or: messages.ConnectFailure, text: "PROTOCOL_ERROR"},
	{name: "HTTP/2: SETTINGS out of range", https: true, serve: http2Server(func(f *framer) {
		_ = f.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: 1 << 31})
		f.p.wait()
	}), want: messages.ProtocolError, or: messages.ConnectFailure, text: "FLOW_CONTROL_ERROR"},
	{name: "HTTP/2: no stream allowed", https: true, serve: http2Server(func(f *framer) {
		_ = f.WriteSettings(http2.Setting{ID: http2.SettingMaxConcurrentStreams, Val: 0})
		f.p.wait()
	}), set: shortTotal, want: messages.ConnectFailure, or: messages.Timeout},
	{name: "HTTP/2: closed at once", https: true, serve: http2Server(func(f *framer) { hangUp(f.p) }), want: messages.ProtocolError, or: messages.ConnectFailure, text: "header was cut short"},
	{name: "HTTP/2: closed without an answer", https: true, serve: answers(func(f *framer) { hangUp(f.p) }), want: messages.ProtocolError, text: "header was cut short"},
	{name: "HTTP/2: reset without an answer", https: true, serve: answers(func(f *framer) { f.p.reset() }), want: messages.ProtocolError, or: messages.ConnectFailure},

	// Refusals. The client may retry, but not without end.
	{name: "HTTP/2: GOAWAY for each request", https: true, serve: answers(func(f *framer) {
		_ = f.WriteGoAway(0, http2.ErrCodeNo, nil)
	}), want: messages.ConnectFailure, text: "without a response"},
	{name: "HTTP/2: GOAWAY before the request", https: true, serve: http2Server(func(f *framer) {
		_ = f.WriteSettings()
		_ = f.WriteGoAway(0, http2.ErrCodeNo, nil)
		hangUp(f.p)
	}), want: messages.ConnectFailure, or: messages.ProtocolError, text: "without a response"},
	{name: "HTTP/2: GOAWAY with an error", https: true, serve: answers(func(f *framer) {
		_ = f.WriteGoAway(0, http2.ErrCodeEnhanceYourCalm, []byte("calm down"))
		hangUp(f.p)
	}), want: messages.ProtocolError, text: "ENHANCE_YOUR_CALM"},
	{name: "HTTP/2: GOAWAY within the body", https: true, serve: answers(func(f *framer) {
		f.head()
		_ = f.WriteGoAway(f.stream, http2.ErrCodeNo, nil)
		f.data(true, "ok")
	}), want: messages.OK, text: "ok"},
	{name: "HTTP/2: stream reset", https: true, serve: answers(func(f *framer) {
		_ = f.WriteRSTStream(f.stream, http2.ErrCodeInternal)
	}), want: messages.ProtocolError, text: "INTERNAL_ERROR"},
	{name: "HTTP/2: each stream reset for the protocol", https: true, serve: answers(func(f *framer) {
		_ = f.WriteRSTStream(f.stream, http2.ErrCodeProtocol)
	}), want: messages.ConnectFailure, text: "without a response"},
	{name: "HTTP/2: stream refused once", https: true, serve: answers(func(f *framer) {
		_ = f.WriteRSTStream(f.stream, http2.ErrCodeRefusedStream)
		if f.request() {
			f.page()
		}
	}), want: messages.OK, text: "ok"},
	{name: "HTTP/2: stream reset in the body", https: true, serve: answers(func(f *framer) {
		f.head()
		f.data(false, "o")
		_ = f.WriteRSTStream(f.stream, http2.ErrCodeCancel)
	}), want: messages.ProtocolError, text: "CANCEL"},

	// Headers.
	{name: "HTTP/2: DATA without HEADERS", https: true, serve: answers(func(f *framer) { f.data(true, "ok") }), want: messages.ProtocolError, text: "PROTOCOL_ERROR"},
	{name: "HTTP/2: CONTINUATION without HEADERS", https: true, serve: answers(func(f *framer) {
		_ = f.WriteContinuation(f.stream, true, block("x", "y"))
	}), want: messages.ProtocolError, text: "PROTOCOL_ERROR"},
	{name: "HTTP/2: CONTINUATION without end", https: true, bulk: true, serve: answers(func(f *framer) {
		_ = f.WriteHeaders(http2.HeadersFrameParam{StreamID: f.stream, BlockFragment: block(":status", "200")})
		more := block("x-more", strings.Repeat("x", 4096))
		untilGone(func() error { return f.WriteContinuation(f.stream, false, more) })
	}), want: messages.ProtocolError, text: "PROTOCOL_ERROR"},
	{name: "HTTP/2: empty CONTINUATION without end", https: true, bulk: true, serve: answers(func(f *framer) {
		_ = f.WriteHeaders(http2.HeadersFrameParam{StreamID: f.stream, BlockFragment: block(":status", "200")})
		untilGone(func() error { return f.WriteContinuation(f.stream, false, nil) })
	}), set: shortFirstByte, want: messages.Timeout, text: "no response within 200ms"},
	{name: "HTTP/2: header over the limit", https: true, serve: answers(func(f *framer) {
		f.head("x-a", strings.Repeat("0", 9000), "x-b", strings.Repeat("1", 9000))
	}), want: messages.TooLarge, text: "response header is over the limit"},
	{name: "HTTP/2: header of garbage", https: true, serve: answers(func(f *framer) {
		_ = f.WriteHeaders(http2.HeadersFrameParam{StreamID: f.stream, BlockFragment: []byte("\xff\xff\xff\xff\xff\xff\xff\xff\xff"), EndHeaders: true})
	}), want: messages.ProtocolError, text: "COMPRESSION_ERROR"},
	{name: "HTTP/2: no status", https: true, serve: answers(func(f *framer) { f.headers(true, "content-type", "text/html") }), want: messages.ProtocolError, text: "missing status"},
	{name: "HTTP/2: status of letters", https: true, serve: answers(func(f *framer) { f.headers(true, ":status", "two") }), want: messages.ProtocolError, text: "non-numeric status"},
	{name: "HTTP/2: negative status", https: true, serve: answers(func(f *framer) { f.headers(true, ":status", "-200") }), want: messages.ProtocolError, text: "-200 is not a valid response status"},
	{name: "HTTP/2: two statuses", https: true, serve: answers(func(f *framer) { f.headers(true, ":status", "200", ":status", "404") }), want: messages.ProtocolError, text: "PROTOCOL_ERROR"},
	{name: "HTTP/2: status behind a field", https: true, serve: answers(func(f *framer) { f.headers(true, "content-type", "text/html", ":status", "200") }), want: messages.ProtocolError, text: "pseudo header field after regular"},
	{name: "HTTP/2: field in capitals", https: true, serve: answers(func(f *framer) { f.head("X-Name", "x") }), want: messages.ProtocolError, text: "invalid header field name"},
	{name: "HTTP/2: line end in a field", https: true, serve: answers(func(f *framer) { f.head("x-name", "a\r\nset-cookie: b") }), want: messages.ProtocolError, text: "invalid header field value"},
	{name: "HTTP/2: 101", https: true, serve: answers(func(f *framer) { f.headers(true, ":status", "101") }), want: messages.ProtocolError, text: "1xx"},
	{name: "HTTP/2: hints without end", https: true, bulk: true, serve: answers(func(f *framer) {
		more := block(":status", "103", "link", "</x>")
		untilGone(func() error {
			return f.WriteHeaders(http2.HeadersFrameParam{StreamID: f.stream, BlockFragment: more, EndHeaders: true})
		})
	}), want: messages.TooLarge, text: "response header is over the limit"},
	{name: "HTTP/2: hints in good measure", https: true, serve: answers(func(f *framer) {
		for range 20 {
			f.headers(false, ":status", "103", "link", "</x>")
		}
		f.page()
	}), want: messages.OK, text: "ok"},
	{name: "HTTP/2: an answer pushed", https: true, serve: answers(func(f *framer) {
		_ = f.WritePushPromise(http2.PushPromiseParam{StreamID: f.stream, PromiseID: 2, BlockFragment: block(":method", "GET"), EndHeaders: true})
	}), want: messages.ProtocolError, text: "PROTOCOL_ERROR"},

	// Frames.
	{name: "HTTP/2: frame of 16 MiB", https: true, bulk: true, serve: answers(func(f *framer) {
		f.head()
		f.p.say("\xff\xff\xff\x00\x00\x00\x00\x00\x01")
		f.p.repeat(strings.Repeat("x", 4096))
	}), want: messages.ProtocolError, text: "frame too large"},
	{name: "HTTP/2: unknown frames without end", https: true, bulk: true, serve: answers(func(f *framer) {
		untilGone(func() error { return f.WriteRawFrame(0xbe, 0, f.stream, make([]byte, 1024)) })
	}), set: shortFirstByte, want: messages.Timeout, text: "no response within 200ms"},
	{name: "HTTP/2: many SETTINGS", https: true, serve: drained(func(f *framer) {
		for range flood {
			_ = f.WriteSettings(http2.Setting{ID: http2.SettingHeaderTableSize, Val: 4096})
		}
		f.page()
	}), want: messages.OK, text: "ok"},
	{name: "HTTP/2: many PINGs", https: true, serve: drained(func(f *framer) {
		for range flood {
			_ = f.WritePing(false, [8]byte{1})
		}
		f.page()
	}), want: messages.OK, text: "ok"},
	{name: "HTTP/2: PINGs without end, unread", https: true, bulk: true, serve: answers(func(f *framer) {
		untilGone(func() error { return f.WritePing(false, [8]byte{1}) })
	}), set: shortWrite, want: messages.Timeout, text: "no response within 200ms"},
	{name: "HTTP/2: PINGs without end in the body, unread", https: true, bulk: true, serve: answers(func(f *framer) {
		f.head()
		f.data(false, "o")
		untilGone(func() error { return f.WritePing(false, [8]byte{1}) })
	}), set: shortStall, want: messages.Stalled, text: "the body stopped coming"},
	{name: "HTTP/2: window over 31 bits", https: true, serve: answers(func(f *framer) {
		_ = f.WriteWindowUpdate(0, 1<<31-1)
	}), want: messages.ProtocolError, text: "FLOW_CONTROL_ERROR"},

	// Bodies.
	{name: "HTTP/2: header alone", https: true, serve: answers(func(f *framer) { f.headers(true, ":status", "200", "content-type", "text/html") }), want: messages.OK},
	{name: "HTTP/2: body stalls", https: true, serve: answers(func(f *framer) {
		f.head()
		f.data(false, "o")
	}), set: shortStall, want: messages.Stalled, text: "the body stopped coming"},
	{name: "HTTP/2: last frame stalls", https: true, serve: answers(func(f *framer) {
		f.head("content-length", "2")
		f.data(false, "ok")
	}), set: shortStall, want: messages.OK, text: "ok"},
	{name: "HTTP/2: empty DATA without end", https: true, bulk: true, serve: answers(func(f *framer) {
		f.head()
		untilGone(func() error { return f.WriteData(f.stream, false, nil) })
	}), set: shortStall, want: messages.Stalled, text: "the body stopped coming"},
	{name: "HTTP/2: body longer than promised", https: true, serve: answers(func(f *framer) {
		f.head("content-length", "2")
		f.data(true, "okay")
	}), want: messages.OK, text: "ok"},
	{name: "HTTP/2: body shorter than promised", https: true, serve: answers(func(f *framer) {
		f.head("content-length", "9")
		f.data(true, "short")
	}), want: messages.ProtocolError, text: "the body was cut short"},
	{name: "HTTP/2: body promised and none", https: true, serve: answers(func(f *framer) {
		f.headers(true, ":status", "200", "content-type", "text/html", "content-length", "9")
	}), want: messages.ProtocolError, text: "the body was cut short"},
	{name: "HTTP/2: promise of 10 GB", https: true, bulk: true, serve: answers(func(f *framer) {
		f.head("content-length", "10000000000")
		f.data(false, "ok")
	}), want: messages.TooLarge, text: "over the limit of 2MiB"},
	{name: "HTTP/2: closed in the body", https: true, serve: answers(func(f *framer) {
		f.head()
		f.data(false, "o")
		hangUp(f.p)
	}), want: messages.ProtocolError, text: "the body was cut short"},
	{name: "HTTP/2: reset in the body", https: true, serve: answers(func(f *framer) {
		f.head()
		f.data(false, "o")
		f.p.waitSeen()
		f.p.reset()
	}), want: messages.ProtocolError, text: "the connection was reset within the body"},
	{name: "HTTP/2: HEADERS in the body", https: true, serve: answers(func(f *framer) {
		f.head()
		f.headers(false, ":status", "404")
	}), want: messages.ProtocolError, text: "PROTOCOL_ERROR"},
	{name: "HTTP/2: trailer", https: true, serve: answers(func(f *framer) {
		f.head()
		f.data(false, "ok")
		f.headers(true, "x-trailer", "x")
	}), want: messages.OK, text: "ok"},
	{name: "HTTP/2: more than the window", https: true, bulk: true, serve: answers(func(f *framer) {
		f.head()
		untilGone(func() error { return f.WriteData(f.stream, false, make([]byte, 16<<10)) })
	}), want: messages.TooLarge, text: "over the limit of 2MiB"},
	{name: "HTTP/2: 1024 padded bytes for one", https: true, serve: answers(func(f *framer) {
		f.head()
		for range 1000 {
			_ = f.WriteDataPadded(f.stream, false, []byte("x"), make([]byte, 255))
		}
		f.data(true, "")
	}), want: messages.OK, text: strings.Repeat("x", 1000)},
}
