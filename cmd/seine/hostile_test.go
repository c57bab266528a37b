package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/nats-io/nats.go"

	"seine/internal/base/safeprint"
	"seine/internal/run/config"
	"seine/internal/run/embedded"
	"seine/pkg/crawlspec"
	"seine/pkg/messages"
	"seine/pkg/stages"
	"seine/pkg/stages/frontier/frontierapi"
)

// hostile is text that a site, a user who adds URLs, or a spec may put into any text. marker is its
// plain part, by which it is found.
const (
	marker  = "]0;owned"
	hostile = "\x1b" + marker + "\a\x1b[2J\u009b31m\x9b32m\r\u202egnp\u2066\u200f\u200b\u2028\x7f"
)

// No command prints terminal control characters, wherever its text comes from. A new command must
// be added here, with a run in which it prints such text.
func TestNoCommandPassesOnWhatATerminalObeys(t *testing.T) {
	url := hostileCluster(t)
	site := hostileSite(t)
	out := committed(t)
	stray := filepath.Join(out, "c", "page", "\x1b"+marker+"\u202e")
	if err := os.WriteFile(stray, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	good := write(t, "good.yaml", "scope: any\nallow_private: true\ndelay: 0s\nexclude: [\"*\\u202e"+marker+"\\e\"]\n")
	bad := write(t, "bad.yaml", "scope: \""+strings.ReplaceAll(hostile, "\x9b", "")+"\"\n")
	escaped := write(t, "escaped.yaml", "scope: \"\\e"+marker+"\\u009b\\u202e\\x7f\"\n")
	none := filepath.Join(t.TempDir(), hostile)
	nats := func(args ...string) []string { return append(args, "--nats", url) }
	runs := map[string][][]string{
		"crawl": {
			{"crawl", site, "--spec", good, "--data", filepath.Join(t.TempDir(), "d"), "--out", filepath.Join(t.TempDir(), "\x1b"+marker)},
			{"crawl", "http://a.test/", "--dry-run", "--spec", good}, {"crawl", hostile}, {"crawl", "http://a.test/", "--spec", escaped},
		},
		"extract":      {{"extract", site, "--spec", good}, {"extract", hostile}},
		"spec check":   {{"spec", "check", good, bad, escaped, none}},
		"spec apply":   {nats("spec", "apply", escaped, "--crawl", "c")},
		"spec get":     {nats("spec", "get", "--crawl", hostile), nats("spec", "get", "--crawl", "c"), nats("spec", "get", "--json", "--crawl", "c")},
		"spec list":    {nats("spec", "list", "--"+hostile), nats("spec", "list")},
		"spec diff":    {nats("spec", "diff", good, "--crawl", "c")},
		"seed":         {nats("seed", hostile, "--crawl", "c")},
		"status":       {nats("status")},
		"runs":         {nats("runs")},
		"top":          {nats("top", "--"+hostile)}, // its screen is tested in internal/ops/top
		"serve":        {{"serve", "--listen", hostile}, {"serve", "--tokens", none + "/x"}},
		"mcp":          {{"mcp", "--state", "/dev/null/" + hostile}, {"mcp", hostile}},
		"token create": {{"token", "create", hostile, "--tokens", strings.ReplaceAll(none, "\x9b", "")}},
		"token list":   {{"token", "list", "--tokens", "/dev/null/" + hostile}},
		"token revoke": {{"token", "revoke", hostile, "--tokens", filepath.Join(t.TempDir(), "tokens.json")}},
		"doctor":       {nats("doctor"), {"doctor", "--" + hostile}},
		"explain":      {nats("explain", "http://a.test/", "--crawl", "c", "--brief"), nats("explain", hostile)},
		"failures":     {nats("failures", "--crawl", "c", "--class", hostile), nats("failures", "--crawl", hostile)},
		"hosts":        {nats("hosts"), nats("hosts", hostile)},
		"pause":        {nats("pause", "--crawl", "c", "--host", hostile)},
		"resume":       {nats("resume", "--crawl", "c", "--host", hostile)},
		"cancel":       {nats("cancel", "--crawl", "c", "--host", hostile)},
		"delete":       {nats("delete", hostile, "--yes")},
		"dead list":    {nats("dead", "list")},
		"dead show":    {nats("dead", "show", "1")},
		"dead redrive": {nats("dead", "redrive", "1", "2"), {"dead", "redrive", hostile}},
		"dead drop":    {nats("dead", "drop", hostile)},
		"replay parse": {nats("replay", "parse", "--crawl", hostile), {"replay", "parse", "--" + hostile}},
		"replay write": {nats("replay", "write", "--crawl", hostile), {"replay", "write", "--" + hostile}},
		"backup":       {nats("backup", "--to", "/dev/null/"+hostile), {"backup", "--" + hostile}},
		"restore":      {nats("restore", "--from", out), {"restore", "--from", "/dev/null/" + hostile}},
		"cat":          {{"cat", stray}, {"cat", none}},
		"export":       {{"export", none, "--to", t.TempDir()}},
		"verify":       {{"verify", out}},
		"compact":      {{"compact", none}},
		"manifest":     {{"manifest", none}},
		"decrypt":      {{"decrypt", none}, {"decrypt", "--" + hostile}},
		"completion":   {{"completion", hostile}},
		"health":       {{"health", "http://a.test/" + hostile}},
	}
	harmless := []string{"spec schema"}     // prints no foreign text
	data := []string{"spec get", "extract"} // JSON, for programs
	parser, err := config.New(new(cli), "seine", "")
	if err != nil {
		t.Fatal(err)
	}
	for _, leaf := range parser.Model.Leaves(true) {
		var words []string
		for n := leaf; n.Parent != nil; n = n.Parent {
			words = append([]string{n.Name}, words...)
		}
		name := strings.Join(words, " ")
		if runs[name] == nil && !slices.Contains(harmless, name) {
			t.Errorf("seine %s is never run with hostile text: say here how it meets some", name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(runs)) {
		t.Run(name, func(t *testing.T) {
			met := false // by at least one run
			for _, args := range runs[name] {
				_, stdout, stderr := seine(t, args...)
				if slices.Contains(data, name) && json.Valid([]byte(stdout)) {
					continue // safeprint.Data escapes it on a terminal
				}
				wantHarmless(t, args, stdout)
				wantHarmless(t, args, stderr)
				met = met || strings.Contains(stdout+stderr, marker)
			}
			if !met {
				t.Error("no run has met hostile text, so nothing is shown by them")
			}
		})
	}
}

// wantHarmless checks output for people.
func wantHarmless(t *testing.T, args []string, text string) {
	t.Helper()
	if strings.Contains(text, `\t`) || strings.Contains(text, `\n`) {
		t.Errorf("seine %q: tabs or line ends of its own are shown as escapes: %s", args, text)
	}
	for i, r := range text {
		if _, n := utf8.DecodeRuneInString(text[i:]); r == utf8.RuneError && n == 1 || !safeprint.Plain(r) && r != '\n' && r != '\t' {
			t.Errorf("seine %q writes %q", args, text[max(0, i-60):min(len(text), i+30)])
			return
		}
	}
}

// hostileSite serves a page with hostile text wherever HTTP and HTML allow it.
func hostileSite(t *testing.T) string {
	t.Helper()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/" {
			http.NotFound(w, r)
			return
		}
		conn, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			return
		}
		defer conn.Close()
		text := strings.NewReplacer("\r", "", "\u2028", "").Replace(hostile)
		body := "<title>" + text + "</title><a href='/" + text + "'>" + text + "</a><a href='http://" + text + "/'>x</a><meta name=robots content='" + text + "'>"
		_, _ = fmt.Fprintf(conn, "HTTP/1.1 200 %s\r\nContent-Type: text/html; x=%s\r\nX-Robots-Tag: %s\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%s",
			text, text, text, len(body), body)
	}))
	t.Cleanup(srv.Close)
	return srv.URL + "/?" + marker
}

