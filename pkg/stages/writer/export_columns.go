package writer

import (
	"fmt"

	"seine/internal/output"
	"seine/internal/output/format"
)

// columns returns the columns of the records of a kind, inferred from all of them, since an export
// has no spec. That reads each record once.
func (x *export) columns(crawl, kind string, _ uint64) ([]format.Column, error) {
	x.inferring.Lock()
	defer x.inferring.Unlock()
	key := output.Group{Crawl: crawl, Kind: kind}
	if have, ok := x.inferred[key]; ok {
		return have, nil
	}
	var infer format.Infer
	err := x.source.Commits(func(c *output.Commit) error {
		for i := range c.Files {
			f := &c.Files[i]
			wanted, err := x.wants(c, f)
			if err != nil {
				return err
			}
			if !wanted || f.Crawl != crawl || f.Kind != "" && f.Kind != kind {
				continue
			}
			err = format.ReadFile(x.source, f, x.Identities, func(line []byte) error {
				if kindOf(f, line) == kind {
					infer.Add(line)
				}
				return nil
			})
			if err := x.deletions.LeaveOut(f, err); err != nil {
				return fmt.Errorf("%s: %w", f.Path, err)
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if x.inferred == nil {
		x.inferred = make(map[output.Group][]format.Column)
	}
	x.inferred[key] = format.WithHost(infer.Columns())
	return x.inferred[key], nil
}
