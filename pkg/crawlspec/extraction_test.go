package crawlspec

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"
)

// everyExtraction is the extraction of the example with every key.
func everyExtraction() Extraction {
	return Extraction{
		Page:  PageOutput{Emit: EmitAlways, Fields: Strings{"url", "title"}, When: &Condition{Not: &Condition{Language: Strings{"fr"}}}},
		Links: LinkRules{Follow: Strings{"anchor", "header"}, Attributes: Strings{"data-href"}, NoFollow: RobotsIgnore},
		Follow: []FollowRule{{
			Target: Target{
				Match: Strings{"https://example.org/schedule/*"}, Types: Strings{"json"},
				When: &Condition{Not: &Condition{Selector: Selector{JQ: ".end"}}, Status: Ints{200}},
			},
			Each: &Each{Selector: Selector{JQ: ".games[]"}}, With: Fields{{"id", Field{Selector: Selector{JQ: ".id"}}}},
			URL: "/game/{id}", Priority: new(3), Depth: new(0),
		}, {
			Selector: Selector{CSS: "a.next"}, Get: "@data-next",
		}, {
			Target: Target{Match: Strings{"*/search?*", "*/list*"}},
			Paginate: &Paginate{Parameter: "page", First: new(0), Step: 20, Last: new(100), While: &Condition{
				Any: []Condition{{Selector: Selector{CSS: ".item"}}, {Selector: Selector{XPath: "//li"}}},
			}},
		}},
		Records: []RecordRule{{
			Kind: "product",
			Target: Target{
				Match: Strings{"re:/(?P<shop>[a-z]+)/p/"}, Types: Strings{"html"}, When: &Condition{
					Selector: Selector{CSS: "div.product"}, Language: Strings{"en", "pt-BR"}, TextLanguage: Strings{"de"},
				},
			},
			Each: &Each{Selector: Selector{CSS: "li.result"}}, Key: "{shop}-{sku}", Fields: everyField(),
			Schema: Value(`{"type":"object","required":["price"]}`),
		}},
		Duplicates: Duplicates{Exact: DuplicateMark, Near: DuplicateDrop, Distance: 5, Unchanged: UnchangedDrop},
		Gone:       WhenGoneRecord,
		Chunks: &Chunks{
			Match: Strings{"/docs/*"}, Size: 300, Overlap: 20, Unit: UnitWords, Fields: Fields{{"author", Field{From: "page:author"}}},
		},
		Content: MainContent{Comments: CommentsKeep, Prefer: PreferPrecision},
		Mask:    Mask{Kinds: Strings{"email", "phone"}, Fields: Strings{"*"}},
	}
}

func everyField() Fields {
	css := func(s string) Selector { return Selector{CSS: s} }
	return Fields{
		{"title", Field{Selector: css("h1")}},
		{"sku", Field{Selector: Selector{XPath: "//span"}, Required: true}},
		{"shop", Field{Value: new(Template("{shop}"))}},
		{"price", Field{
			Selector: Selector{CSS: ".price", Regex: `(\d+)`}, Replace: []Replace{{"x", "y"}}, Trim: new(false),
			As: "number", Decimal: ",", Default: Value("0"),
		}},
		{"day", Field{From: "header:Date", As: "date", Layout: Strings{"02.01.2006"}, TimeZone: "Europe/Berlin"}},
		{"tags", Field{Selector: css(".tag"), Get: "@title", All: true, Split: ","}},
		{"rating", Field{Selector: Selector{JSONLD: ".aggregateRating"}}},
		{"type", Field{Selector: Selector{Meta: "og:type"}}},
		{"specs", Field{Selector: css("tr"), Map: &MapRule{Key: Field{Selector: css("th")}, Value: Field{Selector: css("td")}}}},
		{"offers", Field{Selector: css(".offer"), All: true, Fields: Fields{
			{"seller", Field{Selector: css(".seller")}}, {"a", Field{Selector: css(".b")}},
		}}},
	}
}

