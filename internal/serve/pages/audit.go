package pages

import (
	"net/http"
	"strconv"

	"seine/internal/serve/audit"
)

// auditPage is who changed what.
type auditPage struct {
	Entries []audit.Entry `json:"items"`
	Before  string        `json:"next"` // continues with older ones
}

func (s *server) audit(r *http.Request) (any, error) {
	p := new(auditPage)
	return p, s.get(r, "/audit", p, "cursor", r.FormValue("before"), "limit", strconv.Itoa(perPage))
}
