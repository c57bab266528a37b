package extract

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/itchyny/gojq"

	"seine/internal/page/document"
)

// smallWorkers end endless programs soon.
var smallWorkers = newPool(jqLimits{memory: 32 << 20, cpu: 200 * time.Millisecond})

// evaluated returns the results of a program, up to the 100th, as JSON, and notes.
func evaluated(t testing.TB, pool *jqPool, q *query, v any) (values string, notes []Problem, err error) {
	t.Helper()
	r := newRun(t.Context(), page("application/json", "1"))
	r.target, r.pool = new(target), pool
	defer jqRun{r}.release()
	var got []any
	err = jqRun{r}.selectJQ(v, q, nil, func(i item) bool {
		got = append(got, i.value)
		return len(got) < 100
	})
	return string(appendValue(nil, got)), r.result.Notes, err
}

// idleOf returns the most recently used worker.
func idleOf(pool *jqPool) *jqProcess {
	pool.mu.Lock()
	defer pool.mu.Unlock()
	return pool.idle[len(pool.idle)-1]
}

// interpreted returns the results of the plain interpreter, without null, as JSON.
func interpreted(t testing.TB, text string, v any, most int) string {
	t.Helper()
	parsed, err := gojq.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	var got []any
	results := parsed.Run(v)
	for len(got) < most {
		v, ok := results.Next()
		if _, failed := v.(error); !ok || failed {
			break
		}
		if !nothing(v) {
			got = append(got, v)
		}
	}
	return string(appendValue(nil, got))
}

// A worker has the results of the interpreter, including its numbers.
func TestWorkersSayWhatJQSays(t *testing.T) {
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
		q, err := compileJQ(text)
		if err != nil {
			if !strings.Contains(err.Error(), "not allowed in rules") && !strings.Contains(err.Error(), "not defined") {
				t.Errorf("%s: %v", text, err)
			}
			continue
		}
		v, err := page("application/json", body).JSON()
		if err != nil {
			t.Fatal(err)
		}
		want := interpreted(t, text, v, 100)
		q.path = nil
		got, _, err := evaluated(t, interpreters, q, v)
		if err != nil || got != want {
			t.Errorf("%s: %v\ngot  %s\nwant %s", text, err, got, want)
		}
	}
}

// bombed are workers with low limits, which a bomb reaches soon.
var bombed = newPool(jqLimits{memory: 64 << 20, cpu: 100 * time.Millisecond})

