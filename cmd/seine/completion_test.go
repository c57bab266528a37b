package main

import (
	"strings"
	"testing"

	"seine/internal/run/completion"
)

func TestCompletion(t *testing.T) {
	for line, want := range map[string]string{
		"":                               "words: crawl extract spec seed status",
		"sta":                            "words: status",
		"spec ":                          "words: check schema apply get",
		"dead list --st":                 "words: --stage",
		"dead list --stage ":             "words: frontier fetcher renderer parser writer",
		"dead list --stage parser --rea": "words: --reason",
		"status -w --ev":                 "words: --every",
		"crawl --sync=":                  "words: --sync=os --sync=always",
		"crawl --sync = a":               "words: always", // as bash splits it
		"crawl --spec ":                  "files:",
		"cat ":                           "files:",
		"spec apply ":                    "files:",
		"pause --crawl ":                 "crawls:",
		"seed --failures-of=":            "crawls:",
		"crawl --max-pages ":             "words:",
		"health ":                        "words:",
		"no-such-command ":               "words: crawl extract",
		"completion ":                    "words: bash zsh fish",
		"--conf":                         "words: --config",
	} {
		a := completion.Complete(model(t).Node, strings.Split(line, " "))
		got := string(a.Kind) + ":"
		for _, w := range a.Words {
			got += " " + w.Text
		}
		if !strings.HasPrefix(got, want) || (want == string(a.Kind)+":" && got != want) {
			t.Errorf("%q is completed by %q, want %q", line, got, want)
		}
	}
}
