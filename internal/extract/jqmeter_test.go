package extract

import (
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/itchyny/gojq"
)

// What is put around an expression changes nothing of what it says: the plain
// interpreter says the same.
func TestMeteredJQMeansWhatJQMeans(t *testing.T) {
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

// What a page of 4 MiB can make of an expression is counted and ends by that, at
// once or soon: in a function that takes a large value in one piece, in what it
// makes, or in the calls of functions. None of it takes the memory of a machine.
func TestBombsOfJQEndByCount(t *testing.T) {
	const size = 4 << 20
	numbers := "[" + strings.Repeat("1,", size/2-2) + "1]"
	text := `"` + strings.Repeat("a", size-3) + `"`
	pair := "[[" + strings.Repeat("1,", size/4-3) + "1],[" + strings.Repeat("2,", size/4-3) + "2]]"
	rows := "[" + strings.Repeat("[1],", size/4-2000) + "[" + strings.Repeat("1,", 1000) + "1]]"
	wide := func() string {
		var b strings.Builder
		for i := range 200_000 {
			fmt.Fprintf(&b, `"%x":1,`, i*7919)
		}
		return "{" + b.String() + `"":1}`
	}()
	const graph = "reduce range(60) as $i (0; [.,.]) | "
	for _, tt := range []struct{ jq, body, reason string }{
		{".[0][60000:] + [7] | contains([range(2000) | 7])", pair, "looked at"},
		{".[0] as $a | $a | indices($a[1:500000] + [2])", pair, "looked at"},
		{".[0:2097152] as $a | rindex($a)", text, "looked at"},
		{". as $a | .[0][$a[1][1:10]]", pair, "an index"},
		{"transpose", rows, "transpose"},
		{`. / ""`, text, "split"}, {`split("")`, text, "split"}, {`. /= ""`, text, "split"},
		{"explode", text, "given"}, {"tonumber", `"` + strings.Repeat("9", 2000) + `"`, "given"}, {`test("a")`, text, "given"},
		{`[range(1000) as $i | . + "x"]`, text, "256 MiB"}, {"[range(1000) as $i | ascii_upcase]", text, "256 MiB"},
		{`[range(1000) as $i | "\(.)x"]`, text, "256 MiB"}, {"[range(1000) as $i | @base64]", text, "256 MiB"},
		{`[range(1000) as $i | {"\(.)x": 1}]`, text, "256 MiB"}, {`[range(1000) as $i | @uri "\(.)x"]`, text, "256 MiB"},
		{"[range(1000) as $i | .[60000:] + [1]]", pair[1 : size/2-2], "256 MiB"},
		{"[range(1000) | [] | .[999999] = 1]", "1", "256 MiB"}, {"[range(1000) | {a:[]} | .a[999999] = 1]", "1", "256 MiB"},
		{"[range(1000) as $i | .[0] = $i]", pair[1 : size/2-2], "256 MiB"}, {"[range(1000) as $i | .[0] += $i]", pair[1 : size/2-2], "256 MiB"},
		{".[100000000] = 1", "[]", "index of a member"}, {"setpath([100000000]; 1)", "[]", "index of a member"}, {"setpath([range(2000)]; 1)", "1", "a path"},

		{graph + "tojson", "1", "given"}, {graph + `"\(.)"`, "1", "given"}, {graph + "@html", "1", "given"}, {graph + "error", "1", "given"},
		{graph + ". == [.[0], [.[1]]]", "1", "looked at"}, {graph + "flatten", "1", "made"}, {graph + "contains(reduce range(60) as $i (1; [.]))", "1", "looked at"},
		{"reduce range(60) as $i (0; {a: ., b: .}) | . * .", "1", "given"},
		{"keys", wide, "given"}, {"[.[]]", wide, "given"}, {"add", numbers, "given"}, {"reverse", numbers, "given"}, {"@csv", numbers, "given"}, {"del(.[range(200000)])", numbers, "deleted"},
		{"reduce range(1e9) as $i (3; . * .)", "1", "makes"}, {"reduce range(1e9) as $i (1; . + .)", "1", "makes"}, {`reduce range(40) as $i ("x"; "\(.)\(.)")`, "1", "given"},
		{"def f: 1 + f; f", "1", "instructions"}, {"def f: f, .; f", "1", "instructions"}, {"def f: [f]; f", "1", "instructions"}, {"def f: .[] as $x | f; f", numbers, "256 MiB"},
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
			if tt.reason == "looked at" {
				r.work = MaxWork - 1<<24 // or it takes minutes to run all
			}
			runtime.GC()
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			err = r.selectJQ(v, q, func(item) bool { return true })
			runtime.ReadMemStats(&after)
			reasonable := false
			for _, reason := range strings.Split(tt.reason, "|") {
				reasonable = reasonable || err != nil && strings.Contains(err.Error(), reason)
			}
			if !reasonable || !errors.Is(err, errBound) {
				t.Errorf("error %v, notes %v", err, r.result.Notes)
			}
			if took := int64(after.Sys-before.Sys) >> 20; took > 1000 {
				t.Errorf("took %d MiB of the system's memory", took)
			}
		})
	}
}

// A text or a list that grows in a loop is one that is kept, however many were made.
func TestGrowingValuesAreKeptOnce(t *testing.T) {
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
