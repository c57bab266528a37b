package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"seine/internal/run/trial"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func extracts(t *testing.T, out string) trial.Result {
	t.Helper()
	var x trial.Result
	d := json.NewDecoder(strings.NewReader(out))
	d.DisallowUnknownFields()
	if err := d.Decode(&x); err != nil {
		t.Fatalf("%v:\n%s", err, out)
	}
	return x
}

const product = `"title":"Blue shirt","price":12.50,"sku":"S-1","offers":[{"seller":"A","price":12.50},{"seller":"B","price":13}]}`

func TestExtractURL(t *testing.T) {
	url := shop(t)
	code, out, stderr := seine(t, "extract", url+"/old", "--spec", spec(t, "false"), "--allow-private")
	if code != exitOK {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	x := extracts(t, out)
	if x.URL != url+"/p/1" || !slices.Equal(x.Via, []string{url + "/old"}) || x.Status != 200 || x.Type != "html" || x.Bytes != int64(len(productPage)) {
		t.Errorf("got %+v", x)
	}
	if len(x.Records) != 1 || !strings.HasPrefix(string(x.Records[0]), `{"kind":"product","url":"`+url+`/p/1",`) ||
		!strings.HasSuffix(string(x.Records[0]), `"key":"S-1",`+product) {
		t.Errorf("records %s", x.Records)
	}
	want := []trial.Link{
		{URL: url + "/p/2", Rule: "links", Priority: 5, Depth: 1}, {URL: url + "/p/3", Rule: "follow[0]", Priority: 2},
		{URL: "https://b.example/", Rule: "links", Priority: 5, Depth: 1, Excluded: "scope"},
	}
	if slices.SortFunc(x.Links, func(a, b trial.Link) int { return strings.Compare(a.URL, b.URL) }); !slices.Equal(x.Links, want) {
		t.Errorf("links %+v, want %+v", x.Links, want)
	}
	if len(x.Rules) != 3 || !x.Rules[0].Applies || x.Rules[1].Why != `the URL does not match its pattern "*/list"` || !x.Rules[2].Applies {
		t.Errorf("rules %+v", x.Rules)
	}
}

func TestExtractTellsWhatIsWrongWithStructuredData(t *testing.T) {
	page := write(t, "page.html", `<title>t</title><script type="application/ld+json">{"@type":"Product","sku" "S-1"}</script>`)
	_, out, _ := seine(t, "extract", page, "--url", "https://shop.example/p/1", "--spec", spec(t, "false"))
	want := trial.Problem{Rule: "json_ld", Reason: `script 1, byte 25: invalid character '"' after object name (expecting ':')`}
	if x := extracts(t, out); !slices.ContainsFunc(x.Notes, func(p trial.Problem) bool { return p.Rule == want.Rule && p.Reason == want.Reason }) {
		t.Errorf("notes %+v, want %+v among them", x.Notes, want)
	}
}

func TestExtractFile(t *testing.T) {
	page := write(t, "page.html", productPage)
	code, out, stderr := seine(t, "extract", page, "--url", "https://shop.example/p/1", "--spec", spec(t, "false"))
	if x := extracts(t, out); code != exitOK || len(x.Records) != 1 || x.ContentType != "text/html" {
		t.Errorf("exit code %d: %+v: %s", code, x, stderr)
	}
	// Without rules, the output is the record of the page; without --url, no pattern matches.
	if _, out, _ = seine(t, "extract", page); !strings.Contains(out, `"title":"Shirt"`) || !strings.Contains(out, `"url":"https://file.invalid/page.html"`) {
		t.Errorf("got %s", out)
	}
	// --type determines the type, whatever the name.
	if _, out, _ = seine(t, "extract", page, "--type", "text"); extracts(t, out).Type != "text" {
		t.Errorf("got %s", out)
	}
}

func TestExtractStrict(t *testing.T) {
	page := write(t, "page.html", productPage)
	args := []string{"extract", page, "--url", "https://shop.example/p/1", "--spec", spec(t, "true")}
	code, out, _ := seine(t, args...)
	x := extracts(t, out)
	if code != exitOK || len(x.Records) != 0 || len(x.Problems) != 1 || x.Problems[0].Rule != "records[0]" ||
		x.Problems[0].Field != "day" || !strings.Contains(x.Problems[0].Reason, "required") {
		t.Errorf("exit code %d: %+v", code, x)
	}
	if code, _, _ := seine(t, append(args, "--strict")...); code != exitFailed {
		t.Errorf("with --strict, exit code %d", code)
	}
}

func TestExtractSaysWhyNot(t *testing.T) {
	url := shop(t)
	for name, c := range map[string]struct {
		args []string
		code int
		says []string
	}{
		"a private address":   {[]string{url + "/p/1"}, exitFailed, []string{url, "--allow-private"}},
		"robots.txt":          {[]string{url + "/secret", "--allow-private"}, exitFailed, []string{"robots.txt", "Disallow: /secret", "--robots ignore"}},
		"not found":           {[]string{url + "/none", "--allow-private", "--spec", spec(t, "false")}, exitFailed, []string{"404 Not Found"}},
		"no file":             {[]string{"nothing.html"}, exitUsage, []string{"nothing.html", "https://"}},
		"a bad URL":           {[]string{"https://exa mple/"}, exitUsage, []string{"exa mple"}},
		"a bad URL of a file": {[]string{write(t, "a.html", "x"), "--url", "nowhere"}, exitUsage, []string{"--url", "nowhere"}},
		"a type of a URL":     {[]string{url, "--type", "json"}, exitUsage, []string{"--type are for files"}},
		"input watched":       {[]string{"-", "--watch"}, exitUsage, []string{"--watch"}},
		"a spec that is not":  {[]string{url, "--spec", "none.yaml"}, exitUsage, []string{"--spec", "none.yaml"}},
	} {
		t.Run(name, func(t *testing.T) {
			code, out, stderr := seine(t, append([]string{"extract"}, c.args...)...)
			if code != c.code || out != "" {
				t.Errorf("exit code %d: %s", code, out)
			}
			says(t, "standard error", stderr, c.says...)
		})
	}
}

// TestScreen checks the output on a terminal.
func TestScreen(t *testing.T) {
	page := write(t, "page.html", productPage)
	stamp := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	if err := os.Chtimes(page, stamp, stamp); err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	for _, required := range []string{"false", "true"} {
		c := extractCmd{Page: page, URL: "https://shop.example/p/1", Spec: spec(t, required)}
		rules, err := c.spec()
		if err != nil {
			t.Fatal(err)
		}
		got, err := c.get(t.Context(), rules)
		if err != nil {
			t.Fatal(err)
		}
		found, err := trial.Apply(t.Context(), &got.Fetched, rules)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range []screen{{w: &b, width: 60}, {w: &b, colour: true, full: true}} {
			s.show(found)
			b.WriteString("----\n")
		}
	}
	const golden = "testdata/extract.golden"
	if *update {
		if err := os.WriteFile(golden, b.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if b.String() != string(want) {
		t.Errorf("got\n%s", b.String())
	}
}

// A record is readable whatever a site puts into it, with one line for each value.
func TestRecordOfAnyTextIsShown(t *testing.T) {
	for _, c := range []struct{ record, want string }{
		{`{"kind":"a","url":"u","t":"one\ntwo\u001b[31m","n":1.50,"b":"true","<<":{"x":null}}`,
			"\nrecord a\n  url: u\n  t: \"one⏎two\\e[31m\"\n  n: 1.50\n  b: 'true'\n  '<<':\n    x: null\n"},
		{`{"kind":"a","` + strings.Repeat("k", 2000) + `":1}`, "\nrecord a\n  ? kkkkkkkkkkkkkkkkkkk…\n  : 1\n"},
		{`{"t":"long ` + strings.Repeat("text", 50) + `"}`, "\nrecord page\n  t: long texttexttextt…\n"},
		{`{"t":"\ud83d\ude00"}`, "\nrecord as JSON\n  {\"t\":\"\\ud83d\\ude00\"}\n"},
	} {
		var b bytes.Buffer
		(&screen{w: &b, width: 24}).record(json.RawMessage(c.record))
		if c.want != b.String() {
			t.Errorf("%.100s:\n%s\n%q", c.record, b.String(), b.String())
		}
	}
}

func TestClipped(t *testing.T) {
	for _, c := range []struct {
		text string
		most int
		want string
	}{
		{"short", 10, "short"}, {"ünïcödé", 4, "ünï…"}, {"a\nb\tc", 0, "a⏎b c"}, {"\x1b[31m\x9b", 0, "\ufffd[31m\ufffd"}, {"", 3, ""},
	} {
		if got := clipped(c.text, c.most); got != c.want {
			t.Errorf("%q to %d: got %q, want %q", c.text, c.most, got, c.want)
		}
	}
}

// The output is updated when the spec changes, even if it is invalid.
func TestWatch(t *testing.T) {
	page, rules := write(t, "page.html", productPage), spec(t, "false")
	c := extractCmd{Page: page, URL: "https://shop.example/p/1", Spec: rules, JSON: true}
	before := c.stamp()
	if before != c.stamp() {
		t.Fatal("nothing has changed")
	}
	var had *fetched
	stdout, doneOut := capture(t, &os.Stdout)
	stderr, doneErr := capture(t, &os.Stderr)
	c.again(context.Background(), &had)
	if err := os.WriteFile(rules, []byte("recordz: []\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	changed := c.stamp() != before
	c.again(context.Background(), &had)
	if err := os.WriteFile(rules, []byte("page: {emit: always}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c.again(context.Background(), &had)
	doneOut()
	doneErr()
	if !changed {
		t.Error("a changed spec was not seen")
	}
	says(t, "standard error", stderr.String(), rules+":1:1: recordz: unknown key: did you mean records?")
	if n := strings.Count(stdout.String(), `"records":[{`); n != 2 {
		t.Errorf("shown %d times:\n%s", n, stdout)
	}
}

// A signal ends the command, whatever the rules are doing.
func TestExtractEndsWithItsContext(t *testing.T) {
	page := write(t, "page.json", "1")
	rules := write(t, "spec.yaml", `records: [{kind: a, fields: {t: {jq: "last(repeat(1))"}}}]`)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	c := extractCmd{Page: page, Spec: rules, JSON: true}
	if err := c.once(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("ended with %v", err)
	}
}
