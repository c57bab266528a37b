package extract

import (
	"context"
	"fmt"
	"runtime/debug"
	"sync"
	"time"
)

// grace is how long to wait for rules whose context has ended. Rules check their context every few
// milliseconds.
const grace = 50 * time.Millisecond

// MaxAbandoned is the number of functions that may still be busy after their time is over. At this
// number, no rules begin until one of them has ended.
const MaxAbandoned = 4

// abandoned counts the functions of this process that are no longer awaited.
var abandoned busyFunctions

// busyFunctions counts busy functions.
type busyFunctions struct {
	mu    sync.Mutex
	n     int
	fewer chan struct{} // closed when one has ended; nil if nobody waits
}

// Abandoned returns the number of rule functions in this process that are still busy after the time
// of their page is over.
func Abandoned() int {
	abandoned.mu.Lock()
	defer abandoned.mu.Unlock()
	return abandoned.n
}

var errBusy = fmt.Errorf("no rule can start: %d functions of earlier pages still run past their time limit", MaxAbandoned)

// wait waits until fewer than MaxAbandoned functions are busy. The error is errBusy.
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

// add counts a function until it is done.
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

// within does the work of rules, and returns when that is done or soon after ctx ends. In the
// latter case it returns false if the rules have not ended. A single call into a library cannot be
// interrupted, though the limits of this package allow it no more than a moment.
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

// again repeats the panic in the caller's goroutine.
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

// allRules is the rule of a problem that no single rule has.
const allRules = "records, follow"

// abandon records in a result that a rule is still busy. Which one is unknown.
func (res *Result) abandon(r *run) {
	res.Abandoned = true
	res.Problems = append(res.Problems, Problem{Rule: allRules, Reason: r.explain(r.ctx.Err())})
}
