package extract

import (
	"context"
	"fmt"
	"runtime/debug"
	"sync"
	"time"
)

// grace is how long to wait for rules whose context has ended. Rules check their
// context every few milliseconds.
const grace = 50 * time.Millisecond

// MaxAbandoned is how many functions that were still busy when their time was over
// a process bears: until one of them has ended, no rules begin.
const MaxAbandoned = 4

// abandoned are the functions of this process that are not awaited any more.
var abandoned busyFunctions

// busyFunctions counts functions that are busy.
type busyFunctions struct {
	mu    sync.Mutex
	n     int
	fewer chan struct{} // is closed when one has ended; nil if none waits
}

// Abandoned returns how many functions of rules are still busy in this process
// though the time of their page is over.
func Abandoned() int {
	abandoned.mu.Lock()
	defer abandoned.mu.Unlock()
	return abandoned.n
}

var errBusy = fmt.Errorf("no rules begin: %d functions of rules for pages before are still busy, though their time is over", MaxAbandoned)

// wait waits until there may be another. The error is errBusy.
func (b *busyFunctions) wait(ctx context.Context) error {
	for {
		b.mu.Lock()
		if b.n < MaxAbandoned {
			b.mu.Unlock()
			return nil
		}
		if b.fewer == nil {
			b.fewer = make(chan struct{})
		}
		fewer := b.fewer
		b.mu.Unlock()
		select {
		case <-fewer:
		case <-ctx.Done():
			return errBusy
		}
	}
}

// add counts one until it is done.
func (b *busyFunctions) add(done <-chan *escaped) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.n++
	go func() {
		<-done
		b.mu.Lock()
		defer b.mu.Unlock()
		b.n--
		if b.fewer != nil {
			close(b.fewer)
			b.fewer = nil
		}
	}()
}

// within does the work of rules, and returns when that is done, or soon after the
// context is. Then it is false if the rules have not ended: what a function of a
// language takes in one piece nothing ends, though the bounds of this package let
// that take no more than a moment.
func (r *run) within(busy *busyFunctions, do func()) bool {
	done := make(chan *escaped, 1)
	go func() {
		var p *escaped
		defer func() { done <- p }()
		defer func() {
			if value := recover(); value != nil {
				p = &escaped{value, debug.Stack()}
			}
		}()
		do()
	}()
	select {
	case p := <-done:
		p.again()
		return true
	case <-r.ctx.Done():
	}
	late := time.NewTimer(grace)
	defer late.Stop()
	select {
	case p := <-done:
		p.again()
		return true
	case <-late.C:
		busy.add(done)
		return false
	}
}

// escaped is a panic of another goroutine.
type escaped struct {
	value any
	stack []byte
}

// again panics in the goroutine of the caller.
func (p *escaped) again() {
	if p != nil {
		panic(fmt.Sprintf("%v\n%s", p.value, p.stack))
	}
}

// take takes the result from the rules, which may still run.
func (r *run) take() *Result {
	r.mu.Lock()
	defer r.mu.Unlock()
	result := r.result
	r.result = new(Result)
	return result
}

// allRules is the rule of a problem that is not of one of them.
const allRules = "records, follow"

// abandon says in a result that a rule is still busy. Which one cannot be asked.
func (res *Result) abandon(r *run) {
	res.Abandoned = true
	res.Problems = append(res.Problems, Problem{Rule: allRules, Reason: r.explain(r.ctx.Err())})
}
