package pages

import (
	"net/http"
	"strconv"

	"seine/internal/serve/audit"
)

// auditPage is the audit log.
type auditPage struct {
	Entries []audit.Entry `json:"items"`
	Before  string        `json:"next"` // cursor of older entries
}

func (s *server) audit(r *http.Request) (any, error) {
	p := new(auditPage)
	return p, s.get(r, "/audit", p, "cursor", r.FormValue("before"), "limit", strconv.Itoa(perPage))
}
