package fetcher

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"seine/internal/base/sleep"
	"seine/internal/base/weburl"
	"seine/pkg/messages"
	"seine/pkg/stages"
	"seine/pkg/stages/fetcher/httpclient"
)

// handle handles one request of FETCH.
func (f *Fetcher) handle(ctx context.Context, m *stages.Message) (out stages.Output, err error) {
	req, err := decodeRequest(m.Data)
	if err != nil {
		return stages.Output{}, stages.PoisonError(err)
	}
	spec, err := f.specs.Get(ctx, req.Crawl, req.Rev)
	if err != nil {
		return stages.Output{}, err
	}
	if spec.Deleted(req.Rev) {
		return stages.Output{}, nil // nothing waits for the result
	}
	unlock, err := f.inFlight.lock(ctx, req.ID())
	if err != nil {
		return stages.Output{}, err
	}
	t := f.newJob(req, spec)
	free := func() {
		t.release()
		unlock()
	}
	defer func() {
		if out.Free == nil { // it failed, or panicked
			free()
		}
	}()
	if out, err = f.process(ctx, m, t); err == nil {
		out.Free = free // the page holds the body until it is stored
	}
	return out, err
}

// process fetches the request if it is still wanted, and composes the messages.
func (f *Fetcher) process(ctx context.Context, m *stages.Message, t *fetchJob) (stages.Output, error) {
	req := t.req
	if f.notToSend(t) {
		return composer{f}.compose(ctx, m, t)
	}
	for unsure := false; ; unsure = true {
		if err := f.bus.AwaitConnection(ctx); err != nil {
			return stages.Output{}, err
		}
		began, good := time.Now(), time.Duration(math.MaxInt64)
		until, stale := f.bus.MaybeStale(m)
		if unsure || f.epochs.outdated(t.partition, req.Epoch) {
			until, stale = began, true
		}
		if stale {
			if wanted, err := f.suspect(ctx, req, until); err != nil || !wanted {
				return stages.Output{}, err // its result is known: nothing is left to do
			}
			good = messages.ClaimStartWindow
		}
		granted := time.Now()
		t.isMine = func() bool { return f.bus.StableSince(began) }
		t.ask.StillValid = func() bool { return f.bus.StableSince(began) && time.Since(granted) < good }
		err := f.fetch(ctx, t)
		if errors.Is(err, httpclient.ErrNotSent) {
			t.release()
			t.reply = nil
			t.askFor(req.URL, true) // a redirect may have changed it
			continue
		}
		if err != nil {
			return stages.Output{}, err
		}
		return composer{f}.compose(ctx, m, t)
	}
}

// decodeRequest decodes a request and refuses a URL that is not canonical, since later code relies
// on positions in a canonical URL.
func decodeRequest(payload []byte) (*messages.Request, error) {
	req, err := messages.DecodeRequest(payload)
	if err != nil {
		return nil, err
	}
	canonical, err := weburl.CanonicalizeRoute(req.URL)
	if err != nil {
		return nil, fmt.Errorf("decode request: %w", err)
	}
	if canonical != req.URL {
		return nil, fmt.Errorf("decode request: URL %s is not canonical, that is %s", messages.Clip(req.URL), canonical)
	}
	return req, nil
}

// suspect reports whether a request must still be sent that another fetcher may have sent until a
// time. It first waits for the host's delay: the other fetcher may have sent it at that time, and
// its result may be on the way.
func (f *Fetcher) suspect(ctx context.Context, req *messages.Request, until time.Time) (bool, error) {
	if rest := time.Duration(max(req.Delay, req.Interval)) - time.Since(until); rest > 0 {
		if err := httpclient.Timed(waitRedelivery, func() error { return sleep.For(ctx, rest) }); err != nil {
			return false, err
		}
	}
	return f.bus.ClaimRequest(ctx, req, f.claimantID)
}
