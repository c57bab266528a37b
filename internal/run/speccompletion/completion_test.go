package speccompletion

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"

	"seine/internal/run/specfile"
)

// at completes a text at the mark "‸", which is taken out of it.
func at(t *testing.T, marked string) (a *Answer, text string) {
	t.Helper()
	before, after, ok := strings.Cut(marked, "‸")
	if !ok {
		t.Fatalf("no ‸ in %q", marked)
	}
	line := before[strings.LastIndexByte(before, '\n')+1:]
	a, err := Complete(before+after, 1+strings.Count(before, "\n"), 1+utf8.RuneCountInString(line))
	if err != nil {
		t.Fatal(err)
	}
	return a, before + after
}

// take is a text in which a candidate was taken.
func take(text string, a *Answer, insert string) string {
	lines := strings.Split(text, "\n")
	line := []rune(lines[a.Line-1])
	lines[a.Line-1] = string(line[:a.From-1]) + insert + string(line[a.To-1:])
	return strings.Join(lines, "\n")
}

func names(a *Answer) string {
	var all []string
	for _, c := range a.Candidates {
		all = append(all, c.Name)
	}
	return strings.Join(all, " ")
}

const states = "running paused cancelled"

func TestCandidates(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"nothing is written":                        {"del‸", "delay delay_factor max_delay"},
		"keys that have it in them come later":      {"host‸", "hosts max_pages_per_host per_host"},
		"capitals":                                  {"DELAY_‸", "delay_factor"},
		"what is set is left out":                   {"delay: 1s\ndel‸\n", "delay_factor max_delay"},
		"what is set later, too":                    {"del‸\ndelay_factor: 2\n", "delay max_delay"},
		"in an empty line before it":                {"breaker:\n  ‸\n  wait: 1s\n", "failures max_wait probes"},
		"in an empty line behind it":                {"breaker:\n  wait: 1s\n  ‸\ndelay: 1s\n", "failures max_wait probes"},
		"the key itself":                            {"breaker:\n  wa‸it: 1s\n  probes: 1\n", "wait max_wait"},
		"a key without a colon among others":        {"breaker:\n  fa‸\n  wait: 1s\n", "failures"},
		"values in the line":                        {"state: ‸\ndelay: 1s", states},
		"values without a blank":                    {"state:‸", states},
		"values that are begun":                     {"state: pau‸", "paused"},
		"values in the next line":                   {"state:\n  pau‸", "paused"},
		"true and false":                            {"archive: ‸", "true false"},
		"quotes":                                    {`state: "pau‸"`, "paused"},
		"single quotes":                             {`'state': 'pau‸'`, "paused"},
		"quotes without an end":                     {"state: \"pau‸\ndelay: 1s\n", "paused"},
		"one of a list":                             {"schemes:\n  - ‸", "http https"},
		"one of a list at the column of its key":    {"schemes:\n- http‸", "http https"},
		"a list of rules":                           {"records:\n- kind: a\n  ke‸", "key"},
		"the first key of a rule":                   {"records:\n  - ki‸\n    key: x\n", "kind"},
		"the second rule":                           {"records:\n  - kind: a\n    fields: {a: h1}\n  - fi‸", "fields"},
		"a rule that is set further down":           {"records:\n  - kind: a\n    ke‸\n    key: x\n  - kind: b\n", ""},
		"fields of fields":                          {"records:\n  - kind: a\n    fields:\n      price:\n        fields:\n          amount:\n            deci‸", "decimal"},
		"names that are free":                       {"records:\n  - fields:\n      pri‸", ""},
		"lists within dashes":                       {"sources:\n  - hosts: [a.example]\n    state: ‸\n", states},
		"a list begins with a dash":                 {"schemes:\n  ‸", "http https"},
		"a mapping in braces":                       {"breaker: {wait: 1s, ‸}", "failures max_wait probes"},
		"what comes later in braces":                {"breaker: {‸, wait: 1s}", "failures max_wait probes"},
		"braces without an end":                     {"sources: [{hosts: [a.example], stat‸\ndelay: 1s", "state on_status"},
		"a value in braces":                         {"sources: [{hosts: [a.example], state: ‸}]", states},
		"a value in brackets":                       {"schemes: [http, ‸]", "http https"},
		"behind a value in braces":                  {"breaker: {wait: 1s ‸}", ""},
		"JSON":                                      {"{\n  \"v\": 1,\n  \"delay\": \"1s\",\n  \"del‸\"\n}\n", "delay_factor max_delay"},
		"JSON without the end of a quote":           {"{\n  \"v\": 1,\n  \"del‸\n  \"delay\": \"1s\"\n}\n", "delay_factor max_delay"},
		"JSON where a comma is missing":             {"{\n  \"v\": 1\n  \"per_h‸\"\n}\n", "per_host max_pages_per_host"},
		"JSON where a comma is missing in the line": {`{"v": 1, "delay": "1s" "max_de‸"}`, "max_delay max_depth"},
		"JSON behind a text without a comma":        {`{"breaker": {"wait": "1s" ‸}}`, "failures max_wait probes"},
		"JSON behind a number without a comma":      {`{"breaker": {"probes": 1 ‸}}`, "failures max_wait wait"},
		"JSON behind an object without a comma":     {`{"breaker": {"wait": "1s"} "per_h‸`, "per_host max_pages_per_host"},
		"JSON behind a list without a comma":        {`{"schemes": ["http"] per_h‸}`, "per_host max_pages_per_host"},
		"JSON in a list without a comma":            {`{"schemes": ["http" ‸]}`, "http https"},
		"JSON in the next line of such a list":      {"{\"schemes\": [\"http\"\n  \"‸\n]}", "http https"},
		"JSON in an empty line without a comma":     {"{\"breaker\": {\n  \"wait\": \"1s\"\n  ‸\n}}", "failures max_wait probes"},
		"JSON in the next object without a comma":   {`{"sources": [{"hosts": ["a.example"]} {"stat‸"}]}`, "state on_status"},
		"JSON behind it, what is set is left out":   {`{"breaker": {"wait": "1s" ‸ "probes": 2}}`, "failures max_wait"},
		"JSON behind a word that may go on":         {`{"breaker": {"wait": 1s ‸}}`, ""},
		"JSON in objects in lists":                  {"{\"sources\": [{\"hosts\": [\"a.example\"]}, {\"state\": \"‸\"}]}", states},
		"a comment":                                 {"# del‸", ""},
		"a comment behind a value":                  {"state: paused # pau‸", ""},
		"before a comment":                          {"state: ‸ # why", states},
		"behind a value":                            {"state: paused ‸", ""},
		"a block of text":                           {"user_agent: |\n  del‸\n", ""},
		"behind a block of text":                    {"user_agent: |\n  a\n  b: c\ndelay_f‸", "delay_factor"},
		"a text over lines":                         {"user_agent: \"a\n  del‸\"\n", ""},
		"behind a text over lines":                  {"user_agent: \"a\n  b\"\ndelay_f‸", "delay_factor"},
		"anchors":                                   {"sources:\n  - &a\n    hosts: [a.example]\n    stat‸", "state on_status"},
		"a second document":                         {"delay: 1s\n---\ndelay‸", "delay delay_factor max_delay"},
		"tabs":                                      {"breaker:\n\tfail‸", "failures"},
		"ends of lines of Windows":                  {"breaker:\r\n  fail‸\r\n  wait: 1s\r\n", "failures"},
		"characters of several bytes":               {"contact: \"ü€😀\"\nbreaker: {wait: \"ü\", fail‸}", "failures"},
		"a column that fits nowhere":                {"breaker:\n    wait: 1s\n  fail‸", ""},
		"a column behind a value":                   {"delay: 1s\n  fail‸", ""},
		"too deep below a value":                    {"delay:\n  fail‸", ""},
		"a key that is not known":                   {"delai:\n  fail‸", ""},
		"broken before it: a quote":                 {"user_agent: \"bot\nbreaker:\n  fail‸", "failures"},
		"broken before it: a bracket":               {"hosts: [a.example, {\nbreaker:\n  fail‸", "failures"},
		"broken before it: brackets that are not":   {"hosts: ]]}}\nbreaker:\n  fail‸", "failures"},
		"broken before it: no colon":                {"hosts\nbreaker:\n  fail‸", "failures"},
		"a short form":                              {"alerts: ‸", "off"},
		"keys in the place of a short form":         {"alerts:\n  dead‸", "dead_letters"},
		"a letter in the middle":                    {"stat‸ rest", "state on_status"},
	} {
		t.Run(name, func(t *testing.T) {
			a, text := at(t, c.text)
			if got := names(a); got != c.want {
				t.Errorf("%q: %q, want %q", c.text, got, c.want)
			}
			_ = take(text, a, "x")
		})
	}
}

