package frontier

import (
	"context"
	"errors"
	"math"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"seine/pkg/messages"
	"seine/pkg/stages/jsclient"
)

// findLost asks what became of requests without a result, and returns those to
// publish again.
func (p *partitionLoop) findLost(ctx context.Context, now int64) ([]*request, error) {
	if p.nextLease > now {
		return nil, nil
	}
	var again []*request
	p.nextLease = math.MaxInt64
	for _, req := range p.inFlight {
		if req.deadline <= now {
			if err := p.checkFetchStream(ctx, req, now); err != nil {
				return nil, err
			}
		}
		if req.unsent {
			req.unsent = false
			again = append(again, req)
		}
		p.nextLease = min(p.nextLease, req.deadline)
	}
	return again, nil
}

// missingGrace is how long the result of a request that has left FETCH may
// take to arrive: the fetcher published it before.
const missingGrace = int64(5 * time.Second)

// checkFetchStream looks for a request in FETCH. While it is there, a fetcher has it or
// will get it. One that is gone has a result on its way, or is lost.
func (p *partitionLoop) checkFetchStream(ctx context.Context, req *request, now int64) error {
	req.deadline = now + leaseTime
	if req.seq == 0 { // not published yet, or that is what was lost
		return nil
	}
	actx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	wire, err := p.message(req)
	if err != nil {
		return err
	}
	m, err := p.streams.ReadFromLeader(actx, messages.StreamFetch, jsclient.Lookup{Seq: req.seq})
	switch {
	case err == nil && m.ID() == wire.ID():
		req.missing = false
	case err != nil && !errors.Is(err, jetstream.ErrMsgNotFound):
		p.log.Debug("cannot look for a request", append(subjectOf(wire).LogAttrs(ctx), "error", err)...)
	case !req.missing:
		req.missing, req.deadline = true, now+missingGrace
	default:
		p.log.Info("request was lost, sending it again", subjectOf(wire).LogAttrs(ctx)...)
		p.resend(req, now)
	}
	return nil
}
