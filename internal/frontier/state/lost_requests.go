package state

import (
	"math"
	"time"
)

// Lost returns the requests to publish again: those without a result that have left FETCH, and
// those that were never published. inFetch returns the identity of the message with a sequence in
// FETCH, "" if there is none.
func (rq *Requests) Lost(now int64, inFetch func(seq uint64) (string, error)) ([]*Request, error) {
	if rq.nextInFlightDeadline > now {
		return nil, nil
	}
	var again []*Request
	rq.nextInFlightDeadline = math.MaxInt64
	for _, req := range rq.urls.inFlight {
		if req.deadline <= now {
			if err := rq.lookFor(req, now, inFetch); err != nil {
				return nil, err
			}
		}
		if req.unsent {
			req.unsent = false
			again = append(again, req)
		}
		rq.nextInFlightDeadline = min(rq.nextInFlightDeadline, req.deadline)
	}
	return again, nil
}

// missingGrace is how long the result of a request that has left FETCH may take to arrive. The
// fetcher published the result before.
const missingGrace = int64(5 * time.Second)

// lookFor checks whether a request is in FETCH. If so, a fetcher has it or will get it. Otherwise
// its result is on its way, or the request is lost.
func (rq *Requests) lookFor(req *Request, now int64, inFetch func(seq uint64) (string, error)) error {
	req.deadline = now + inFlightTimeout
	if req.FetchSeq == 0 { // not published yet, or the sequence was lost
		return nil
	}
	wire, err := rq.Message(req)
	if err != nil {
		return err
	}
	id, err := inFetch(req.FetchSeq)
	about := []any{"crawl", wire.Crawl, "url", wire.URL, "visit", wire.Visit, "attempt", wire.Attempt}
	switch {
	case err != nil:
		rq.log.Debug("cannot look for a request", append(about, "error", err)...)
	case id == wire.ID():
		req.missing = false
	case !req.missing:
		req.missing, req.deadline = true, now+missingGrace
	default:
		rq.log.Info("request was lost; sending it again", about...)
		rq.resend(req, now)
	}
	return nil
}
