package structured

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
)

func TestReadJSON(t *testing.T) {
	deep := strings.Repeat("[", maxJSONDepth) + strings.Repeat("]", maxJSONDepth)
	for _, c := range []struct{ in, want string }{
		{``, ``},
		{" \n\ufeff\u00a0 ", ``},
		{`{}`, `{}`},
		{`[ ]`, `[]`},
		{`{ "a" : [ 1 , { "b" : null } ] }`, `{"a":[1,{"b":null}]}`},
		{`{"a":1}{"b":2}[3]`, `{"a":1} {"b":2} [3]`},
		{`{"a":1}, ;{"b":2},;`, `{"a":1} {"b":2}`},
		{`[1,]`, `[1]`},
		{`{"a":1,}`, `{"a":1}`},
		{`["a\/b\u002F\n\'\t"]`, `["a/b/\n'\t"]`},
		{"[\"a\tb\r\nc\x01\"]", `["a\tb\r\nc\u0001"]`},
		{"[\"\xff\"]", `["` + "\ufffd" + `"]`},
		{`["\ud83d\ude00\ud83dx\ude00"]`, `["` + "😀\ufffdx\ufffd" + `"]`},
		{`[-0,1.50,1e5,1E-05,123456789012345678901234567890]`, `[-0,1.50,1e5,1E-05,123456789012345678901234567890]`},
		{`[true,false,null]`, `[true,false,null]`},
		{`{"a":1,"b":2,"a":3}`, `{"b":2,"a":3}`},
		{`{"a":1,"a":2,"a":3}`, `{"a":3}`},
		{`{"a":{"x":1,"x":2},"\u0061":{"y":1}}`, `{"a":{"y":1}}`},
		{deep, deep},
		{`/* a */{"a"/* b */:// c` + "\n1}", `{"a":1}`},
		{`// only a comment`, ``},
		{`//<![CDATA[{"a":1}//]]>`, `{"a":1}`},
		{`<!-- {"a":1} -->`, `{"a":1}`},
		{`<!-- a remark -->{"a":1}`, `{"a":1}`},
		{`<!-- a remark`, ``},
		{`<!--<![CDATA[ {"a":1} ]]>-->`, `{"a":1}`},
	} {
		values, err := readJSON(c.in)
		if got := joined(values); got != c.want || err != nil {
			t.Errorf("%s: %s, %v, want %s", c.in, got, err, c.want)
		}
	}
}

func joined(values []json.RawMessage) string {
	var s []string
	for _, v := range values {
		s = append(s, string(v))
	}
	return strings.Join(s, " ")
}

// TestReadJSONManyNames uses the index of names.
func TestReadJSONManyNames(t *testing.T) {
	var in, want strings.Builder
	for i := range 40 {
		fmt.Fprintf(&in, `"n%d":%d,`, i%30, i)
	}
	for i := 10; i < 40; i++ {
		fmt.Fprintf(&want, `,"n%d":%d`, i%30, i)
	}
	values, err := readJSON("{" + in.String() + "}")
	if got := joined(values); got != "{"+want.String()[1:]+"}" || err != nil {
		t.Errorf("%s, %v, want {%s}", got, err, want.String()[1:])
	}
}

func TestReadJSONErrors(t *testing.T) {
	for _, c := range []struct {
		in     string
		offset int
	}{
		{`{`, 1}, {`[`, 1}, {`"text"`, 0}, {`1`, 0}, {`null`, 0}, {`undefined`, 0}, {`<p>`, 0}, {`{]`, 1}, {`[}`, 1},
		{`{"a"}`, 4}, {`{"a":}`, 5}, {`{"a" 1}`, 5}, {`{a:1}`, 1}, {`{,}`, 1}, {`[,]`, 1}, {`[1,,2]`, 3}, {`[1 2]`, 3},
		{`["a]`, 1}, {`["a\]`, 3}, {`["\`, 2}, {`["\"]`, 1}, {`["\x41"]`, 2}, {`["\u12"]`, 2},
		{`[01]`, 2}, {`[1.]`, 3}, {`[.5]`, 1}, {`[+1]`, 1}, {`[-]`, 2}, {`[1e]`, 3}, {`[1e+]`, 4}, {`[NaN]`, 1}, {`[truer]`, 5}, {`[1px]`, 2},
		{`/* no end {"a":1}`, 0},
		{`[` + strings.Repeat("1", maxNumber+1) + `]`, 1},
		{strings.Repeat("[", maxJSONDepth+1), maxJSONDepth},
	} {
		values, err := readJSON(`{"before":1}` + c.in)
		var syntax *syntaxError
		if !errors.As(err, &syntax) || syntax.offset != len(`{"before":1}`)+c.offset {
			t.Errorf("%.40s: %v, want an error at %d", c.in, err, len(`{"before":1}`)+c.offset)
		}
		if got := joined(values); got != `{"before":1}` {
			t.Errorf("%.40s: values before it: %s", c.in, got)
		}
	}
}

func TestObjects(t *testing.T) {
	values, err := readJSON(`{"n":9007199254740993,"@graph":[{"n":2},[{"n":3}],{"@graph":{"n":5}}]} [{"n":6},7,"x",null] [] {"@graph":1}`)
	if err != nil {
		t.Fatal(err)
	}
	var got []any
	for _, o := range Objects(values) {
		got = append(got, o.(map[string]any)["n"])
	}
	n := func(s string) any { return json.Number(s) }
	if want := []any{n("9007199254740993"), n("2"), n("3"), nil, n("5"), n("6"), nil}; !reflect.DeepEqual(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

func TestJSONLDBounds(t *testing.T) {
	big := `<script type=application/ld+json>["` + strings.Repeat("x", maxScriptBytes) + `"]</script>`
	values, problems := JSONLD(parse(t, big+`<script type=application/ld+json>{"a":1}</script>`))
	if joined(values) != `{"a":1}` || len(problems) != 1 || !strings.Contains(problems[0].String(), "script 1") {
		t.Errorf("%d values, %v", len(values), problems)
	}
	_, problems = JSONLD(parse(t, strings.Repeat(`<script type=application/ld+json>{</script>`, maxScripts+1)))
	if len(problems) != maxProblems+1 || problems[maxProblems].Script != maxScripts {
		t.Errorf("%d problems, last %v", len(problems), problems[len(problems)-1])
	}
}
