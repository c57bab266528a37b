package main

import (
	"bytes"
	"strings"
	"testing"

	"seine/pkg/stages/frontier/frontierapi"
)

// If a run has failures, the output names the command that lists their URLs.
func TestRunsNameTheListOfFailures(t *testing.T) {
	for failed, want := range map[int64]bool{0: false, 2: true} {
		var text bytes.Buffer
		run := frontierapi.Run{}
		run.Failed = failed
		if err := printRuns(&text, "shop", []frontierapi.Run{run, {}}); err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(text.String(), "\nseine failures lists the failed URLs of shop\n"); got != want {
			t.Errorf("with %d failed, it says\n%s", failed, text.String())
		}
	}
}
