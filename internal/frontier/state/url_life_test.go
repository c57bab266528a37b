package state

import (
	"fmt"
	"strings"
	"testing"

	"seine/internal/testing/generated"
)

func TestGeneratedTransitions(t *testing.T) {
	table := "| event | states before | state after |\n|---|---|---|\n"
	for _, e := range urlLife {
		var from []string
		for _, s := range e.from {
			from = append(from, "`"+s.String()+"`")
		}
		table += fmt.Sprintf("| %s | %s | `%s` |\n", e.event, strings.Join(from, ", "), e.to)
	}
	generated.Check(t, "README.md", "transitions", table)
}
