package config

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"

	"seine/internal/base/lazyregexp"
	"seine/internal/base/suggest"
)

// variables.txt lists the variables of all commands, without their prefix: processes of
// several roles share one environment, so what any of them knows is no misspelling.
//
//go:embed variables.txt
var variables string

// others are variables with the prefix that no command reads as an option: secrets, what
// compose files and tests have, and what Kubernetes sets for a service of that name.
var others = lazyregexp.New(`^(SECRET_.*|TAG|TEST_.*|(.*_)?(SERVICE_(HOST|PORT.*)|PORT(_\d+_(TCP|UDP|SCTP).*)?))$`)

// UnknownVariables returns each variable in an environment that has the prefix, and that
// no command knows: it does nothing, and may be misspelt.
func UnknownVariables(environ []string) (complaints []string) {
	known := strings.Fields(strings.ToLower(variables))
	for _, entry := range environ {
		name, _, _ := strings.Cut(entry, "=")
		short, ours := strings.CutPrefix(name, EnvPrefix+"_")
		lower := strings.ToLower(short)
		if !ours || others().MatchString(short) || short == strings.ToUpper(short) && slices.Contains(known, lower) {
			continue
		}
		meant := "see --help for those there are"
		if near := suggest.Name(short, known); near != "" {
			meant = fmt.Sprintf("did you mean %s_%s?", EnvPrefix, strings.ToUpper(near))
		}
		complaints = append(complaints, fmt.Sprintf("no command knows the environment variable %s: %s", name, meant))
	}
	slices.Sort(complaints)
	return complaints
}