// hostileCluster starts a cluster whose dead letters, specs, stages and frontiers have hostile text
// in every field.
func hostileCluster(t *testing.T) (url string) {
	t.Helper()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	s, err := embedded.Start(embedded.Options{Dir: t.TempDir(), Host: "127.0.0.1", Port: -1})
	must(err)
	t.Cleanup(s.Stop)
	bus, err := stages.Dial(s.URL(), "hostile", slog.New(slog.DiscardHandler))
	must(err)
	t.Cleanup(bus.Close)
	must(bus.Provision(t.Context(), 1, messages.DefaultStreamLimits(), 1))
	for i := range 3 {
		d := messages.Dead{
			Stage: messages.StageFrontier, Crawl: "c", Reason: hostile, Subject: "seine.seeds.c.0", Stream: hostile, Sequence: uint64(i + 1), Tries: 1,
			Time: time.Now(), Header: nats.Header{"X-Evil": {hostile}}, Payload: []byte(hostile + "\n" + hostile),
		}
		_, err := bus.JS.PublishMsg(t.Context(), d.Msg())
		must(err)
	}
	specs, err := stages.OpenSpecs(t.Context(), bus)
	must(err)
	spec := crawlspec.Default()
	spec.Exclude = []string{"*" + strings.ReplaceAll(hostile, "\x9b", "")}
	_, err = specs.Put(t.Context(), "c", &spec)
	must(err)
	replies := map[string]any{
		"status": new(frontierapi.PartitionStatus), "hosts": new([]frontierapi.HostStatus), "host": new(frontierapi.HostStatus), "explain": new(frontierapi.Explanation),
	}
	_, err = bus.NC.Subscribe("seine.frontier.>", func(m *nats.Msg) {
		var reply any = map[string]string{"error": hostile}
		if r := replies[strings.Split(m.Subject, ".")[2]]; r != nil {
			fill(reflect.ValueOf(r).Elem(), 0)
			if e, ok := r.(*frontierapi.Explanation); ok {
				e.URL, e.Referrer = "http://a.test/", "" // a frontier has only canonical ones
			}
			reply = r
		}
		_ = m.Respond(encoded(reply))
	})
	must(err)
	must(bus.NC.Flush())
	return s.URL()
}

// fill sets every text in a value to hostile text, and the rest to nonzero values.
func fill(v reflect.Value, depth int) {
	if depth > 5 || !v.CanSet() {
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(hostile)
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int64:
		v.SetInt(1)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), depth+1)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(v.Index(0), depth+1)
	case reflect.Map:
		key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		fill(key, depth+1)
		fill(value, depth+1)
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(key, value)
	case reflect.Struct:
		for i := range v.NumField() {
			fill(v.Field(i), depth+1)
		}
	default: // has no text
	}
}

func encoded(v any) []byte {
	b, _ := json.Marshal(v)
	return b
}

// The text form of the log escapes such text, too.
func TestLogInTextFormShowsEscapes(t *testing.T) {
	var b bytes.Buffer
	slog.New(slog.NewTextHandler(io.Writer(&b), nil)).Warn(hostile, "url", hostile, hostile, fmt.Errorf("it: %s", hostile))
	wantHarmless(t, []string{"log"}, b.String())
	if strings.Count(b.String(), marker) != 4 {
		t.Errorf("the log has %q", b.String())
	}
}