// bomb evaluates a program on a page, and returns how many bytes that has allocated in this
// process.
func bomb(t *testing.T, pool *jqPool, text, body string) (allocated uint64, err error) {
	t.Helper()
	q, err := compileJQ(text)
	if err != nil {
		t.Fatal(err)
	}
	v, err := page("application/json", body).JSON()
	if err != nil {
		t.Fatal(err)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, _, err = evaluated(t, pool, q, v)
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc, err
}

// Programs end at a limit of the worker on any page, and allocate little in this process. Long
// programs within the limits get their results.
func TestBombsOfJQEndAtALimit(t *testing.T) {
	if withRace {
		t.Skip("runs without the race detector")
	}
	const size = 3 << 20 / 2
	text := `"` + strings.Repeat("a", size) + `"`
	many := "[" + strings.Repeat("1,", 500_000) + "1]"
	numbers := "[" + strings.Repeat("1,", 500_000/2) + "1]"
	pair := "[" + numbers + "," + numbers + "]"
	rows := "[" + strings.Repeat("[1],", 2000) + "[" + strings.Repeat("1,", 1000) + "1]]"
	digits := "[" + strings.Repeat("9", document.MaxDigits) + "," + strings.Repeat("9", document.MaxDigits) + "]"
	wide := func() string {
		var b strings.Builder
		for i := range 100_000 + 10 {
			fmt.Fprintf(&b, `"%x":1,`, i*7919)
		}
		return "{" + b.String() + `"":1}`
	}()
	const graph = "reduce range(60) as $i (0; [.,.]) | "
	type bombs []struct{ jq, body string }
	check := func(pool *jqPool, jq, body string, most uint64, limits ...string) {
		allocated, err := bomb(t, pool, jq, body)
		hit := slices.ContainsFunc(limits, func(limit string) bool { return err != nil && strings.Contains(err.Error(), limit) })
		if len(limits) > 0 && (!hit || !errors.Is(err, errBound)) || len(limits) == 0 && err != nil {
			t.Errorf("%s: %v", jq, err)
		}
		if allocated > most {
			t.Errorf("%s: %d MiB were allocated", jq, allocated>>20)
		}
	}
	for _, tt := range (bombs{
		{".[0][200000:] + [7] | contains([range(2000) | 7])", pair},
		{".[0] as $a | $a | indices($a[1:100000] + [2])", pair},
		{"tonumber", `"` + strings.Repeat("9", 2000) + `"`},
		{`[range(1000) as $i | . + "x"]`, text}, {"[range(1000) as $i | ascii_upcase]", text},
		{`[range(1000) as $i | "\(.)x"]`, text}, {"[range(1000) as $i | @base64]", text},
		{`[range(1000) as $i | {"\(.)x": 1}]`, text}, {`[range(1000) as $i | @uri "\(.)x"]`, text},
		{"[range(1000) as $i | .[60000:] + [1]]", numbers},
		{"[range(1000) | [] | .[99999] = 1]", "1"}, {"[range(1000) | {a:[]} | .a[99999] = 1]", "1"},
		{"[range(1000) as $i | .[0] = $i]", numbers}, {"[range(1000) as $i | .[0] += $i]", numbers},
		{"reduce range(1000) as $i ([]; . + [[range(100000)]])", "1"}, {`. as $t | reduce range(1000) as $i ({}; .["\($i)"] = $t + "x")`, text},
		{"[foreach range(1000) as $i (.; . + \"x\")]", text},
		{".[100000000] = 1", "[]"}, {"setpath([100000000]; 1)", "[]"},
		{graph + "tojson", "1"}, {graph + `"\(.)"`, "1"}, {graph + "@html", "1"}, {graph + "error", "1"},
		{graph + ". == [.[0], [.[1]]]", "1"}, {graph + "flatten", "1"}, {graph + "contains(reduce range(60) as $i (1; [.]))", "1"},
		{"reduce range(60) as $i (0; {a: ., b: .}) | . * .", "1"}, {"reduce range(60) as $i (0; [., .])", "1"},
		{"[.[0] as $n | range(10000) | $n] | add", digits}, {".[0] * .[1] * .[0]", digits},
		{". as $r | 1 | tostring | test($r)", text},
		{". as $r | \"a\" | test($r[0:3000] | \"(\\(.)){900}\")", text},
		{"reduce range(1e9) as $i (3; . * .)", "1"}, {"reduce range(1e9) as $i (1; . + .)", "1"}, {`reduce range(40) as $i ("x"; "\(.)\(.)")`, "1"},
		{`reduce range(40) as $i ("x"; . + .)`, "1"}, {"reduce range(40) as $i ([1]; . + .)", "1"}, {`reduce range(40) as $i ({a: "x"}; .a += .a)`, "1"},
		{`"xxxxxxxxxx" * 100000000`, "1"}, {`100000000 * "xxxxxxxxxx"`, "1"}, {`"x" as $x | $x | . *= 1e9`, "1"},
		{"[range(1e9)]", "1"}, {"def f: 1 + f; f", "1"}, {"def f: f, .; f", "1"}, {"def f: [f]; f", "1"}, {"def f: .[] as $x | f; f", numbers},
		{`[match("` + strings.Repeat("(a?)", 100) + `"; "g")]`, `"` + strings.Repeat("ab", 32767) + `"`},
		{`[match("a(?:.*z)?"; "g")]`, `"` + strings.Repeat("a", 65535) + `"`},
		{"[range(1e9) as $i | .[$i:$i + 1]]", text}, {"[.[range(1e9):]]", text}, {"[range(1e9) as $i | length]", text},
		{"try ([range(1e9) | {a: .}]) catch 1", "1"}, // which is not caught
		{`"x" * 2e9`, "1"}, {"1, 2, last(repeat(1))", "1"},
	}) {
		check(bombed, tt.jq, tt.body, 64<<20, "MiB of memory", "of processor time", "larger than", "digits")
	}
	for _, tt := range (bombs{
		{".[0:1000000] as $a | rindex($a)", text}, {". as $a | .[0][$a[1][1:10]]", pair}, {". as $a | .[[1]]", many}, {"transpose", rows},
		{`. / ""`, text}, {`split("")`, text}, {`. /= ""`, text}, {"explode", text}, {`test("a")`, text}, {"fromjson", strings.Replace(text, "a", text[1:size], 1)},
		{"setpath([range(2000)]; 1)", "1"}, {".a = 1", wide}, {`setpath(["a"]; 1)`, wide}, {`del(.["1eef"])`, wide}, {".[0].a |= 1", "[" + wide + "]"},
		{"keys", wide}, {"[.[]]", wide}, {"[.[] | 1]", many}, {"add", many}, {"reverse", many}, {"@csv", many}, {"indices(1)", many},
		{"[.[0] as $n | range(3000) | $n] | tojson", digits}, {"del(.[range(100001)])", numbers}, {". as $f | 0 | strftime($f)", text},
		{`strptime("%Y")`, text}, {"fromdate", text}, {`test("((a{10}){10}" + . + "){9}")`, `"` + strings.Repeat("b{30}", 100) + `"`}, {`test(.[0:3000] + "{900}")`, text}, {".[0] - .[1]", pair},
	}) {
		check(interpreters, tt.jq, tt.body, 16*document.MaxData)
	}
}

// Honest programs do not notice the limits: the largest values that were ever allowed cause no
// errors.
func TestLargeValuesAreAnswered(t *testing.T) {
	if withRace {
		t.Skip("runs without the race detector")
	}
	for _, tt := range []struct {
		jq   string
		body func() string
	}{
		{"ascii_downcase", textOf("aB", (8 << 20))}, {"ltrimstr(\"a\") | trim", textOf(" ", (8 << 20))}, {`. + "x"`, textOf("x", (8<<20)-1)}, {`. * 2`, textOf("x", (8<<20)/2)},
		{"explode", textOf("ab", (1 << 20))}, {"tojson", textOf(`\u0001`, 6*(2<<20)-6)}, {"@html", textOf("<", (2<<20)-1)}, {"@uri", textOf("<", (2<<20)-1)}, {"@sh", textOf("'", (2<<20)-1)},
		{"@base64", textOf("a", (2<<20)-1)}, {`"\(.)"`, textOf("a", (2<<20)-1)}, {"length", textOf("é", 2*(8<<20))}, {".[1:]", textOf("é", 2*(8<<20))},
		{`split(",")`, textOf("a,", 2*500_000)}, {"fromjson", func() string { return `"` + listOf("[]", (1<<20)/3-1)() + `"` }},
		{"reverse", listOf("1", 500_000)}, {"keys", listOf("1", 500_000)}, {".[]", listOf("1", 500_000)}, {"implode", listOf("65", 500_000)}, {"add", listOf(`"abc"`, 500_000)}, {"add", listOf("1.5", (8<<20)/(32+3))},
		{"add", listOf("[1]", 500_000)}, {"add", listOf(`{"a":1}`, 100_000)}, {"@csv", listOf("1.5", 500_000)}, {"tojson", listOf("1.234567e-10", (2<<20)/13-1)}, {". + [1]", listOf("1", 500_000-1)},
		{".[0] = 2", listOf("1", 500_000)}, {"sort", listOf("1", 500_000)}, {"transpose", listOf("[1]", 500_000/3)}, {"indices(1)", listOf("1", 500_000)}, {"flatten", listOf("[1]", 500_000)},
		{"keys", wideOf(100_000 - 1)}, {".[]", wideOf(100_000 - 1)}, {"tojson", wideOf(100_000 - 1)}, {".a = 1", wideOf(100_000 - 1)}, {". + {a: 1}", wideOf(100_000 - 1)}, {"to_entries", wideOf(100_000 - 1)}, {"del(.[])", wideOf(100_000 / 2)},
		{`. as $r | "x" * 2000 | test($r)`, func() string { return `"` + strings.Repeat("x?", 10_000/4-1)[:(4<<10)-2] + `y"` }}, {`test("(abcdefg?){500}z")`, textOf("abcdef", (64 << 10))},
		{`gsub("a"; "b")`, textOf("a", 2000)},
	} {
		q, err := compileJQ(tt.jq)
		if err != nil {
			t.Fatal(err)
		}
		v, err := page("application/json", tt.body()).JSON()
		if err != nil {
			t.Fatalf("%s: %v", tt.jq, err)
		}
		if _, notes, err := evaluated(t, interpreters, q, v); err != nil || len(notes) > 0 {
			t.Errorf("%s: %v, %v", tt.jq, err, notes)
		}
	}
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

// The memory of a text or a list that grows in a loop counts once, however many were made.
func TestGrowingValuesAreCountedOnce(t *testing.T) {
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

// Fields of many items are evaluated in advance, with the same outcome as one after the other.
func TestProgramsAreEvaluatedAhead(t *testing.T) {
	t.Parallel()
	const fields = "fields: {id: {jq: .id}, sum: {jq: .id + 1}, many: {jq: 'range(.id)', all: true}, odd: {jq: 'if .id % 2 == 0 then error(\"even\") else .id end'}, " +
		"first: {jq: '1, last(repeat(1))'}, text: {jq: '\"\\(.id)\" | select(. != \"7\")'}, in: {jq: '[.id, .id]', all: true, fields: {x: {jq: '.[0] + .[1]'}}}}"
	var body strings.Builder
	const items = 270
	for i := range items {
		fmt.Fprintf(&body, `{"id":%d},`, i)
	}
	doc := page("application/json", "["+body.String()+"{}]")
	for _, each := range []string{".[]", ".[] | select(.id >= 0)"} {
		result := mustApply(t, mustCompile(t, fmt.Sprintf("records: [{kind: a, each: {jq: %q}, %s}]", each, fields)), doc)
		if len(result.Records) < items || len(result.Problems) > 0 {
			t.Fatalf("%s: %d records, problems %v", each, len(result.Records), result.Problems)
		}
		for i, rec := range result.Records[:items] {
			many := make([]any, i)
			for j := range many {
				many[j] = j
			}
			want := fmt.Sprintf(`{"id":%d,"sum":%d,"many":%s,`, i, i+1, appendValue(nil, many))
			if i%2 == 1 {
				want += fmt.Sprintf(`"odd":%d,`, i)
			}
			want += `"first":1,`
			if i != 7 {
				want += fmt.Sprintf(`"text":"%d",`, i)
			}
			want += fmt.Sprintf(`"in":[{"x":%d}]}`, 2*i)
			if got := string(rec.Fields(nil)); got != want {
				t.Fatalf("%s: got  %.300s\nwant %.300s", each, got, want)
			}
		}
		for i, n := range result.Notes[:items/4] {
			if n.Index != 2*i || n.Field != "odd" || !strings.Contains(n.Reason, "even") {
				t.Errorf("note %d: %+v", i, n)
			}
		}
	}
}

// A rule with programs on the results of another program needs only one worker, also when all are
// in use.
func TestEvaluationsWithinEachOtherShareAWorker(t *testing.T) {
	rules := mustCompile(t, `records: [{kind: a, each: {jq: "range(20) | [., range(3)]"}, fields: {l: {jq: ".[] + 1", all: true, fields: {x: {jq: ". * 2"}, y: {jq: "range(.)", all: true}}}}}]`)
	var wg sync.WaitGroup
	for range 4 * cap(interpreters.used) {
		wg.Go(func() {
			result := mustApply(t, rules, page("application/json", "1"))
			if len(result.Records) != 20 || string(result.Records[1].Fields(nil)) != `{"l":[{"x":4,"y":[0,1]},{"x":2,"y":[0]},{"x":4,"y":[0,1]},{"x":6,"y":[0,1,2]}]}` {
				t.Errorf("%d records, problems %v, %s", len(result.Records), result.Problems, result.Records[1].Fields(nil))
			}
		})
	}
	wg.Wait()
}

// A program ends at once when its caller gives up, and the next one gets another worker.
func TestProgramEndsWithItsCaller(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"last(repeat(1))", "last(combinations)", "reduce range(1e9) as $i (0; . + 1)", "range(1e9) | select(false)"} {
		pool := newPool(jqLimits{memory: 256 << 20, cpu: time.Hour})
		q, err := compileJQ(text)
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		r := newRun(ctx, page("application/json", "1"))
		r.pool, r.target = pool, new(target)
		w, err := jqRun{r}.interpreter()
		if err != nil {
			t.Fatal(err)
		}
		cancel() // which kills the worker, before or during its work
		if err := (jqRun{r}).selectJQ([]any{[]any{1, 2}}, q, nil, func(item) bool { return true }); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", text, err)
		}
		jqRun{r}.release()
		if w.cmd.ProcessState == nil || len(pool.idle) > 0 {
			t.Errorf("%s: the worker is there", text)
		}
		if got, _, err := evaluated(t, pool, &query{text: "1 + 1"}, nil); err != nil || got != "[2]" {
			t.Errorf("after %s: %s, %v", text, got, err)
		}
		idleOf(pool).end()
	}
}

// A worker that the system kills is replaced if it was idle, and otherwise reported as the cause.
func TestWorkerThatIsKilled(t *testing.T) {
	t.Parallel()
	pool := newPool(interpreters.limits)
	one := &query{text: "1 + 1"}
	for range 2 {
		if got, _, err := evaluated(t, pool, one, nil); err != nil || got != "[2]" {
			t.Fatalf("%s, %v", got, err)
		}
		w := idleOf(pool)
		w.kill()
		w.since = w.since.Add(-time.Hour)
	}
	r := newRun(t.Context(), page("application/json", "1"))
	r.pool, r.target = pool, new(target)
	w, err := jqRun{r}.interpreter()
	if err != nil {
		t.Fatal(err)
	}
	w.kill()
	err = jqRun{r}.selectJQ(nil, one, nil, func(item) bool { return true })
	if err == nil || errors.Is(err, errBound) || !strings.Contains(err.Error(), `jq "1 + 1": its interpreter ended: `) {
		t.Errorf("killed while it is used: %v", err)
	}
	jqRun{r}.release()
}

// Idle workers end after some time.
func TestIdleWorkersEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := newPool(interpreters.limits)
		if _, _, err := evaluated(t, pool, &query{text: "1 + 1"}, nil); err != nil {
			t.Fatal(err)
		}
		w := idleOf(pool)
		time.Sleep(idleTime)
		synctest.Wait()
		if len(pool.idle) > 0 || w.cmd.ProcessState == nil {
			t.Errorf("%d are there", len(pool.idle))
		}
	})
}

