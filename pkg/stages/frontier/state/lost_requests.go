package state

import (
	"math"
	"time"
)

// LostRequests returns the requests to publish again: those without a result that are not in
// FETCH any more, and those that were never published. InFetch returns the identity of
// the message with a sequence in FETCH, "" if there is none.
func (s *Partition) LostRequests(now int64, inFetch func(seq uint64) (string, error)) ([]*Request, error) {
	if s.nextInFlightDeadline > now {
		return nil, nil
	}
	var again []*Request
	s.nextInFlightDeadline = math.MaxInt64
	for _, req := range s.inFlight {
		if req.deadline <= now {
			if err := s.lookFor(req, now, inFetch); err != nil {
				return nil, err
			}
		}
		if req.unsent {
			req.unsent = false
			again = append(again, req)
		}
		s.nextInFlightDeadline = min(s.nextInFlightDeadline, req.deadline)
	}
	return again, nil
}

// missingGrace is how long the result of a request that has left FETCH may
// take to arrive: the fetcher published it before.
const missingGrace = int64(5 * time.Second)

// lookFor looks for a request in FETCH. While it is there, a fetcher has it or
// will get it. One that is gone has a result on its way, or is lost.
func (s *Partition) lookFor(req *Request, now int64, inFetch func(seq uint64) (string, error)) error {
	req.deadline = now + inFlightTimeout
	if req.FetchSeq == 0 { // not published yet, or that is what was lost
		return nil
	}
	wire, err := s.Message(req)
	if err != nil {
		return err
	}
	id, err := inFetch(req.FetchSeq)
	about := []any{"crawl", wire.Crawl, "url", wire.URL, "visit", wire.Visit, "attempt", wire.Attempt}
	switch {
	case err != nil:
		s.log.Debug("cannot look for a request", append(about, "error", err)...)
	case id == wire.ID():
		req.missing = false
	case !req.missing:
		req.missing, req.deadline = true, now+missingGrace
	default:
		s.log.Info("request was lost, sending it again", about...)
		s.resend(req, now)
	}
	return nil
}
