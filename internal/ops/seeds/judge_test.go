package seeds

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"seine/pkg/crawlspec"
	"seine/pkg/messages"
)

// Each line gets a verdict by the rules for seeds: include and guards do not apply.
func TestEachLineHasAVerdict(t *testing.T) {
	spec := crawlspec.Default()
	spec.Exclude, spec.Include, spec.Schemes = []string{"*/private/*"}, []string{"*/p/*"}, []string{"https"}
	j, err := NewJudge(&spec)
	if err != nil {
		t.Fatal(err)
	}
	var verdicts, taken []string
	j.Report = func(v Verdict) {
		verdicts = append(verdicts, fmt.Sprintf("%d %s %s", v.Line, v.Verdict, v.URL))
	}
	j.Take = func(s messages.Seed) error {
		taken = append(taken, s.URL)
		return nil
	}
	text := "\ufeff# mine\nhttps://a.test\n\nnonsense\nhttps://A.test/#x\nhttps://a.test/private/x\r\nhttp://b.test/\n" +
		`{"url": "https://c.test/", "priority": 0}` + "\n" + `["https://d.test/", 7]`
	if err := j.Read(strings.NewReader(text)); err != nil {
		t.Fatal(err)
	}
	want := []string{
		"2 accepted https://a.test/", "4 no_url ", "5 repeated https://a.test/", "6 excluded https://a.test/private/x",
		"7 excluded http://b.test/", "8 accepted https://c.test/", "9 no_url ", "9 accepted https://d.test/",
	}
	if !slices.Equal(verdicts, want) {
		t.Errorf("the verdicts are\n%s, want\n%s", strings.Join(verdicts, "\n"), strings.Join(want, "\n"))
	}
	if want := []string{"https://a.test/", "https://c.test/", "https://d.test/"}; !slices.Equal(taken, want) {
		t.Errorf("it takes %q, want %q", taken, want)
	}
}

func TestTooMuchIsRefused(t *testing.T) {
	spec := crawlspec.Default()
	for what, text := range map[string]string{
		"lines":    strings.Repeat("\n", MaxLines+1),
		"one line": strings.Repeat("x", MaxLine+1),
	} {
		j, err := NewJudge(&spec)
		if err != nil {
			t.Fatal(err)
		}
		j.Report = func(Verdict) {}
		if err := j.Read(strings.NewReader(text)); !errors.As(err, new(*FormatError)) {
			t.Errorf("too many %s: %v", what, err)
		}
	}
}
