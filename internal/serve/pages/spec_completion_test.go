package pages

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"seine/internal/run/specfile"
)

// ofEditor evaluates the body of a JavaScript function in a page with an editor. The function gets
// the spec's schema, the exports of the editor's modules, and the input.
func ofEditor[T any](t *testing.T, body string, input any) (out T) {
	t.Helper()
	tab := openEditor(t)
	arguments, err := json.Marshal(input)
	if err != nil {
		t.Fatal(err)
	}
	tab.EvalAsync(`(async (input) => {
		const from = document.querySelector("script[type=module]").src;
		const load = (name) => import(new URL(name, from));
		const [{ complete }, { keyAt, problems }, { Schema }, { parser }] = await Promise.all(["spec-completion.js", "spec-problems.js", "spec-schema.js", "codemirror/codemirror.js"].map(load));
		const schema = new Schema(await (await fetch(document.querySelector("textarea[data-schema]").dataset.schema)).json());
		const at = (marked) => [marked.replace("‸", ""), marked.indexOf("‸")];
		const take = (text, option) => option.changes.toReversed().reduce((t, c) => t.slice(0, c.from) + c.insert + t.slice(c.to), text);
		`+body+`
	})(`+string(arguments)+`)`, &out)
	return out
}

const states = "running paused cancelled"

// The editor offers the right candidates at every place, even in broken texts.
func TestCandidatesOfASpec(t *testing.T) {
	t.Parallel()
	rows := map[string]struct{ Text, Want string }{
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
		"braces without a comma":                    {"breaker: {wait: 1s ‸}", "failures max_wait probes"},
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
		"JSON behind it, what is set is left out":   {`{"breaker": {"wait": "1s" ‸ "probes": 2}}`, "failures max_wait"},
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
	}
	offered := ofEditor[map[string][]string](t, `return Object.fromEntries(Object.entries(input).map(([name, { Text }]) => [name, complete(schema, ...at(Text)).options.map((o) => o.label)]));`, rows)
	for name, row := range rows {
		if got := strings.Join(offered[name], " "); got != row.Want {
			t.Errorf("%s: %q: %q, want %q", name, row.Text, got, row.Want)
		}
	}
}

// An accepted candidate replaces the word, quoted as that place requires.
func TestTakenCandidatesOfASpec(t *testing.T) {
	t.Parallel()
	rows := []struct{ Text, Take, Want string }{
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
		{"{\"v\": 1, \"del‸\": 2}", "delay", `{"v": 1, "delay": 2}`},
		{"{\"state\": ‸}", "paused", `{"state": "paused"}`},
		{"{\"archive\": ‸}", "true", `{"archive": true}`},
		{`{"v": 1 "del‸"}`, "delay", `{"v": 1, "delay": }`},
		{`{"v": 1 del‸}`, "delay", `{"v": 1, "delay": }`},
		{`{"v": 1  ‸ }`, "delay", `{"v": 1,  "delay":  }`},
		{`{"v": 1 ‸, "delay_factor": 2}`, "delay", `{"v": 1, "delay": , "delay_factor": 2}`},
		{`{"v": 1 "del‸": "1s"}`, "delay", `{"v": 1, "delay": "1s"}`},
		{`{"breaker": {"probes": 1}‸}`, "delay", `{"breaker": {"probes": 1}, "delay": }`},
		{`{"schemes": ["http" "‸"]}`, "https", `{"schemes": ["http", "https"]}`},
		{"{\"v\": 1\n  \"del‸\"\n}", "delay", "{\"v\": 1,\n  \"delay\": \n}"},
		{`breaker: {wait: "1s" pro‸}`, "probes", `breaker: {wait: "1s", probes: }`},
		{"{v: 1, del‸}", "delay", `{v: 1, delay: }`},
		{"tls: {min_version: ‸}", "1.3", `tls: {min_version: "1.3"}`},
		{"contact: ü\nstate: é‸", "", ""},
	}
	taken := ofEditor[[]string](t, `return input.map(({ Text, Take }) => {
		const [text, pos] = at(Text), { options } = complete(schema, text, pos), option = options.find((o) => o.label === Take);
		return option ? take(text, option) : options.map((o) => o.label).join(" ");
	});`, rows)
	for i, row := range rows {
		if taken[i] != row.Want {
			t.Errorf("%q: %q, want %q", row.Text, taken[i], row.Want)
		}
	}
}

// Every offered value is valid in a spec.
func TestOfferedValuesAreThoseOfSpecs(t *testing.T) {
	t.Parallel()
	tried := ofEditor[[]struct{ Name, Text string }](t, `const all = [];
	const tryOut = (s, before, after) => {
		if (schema.items(s) && schema.values(s).all.length === 0) tryOut(schema.items(s), before + "[", "]" + after);
		if (schema.values(s).all.length === 0) return;
		const text = before + after;
		for (const o of complete(schema, text, before.length).options) all.push({ Name: o.label, Text: take(text, o) });
	};
	for (const [name, s] of Object.entries(schema.root.properties)) {
		tryOut(s, name + ": ", "");
		tryOut(s, '{"' + name + '": ', "}");
		for (const [inner, of] of Object.entries(schema.object(s)?.properties ?? {})) {
			tryOut(of, name + ": {" + inner + ": ", "}");
			tryOut(of, name + ":\n  " + inner + ": ", "");
		}
	}
	return all;`, nil)
	if len(tried) < 100 {
		t.Errorf("only %d values", len(tried))
	}
	for _, v := range tried {
		if _, err := specfile.Load("spec", []byte(v.Text)); err != nil && strings.Contains(err.Error(), v.Name) {
			t.Errorf("%q: %v", v.Text, err)
		}
	}
}

