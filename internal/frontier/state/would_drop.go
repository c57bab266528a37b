package state

import (
	"seine/internal/frontier/table"
	"seine/pkg/crawlspec"
	"seine/pkg/messages"
	"seine/pkg/stages/frontier/frontierapi"
)

// wouldDrop returns which waiting URLs an exclude pattern would drop, among the first maxScanned by
// hash.
func (q *Questions) wouldDrop(crawl, pattern string) (*frontierapi.Dropped, error) {
	match, err := crawlspec.CompilePattern(pattern)
	if err != nil {
		return nil, err
	}
	d, scanned := new(frontierapi.Dropped), 0
	pre := table.Name(table.Prefix(q.partition, kindURL), crawl)
	err = q.store.scan(pre, pre, func(_, value []byte) (bool, error) {
		if scanned++; scanned > maxScanned {
			d.Partial = true
			return false, nil
		}
		r, err := decodeRecord(value)
		if err != nil || r.State != Queued && r.State != Waiting {
			return true, nil // an unreadable record is quarantined when it is loaded
		}
		if d.Waiting++; match.MatchString(r.URL) {
			if d.URLs++; len(d.Some) < frontierapi.MaxDropped {
				d.Some = append(d.Some, messages.Clip(r.URL))
			}
		}
		return true, nil
	})
	return d, err
}
