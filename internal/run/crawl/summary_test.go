package crawl

import (
	"bytes"
	"strings"
	"testing"
)

func TestSummaryNamesHostsThatAreCancelled(t *testing.T) {
	t.Parallel()
	var text bytes.Buffer
	s := Summary{Crawl: "news", Outcome: OutcomeComplete, CancelledHosts: []string{"a.test", "*.b.test"}}
	s.Write(&text)
	for _, want := range []string{"news: complete, but for hosts that are cancelled", "a.test, *.b.test; seine resume --host NAME"} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("it lacks %q:\n%s", want, text.String())
		}
	}
}