// specs returns the valid specs in the repository, also as JSON.
func specs(t *testing.T) (texts []string) {
	t.Helper()
	for _, pattern := range []string{"run/specfile/testdata/good/*.yaml", "../examples/*.yaml", "../examples/*/*.yaml", "testing/samplesites/*.yaml", "testing/samplesites/*/*.yaml"} {
		files, err := filepath.Glob(filepath.Join("../..", pattern))
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

// Nothing in a valid spec is marked. Every key in it is offered at its place, whether text follows
// or not.
func TestSpecsThatAreRightHaveTheirKeysAndNoProblems(t *testing.T) {
	t.Parallel()
	found := ofEditor[struct {
		Keys  int
		Wrong []string
	}](t, `const out = { Keys: 0, Wrong: [] };
	for (const text of input) {
		const tree = parser.parse(text);
		for (const p of problems(schema, tree, text)) out.Wrong.push(text.slice(p.from, p.to) + ": " + p.message);
		tree.iterate({ enter: ({ name, node, to }) => {
			if (name !== "Key") return;
			const key = text.slice(node.from, to), word = key.replaceAll(/["']/g, "");
			const known = keyAt(schema, tree, text, to);
			if (!known) return; // in a part that the schema leaves open
			if (known.name.split(".").at(-1) !== word) out.Wrong.push(key + " is described as " + known.name);
			out.Keys++;
			const path = known.name.split(/\.|(?=\[\])/).slice(0, -1).map((step) => step === "[]" ? null : step);
			if (!Object.hasOwn(schema.object(schema.at(path))?.properties ?? {}, word)) return;
			const end = to - (/["']$/.test(key) ? 1 : 0);
			for (const t of [text, text.slice(0, end)]) {
				if (!complete(schema, t, end).options.some((o) => o.label === word)) out.Wrong.push(known.name + " is not offered at the end of " + t.slice(0, end).slice(-200));
			}
		} });
	}
	return out;`, specs(t))
	if found.Keys < 500 {
		t.Errorf("only %d keys", found.Keys)
	}
	for _, wrong := range found.Wrong {
		t.Error(wrong)
	}
}

// The key at a place is described, and violations of the schema are marked with the expected value.
func TestKeysAreDescribedAndProblemsMarked(t *testing.T) {
	t.Parallel()
	described := map[string]string{
		"sta‸te: paused":                                  "state: running, paused, cancelled",
		"state: ‸":                                        "state: running, paused, cancelled",
		"breaker:\n  wait: 1‸s":                           "breaker.wait: text such as 500ms, 1s, 2h, 7d",
		"sources:\n- {hosts: [a.exa‸mple]}":               "sources[].hosts: list of text",
		"records:\n- fields:\n    price:\n      get: a ‸": "records[].fields.price.get: text",
		"user_agent: |\n  my ‸bot":                        "user_agent: text",
		"records: [{types: [html, ‸]}]":                   "records[].types: html, xml, json, feed, …, or list of html, xml, json, feed, …",
		"‸":                                               "",
		"unknown: 1‸":                                     "",
		"# a‸":                                            "",
		"breaker: {unknown: 1‸}":                          "",
		"<script>alert(1)</script>: ‸":                    "",
	}
	got := ofEditor[map[string]string](t, `return Object.fromEntries(Object.keys(input).map((marked) => {
		const [text, pos] = at(marked), key = keyAt(schema, parser.parse(text), text, pos);
		return [marked, key ? key.name + ": " + key.type : ""];
	}));`, described)
	for text, want := range described {
		if got[text] != want {
			t.Errorf("%q: %q, want %q", text, got[text], want)
		}
	}
	marked := map[string][]string{
		"delay: 1s\nmax_pges: 1":                    {"max_pges: There is no key max_pges here."},
		"state: pausd":                              {"pausd: Must be running, paused, cancelled."},
		"max_pages: many":                           {"many: Must be whole number."},
		"max_pages: \"5\"":                          {`"5": Must be whole number.`},
		"delay: soon":                               {"soon: Must be text such as 500ms, 1s, 2h, 7d."},
		"delay_factor: 2":                           nil,
		"archive: yes":                              {"yes: Must be true or false."},
		"schemes: [http, ftp]":                      {"ftp: Must be http, https."},
		"schemes: {a: 1}":                           {"{a: 1}: Must be list of http, https."},
		"breaker: [1]":                              {"[1]: Must be keys with values."},
		"sources: [{delay: 1s}]":                    {"{delay: 1s}: Without hosts."},
		"sources:\n- &a {hosts: [a.example]}\n- *a": nil,
		"{\"v\": 1, \"delay\": 1 2}":                {"1 2: Must be text such as 500ms, 1s, 2h, 7d."},
		"hosts: ]":                                  {"]: Neither YAML nor JSON."},
		"delay:":                                    nil,
	}
	wrong := ofEditor[map[string][]string](t, `return Object.fromEntries(Object.keys(input).map((text) => [text, problems(schema, parser.parse(text), text).map((p) => text.slice(p.from, p.to) + ": " + p.message)]));`, marked)
	for text, want := range marked {
		if !slices.Equal(wrong[text], want) {
			t.Errorf("%q: %q, want %q", text, wrong[text], want)
		}
	}
}