// A worker writes only answers, and ends with its input.
func TestWorkerEndsWithItsInput(t *testing.T) {
	t.Parallel()
	w, err := startWorker(workerProgram, interpreters.limits)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.input.Close(); err != nil {
		t.Fatal(err)
	}
	var a jqAnswer
	if err := w.from.Decode(&a); !errors.Is(err, io.EOF) {
		t.Errorf("wrote %v, %v", a, err)
	}
	if err := w.cmd.Wait(); err != nil {
		t.Error(err)
	}
}

// If no worker can be started, rules report that.
func TestNoWorkerCanBeStarted(t *testing.T) {
	pool := newPool(interpreters.limits)
	pool.program = filepath.Join(t.TempDir(), "none")
	for range 2 * cap(pool.used) {
		_, _, err := evaluated(t, pool, &query{text: "1 + 1"}, nil)
		if err == nil || !strings.Contains(err.Error(), `jq "1 + 1": start its interpreter: `) {
			t.Errorf("got %v", err)
		}
	}
}

// Programs with results that depend on more than their input, and those that are too long, are
// rejected, also within parts of a program. Object members with such names are allowed.
func TestProgramsThatAreRefused(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"now", "[now]", "{a: now}", "{(now | tostring): 1}", `"\(now)"`, `@text "\(now)"`, `{"\(now)": 1}`, ".[now]", ".[now:]", ".[:now]", ".a[now]", ".a | now", "1, now", "1 + now", "-now",
		"if now then 1 else 2 end", "if 1 then now else 2 end", "if 1 then 1 elif now then 1 else 2 end", "if 1 then 1 elif 2 then now else 2 end", "if 1 then 1 else now end", "try now", "try 1 catch now",
		"reduce now as $x (0; 1)", "reduce 1 as $x (now; 1)", "reduce 1 as $x (0; now)", "foreach 1 as $x (0; 1; now)", "label $l | now", "def f: now; f", "def f(g): g; f(now)", "now as $x | 1", ". as {(now | tostring): $x} | 1",
		`. as {"\(now)": $x} | 1`, "(now)", "[.[] | select(.a > now)]", "env", "$ENV", "$ENV.PATH", "input", "[inputs]", "debug", `debug("a")`, "stderr", "halt", "halt_error", "halt_error(1)", "input_filename",
		"input_line_number", "localtime", `strflocaltime("%Y")`, "get_search_list", "modulemeta", "module {}; 1", `import "a" as a; 1`, `include "a"; 1`, "1" + strings.Repeat(" ", maxProgram), strings.Repeat("[", 1<<19),
	} {
		if _, err := compileJQ(text); err == nil || !strings.HasPrefix(err.Error(), "jq ") {
			t.Errorf("%.40s is compiled: %.100v", text, err)
		}
	}
	for _, text := range []string{".now", "{now: 1}", "{now}", `"now"`, `"\"Func\":{\"Name\":\"now\""`, `{"a": "\"Func\":{\"Name\":\"now\""}`, ". as {now: $x} | $x", ".input.debug", strings.Repeat("[", maxProgram/2) + strings.Repeat("]", maxProgram/2)} {
		if _, err := compileJQ(text); err != nil {
			t.Errorf("%.40s: %.100v", text, err)
		}
	}
}