// What is taken stands where what was begun stood, as it is written there.
func TestTakenCandidates(t *testing.T) {
	for _, c := range []struct{ text, take, want string }{
		{"del‸", "delay", "delay: "},
		{"de‸lay: 1s", "delay_factor", "delay_factor: 1s"},
		{"'de‸lay': 1s", "delay_factor", "'delay_factor': 1s"},
		{"bre‸", "breaker", "breaker:\n  "},
		{"records:\n  - kind: a\n    fie‸", "fields", "records:\n  - kind: a\n    fields:\n      "},
		{"records:\n  - kind: a\n    fol‸\n", "", ""},
		{"rec‸", "records", "records:\n  - "},
		{"records:\n  ‸", "kind", "records:\n  - kind: "},
		{"state:‸", "paused", "state: paused"},
		{"state: ‸", "paused", "state: paused"},
		{`state: "p‸x"`, "paused", `state: "paused"`},
		{`state: 'p‸`, "paused", `state: 'paused'`},
		{"{\"v\": 1, ‸}", "delay", `{"v": 1, "delay": }`},
		{"{\"v\": 1, \"del‸}", "delay", `{"v": 1, "delay": }`},
		{"{\"v\": 1, \"del‸\"}", "delay", `{"v": 1, "delay": }`},
		{"{\"v\": 1, \"max_d‸\"delay\": 2}", "max_depth", `{"v": 1, "max_depth": "delay": 2}`},
		{"{\"v\": 1, \"del‸\": 2}", "delay", `{"v": 1, "delay": 2}`},
		{"{\"state\": ‸}", "paused", `{"state": "paused"}`},
		{"{\"archive\": ‸}", "true", `{"archive": true}`},
		{`{"v": 1 "del‸"}`, "delay", `{"v": 1, "delay": }`},
		{`{"v": 1 del‸}`, "delay", `{"v": 1, "delay": }`},
		{`{"v": 1  ‸ }`, "delay", `{"v": 1, "delay":  }`},
		{`{"v": 1 ‸, "delay_factor": 2}`, "delay", `{"v": 1, "delay": , "delay_factor": 2}`},
		{`{"v": 1 "del‸": "1s"}`, "delay", `{"v": 1, "delay": "1s"}`},
		{`{"breaker": {"probes": 1}‸}`, "delay", `{"breaker": {"probes": 1}, "delay": }`},
		{`{"schemes": ["http" "‸"]}`, "https", `{"schemes": ["http", "https"]}`},
		{"{\"v\": 1\n  \"del‸\"\n}", "delay", "{\"v\": 1\n  \"delay\": \n}"},
		{`breaker: {wait: "1s" pro‸}`, "probes", `breaker: {wait: "1s", probes: }`},
		{"{v: 1, del‸}", "delay", `{v: 1, delay: }`},
		{"tls: {min_version: ‸}", "1.3", `tls: {min_version: "1.3"}`},
		{"contact: ü\nstate: é‸", "", ""},
	} {
		a, text := at(t, c.text)
		i := slices.IndexFunc(a.Candidates, func(o Candidate) bool { return o.Name == c.take })
		if i < 0 {
			if c.take != "" || len(a.Candidates) > 0 {
				t.Errorf("%q: %s, want %q", c.text, names(a), c.take)
			}
			continue
		}
		if got := take(text, a, a.Candidates[i].Insert); got != c.want {
			t.Errorf("%q: %q, want %q", c.text, got, c.want)
		}
	}
}

