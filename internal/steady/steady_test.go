package steady

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

// The larger an expression is, the more a byte counts: it may take as long.
func TestLargeExpressionsCountMore(t *testing.T) {
	t.Parallel()
	if n, m := mustCompile(t, "a").Work("text"), mustCompile(t, "(?:a{1,100}){1,10}b").Work("text"); m < 50*n {
		t.Errorf("%d, and of a large expression %d", n, m)
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
