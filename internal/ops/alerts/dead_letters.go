package alerts

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"seine/internal/base/humanize"
	"seine/pkg/crawlspec"
)

// deadLetters counts the dead letters that were neither redriven nor dropped.
func deadLetters(a *crawlspec.Alerts, look *Observation) []finding {
	if a.DeadLetters == 0 {
		return nil
	}
	var n uint64
	var stages []string
	for _, stage := range slices.Sorted(maps.Keys(look.Crawl.Dead)) {
		n += look.Crawl.Dead[stage]
		stages = append(stages, fmt.Sprintf("%d of the %s", look.Crawl.Dead[stage], stage))
	}
	f := finding{kind: DeadLetters, value: float64(n), threshold: float64(a.DeadLetters)}
	f.bad = f.value >= f.threshold
	f.good = !f.bad
	if f.text = "no dead letter is left"; n > 0 {
		f.text = fmt.Sprintf("%s: %s (see seine dead list)", humanize.Plural(n, "dead letter"), strings.Join(stages, ", "))
	}
	return []finding{f}
}
