package fetcher

import (
	"cmp"

	"seine/pkg/messages"
	"seine/pkg/stages/fetcher/httpclient"
)

// A turn may send several requests to its host, and has one outcome: data of one exchange is merged
// into the reply of another.

// bareExchange returns a reply with only the exchange data of r.
func bareExchange(r *httpclient.Reply) *httpclient.Reply {
	return &httpclient.Reply{
		Started: r.Started, Timings: r.Timings, IP: r.IP, Protocol: r.Protocol,
		BytesWire: r.BytesWire, RetryAfter: r.RetryAfter,
	}
}

// askedBefore merges the data of an earlier exchange of this turn into r, whatever the outcome of
// r.
func askedBefore(r, before *httpclient.Reply) {
	r.IP = before.IP
	r.BytesWire += before.BytesWire
	r.Timings.FirstByte = cmp.Or(r.Timings.FirstByte, before.Timings.FirstByte)
}

// redirected returns the target of a redirect; false if r is not a redirect, or has no valid
// target.
func redirected(r *httpclient.Reply) (string, bool) {
	if r.Class != messages.Redirect {
		return "", false
	}
	next, err := r.Target()
	return next, err == nil
}