// All wrong keys are reported, each with its path.
func TestExtractionErrors(t *testing.T) {
	rule := func(rest string) string { return "records: [{kind: a, fields: {t: h1}, " + rest + "}]" }
	field := func(f string) string { return "records: [{kind: a, fields: {t: " + f + "}}]" }
	for _, tt := range []struct{ spec, want string }{
		{"page: {emit: sometimes}", `page.emit: "sometimes": must be one of auto, always, never`},
		{"page: {fields: [url, urls]}", `page.fields[1]: "urls": did you mean url? It must be one of url, status`},
		{"page: {fields: [url, cut]}", `page.fields[1]: "cut": is added to the records that need it: leave it out`},
		{"page: {fields: [truncated]}", `page.fields[0]: "truncated": is added`},
		{"page: {fields: [render_problems]}", `page.fields[0]: "render_problems": is added`},
		{"page: {fields: [url, url]}", `page.fields[1]: "url" is listed twice`},
		{"links: {follow: anchors}", `links.follow[0]: "anchors": must be one of anchor, area`},
		{"links: {nofollow: no}", `links.nofollow: "no": must be one of obey, ignore`},
		{"links: {attributes: [a b]}", `links.attributes[0]: "a b"`},
		{"duplicates: {exact: forget}", `duplicates.exact: "forget"`},
		{"duplicates: {near: forget}", `duplicates.near: "forget"`},
		{"duplicates: {unchanged: mark}", `duplicates.unchanged: "mark": must be one of keep, drop`},
		{"content: {comments: hide}", `content.comments: "hide": must be one of drop, keep`},
		{"content: {prefer: speed}", `content.prefer: "speed": must be one of balanced, precision, recall`},
		{"gone: keep", `gone: "keep": must be one of drop, record`},
		{"records: [{kind: gone, fields: {a: b}}, {kind: visit, fields: {a: b}}]", `records[0].kind: "gone": is the kind of records of visits that make no others: choose another name`},
		{"duplicates: {distance: 9}", `duplicates.distance: 9: must be from 0 to 7`},
		{"mask: {kinds: [name], fields: '*'}", `mask.kinds[0]: "name"`},
		{"mask: {kinds: [email]}", `mask.fields: is missing`},
		{"mask: {kinds: [email], fields: [text, price]}", `mask.fields[1]: "price"`},
		{"records: [{kind: a, fields: {a.b: h1}}]", `records[0].fields.a.b: "a.b": a field's name has`},
		{"records: [{kind: A, fields: {t: h1}}]", `records[0].kind: "A"`},
		{"records: [{kind: a}]", `records[0].fields: is missing`},
		{rule("match: ''"), `records[0].match: a pattern is empty`},
		{rule("match: ['*', 're:(']"), `records[0].match[1]: pattern "re:("`},
		{rule("types: [htm]"), `records[0].types[0]: "htm": must be one of html, xml, json, feed, csv, text`},
		{rule("when: {}"), `records[0].when: has no condition`},
		{rule("when: {status: 99}"), `records[0].when.status: 99`},
		{rule("when: {status: [200, 600]}"), `records[0].when.status[1]: 600`},
		{rule("when: {any: [{css: a, xpath: //a}]}"), `records[0].when.any[0].xpath: there is css already`},
		{rule("when: {not: {not: {not: {not: {not: {css: a}}}}}}"), "nested more than 4 deep"},
		{rule("each: {}"), `records[0].each: selects nothing`},
		{rule("each: {meta: a}"), `records[0].each.meta: has one value only`},
		{rule("key: '{u}'"), `records[0].key: {u}: no such field`},
		{rule("key: '{host} {url} {fetched_at}'"), `records[0].key: {fetched_at}: no such field: a key is made of the rule's own fields`},
		{rule("key: '{secret:X}'"), `records[0].key: secrets are for requests only`},
		{"records: [{kind: a, fields: {url: h1}}]", `records[0].fields.url: every record has "url" already`},
		{"records: [{kind: a, fields: {a b: h1}}]", `records[0].fields.a b: "a b": a field's name has`},
		{"records: [{kind: a, fields: {a: {cs: h2}}}]", `unknown field "cs"`},
		{"records: [{kind: a, fields: [a]}]", "fields: must be an object"},
		{field("{}"), `records[0].fields.t: selects nothing`},
		{field(""), `records[0].fields.t: selects nothing`},
		{field("{css: a, json_ld: b}"), `records[0].fields.t.json_ld: there is css already`},
		{field("{css: a, from: url}"), `records[0].fields.t.from: there is css already`},
		{field("{from: page:titel}"), `records[0].fields.t.from: "titel": did you mean title? It must be one of url, status`},
		{field("{from: page:links}"), `records[0].fields.t.from: "links": `},
		{"records: [{kind: a, each: {from: section}, fields: {t: h1}}]", `records[0].each.from: "section": must be one of main, sections`},
		{"records: [{kind: a, each: {from: main, css: a}, fields: {t: h1}}]", `records[0].each.from: excludes selectors`},
		{field("{from: uri}"), `records[0].fields.t.from: "uri"`},
		{field("{from: 'header:a b'}"), `records[0].fields.t.from: "header:a b"`},
		{field("{css: a, value: b}"), `records[0].fields.t.value: excludes`},
		{field("{value: '{secret:b}'}"), `records[0].fields.t.value: secrets`},
		{field("{css: a, get: href}"), `records[0].fields.t.get: "href": must be text`},
		{field("{css: a, get: '@'}"), `records[0].fields.t.get: "@": must be @ and`},
		{field("{meta: a, get: html}"), `records[0].fields.t.get: is of elements`},
		{field("{css: a, as: float}"), `records[0].fields.t.as: "float"`},
		{field("{css: a, as: number, decimal: ';'}"), `records[0].fields.t.decimal: ";"`},
		{field("{css: a, decimal: ','}"), `records[0].fields.t.decimal: is for`},
		{field("{css: a, layout: '2006'}"), `records[0].fields.t.layout: is for`},
		{field("{css: a, timezone: UTC}"), `records[0].fields.t.timezone: is for`},
		{field("{css: a, replace: [{with: b}]}"), `records[0].fields.t.replace[0].regex: is missing`},
		{field("{css: a, default: 1, required: true}"), `records[0].fields.t.required: has no meaning`},
		{"page: {when: {language: english}}", `page.when.language: "english": must be the tag of a language, such as en, de or pt-BR`},
		{"page: {when: {language: [en, en_US]}}", `page.when.language[1]: "en_US": must be the tag`},
		{"page: {when: {}}", `page.when: has no condition: give css,`},
		{rule("when: {not: {text_language: ['']}}"), `records[0].when.not.text_language: "": must be the tag`},
		{field("{css: a, as: number, default: foo}"), `records[0].fields.t.default: "foo": must be a number, as: number`},
		{field("{css: a, as: number, default: '1'}"), `records[0].fields.t.default: "1": must be a number, as: number`},
		{field("{css: a, as: integer, default: 1.5}"), `records[0].fields.t.default: 1.5: must be a whole number`},
		{field("{css: a, as: boolean, default: 'yes'}"), `records[0].fields.t.default: "yes": must be true or false`},
		{field("{css: a, as: date, default: never}"), `records[0].fields.t.default: "never": must be a date, as in "2006-01-02"`},
		{field("{css: a, as: url, default: /a}"), `records[0].fields.t.default: "/a": must be an absolute URL`},
		{field("{css: a, as: text, default: 5}"), `records[0].fields.t.default: 5: must be a text, as: text; put it into quotes`},
		{field("{css: a, all: true, default: x}"), `records[0].fields.t.default: "x": must be a list, since all and split make one, as in ["x"]`},
		{field("{css: a, split: ',', as: integer, default: [1, x]}"), `records[0].fields.t.default: "x": must be a whole number`},
		{field("{css: a, fields: {b: c}, default: x}"), `records[0].fields.t.default: "x": must be an object`},
		{field("{css: a, map: {key: b, value: {css: c, as: number, default: d}}}"), `records[0].fields.t.map.value.default: "d": must be a number`},
		{field("{css: a, as: url, fields: {b: c}}"), `records[0].fields.t.as: has no meaning`},
		{field("{css: a, fields: {b: {css: c, get: d}}}"), `records[0].fields.t.fields.b.get: "d"`},
		{field("{css: a, fields: {b: c}, map: {key: a, value: b}}"), `records[0].fields.t.map: there are fields`},
		{field("{css: a, map: {key: {css: b}}}"), `records[0].fields.t.map.value: selects nothing`},
		{field("{css: a, fields: {b: {css: a, fields: {b: {css: a, fields: {b: {css: a, fields: {b: {css: a, fields: {b: c}}}}}}}}}}"),
			"objects are nested more than 5 deep"},
		{"follow: [{match: '*'}]", `follow[0]: finds no link`},
		{"follow: [{url: /a, css: b}]", `follow[0]: only one of`},
		{"follow: [{url: /a, get: '@b'}]", `follow[0]: only one of`},
		{"follow: [{get: '@href'}]", `follow[0].get: of what?`},
		{"follow: [{css: a, with: {b: c}}]", `follow[0].with: is for the templates`},
		{"follow: [{css: a, priority: 10}]", `follow[0].priority: 10`},
		{"follow: [{css: a, depth: -1}]", `follow[0].depth: -1`},
		{"follow: [{paginate: {}}]", `follow[0].paginate.parameter: ""`},
		{"follow: [{paginate: {parameter: p}}]", `follow[0].paginate.while: is missing`},
		{"follow: [{paginate: {parameter: p, last: 0, while: {css: a}}}]", `follow[0].paginate.last: 0`},
		{"follow: [{paginate: {parameter: p, step: -1, while: {css: a}}}]", `follow[0].paginate.step: -1`},
		{"follow: [{paginate: {parameter: p, first: -1, while: {css: a}}}]", `follow[0].paginate.first: -1`},
		{"follow: [{each: a, paginate: {parameter: p, while: a}}]", `follow[0].each: has no meaning`},
	} {
		_, err := parseSpec([]byte(tt.spec))
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s\ngot  %v\nwant %s", tt.spec, err, tt.want)
		}
	}
}

