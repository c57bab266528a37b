package pageproxy

import (
	"errors"
	"net/http"
	"strings"

	"seine/internal/base/truncate"
	"seine/internal/fetch/netguard"
)

const (
	// refusedField is the header field of responses that the proxy makes itself
	// in the place of the web. A response of the web never has it.
	refusedField = "Seine-Refused"
	// maxReason bounds the reason in the field, and that of a Problem, in bytes.
	maxReason = 200
)

// refusal is why a request is not sent, or not to its end.
type refusal string

func (r refusal) Error() string { return string(r) }

// refusalOf finds out whether an error is a refusal, of ours or of the address guard. The page learns less than
// the operator: not how the guard could be made to allow it.
func refusalOf(err error) (reason, told string, refused bool) {
	if r, ok := errors.AsType[refusal](err); ok {
		return string(r), string(r), true
	}
	if r, ok := errors.AsType[*netguard.RefusedError](err); ok {
		return r.Error(), "the address is not public: " + r.Range.String(), true
	}
	return "", "", false
}

// isGuards reports whether the address guard did not let a request go.
func isGuards(err error) bool {
	_, guards := errors.AsType[*netguard.RefusedError](err)
	return guards
}

// refuseOutside answers a client while there is no visit. Its connection is of
// no use later either.
func refuseOutside(w http.ResponseWriter) {
	w.Header().Set("Connection", "close")
	answer(w, http.StatusForbidden, "no page is being visited")
}

// answer gives a reason in the place of what was asked for.
func answer(w http.ResponseWriter, status int, reason string) {
	reason = oneLine(reason)
	h := w.Header()
	h.Set(refusedField, reason)
	h.Set("Content-Type", "text/plain; charset=utf-8")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_, _ = w.Write([]byte(reason + "\n")) // to a client that may have gone
}

// oneLine makes a reason fit a header field: ASCII, and short.
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
