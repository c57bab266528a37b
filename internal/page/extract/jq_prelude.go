package extract

import (
	"reflect"

	"github.com/itchyny/gojq"
)

// preludeText defines functions of jq anew: those that the interpreter would compute
// in one piece, by metered functions of this package ("_m_…"), and those that are
// written in jq themselves, so that instrument reaches their operators as well.
const preludeText = `
def contains($x): _m_contains($__meter; $x);
def inside($x): . as $in | $x | contains($in);
def indices($x): _m_indices($__meter; $x);
def index($x): _m_index($__meter; $x);
def rindex($x): _m_rindex($__meter; $x);
def split($x): _m_split($__meter; $x);
def join($x): _m_join($__meter; $x);
def flatten: _m_flatten($__meter; 1e9);
def flatten($depth): _m_flatten($__meter; $depth);
def transpose: _m_transpose($__meter);
def fromjson: _m_fromjson($__meter);
def bsearch($x): _m_bsearch($__meter; $x);
def map(f): [.[] | f];
def sort: _m_sort($__meter; .);
def sort_by(f): _m_sort($__meter; map([f]));
def group_by(f): _m_group($__meter; map([f]));
def unique: _m_unique($__meter; .);
def unique_by(f): _m_unique($__meter; map([f]));
def min: _m_min($__meter; .);
def min_by(f): _m_min($__meter; map([f]));
def max: _m_max($__meter; .);
def max_by(f): _m_max($__meter; map([f]));
def add(f): [f] | add;
def map_values(f): .[] |= f;
def to_entries: [keys[] as $k | {key: $k, value: .[$k]}];
def from_entries: map({(.key // .Key // .name // .Name): if has("value") then .value else .Value end}) | add // {};
def with_entries(f): to_entries | map(f) | from_entries;
def recurse: def r: ., (.[]? | r); r;
def all(g; y): isempty(g | select(y | not));
def all(y): all(.[]; y);
def all: all(.);
def any(g; y): isempty(g | select(y)) | not;
def any(y): any(.[]; y);
def any: any(.);
def combinations: if length == 0 then [] else .[0][] as $x | [$x] + (.[1:] | combinations) end;
def combinations(n): [limit(n; repeat(.))] | combinations;
def walk(f): def w: if type == "array" then map(w) elif type == "object" then map_values(w) end | f; w;
def del(f): delpaths([path(f)]);
def paths: path(recurse) | select(. != []);
def paths(f): path(recurse | select(f)) | select(. != []);
def pick(f): . as $in | reduce path(f) as $p (null; setpath($p; $in | getpath($p)));
def tostream:
  path(def r: (.[]? | r), .; r) as $p | getpath($p) |
  reduce path(.[]?) as $q ([$p, .]; [$p + $q]);
def fromstream(f):
  foreach f as $pv (null;
    if .e then null end | $pv as [$p, $v] |
    if $pv | length == 2 then setpath(["v"] + $p; $v) | setpath(["e"]; $p | length == 0)
    else setpath(["e"]; $p | length == 1) end;
    if .e then .v else empty end);
def truncate_stream(f): . as $n | null | f | if .[0] | length > $n then .[0] |= .[$n:] else empty end;
def match($re; $flags): _m_match($__meter; $re; $flags)[];
def match($re): if $re | type == "array" then match($re[0]; $re[1]) else match($re; null) end;
def test($re; $flags): _m_test($__meter; $re; $flags);
def test($re): if $re | type == "array" then test($re[0]; $re[1]) else test($re; null) end;
def capture($re; $flags): match($re; $flags) | .captures | _captures;
def capture($re): match($re) | .captures | _captures;
def scan($re; $flags): match($re; $flags + "g") | if .captures == [] then .string else [.captures[].string] end;
def scan($re): scan($re; null);
def splits($re; $flags):
  .[foreach (match($re; $flags + "g"), null) as {$offset, $length}
      (null; {start: .next, end: $offset, next: $offset + $length})];
def splits($re): splits($re; null);
def split($re; $flags): [splits($re; $flags)];
def sub($re; str; $flags):
  reduce match($re; $flags) as {$offset, $length, $captures}
    ({s: ., r: []};
      reduce ($captures | _captures | str) as $s
        (.i = 0; .r[.i] += .s[.next:$offset] + $s | .i += 1) |
      .next = $offset + $length) | .r[] + .s[.next:] // .s;
def sub($re; str): sub($re; str; null);
def gsub($re; str; $flags): sub($re; str; $flags + "g");
def gsub($re; str): sub($re; str; "g");
def fromdateiso8601: strptime("%Y-%m-%dT%H:%M:%S%z") | mktime;
def fromdate: fromdateiso8601;
def INDEX(stream; f): reduce stream as $row ({}; .[$row | f | tostring] = $row);
def INDEX(f): INDEX(.[]; f);
def JOIN($idx; f): [.[] | [., $idx[f]]];
def JOIN($idx; stream; f): stream | [., $idx[f]];
def JOIN($idx; stream; f; g): stream | [., $idx[f]] | g;
def IN(s): any(s == .; .);
def IN(src; s): any(src == s; .);
.`

// signature names a function: one name may be defined for several numbers of
// arguments.
type signature struct {
	name string
	args int
}

// prelude are the definitions of preludeText, in its order, bound.
var prelude = func() []*gojq.FuncDef {
	parsed, err := gojq.Parse(preludeText)
	if err != nil {
		panic(err)
	}
	instrument(reflect.ValueOf(parsed))
	return parsed.FuncDefs
}()

// preludeOf returns the definitions that an expression needs. What an expression
// defines itself goes before them, as it does before the interpreter's own.
func preludeOf(parsed *gojq.Query) []*gojq.FuncDef {
	needed := make(map[signature]bool)
	called(reflect.ValueOf(parsed), needed)
	for before := -1; before != len(needed); {
		before = len(needed)
		for _, def := range prelude {
			if needed[signature{def.Name, len(def.Args)}] {
				called(reflect.ValueOf(def.Body), needed)
			}
		}
	}
	var defs []*gojq.FuncDef
	for _, def := range prelude {
		if needed[signature{def.Name, len(def.Args)}] {
			defs = append(defs, def)
		}
	}
	return defs
}

// called adds the functions that are called anywhere in a part of an expression.
func called(v reflect.Value, to map[signature]bool) {
	visit(v, func(part any) {
		switch part := part.(type) {
		case *gojq.Func:
			to[signature{part.Name, len(part.Args)}] = true
		case *gojq.Term:
			if part.Type == gojq.TermTypeRecurse {
				to[signature{"recurse", 0}] = true
			}
		}
	})
}

// visit shows all nodes of a parsed expression, each behind what is within it.
func visit(v reflect.Value, show func(part any)) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			visit(v.Elem(), show)
			show(v.Interface())
		}
	case reflect.Struct:
		for i := range v.NumField() {
			visit(v.Field(i), show)
		}
	case reflect.Slice:
		for i := range v.Len() {
			visit(v.Index(i), show)
		}
	default: // holds no expression
	}
}
