package config

import (
	"fmt"
	"strings"

	"seine/internal/base/lazyregexp"
	"seine/internal/base/suggest"
)

// meant maps flags and commands of other programs to Seine's.
var meant = map[string]string{
	"--concurrency": "--per-host with --delay 0s", "--depth": "--max-depth", "--ignore-robots": "--robots ignore",
	"--javascript": "--render", "--js": "--render", "--limit": "--max-pages", "--output": "--out", "--pages": "--max-pages", "--port": "--serve=HOST:PORT, or --listen of seine serve",
	"--rate": "--delay", "--retries": "max_attempts in the spec", "--threads": "--workers",
	"changes": "seine cat --changes", "failed": "seine failures", "info": "seine status", "init": "seine crawl URL", "list": "seine spec list",
	"logs": "--log-level of seine crawl", "remove": "seine delete", "retry": "seine seed --failures-of CRAWL", "run": "seine crawl", "scrape": "seine extract URL",
	"show": "seine status", "start": "seine crawl", "stats": "seine runs", "stop": "Ctrl-C, or kill -TERM and the number of its process; seine pause and seine cancel from elsewhere",
}

// Patterns that match kong's error messages.
var (
	unknownWord = lazyregexp.New(`^((?:unexpected argument|unknown flag) (\S+?))(?:, did you mean (?:one of )?(.*)\?)?$`)
	quoted      = lazyregexp.New(`"([^"]+)"`)
	wrongNumber = lazyregexp.New(`^(.*): expected a valid \d+ bit (?:u?int|float) but got (.*)$`)
	noValue     = lazyregexp.New(`^(.*): expected \S+ value but got "EOL" \(<EOL>\)$`)
)

// hint rewords the error for an unknown word and suggests a replacement. kong itself suggests all
// names that differ in two letters, even very short ones.
func hint(text string) (better string, ok bool) {
	m := unknownWord().FindStringSubmatch(text)
	if m == nil {
		return "", false
	}
	if instead := meant[m[2]]; instead != "" {
		return fmt.Sprintf("%s: use %s", m[1], instead), true
	}
	var names []string
	for _, q := range quoted().FindAllStringSubmatch(m[3], -1) {
		if strings.HasPrefix(q[1], m[2]) { // the word is a prefix of a name
			return text, true
		}
		names = append(names, strings.TrimLeft(q[1], "-"))
	}
	word := strings.TrimLeft(m[2], "-")
	if near := suggest.Name(word, names); near != "" {
		return fmt.Sprintf("%s, did you mean %q?", m[1], strings.TrimSuffix(m[2], word)+near), true
	}
	return m[1], true
}