func TestAllFieldErrors(t *testing.T) {
	_, err := parseSpec([]byte("page: {emit: x}\nrecords: [{kind: K, fields: {t: {css: a, as: b}}}]"))
	var paths []string
	for _, e := range FieldErrors(err) {
		paths = append(paths, e.Path)
	}
	if want := []string{"page.emit", "records[0].kind", "records[0].fields.t.as"}; !reflect.DeepEqual(paths, want) {
		t.Errorf("got %v of %v", paths, err)
	}
	if FieldErrors(errors.New("other")) != nil {
		t.Error("an error of no key has keys")
	}
}

// A stored spec may have less than this build stores, and the short forms of users.
func TestStoredRules(t *testing.T) {
	s, err := Decode([]byte(`{"v":1,"links":{"follow":null},"records":[{"kind":"a","match":"*",
		"fields":{"z":"h1","a":{"css":"b"}},"each":{"css":"c"}}]}`))
	if err != nil {
		t.Fatal(err)
	}
	want := Fields{{"z", Field{Selector: Selector{CSS: "h1"}}}, {"a", Field{Selector: Selector{CSS: "b"}}}}
	if !reflect.DeepEqual(s.Records[0].Fields, want) || s.Records[0].Match[0] != "*" {
		t.Errorf("got %+v", s.Records)
	}
	if len(s.Links.Follow) != defaultLinkKinds {
		t.Errorf("null is not the default but %v", s.Links.Follow)
	}
}

