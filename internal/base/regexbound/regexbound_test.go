package regexbound

import (
	"errors"
	"reflect"
	"strings"
	"testing"
)

var errEnough = errors.New("enough")

// The matches equal those of regexp, in texts of any length.
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

// A search reports its work while it reads, and ends when spend returns an error.
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

// An immediate match also counts: many may follow each other.
func TestEachSearchTellsSomething(t *testing.T) {
	t.Parallel()
	told := 0
	if m, err := mustCompile(t, "a").Find(strings.Repeat("a", 1<<16), func(n int) error { told += n; return nil }); m == nil || err != nil || told == 0 {
		t.Errorf("found %v, %v, told %d", m, err, told)
	}
}

// A byte costs more with a larger expression, which may take longer.
func TestLargeExpressionsCountMore(t *testing.T) {
	t.Parallel()
	if n, m := mustCompile(t, "a").Work("text"), mustCompile(t, "(?:a{1,100}){1,10}b").Work("text"); m < 50*n {
		t.Errorf("%d, and of a large expression %d", n, m)
	}
}

// Large untrusted expressions are rejected before they are compiled.
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

// Only a linear expression may be used to find all matches in a long text.
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

// A short text is searched with interruptions if the expression is large.
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
