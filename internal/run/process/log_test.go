package process

import (
	"encoding/json"
	"io"
	"log"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

// Logs in JSON are shown on terminals too: terminal escapes are JSON escapes there, which decode to
// the same text.
func TestLogger_JSON_EscapesWhatATerminalObeys(t *testing.T) {
	var out lockedBuffer
	const hostile = "a\u009b31m\x1b[2J\u202eb\u2028\u200bc 日本 é 😀"
	Logging{LogLevel: "info", LogFormat: "json"}.Logger(&out).Warn("trouble", "url", hostile)
	text := out.String()
	if strings.ContainsAny(text, "\u009b\x1b\u202e\u2028\u200b") || !strings.Contains(text, `\u009b`) || !strings.Contains(text, "日本 é 😀") {
		t.Errorf("log %q", text)
	}
	var line struct {
		URL string `json:"url"`
	}
	if err := json.Unmarshal([]byte(text), &line); err != nil || line.URL != hostile {
		t.Errorf("it reads %q, %v", line.URL, err)
	}
}

// net/http logs unsolicited responses. They may contain a secret that the server was sent before,
// and anything else.
func TestLogger_UnsolicitedResponse_BytesAreNotLogged(t *testing.T) {
	flags, before := log.Flags(), log.Writer()
	defer func() { log.SetFlags(flags); log.SetOutput(before) }()
	const unasked = "HTTP/1.1 200 OK\r\nX: t0ken-0123456789abcdef \"\\ \u009b\r\n\r\n"
	for _, format := range []string{"text", "json", "journal"} {
		var out lockedBuffer
		Logging{LogLevel: "debug", LogFormat: format}.Logger(&out)
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		go func() {
			c, err := l.Accept()
			if err != nil {
				return
			}
			defer func() { _ = c.Close() }()
			_, _ = c.Read(make([]byte, 4096))
			_, _ = io.WriteString(c, "HTTP/1.1 204 No Content\r\n\r\n"+unasked)
			_, _ = io.Copy(io.Discard, c)
		}()
		client := &http.Client{Transport: &http.Transport{}}
		resp, err := client.Get("http://" + l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		for deadline := time.Now().Add(30 * time.Second); !strings.Contains(out.String(), "Unsolicited") && time.Now().Before(deadline); {
			time.Sleep(time.Millisecond)
		}
		text := out.String()
		if !strings.Contains(text, "Unsolicited response") || !strings.Contains(text, "bytes)") || strings.Contains(text, "t0ken") || strings.Contains(text, "200 OK") {
			t.Errorf("%s: log %q", format, text)
		}
		client.CloseIdleConnections()
		_ = l.Close()
	}
}

// Each complete quoted string is replaced with the size of its quoted form; a string without an end
// stays.
func TestUnquoted_QuotedStrings_OnlyTheirSizesAreWritten(t *testing.T) {
	for line, want := range map[string]string{
		`no quotes`:                     `no quotes`,
		`starts with "a\"b\\" and "c"`:  `starts with (6 bytes) and (1 bytes)`,
		"one \"that does not end\nnext": "one \"that does not end\nnext",
	} {
		var out strings.Builder
		if n, err := (unquoted{&out}).Write([]byte(line)); n != len(line) || err != nil || out.String() != want {
			t.Errorf("got %q, %d, %v, want %q", out.String(), n, err, want)
		}
	}
}
