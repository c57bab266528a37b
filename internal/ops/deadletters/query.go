package deadletters

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"seine/pkg/messages"
)

// Query is a Filter in the form that users and programs write. Empty fields select all.
type Query struct {
	Stage  string `json:"stage,omitempty" query:"stage" enum:"frontier,fetcher,renderer,parser,writer" doc:"Only of this stage."`
	Crawl  string `json:"crawl,omitempty" query:"crawl" maxLength:"64" doc:"Only of this crawl."`
	Reason string `json:"reason,omitempty" query:"reason" maxLength:"500" doc:"Only with this in the reason."`
	Host   string `json:"host,omitempty" query:"host" maxLength:"255" doc:"Only about URLs of this host."`
	Since  string `json:"since,omitempty" query:"since" maxLength:"32" doc:"Only of the last so long, as 2h."`
}

// Filter returns the filter relative to now. The error names the invalid value and the valid ones.
func (q Query) Filter(now time.Time) (Filter, error) {
	f := Filter{Stage: q.Stage, Crawl: q.Crawl, Reason: strings.TrimSpace(q.Reason), Host: strings.TrimSpace(q.Host)}
	if f.Stage != "" && !slices.Contains([]string{messages.StageFrontier, messages.StageFetcher, messages.StageRenderer, messages.StageParser, messages.StageWriter}, f.Stage) {
		return Filter{}, fmt.Errorf("stage %q: must be frontier, fetcher, renderer, parser or writer", f.Stage)
	}
	if f.Crawl != "" {
		if err := messages.CheckCrawl(f.Crawl); err != nil {
			return Filter{}, err
		}
	}
	if q.Since != "" {
		d, err := time.ParseDuration(q.Since)
		if err != nil || d <= 0 {
			return Filter{}, fmt.Errorf("since %q: must be how long ago, such as 2h or 30m", q.Since)
		}
		f.Since = now.Add(-d)
	}
	return f, nil
}
