package extract

import (
	"fmt"
	"runtime/debug"
	"time"
)

// grace is how long is waited for rules that were told to end. What looks at the
// context does so every few milliseconds.
const grace = 50 * time.Millisecond

// within does the work of rules, and returns when that is done, or soon after the
// context is. Then it is false if the rules have not ended: some functions of the
// languages take a large value in one piece, which the bounds of this package let
// take seconds at worst, and nothing else ends.
func (r *run) within(do func()) bool {
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
		return false
	}
}

// escaped is a panic of another goroutine.
type escaped struct {
	value any
	stack []byte
}

// again panics where somebody is who expects that.
func (p *escaped) again() {
	if p != nil {
		panic(fmt.Sprintf("%v\n%s", p.value, p.stack))
	}
}

// take takes the result away from the rules, which may go on.
func (r *run) take() *Result {
	r.mu.Lock()
	defer r.mu.Unlock()
	result := r.result
	r.result = new(Result)
	return result
}

// abandon says in a result that a rule is still busy. Which one cannot be asked.
func (res *Result) abandon(r *run) {
	res.Abandoned = true
	res.Problems = append(res.Problems, Problem{Rule: "records, follow", Reason: r.explain(r.ctx.Err())})
}