// What is known of a candidate, and of the key that the cursor is in.
func TestDescriptions(t *testing.T) {
	a, _ := at(t, "delay_‸")
	if c := a.Candidates[0]; c.Type != "number" || c.About != "delay_factor makes the delay grow with the host's response time: it is at least so many times as long." {
		t.Errorf("%+v", c)
	}
	for text, want := range map[string]Key{
		"sta‸te: paused":                                  {Path: "state", Type: "running, paused, cancelled"},
		"breaker:\n  wait: 1‸s":                           {Path: "breaker.wait", Type: "text such as 500ms, 1s, 2h, 7d"},
		"breaker:\n  ‸":                                   {Path: "breaker", Type: "keys with values"},
		"sources:\n- {hosts: [a.exa‸mple]}":               {Path: "sources[].hosts", Type: "list of text"},
		"records:\n- fields:\n    price:\n      get: a ‸": {Path: "records[].fields.price.get", Type: "text"},
		"user_agent: |\n  my ‸bot":                        {Path: "user_agent", Type: "text"},
		"records: [{types: [html, ‸]}]":                   {Path: "records[].types", Type: "html, xml, json, feed, …, or list of html, xml, json, feed, …"},
	} {
		a, _ := at(t, text)
		if a.Key == nil || a.Key.Path != want.Path || a.Key.Type != want.Type {
			t.Errorf("%q: %+v, want %+v", text, a.Key, want)
		}
	}
	if a, _ := at(t, "delay: 1‸s"); a.Key.Default != `"1s"` {
		t.Errorf("%+v", a.Key)
	}
	for _, text := range []string{"‸", "unknown: 1‸", "# a‸", "breaker: {unknown: 1‸}", "<script>alert(1)</script>: ‸"} {
		if a, _ := at(t, text); a.Key != nil {
			t.Errorf("%q: %+v", text, a.Key)
		}
	}
}

