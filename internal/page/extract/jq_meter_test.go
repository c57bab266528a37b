package extract

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/itchyny/gojq"

	"seine/internal/page/document"
)

// What is put around an expression changes nothing of what it says: the plain
// interpreter says the same.
func TestMeteredJQMeansWhatJQMeans(t *testing.T) {
	if withRace {
		t.Skip("runs without the race detector")
	}
	t.Parallel()
	const body = `{"a":[3,1,2,1,null,"x",[1],{"b":2,"c":[1,2]}],"o":{"z":1,"b":{"c":[1,2,{"d":"e"}]},"é":"ü"},"n":12345678901234567890,
		"s":"one two éèé two","t":"aaaa","e":"","l":[[1,2,3],[4,5],[6]],"r":[{"k":"a","v":1},{"k":"b","v":2},{"k":"a","v":3}],"j":"{\"x\":[1,2]} "}`
	for _, text := range []string{
		".a|sort", ".a|unique", ".a|min,max", ".r|sort_by(.v),sort_by(-.v),sort_by(.k,.v)", ".r|group_by(.k)", ".r|unique_by(.k)", ".r|min_by(.v),max_by(.v),max_by(.k),min_by(.k)",
		"[]|min,max,sort,unique,add", ".s|sort", ".a|bsearch(1),bsearch(9)", "[1,2,3]|bsearch(2),bsearch(0),bsearch(4),bsearch(2.5)",
		".s|index(\"two\"),rindex(\"two\"),indices(\"two\"),index(\"é\"),indices(\"é\"),index(\"\"),indices(\"\"),index(\"no\")", ".t|indices(\"aa\"),rindex(\"aa\")",
		".a|index(1),rindex(1),indices(1),indices([1,2]),indices([]),index([]),index(9)", "null|index(\"a\")", "1|index(1)", ".a[[1,2]]?", ".a[[1]]",
		".s|contains(\"two\"),contains(\"no\")", ".a|contains([1,[1]]),contains([{c:[2]}]),contains([9])", ".o|contains({b:{c:[1]}}),contains({q:1})", "1|contains(1),contains(2)",
		"true|contains(false)", "1|contains(\"a\")", "[1]|inside([1,2])", "\"a\"|inside(\"ba\")",
		".s|split(\" \"),split(\"\"),split(\"no\")", ".e|split(\",\")", ".s|split(\"t(w)\";null),split(\"T\";\"gi\")", ".s / \"two\"", "6 / 3, 7 / 2",
		".l|flatten,flatten(0),flatten(1)", ".a|flatten", ".o|flatten", ".l|flatten(-1)", ".l|transpose", "[]|transpose", "[[],[1]]|transpose", "[1]|transpose",
		".l[0]|join(\",\")", "[\"a\",null,1,true]|join(\"-\")", "[[1]]|join(\",\")", "[]|join(\",\")", "{\"b\":\"x\",\"a\":\"y\"}|join(\" \")", "[\"a\",\"b\"]|join(null)",
		".j|fromjson", ".s|fromjson", "\"1 2\"|fromjson", "\"nul\"|fromjson", ".s|fromjson?", "[.[]|tojson]", "[.[]|tostring]|length", "tojson|fromjson|.n",
		".s|test(\"TWO\"),test(\"TWO\";\"i\"),test([\"TWO\",\"i\"])", "[.s|match(\"(?<x>t)(w)?(z)?\";\"g\")]", "[.s|match(\"\";\"g\")|.offset]", "[.s|match(\"o*\";\"g\")|[.offset,.length]]",
		"[.t|match(\"a*\";\"g\")|[.offset,.length]]", "[.s|match(\"é*\";\"g\")|[.offset,.string]]", ".s|capture(\"(?<a>o)(?<b>q)?\")", "[.s|scan(\"t\\\\w\")]", "[.s|scan(\"(t)(w)\")]", "[.s|scan(\"T\";\"i\")]",
		"[.s|splits(\" +\")]", ".s|sub(\"two\";\"2\"),gsub(\"two\";\"2\"),gsub(\"(?<l>[aeiou])\";\"<\\(.l)>\"),gsub(\"\";\"-\"),gsub(\"^\";\">\"),gsub(\"É\";\"E\";\"i\")", "[.s|sub(\"two\";\"1\",\"2\")]",
		".s|test(\"(\")", ".s|test(\"a\";\"q\")", "1|test(\"a\")", ".s|ascii_downcase,ascii_upcase,explode,(explode|implode),ltrimstr(\"one\"),rtrimstr(\"two\"),trim",
		".o|keys,to_entries,with_entries(.key|=ascii_upcase),map_values(1)", ".r|from_entries", ".r|map({key:.k,value:.v})|from_entries", ".r|INDEX(.k)", "INDEX(.r[];.v)",
		"[.r[]|IN({k:\"a\",v:1})]", "[paths]", "[paths(type==\"number\")]", "[..]|length", "[.o|..]", "[recurse(.o // empty)]|length", "[leaf_paths?]",
		".o|[tostream]", "fromstream(.o|tostream)", "[1|truncate_stream([[0],1],[[1,0],2],[[1,0]],[[1]])]", ".o|walk(if type==\"number\" then .+1 else . end)", ".o|pick(.b.c[1])", "del(.a,.o.b)|keys", "del(.a[0,2,4])|.a", "del(.a[1:3],.r[])|.a,.r",
		"delpaths([[\"a\"],[\"o\",\"z\"]])|keys", "to_entries|length", ".a[1:]|.[:2]", ".a[-1:]", ".s[1:4]", ".a[2:4]=[9]|.a", ".a[10]=1|.a", ".a[-1]=1|.a", ".q.r[2].s=1|.q", ".o.b.c[0]|=.+1", ".a|=map(1)",
		".r[].v+=1|.r", ".r|map(.v*=2)", ".r[0].v-=1|.r[0]", ".s/=\" \"|.s", ".r[0].v/=2|.r[0]", ".r[0].v%=2|.r[0]", ".q//=7|.q", ".r|=map(select(.v>1))|.r", "(.a[]|select(.==1))|=empty|.a", ".[\"a\"][0]=(1,2)|.a[0]",
		"setpath([\"a\",0];(7,8))|.a[0]", "setpath((\"a\",\"b\")|[.];1)|length", "getpath([\"o\",\"b\",\"c\",0])", "path(getpath([\"a\",0]))", "[getpath([\"o\",\"z\"],[\"n\"])]", "path(.a[0],.o.b)", "[path(.r[]|select(.v>1))]", "[path(..)]|length", "path(first(.a[],1))",
		"[.l[]|add]", "add(.r[].v)", "[\"a\",\"b\"]|add", "[{a:1},{b:2}]|add", "[[1],[2]]|add", "{a:1,b:2}|add", "[1,\"a\"]|add", "null+1,1+null,{a:1}+{b:2}", "{a:{b:1}}*{a:{c:2}}", "\"ab\"*3,3*\"ab\",\"a\"*0", "[1,2,1]-[1]", "[1]-1",
		"1==1.0,\"a\"<\"b\",[1]<[1,2],{a:1}=={a:1},{a:1}<{b:1},null<false,[{}]>[[]],1!=2,.n==.n", "[.a[]|.==1]", ".l|combinations", "[[0,1]|combinations(2)]", "[limit(3;.a[])],[skip(2;.a[])],first(.a[]),last(.a[]),nth(2),isempty(empty)?", "[.a[]|numbers]|any(.>2),all(.>0)", "[true,false]|any,all",
		"\"\\(.n) and \\(.l) \\(.s)\"", "@json \"x\\(.s)\", @html \"<\\(\"<&\")>\", (.s|@uri), ([1,\"a\"]|@csv,@tsv,@sh), (.s|@base64|.,@base64d), (.l|@text)", "{\"\\(.s)x\":1}", "{(.s,.t):1}", "{\"\\(.t)\"}, {a:.n,s,\"t\":2,\"l\"}|keys", ".\"s\",.[\"s\",\"t\"]",
		"\"\\((1,2))\\((3,4))\"", "(1,2)-(10,20)", "(1,2)==(1,2)", ".s|format(\"uri\")", "try error(\"x\") catch .", "try error({a:1}) catch .a", "error", "error(null)", ".a|error", "[.a[]?|.b?]", "[.[]?[]?]|length", ".a[]?", "try (.a|keys|.[0]) catch 0", ".n+1,-.n,(.n|tostring)", "\"12\"|tonumber", "\"x\"|tonumber", ". as {a:[$x,$y],$s}|$x,$y,$s", ". as [$p]?//{s:$p}|$p", "reduce .r[] as {k:$k,v:$v}({};.[$k]+=$v)",
		"[foreach .r[].v as $v(0;.+$v;[.,$v])]", "label $f|.r[]|if .v>1 then .,break $f else . end", "def f(x):x+1;f(.r[0].v)", "def map(f):7;map(1)", "[range(0;10;3)],[range(3)]", "[while(.<9;.+3)]?", "1|[while(.<9;.*2)],until(.>9;.*2),[limit(3;repeat(.*2))]", "$__loc__", "ltrimstr(1)|keys", "splits(\"a\")", "[.a,.l]|map(length)", "has(\"a\"),(.a|has(0)),(\"a\"|in({a:1}))", "now?", "0|todate", "\"2015-03-05T23:51:47Z\"|fromdate", ".l|map(.[0])|@json", "tojson|length",
	} {
		parsed, err := gojq.Parse(text)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if refused(parsed) != "" {
			continue
		}
		plain, err := gojq.Compile(parsed)
		if err != nil {
			continue // nothing of either
		}
		q, err := compileJQ(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		doc := page("application/json", body)
		v, err := doc.JSON()
		if err != nil {
			t.Fatal(err)
		}
		before := outcome(t, gojqIter{v}, nil)
		want := outcome(t, plain.Run(v), nil)
		m := q.run(newRun(t.Context(), doc), v)
		if got := outcome(t, m.results, m); got != want {
			t.Errorf("%s:\ngot  %s\nwant %s", text, got, want)
		}
		if outcome(t, gojqIter{v}, nil) != before {
			t.Fatalf("%s: the page changed", text)
		}
	}
}

type gojqIter [1]any

func (it gojqIter) Next() (any, bool) { return it[0], true }

// outcome is what an expression yields, as text, up to its end or an error.
func outcome(t *testing.T, values gojq.Iter, m *meter) string {
	var b strings.Builder
	for range 50 {
		if m != nil {
			m.again()
		}
		v, ok := values.Next()
		if _, failed := v.(error); !ok || failed {
			fmt.Fprint(&b, ok)
			break
		}
		text, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		b.Write(append(text, ' '))
	}
	return b.String()
}

// near is how much is left of a bound when an evaluation begins, so that it comes
// to the bound soon.
func (m *meter) near(reason string) {
	switch reason {
	case "looked at":
		m.run.work = MaxWork - 1<<16
	case "256 MiB":
		m.made = maxMadeJQ - 4<<20
	case "instructions":
		m.most = 1 << 16
	}
}

// What a page can make of an expression is counted and ends by that, at once or
// soon: in a function that takes a large value in one piece, in what it makes, or in
// the calls of functions. Until then it takes no more memory than is counted.
func TestBombsOfJQEndByCount(t *testing.T) {
	if withRace {
		t.Skip("runs without the race detector")
	}
	const size = 3 << 20 / 2
	text := `"` + strings.Repeat("a", size) + `"`
	many := "[" + strings.Repeat("1,", maxListJQ) + "1]"
	numbers := "[" + strings.Repeat("1,", maxListJQ/2) + "1]"
	pair := "[" + numbers + "," + numbers + "]"
	rows := "[" + strings.Repeat("[1],", 2000) + "[" + strings.Repeat("1,", 1000) + "1]]"
	digits := "[" + strings.Repeat("9", document.MaxDigits) + "," + strings.Repeat("9", document.MaxDigits) + "]"
	wide := func() string {
		var b strings.Builder
		for i := range maxObjectJQ + 10 {
			fmt.Fprintf(&b, `"%x":1,`, i*7919)
		}
		return "{" + b.String() + `"":1}`
	}()
	const graph = "reduce range(60) as $i (0; [.,.]) | "
	for _, tt := range []struct{ jq, body, reason string }{
		{".[0][200000:] + [7] | contains([range(2000) | 7])", pair, "looked at"},
		{".[0] as $a | $a | indices($a[1:100000] + [2])", pair, "looked at"},
		{".[0:1000000] as $a | rindex($a)", text, "looked at"},
		{". as $a | .[0][$a[1][1:10]]", pair, "an index"}, {". as $a | .[[1]]", many, "another is looked for"},
		{"transpose", rows, "transpose"},
		{`. / ""`, text, "split"}, {`split("")`, text, "split"}, {`. /= ""`, text, "split"},
		{"explode", text, "given"}, {"tonumber", `"` + strings.Repeat("9", 2000) + `"`, "given"}, {`test("a")`, text, "given"}, {"fromjson", strings.Replace(text, "a", text[1:size], 1), "given"},
		{`[range(1000) as $i | . + "x"]`, text, "256 MiB"}, {"[range(1000) as $i | ascii_upcase]", text, "256 MiB"},
		{`[range(1000) as $i | "\(.)x"]`, text, "256 MiB"}, {"[range(1000) as $i | @base64]", text, "256 MiB"},
		{`[range(1000) as $i | {"\(.)x": 1}]`, text, "256 MiB"}, {`[range(1000) as $i | @uri "\(.)x"]`, text, "256 MiB"},
		{"[range(1000) as $i | .[60000:] + [1]]", numbers, "256 MiB"},
		{"[range(1000) | [] | .[99999] = 1]", "1", "256 MiB"}, {"[range(1000) | {a:[]} | .a[99999] = 1]", "1", "256 MiB"},
		{"[range(1000) as $i | .[0] = $i]", numbers, "256 MiB"}, {"[range(1000) as $i | .[0] += $i]", numbers, "256 MiB"},
		{"reduce range(1000) as $i ([]; . + [[range(100000)]])", "1", "256 MiB"}, {`. as $t | reduce range(1000) as $i ({}; .["\($i)"] = $t + "x")`, text, "256 MiB"},
		{"[foreach range(1000) as $i (.; . + \"x\")]", text, "256 MiB"},
		{".[100000000] = 1", "[]", "index of a member"}, {"setpath([100000000]; 1)", "[]", "index of a member"}, {"setpath([range(2000)]; 1)", "1", "a path"},
		{".a = 1", wide, "given"}, {`setpath(["a"]; 1)`, wide, "given"}, {`del(.["1eef"])`, wide, "given"}, {".[0].a |= 1", "[" + wide + "]", "given"},

		{graph + "tojson", "1", "given"}, {graph + `"\(.)"`, "1", "given"}, {graph + "@html", "1", "given"}, {graph + "error", "1", "given"},
		{graph + ". == [.[0], [.[1]]]", "1", "looked at"}, {graph + "flatten", "1", "made"}, {graph + "contains(reduce range(60) as $i (1; [.]))", "1", "looked at"},
		{"reduce range(60) as $i (0; {a: ., b: .}) | . * .", "1", "given"}, {"reduce range(60) as $i (0; [., .])", "1", "larger than"},
		{"keys", wide, "given"}, {"[.[]]", wide, "given"}, {"[.[] | 1]", many, "given"}, {"add", many, "given"}, {"reverse", many, "given"}, {"@csv", many, "given"}, {"indices(1)", many, "given"},
		{"[.[0] as $n | range(3000) | $n] | tojson", digits, "given"}, {"[.[0] as $n | range(10000) | $n] | add", digits, "makes"}, {".[0] * .[1] * .[0]", digits, "makes"},
		{"del(.[range(100001)])", numbers, "deleted"}, {". as $f | 0 | strftime($f)", text, "given"}, {`strptime("%Y")`, text, "given"}, {"fromdate", text, "given"},
		{". as $r | 1 | tostring | test($r)", text, "regular expression"}, {`test("((a{10}){10}" + . + "){9}")`, `"` + strings.Repeat("b{30}", 100) + `"`, "too large"}, {`test(.[0:3000] + "{900}")`, text, "given"},
		{". as $r | \"a\" | test($r[0:3000] | \"(\\(.)){900}\")", text, "too large"},
		{"reduce range(1e9) as $i (3; . * .)", "1", "makes"}, {"reduce range(1e9) as $i (1; . + .)", "1", "makes"}, {`reduce range(40) as $i ("x"; "\(.)\(.)")`, "1", "given"},
		{`reduce range(40) as $i ("x"; . + .)`, "1", "makes"}, {"reduce range(40) as $i ([1]; . + .)", "1", "makes"}, {`reduce range(40) as $i ({a: "x"}; .a += .a)`, "1", "makes"},
		{`"xxxxxxxxxx" * 100000000`, "1", "makes would be 1000000000"}, {`100000000 * "xxxxxxxxxx"`, "1", "makes"}, {`"x" as $x | $x | . *= 1e9`, "1", "makes"}, {".[0] - .[1]", pair, "makes"},
		{"[range(1e9)]", "1", "instructions"}, {"def f: 1 + f; f", "1", "instructions"}, {"def f: f, .; f", "1", "instructions"}, {"def f: [f]; f", "1", "instructions"}, {"def f: .[] as $x | f; f", numbers, "256 MiB"},
		{`[match("` + strings.Repeat("(a?)", 100) + `"; "g")]`, `"` + strings.Repeat("ab", 32767) + `"`, "256 MiB"},
		{`[match("a(?:.*z)?"; "g")]`, `"` + strings.Repeat("a", 65535) + `"`, "looked at"},
		{"[range(1e9) as $i | .[$i:$i + 1]]", text, "looked at"}, {"[.[range(1e9):]]", text, "looked at"}, {"[range(1e9) as $i | length]", text, "looked at"},
		{"try ([range(1e9) | {a: .}]) catch 1", "1", "256 MiB"}, // which is not caught
	} {
		t.Run(tt.jq[:min(len(tt.jq), 40)], func(t *testing.T) {
			q, err := compileJQ(tt.jq)
			if err != nil {
				t.Fatal(err)
			}
			doc := page("application/json", tt.body)
			v, err := doc.JSON()
			if err != nil {
				t.Fatal(err)
			}
			r := newRun(t.Context(), doc)
			r.target = new(target)
			m := q.run(r, v)
			m.near(tt.reason)
			began := m.made
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			err = r.results(q, m, func(item) bool { return true })
			runtime.ReadMemStats(&after)
			if err == nil || !errors.Is(err, errBound) || !strings.Contains(err.Error(), tt.reason) {
				t.Errorf("error %v, notes %v", err, r.result.Notes)
			}
			const aside = 64 << 20 // what makes no value: the interpreter's stacks, compiled expressions
			if made, counted := after.TotalAlloc-before.TotalAlloc, m.made-began; made > uint64(4*counted+aside) {
				t.Errorf("%d KiB were allocated, %d KiB counted", made>>10, counted>>10)
			}
		})
	}
}

// largest are expressions, and the largest values that their functions take in one
// piece, or nearly.
var largest = []struct {
	jq   string
	body func() string
}{
	{"ascii_downcase", textOf("aB", maxTextJQ)}, {"ltrimstr(\"a\") | trim", textOf(" ", maxTextJQ)}, {`. + "x"`, textOf("x", maxTextJQ-1)}, {`. * 2`, textOf("x", maxTextJQ/2)},
	{"explode", textOf("ab", maxTextExplodeJQ)}, {"tojson", textOf(`\u0001`, 6*maxTextWeighedJQ-6)}, {"@html", textOf("<", maxTextWeighedJQ-1)}, {"@uri", textOf("<", maxTextWeighedJQ-1)}, {"@sh", textOf("'", maxTextWeighedJQ-1)},
	{"@base64", textOf("a", maxTextWeighedJQ-1)}, {`"\(.)"`, textOf("a", maxTextWeighedJQ-1)}, {"length", textOf("é", 2*maxTextJQ)}, {".[1:]", textOf("é", 2*maxTextJQ)},
	{`split(",")`, textOf("a,", 2*maxListJQ)}, {"fromjson", func() string { return `"` + listOf("[]", maxTextParseJQ/3-1)() + `"` }},
	{"reverse", listOf("1", maxListJQ)}, {"keys", listOf("1", maxListJQ)}, {".[]", listOf("1", maxListJQ)}, {"implode", listOf("65", maxListJQ)}, {"add", listOf(`"abc"`, maxListJQ)}, {"add", listOf("1.5", maxTextJQ/(bytesASum+3))},
	{"add", listOf("[1]", maxListJQ)}, {"add", listOf(`{"a":1}`, maxObjectJQ)}, {"@csv", listOf("1.5", maxListJQ)}, {"tojson", listOf("1.234567e-10", maxTextWeighedJQ/13-1)}, {". + [1]", listOf("1", maxListJQ-1)},
	{".[0] = 2", listOf("1", maxListJQ)}, {"sort", listOf("1", maxListJQ)}, {"transpose", listOf("[1]", maxListJQ/3)}, {"indices(1)", listOf("1", maxListJQ)}, {"flatten", listOf("[1]", maxListJQ)},
	{"keys", wideOf(maxObjectJQ - 1)}, {".[]", wideOf(maxObjectJQ - 1)}, {"tojson", wideOf(maxObjectJQ - 1)}, {".a = 1", wideOf(maxObjectJQ - 1)}, {". + {a: 1}", wideOf(maxObjectJQ - 1)}, {"to_entries", wideOf(maxObjectJQ - 1)}, {"del(.[])", wideOf(maxObjectJQ / 2)},
	{`. as $r | "x" * 2000 | test($r)`, func() string { return `"` + strings.Repeat("x?", maxSizeRegexJQ/4-1)[:maxPatternJQ-2] + `y"` }}, {`test("(abcdefg?){500}z")`, textOf("abcdef", maxTextRegexJQ)},
	{`gsub("a"; "b")`, textOf("a", 2000)},
}

func textOf(part string, size int) func() string {
	return func() string { return `"` + strings.Repeat(part, size/len(part)) + `"` }
}

func listOf(part string, n int) func() string {
	return func() string { return "[" + strings.Repeat(part+",", n-1) + part + "]" }
}

func wideOf(n int) func() string {
	return func() string {
		var b strings.Builder
		for i := range n - 1 {
			fmt.Fprintf(&b, `"%x":1,`, i*7919)
		}
		return "{" + b.String() + `"z":1}`
	}
}

// Between two looks at the context, what a function makes of the largest value that
// it takes is so little that it takes no more than a part of 100 ms, on a machine
// that allocates a gigabyte in a second.
func TestPiecesOfJQAreShort(t *testing.T) {
	if withRace {
		t.Skip("it takes minutes with the race detector")
	}
	for _, tt := range largest {
		q, err := compileJQ(tt.jq)
		if err != nil {
			t.Fatal(err)
		}
		doc := page("application/json", tt.body())
		v, err := doc.JSON()
		if err != nil {
			t.Fatalf("%s: %v", tt.jq, err)
		}
		checkPieces(t, tt.jq, doc, func(r *run) error { return r.results(q, q.run(r, v), func(item) bool { return true }) })
	}
}

// checkPieces fails where much is allocated between two looks at the context.
func checkPieces(t *testing.T, name string, doc *document.Document, do func(r *run) error) {
	t.Helper()
	ctx := &allocations{Context: t.Context()}
	r := newRun(ctx, doc)
	r.target = new(target)
	ctx.begin()
	err := do(r)
	if ctx.look(); err != nil || len(r.result.Notes) > 0 {
		t.Errorf("%s: %v, %v", name, err, r.result.Notes)
	}
	if most := uint64(96 << 20); ctx.worst > most {
		t.Errorf("%s of %.20s… allocates %d MiB in one piece", name, doc.Body(), ctx.worst>>20)
	}
}

// The same of XPath.
func TestPiecesOfXPathAreShort(t *testing.T) {
	if withRace {
		t.Skip("it takes minutes with the race detector")
	}
	doc := page(htmlType, "<p>"+strings.Repeat("É a", maxTextXPath/4-1)+strings.Repeat("<b>1</b>", 20_000))
	root, err := doc.HTML()
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{
		"string-length(normalize-space(//p/text()))", "string-length(translate(//p/text(), 'É', 'e'))", "string-length(lower-case(//p/text()))", "string-length(concat(//p/text(), //p/text()))",
		"substring-before(//p/text(), 'zz')", "string-length(substring(//p/text(), 5))", "number(//p/text())", "count(//b | //p)", "sum(//b)", "reverse(//b)", "string-join(//b, ',')", "count(//b[matches(., '(a|b)*c')])",
	} {
		x, err := compileXPath(text)
		if err != nil {
			t.Fatal(err)
		}
		checkPieces(t, text, doc, func(r *run) error {
			err := r.selectXPath(nodeItem(root), x, func(item) bool { return true })
			if errors.Is(err, errSteps) {
				return nil
			}
			return err
		})
	}
}

// allocations counts what is allocated between two looks at a context.
type allocations struct {
	context.Context
	last, worst uint64
}

func allocated() uint64 {
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return stats.TotalAlloc
}

func (c *allocations) begin() { c.last = allocated() }

func (c *allocations) look() {
	c.worst = max(c.worst, allocated()-c.last)
	c.begin()
}

func (c *allocations) Err() error {
	c.look()
	return nil
}

// A text or a list that grows in a loop is one that is kept, however many were made.
func TestGrowingValuesAreKeptOnce(t *testing.T) {
	if withRace {
		t.Skip("runs without the race detector")
	}
	for _, tt := range []struct{ jq, want string }{
		{`reduce range(12000) as $i (""; . + "12345678,") | length`, "108000"},
		{"reduce range(8000) as $i ([]; . + [$i]) | length", "8000"},
		{"reduce range(3000) as $i ({}; .[$i | tostring] = $i) | length", "3000"},
		{"[range(300000) | {a: .}] | length", "300000"},
	} {
		rules := mustCompile(t, fmt.Sprintf("records: [{kind: a, fields: {t: {jq: %q}}}]", tt.jq))
		result := mustApply(t, rules, page("application/json", "1"))
		if len(result.Records) != 1 || string(result.Records[0].Fields(nil)) != `{"t":`+tt.want+`}` {
			t.Errorf("%s: %+v", tt.jq, result)
		}
	}
}

// Names by which expressions reach their meter are none of a rule.
func TestReservedNamesOfJQ(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"$__meter", "_m_keep(1)", ". as $__meter | 1", "def _m_keep(f): 1; 1", "def f($__meter): 1; f(1)", "{$__meter}", ". as {$__meter} | 1"} {
		if _, err := compileJQ(text); err == nil {
			t.Errorf("%s is compiled", text)
		}
	}
}
