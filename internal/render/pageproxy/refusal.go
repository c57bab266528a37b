package pageproxy

import (
	"errors"
	"net/http"
	"strings"

	"seine/internal/base/truncate"
	"seine/internal/fetch/netguard"
)

const (
	// refusedField is the header field of responses that the proxy itself makes. It is removed from
	// responses of the web.
	refusedField = "Seine-Refused"
	// maxReason bounds the reason in the field and in a Problem, in bytes.
	maxReason = 200
)

// refusal is the reason why a request is not sent, or not completed.
type refusal string

func (r refusal) Error() string { return string(r) }

// refusalOf reports whether an error is a refusal by the proxy or the address guard. told is the
// reason for the page, which has less detail than the operator's: it does not include how to
// configure the guard.
func refusalOf(err error) (reason, told string, refused bool) {
	if r, ok := errors.AsType[refusal](err); ok {
		return string(r), string(r), true
	}
	if r, ok := errors.AsType[*netguard.RefusedError](err); ok {
		return r.Error(), "the address is not public: " + r.Range.String(), true
	}
	return "", "", false
}

// isGuards reports whether the address guard refused a request.
func isGuards(err error) bool {
	_, guards := errors.AsType[*netguard.RefusedError](err)
	return guards
}

// refuseOutside answers a client while there is no visit. It closes the connection, which cannot be
// used later.
func refuseOutside(w http.ResponseWriter) {
	w.Header().Set("Connection", "close")
	answer(w, http.StatusForbidden, "no page is being visited")
}

// answer responds with a reason instead of the requested resource.
func answer(w http.ResponseWriter, status int, reason string) {
	reason = oneLine(reason)
	h := w.Header()
	h.Set(refusedField, reason)
	h.Set("Content-Type", "text/plain; charset=utf-8")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_, _ = w.Write([]byte(reason + "\n")) // the client may have gone
}

// oneLine makes a reason fit a header field: short and in ASCII.
func oneLine(reason string) string {
	return truncate.To(strings.Map(func(r rune) rune {
		switch {
		case r < ' ' || r == 0x7f:
			return ' '
		case r > 0x7f:
			return '?'
		}
		return r
	}, reason), maxReason)
}
