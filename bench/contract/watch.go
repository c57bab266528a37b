package contract

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"seine/internal/base/sleep"
)

// stuckTime is how long nothing may move: no request, no URL that changes its state, no crawl that ends. Retries of pages and leases take
// seconds, a connection that hangs half a minute, a request that was lost a minute.
const stuckTime = 4 * time.Minute

var errStuck = errors.New("nothing moves")

// Now is what a run is about at the moment.
type Now struct {
	crawl atomic.Pointer[Crawl]
	doing atomic.Value // string
}

// Begin says which crawl is under way.
func (n *Now) Begin(c *Crawl) { n.crawl.Store(c) }

// Say says what is done.
func (n *Now) Say(what string) { n.doing.Store(what) }

// Watch prints how the run stands every ten seconds, looks at the requests of the crawl under way, and gives up by fail when
// nothing moves.
func (n *Now) Watch(ctx context.Context, t *Tally, fail context.CancelCauseFunc) {
	began := time.Now()
	var before string
	for second := 1; sleep.For(ctx, time.Second) == nil; second++ {
		c := n.crawl.Load()
		if c == nil {
			continue
		}
		doing := fmt.Sprint(n.doing.Load())
		at := fmt.Sprint(c.Name, len(c.Web.Requests()), doing)
		if stalled := t.Progress(at != before); stalled > stuckTime {
			t.Violation("nothing has moved for %s: %s", stalled.Round(time.Second), doing)
			fail(errStuck)
			return
		}
		before = at
		if second%10 == 0 {
			c.CheckRequests(t)
			fmt.Println(t.Line(time.Since(began), doing))
		}
	}
}