func TestValues(t *testing.T) {
	for text, want := range map[string]string{
		"2024-01-01": `"2024-01-01"`, "1.50": "1.50", "0x10": "16", "12345678901234567890123": "12345678901234567890123", "yes": `"yes"`,
		"true": "true", "[a, {1: b, c: [null]}]": `["a",{"1":"b","c":[null]}]`, "'5'": `"5"`, "": "", "''": `""`,
	} {
		s, err := parseSpec([]byte("records: [{kind: a, fields: {t: {css: a, default: " + text + "}}}]"))
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if got := string(s.Records[0].Fields[0].Default); got != want {
			t.Errorf("%s is %s, want %s", text, got, want)
		}
		comesBack(t, s)
	}
}

// A default may be any value that the field itself can extract.
func TestDefaultsOfTheRightType(t *testing.T) {
	for _, f := range []string{
		"css: a, as: number, default: -1.5", "css: a, as: integer, default: 1e3", "css: a, as: integer, default: 12345678901234567890123",
		"css: a, as: boolean, default: false", "css: a, as: date, default: 2024-01-31", "css: a, as: date, default: '2024-01-31T10:00:00Z'",
		"css: a, as: url, default: 'https://a.example/'", "css: a, as: text, default: ''", "css: a, as: json, default: {a: 1}", "css: a, default: 0",
		"css: a, as: number, default: null", "css: a, all: true, default: []", "css: a, all: true, as: number, default: [1, 2]",
		"css: a, fields: {b: c}, default: {b: 1}", "css: a, all: true, fields: {b: c}, default: [{b: 1}]", "css: a, map: {key: b, value: c}, default: {}",
	} {
		if _, err := parseSpec([]byte("records: [{kind: a, fields: {t: {" + f + "}}}]")); err != nil {
			t.Errorf("%s: %v", f, err)
		}
	}
}

func TestFollowNothing(t *testing.T) {
	s, err := parseSpec([]byte("links: {follow: []}"))
	if err != nil || len(s.Links.Follow) != 0 {
		t.Fatalf("%v, %v", s, err)
	}
	comesBack(t, s)
}

func TestEmitsPage(t *testing.T) {
	one := []RecordRule{{}}
	for _, tt := range []struct {
		e    Extraction
		want bool
	}{
		{Extraction{Page: PageOutput{Emit: EmitAuto}}, true},
		{Extraction{Page: PageOutput{Emit: EmitAuto}, Records: one}, false},
		{Extraction{Page: PageOutput{Emit: EmitAlways}, Records: one}, true},
		{Extraction{Page: PageOutput{Emit: EmitNever}}, false},
	} {
		if got := tt.e.EmitsPage(); got != tt.want {
			t.Errorf("%+v: %v", tt.e, got)
		}
	}
}

func FuzzFields(f *testing.F) {
	f.Add([]byte(`{"a":"b","c":{"css":"d","fields":{"e":"f"},"default":[1]}}`))
	f.Add([]byte(`{"a":{"map":{"key":"k","value":{"xpath":"//a"}}}}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		var fs, again Fields
		if json.Unmarshal(b, &fs) != nil {
			return
		}
		out, err := json.Marshal(fs)
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(out, &again); err != nil {
			t.Fatal(err)
		}
		if second, _ := json.Marshal(again); string(second) != string(out) {
			t.Errorf("%s\nthen %s", out, second)
		}
	})
}
