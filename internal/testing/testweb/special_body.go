package testweb

import (
	"bytes"
	"net/http"
	"strconv"
)

// filler is 64 KiB of HTML paragraphs.
var filler = fill(64<<10, "<p>The river runs on and on, past quay and bridge and barge.</p>\n")

// fill repeats a text to exactly n bytes.
func fill(n int, text string) []byte {
	return bytes.Repeat([]byte(text), n/len(text)+1)[:n]
}

// specialBig serves ?mb= (default 10) MiB of HTML.
func (s specialAnswers) specialBig(rw http.ResponseWriter, r *http.Request) {
	mb := param(r, "mb", 10, 64<<10)
	rw.Header()["Content-Type"] = typeHTML
	rw.Header().Set("Content-Length", strconv.Itoa(mb<<20))
	rw.WriteHeader(http.StatusOK)
	if r.Method == http.MethodHead {
		return
	}
	for range mb << 20 / len(filler) {
		if _, err := rw.Write(filler); err != nil {
			return
		}
	}
}

// specialEndless serves HTML as fast as the client reads, until it leaves.
func (s specialAnswers) specialEndless(rw http.ResponseWriter, r *http.Request) {
	rw.Header()["Content-Type"] = typeHTML
	for r.Method == http.MethodGet && r.Context().Err() == nil {
		if _, err := rw.Write(filler); err != nil {
			return
		}
	}
}

// specialDrip sends ?n= (default 60) bytes, one every ?ms= (default 1000).
func (s specialAnswers) specialDrip(rw http.ResponseWriter, r *http.Request) {
	rw.Header()["Content-Type"] = typeHTML
	flush := http.NewResponseController(rw)
	for range param(r, "n", 60, 1<<20) {
		if _, err := rw.Write([]byte(".")); err != nil || flush.Flush() != nil || !sleep(r.Context(), millis(r, 1000)) {
			return
		}
	}
}

// specialStall sends half of its body, then nothing until the client leaves.
func (s specialAnswers) specialStall(rw http.ResponseWriter, r *http.Request) {
	sendHalf(rw)
	<-r.Context().Done()
}

// specialReset sends half of its body, then a TCP reset.
func (s specialAnswers) specialReset(rw http.ResponseWriter, _ *http.Request) {
	sendHalf(rw)
	cut(rw, true)
}

func sendHalf(rw http.ResponseWriter) {
	rw.Header()["Content-Type"] = typeHTML
	rw.Header().Set("Content-Length", "20000")
	rw.WriteHeader(http.StatusOK)
	_, _ = rw.Write(filler[:10000])
	_ = http.NewResponseController(rw).Flush()
}

// specialBadLength declares 5000 bytes, sends 1000 (9000 with ?over=1) and closes the connection.
func (s specialAnswers) specialBadLength(rw http.ResponseWriter, r *http.Request) {
	size := 1000
	if r.URL.Query().Has("over") {
		size = 9000
	}
	conn, buf, err := http.NewResponseController(rw).Hijack()
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	defer func() { _ = conn.Close() }()
	_, _ = buf.WriteString("HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\n" +
		"Content-Length: 5000\r\nConnection: close\r\n\r\n")
	_, _ = buf.Write(filler[:size])
	_ = buf.Flush()
}

// specialOneLine serves ?kb= (default 1024) KiB of HTML without a line break, with a link every
// kilobyte.
func (s specialAnswers) specialOneLine(rw http.ResponseWriter, r *http.Request) {
	var b bytes.Buffer
	b.WriteString("<!DOCTYPE html><html><head><title>One line</title></head><body>")
	padding := bytes.ReplaceAll(filler[:960], []byte("\n"), []byte(" "))
	for n := range param(r, "kb", 1024, 256<<10) {
		b.WriteString(`<a href="/special/ok?n=` + strconv.Itoa(n) + `">ok</a><!--`)
		b.Write(padding)
		b.WriteString("-->")
	}
	b.WriteString("</body></html>")
	send(rw, r, typeHTML, b.Bytes())
}
