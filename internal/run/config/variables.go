package config

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"

	"seine/internal/base/lazyregexp"
	"seine/internal/base/suggest"
)

// variables.txt lists the variables of all commands, without the prefix. Processes of several roles
// share one environment, so a variable of any command is known.
//
//go:embed variables.txt
var variables string

// others matches variables with the prefix that are not options: secrets, variables of compose
// files and tests, and those that Kubernetes sets for a service named seine.
var others = lazyregexp.New(`^(SECRET_.*|TAG|TEST_.*|(.*_)?(SERVICE_(HOST|PORT.*)|PORT(_\d+_(TCP|UDP|SCTP).*)?))$`)

// UnknownVariables returns a message for each variable of environ that has the prefix and that no
// command knows. Such a variable has no effect and may be misspelt.
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
