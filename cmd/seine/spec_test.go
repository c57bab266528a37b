package main

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestSpecCheck(t *testing.T) {
	good := spec(t, "false")
	code, out, _ := seine(t, "spec", "check", good)
	if code != exitOK {
		t.Errorf("exit code %d", code)
	}
	says(t, "check", out, good+": ok", "enters    the hosts of the seeds", "anchor, area",
		"follows   what css button finds, priority 2", "record    product, 5 fields, at */p/*, on condition", "record    list")
	if code, out, _ := seine(t, "spec", "check", "--quiet", good); code != exitOK || out != "" {
		t.Errorf("exit code %d: %s", code, out)
	}
}

func TestSpecCheckTellsAll(t *testing.T) {
	good, bad := spec(t, "false"), write(t, "bad.yaml", "scope: hosts\nrecords:\n  - kind: a\n    fields: {x: {css: '['}}\ndelai: 1s\n")
	code, out, stderr := seine(t, "spec", "check", bad, good, bad+"x")
	if code != exitUsage {
		t.Errorf("exit code %d", code)
	}
	says(t, "standard error", stderr, bad+`:1:8: scope "hosts": must be host, domain or any`, bad+":4:23: records[0].fields.x.css: ",
		bad+":5:1: delai: there is no such key: did you mean delay?", bad+"x: no such file")
	says(t, "standard output", out, good+": ok")
}

// Where secrets go is for the writer of a spec to see.
func TestSpecCheckTellsWhereSecretsGo(t *testing.T) {
	name := write(t, "secrets.yaml", `
sources:
  - hosts: [api.example, "http://10.1.2.3:8080"]
    auth: {bearer: "{secret:TOKEN}"}
    headers: {X-Key: "{secret:KEY}"}
  - hosts: [open.example]
    headers: {X-Open: a}
requests:
  - match: "https://b.example/search?*"
    query: {key: "{secret:KEY}"}
  - match: "https://c.example/*"
    query: {key: open}
`)
	code, out, stderr := seine(t, "spec", "check", name)
	if code != exitOK {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	says(t, "check", out, "secrets   auth, X-Key to https://api.example, http://10.1.2.3:8080 (in the clear) alone",
		"secrets   those of the rule for https://b.example/search?* to https://b.example alone")
	if strings.Contains(out, "open.example") || strings.Contains(out, "c.example") {
		t.Errorf("hosts without secrets are told: %s", out)
	}
}

// What is known here of secrets is looked at as the fetchers will.
func TestSpecCheckWarnsOfPlainSecrets(t *testing.T) {
	t.Setenv("SEINE_SECRET_PLAIN", "password")
	t.Setenv("SEINE_SECRET_GOOD", "pa55w0rd")
	file := write(t, "spec.yaml", "requests:\n- match: https://a.example/*\n  query: {p: '{secret:PLAIN}', g: '{secret:GOOD}', u: '{secret:UNKNOWN}'}\n")
	code, out, _ := seine(t, "spec", "check", file)
	if code != exitOK || strings.Count(out, "warning") != 1 {
		t.Errorf("exit code %d: %s", code, out)
	}
	says(t, "check", out, "warning   secret PLAIN is too short or too plain a word")
}

func TestSpecSchema(t *testing.T) {
	code, out, _ := seine(t, "spec", "schema")
	var schema struct {
		Schema string `json:"$schema"`
	}
	if err := json.Unmarshal([]byte(out), &schema); err != nil || code != exitOK {
		t.Fatalf("exit code %d: %v", code, err)
	}
	if schema.Schema != "https://json-schema.org/draft/2020-12/schema" {
		t.Errorf("it is a schema of %s", schema.Schema)
	}
}

func TestCrawlTellsWhatIsWrongWithItsSpec(t *testing.T) {
	bad := write(t, "bad.yaml", "records:\n  - kind: a\n    fields:\n      x: {css: h1, ass: number}\n")
	for _, args := range [][]string{
		{"crawl", "http://a.example/", "--spec", bad}, {"crawl", "http://a.example/", "--spec", bad, "--dry-run"},
		{"extract", "http://a.example/", "--spec", bad},
	} {
		code, _, stderr := seine(t, args...)
		if code != exitUsage {
			t.Errorf("%v: exit code %d", args, code)
		}
		says(t, "standard error", stderr, bad+":4:20: records[0].fields.x.ass: there is no such key")
	}
}