// Every value that is offered is one that a spec may have.
func TestOfferedValuesAreRead(t *testing.T) {
	tried := 0
	var try func(s *schema, before, after string)
	try = func(s *schema, before, after string) {
		values, _ := s.values()
		if items := s.items(); items != nil && values == nil {
			try(items, before+"[", "]"+after)
		}
		if len(values) == 0 {
			return
		}
		a, text := at(t, before+"‸"+after)
		for _, c := range a.Candidates {
			tried++
			if _, err := specfile.Load("spec", []byte(take(text, a, c.Insert))); err != nil && strings.Contains(err.Error(), c.Name) {
				t.Errorf("%v", err)
			}
		}
	}
	for name, s := range root().Properties {
		try(s, name+": ", "")
		try(s, "{\""+name+"\": ", "}")
		if o := s.object(); o != nil {
			for inner, s := range o.Properties {
				try(s, name+": {"+inner+": ", "}")
				try(s, name+":\n  "+inner+": ", "")
			}
		}
	}
	if tried < 100 {
		t.Errorf("only %d values", tried)
	}
}

// specs are those of the repository, and the same as JSON.
func specs(t *testing.T) (texts []string) {
	t.Helper()
	for _, pattern := range []string{"../specfile/testdata/good/*.yaml", "../../../examples/*.yaml", "../../../examples/*/*.yaml", "../../testing/samplesites/*.yaml", "../../testing/samplesites/*/*.yaml"} {
		files, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			spec, err := specfile.Load(file, text)
			if err != nil {
				continue
			}
			var asJSON bytes.Buffer
			if err := json.Indent(&asJSON, spec.Encode(), "", "  "); err != nil {
				t.Fatal(err)
			}
			texts = append(texts, string(text), asJSON.String())
		}
	}
	if len(texts) < 10 {
		t.Fatalf("only %d", len(texts))
	}
	return texts
}

// In specs that are right, every key is found by its path, and is offered where it is written: whether what comes
// behind it is there, or nothing of that yet.
func TestEveryKeyOfEverySpecIsOfferedInItsPlace(t *testing.T) {
	keys := 0
	for _, text := range specs(t) {
		var doc yaml.Node
		if err := yaml.Load([]byte(text), &doc); err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(text, "\n")
		eachKey(&doc, root(), "", func(key *yaml.Node, path string, known bool) {
			keys++
			end := key.Column + utf8.RuneCountInString(key.Value)
			if key.Style&(yaml.DoubleQuotedStyle|yaml.SingleQuotedStyle) != 0 {
				end++
			}
			a, err := Complete(text, key.Line, end)
			if err != nil {
				t.Fatal(err)
			}
			if a.Key == nil || a.Key.Path != path {
				t.Fatalf("%s: %+v in line %d of\n%s", path, a.Key, key.Line, text)
			}
			if !known {
				return
			}
			begun := strings.Join(append(lines[:key.Line-1:key.Line-1], string([]rune(lines[key.Line-1])[:end-1])), "\n")
			partial, err := Complete(begun, key.Line, end)
			if err != nil {
				t.Fatal(err)
			}
			for _, a := range []*Answer{a, partial} {
				if !slices.ContainsFunc(a.Candidates, func(c Candidate) bool { return c.Name == key.Value }) || a.From != key.Column {
					t.Fatalf("%s: %+v in line %d of\n%s", path, a, key.Line, text)
				}
			}
		})
	}
	if keys < 500 {
		t.Errorf("only %d keys", keys)
	}
}

