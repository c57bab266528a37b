package fetcher

import (
	"cmp"

	"seine/pkg/messages"
	"seine/pkg/stages/fetcher/httpclient"
)

// A turn may ask its host several times, and has one end: what is known of one exchange goes
// into the reply of another.

// bareExchange returns a reply with what is known of the exchange alone.
func bareExchange(r *httpclient.Reply) *httpclient.Reply {
	return &httpclient.Reply{
		Started: r.Started, Timings: r.Timings, IP: r.IP, Protocol: r.Protocol,
		BytesWire: r.BytesWire, RetryAfter: r.RetryAfter,
	}
}

// askedBefore notes that the host was asked before in this turn, and answered, whatever
// became of r.
func askedBefore(r, before *httpclient.Reply) {
	r.IP = before.IP
	r.BytesWire += before.BytesWire
	r.Timings.FirstByte = cmp.Or(r.Timings.FirstByte, before.Timings.FirstByte)
}

// redirected returns where a redirect leads; false if r is none, or leads nowhere.
func redirected(r *httpclient.Reply) (string, bool) {
	if r.Class != messages.Redirect {
		return "", false
	}
	next, err := r.Target()
	return next, err == nil
}
