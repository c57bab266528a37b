package regexbound

import (
	"errors"
	"reflect"
	"strings"
	"testing"
)

var errEnough = errors.New("enough")

// What is found is what regexp finds, in texts of any length.
func TestFindsWhatRegexpFinds(t *testing.T) {
	t.Parallel()
	free := func(int) error { return nil }
	for _, expr := range []string{`b(c)?`, `^a`, `z$`, `\bé`, `(?i)É+(x)`, `\xff|c`, `absent`, ``, `(?s)a.*z`, `\z`} {
		re := mustCompile(t, expr)
		for _, n := range []int{0, 1, 10, 2000} {
			text := strings.Repeat("abé éx\xff\n", n) + "bcz"
			m, err := re.Find(text, free)
			if want := re.FindStringSubmatchIndex(text); err != nil || !reflect.DeepEqual(m, want) {
				t.Errorf("%s in %d bytes: %v, want %v", expr, len(text), m, want)
			}
			is, err := re.Match(text, free)
			if err != nil || is != re.MatchString(text) {
				t.Errorf("%s in %d bytes: %v, %v", expr, len(text), is, err)
			}
		}
	}
}

// A search tells what it reads while it reads, and ends when it may read no more.
func TestSearchEndsWhenWorkDoes(t *testing.T) {
	t.Parallel()
	re := mustCompile(t, `a(?:b|c)*z`)
	text := strings.Repeat("abc", 1<<20)
	for _, search := range []func(spend func(int) error) (bool, error){
		func(spend func(int) error) (bool, error) { return re.Match(text, spend) },
		func(spend func(int) error) (bool, error) {
			m, err := re.Find(text, spend)
			return m != nil, err
		},
	} {
		told := 0
		if found, err := search(func(n int) error { told += n; return nil }); found || err != nil || told < len(text)-often || told > len(text) {
			t.Errorf("found %v, %v, told %d of %d", found, err, told, len(text))
		}
		calls := 0
		found, err := search(func(int) error {
			if calls++; calls >= 3 {
				return errEnough
			}
			return nil
		})
		if found || !errors.Is(err, errEnough) || calls != 3 {
			t.Errorf("found %v, %v, after %d", found, err, calls)
		}
	}
}

// A match at once counts as well: there may be one after the other.
func TestEachSearchTellsSomething(t *testing.T) {
	t.Parallel()
	told := 0
	if m, err := mustCompile(t, "a").Find(strings.Repeat("a", 1<<16), func(n int) error { told += n; return nil }); m == nil || err != nil || told == 0 {
		t.Errorf("found %v, %v, told %d", m, err, told)
	}
}

// The larger an expression is, the more a byte counts: it may take as long.
func TestLargeExpressionsCountMore(t *testing.T) {
	t.Parallel()
	if n, m := mustCompile(t, "a").Work("text"), mustCompile(t, "(?:a{1,100}){1,10}b").Work("text"); m < 50*n {
		t.Errorf("%d, and of a large expression %d", n, m)
	}
}

// Expressions of strangers are refused by their size, before they are compiled.
func TestLargeExpressionsOfStrangersAreRefused(t *testing.T) {
	t.Parallel()
	for expr, refused := range map[string]bool{
		"a{1000}": false, "(a{30}){30}": false, "((a{10}){5}b{9}c){9}": false, strings.Repeat("(ab|c){100}", 20): true, "(" + strings.Repeat("x?", 1000) + "){1000}": true,
	} {
		if _, err := CompileSmall(expr, 3000); errors.Is(err, ErrLarge) != refused || !refused && err != nil {
			t.Errorf("%.30s: %v", expr, err)
		}
	}
}

// What looks for all matches may do so in a long text where none is looked for beyond
// its end.
func TestLinearExpressions(t *testing.T) {
	t.Parallel()
	for expr, is := range map[string]bool{
		"a": true, "[^0-9]+": true, `\s+`: true, "^a*|b+": true, "a{2,}": true, "(a|b)": true, "x[ab]*": true, "a{1,9}b": true,
		"a(.*z)?": false, ".*z": false, "(a|b)*": false, "(a+b)+": false, `\s+$`: false, "(.*z){2}": false,
	} {
		if mustCompile(t, expr).Linear() != is {
			t.Errorf("%s: want %v", expr, is)
		}
	}
}

// A text that is short, but of a large expression, is searched in a way that can be
// ended.
func TestLargeExpressionsTellWhatTheyRead(t *testing.T) {
	t.Parallel()
	re := mustCompile(t, "(?:x{0,50}){1,20}y")
	calls := 0
	if found, err := re.Match(strings.Repeat("x", 2000), func(int) error { calls++; return nil }); found || err != nil || calls < 5 {
		t.Errorf("found %v, %v, told %d times", found, err, calls)
	}
}

func mustCompile(t *testing.T, expr string) *Regexp {
	t.Helper()
	re, err := Compile(expr)
	if err != nil {
		t.Fatal(err)
	}
	return re
}
