package pages

import (
	"fmt"
	"net/http"
	"strconv"

	"seine/internal/serve/audit"
)

// auditPage is who changed what.
type auditPage struct {
	Entries []audit.Entry
	Before  string // continues with older ones
}

func (s *server) audit(r *http.Request) (any, error) {
	before := uint64(0)
	if text := r.FormValue("before"); text != "" {
		var err error
		if before, err = strconv.ParseUint(text, 10, 64); err != nil {
			return nil, badInput{fmt.Errorf("before %q: must be the number of an entry", text)}
		}
	}
	entries, err := s.Audit.Newest(before, perPage)
	p := auditPage{Entries: entries}
	if len(entries) == perPage && entries[perPage-1].ID > 1 {
		p.Before = strconv.FormatUint(entries[perPage-1].ID, 10)
	}
	return p, err
}