// eachKey calls do for the keys of a tree, as the YAML package reads it.
func eachKey(n *yaml.Node, s *schema, path string, do func(key *yaml.Node, path string, known bool)) {
	for i, c := range n.Content {
		switch {
		case n.Kind == yaml.DocumentNode:
			eachKey(c, s, path, do)
		case n.Kind == yaml.SequenceNode:
			eachKey(c, s.items(), path+"[]", do)
		case i%2 == 1 && s.member(n.Content[i-1].Value) != nil:
			key := n.Content[i-1]
			at := strings.TrimPrefix(path+"."+key.Value, ".")
			do(key, at, s.object().Properties[key.Value] != nil)
			eachKey(c, s.member(key.Value), at, do)
		}
	}
}

// A place that is not there, and a text that is larger than any spec, are refused.
func TestBounds(t *testing.T) {
	for _, c := range []struct {
		text         string
		line, column int
		want         string
	}{
		{"a", 0, 1, "no such place"}, {"a", 2, 1, "no such place"}, {"a", 1, 0, "no such place"}, {"", 1, 1, ""}, {"a\n", 2, 1, ""}, {"a", 1, 1 << 40, ""},
		{strings.Repeat(" ", specfile.MaxSize+1), 1, 1, "a spec has at most"},
	} {
		if _, err := Complete(c.text, c.line, c.column); (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("line %d, column %d: %v, want %q", c.line, c.column, err, c.want)
		}
	}
}

// The largest texts take a moment, however they are made: what is kept is at most a collection for each line.
func TestLargestTexts(t *testing.T) {
	for _, part := range []string{"- ", "[", "{a: ", "a:\n ", "\"", "a: \"\n", "&a ", "a: |\n", "\n", "'\n", "# x", "delay: 1s\n", "[\n", "]", "a: {\n", "ü"} {
		text := strings.Repeat(part, specfile.MaxSize/len(part))
		last := strings.Count(text, "\n")
		for _, line := range []int{1, last/2 + 1, last + 1} {
			if n := testing.AllocsPerRun(1, func() {
				if _, err := Complete(text, line, 1<<30); err != nil {
					t.Fatal(err)
				}
			}); n > float64(last)+10_000 {
				t.Errorf("%q: %.0f allocations for %d lines", part, n, last)
			}
		}
	}
}

// Whatever a text is, what is offered replaces what is there around the cursor, and each name is offered once.
func FuzzComplete(f *testing.F) {
	for _, text := range []string{
		"delay: 1s\ndel", "{\"v\": 1,\n \"st\": \"pau", "records:\n- kind: a\n  fields: {a: [b, {", "a: |\n  b\n c", "'\"{[]}:,#&*!|>%@`", "\t- - a:\n\t\t", "---\n\xff\xfe\u2028: ü\r\n",
	} {
		f.Add(text, 1, len(text))
		f.Add(text, 2, 3)
	}
	f.Fuzz(func(t *testing.T, text string, line, column int) {
		a, err := Complete(text, line, column)
		if err != nil {
			return
		}
		lines := strings.Split(text, "\n")
		length := utf8.RuneCountInString(strings.TrimSuffix(lines[line-1], "\r"))
		cursor := min(column, length+1)
		if a.Line != line || a.From < 1 || a.From > a.To || len(a.Candidates) > 0 && (a.From > cursor || a.To < cursor || a.To > length+1) {
			t.Fatalf("from %d to %d, with the cursor at %d of %d", a.From, a.To, cursor, length)
		}
		seen := make(map[string]bool)
		for _, c := range a.Candidates {
			if seen[c.Insert] || c.Name == "" || !strings.Contains(c.Insert, c.Name) {
				t.Fatalf("%+v", c)
			}
			seen[c.Insert] = true
		}
		if len(a.Candidates) > 200 {
			t.Fatal(fmt.Sprint(len(a.Candidates)))
		}
	})
}
