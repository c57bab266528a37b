package extract

import (
	"context"
	"fmt"

	"github.com/itchyny/gojq"
)

// Bounds of what jq makes of a page.
const (
	// maxInstructions is how many instructions may make one value. What one leaves
	// behind takes some ten bytes.
	maxInstructions = 20_000_000
	// maxRecursive is the same of an expression that defines a function which calls
	// itself: there, each may leave a hundred bytes behind, until the calls return.
	maxRecursive = 3_000_000
	// maxMadeJQ is how many bytes the values may take that one evaluation makes,
	// without those that a "reduce" has replaced.
	maxMadeJQ = 256 << 20
	// These are the largest texts, in bytes, that functions are given, and the most
	// members of lists and objects. The interpreter goes through these in one piece,
	// which takes less than 100 ms (TestPiecesOfJQAreShort).
	maxTextJQ        = 8 << 20
	maxTextWeighedJQ = 2 << 20 // with all values in it, where a text is made of it
	maxTextExplodeJQ = 1 << 20
	maxTextParseJQ   = 1 << 20
	maxTextRegexJQ   = 64 << 10
	maxPatternJQ     = 4 << 10 // of a regular expression
	maxTextDateJQ    = 1 << 10
	maxListJQ        = 500_000
	maxObjectJQ      = 100_000
	// maxPairsJQ is how many members of two lists may be compared with each other by
	// an operator.
	maxPairsJQ = 10_000_000
	// maxIndexJQ is the largest index that an assignment may fill a list up to.
	maxIndexJQ = maxListJQ
	// maxPathsJQ is how many paths may be deleted at once.
	maxPathsJQ = 100_000
	// maxNumberJQ is the size of the whole numbers that are computed, in bytes: some
	// 1200 digits. Many functions write a number out, in quadratic time.
	maxNumberJQ = 512
)

var errMadeJQ = fmt.Errorf("%w: an expression of jq makes values of more than %d MiB", errBound, maxMadeJQ>>20)

// meter is the context of an interpreter. That asks before each instruction
// whether it is done, so the meter counts them. Functions get it by the variable
// $__meter, and count what they look at and make. What ends an evaluation stays in
// err, so that no "try" goes on behind it.
type meter struct {
	context.Context
	run  *run
	most int // instructions for one value
	left int // of them
	err  error

	results  gojq.Iter
	patterns *patterns // of the expression
	longest  int       // text that a member was taken of, in bytes
	largest  int       // list that a member was taken of, in members

	made int // bytes of the values that were made, but those known to be gone
}

var isDone = func() chan struct{} {
	c := make(chan struct{})
	close(c)
	return c
}()

// Done counts an instruction.
func (m *meter) Done() <-chan struct{} {
	if m.left--; m.left&(askEvery-1) == 0 && m.err == nil {
		m.err = m.run.spend(askEvery)
		if m.err == nil && m.left <= 0 {
			m.err = fmt.Errorf("%w: more than %d instructions for one value", errBound, m.most)
		}
	}
	if m.err != nil {
		return isDone
	}
	return nil
}

// Err says why it is done.
func (m *meter) Err() error { return m.err }

// again begins a new value.
func (m *meter) again() { m.left = m.most }

// work counts what a function looks at: members, or some bytes of a text. It is
// false when the function must end.
func (m *meter) work(n int) bool {
	if m.err == nil {
		m.err = m.run.spend(n)
	}
	return m.err == nil
}

// Sizes of what values take in memory, in bytes.
const (
	sizeMember = 32 // of a list that grew
	sizeList   = 48
	sizeObject = 320 // of up to 8 members
	sizeName   = 80  // of another member of an object
	// bytesAWork is how many bytes that are made are a unit of work.
	bytesAWork = 16
)

// sizeMade is what a value takes, without what its members do.
func sizeMade(v any) int {
	switch v := v.(type) {
	case string:
		return len(v)
	case []any:
		return sizeList + sizeMember*cap(v)
	case map[string]any:
		return sizeObject + sizeName*max(0, len(v)-8)
	}
	return 0
}

// keep counts a value that was made, and returns it, or the error that ends the
// evaluation.
func (m *meter) keep(v any) any {
	size := sizeMade(v)
	if size == 0 {
		return v
	}
	m.make(size)
	if m.work(size / bytesAWork); m.err != nil {
		return m.err
	}
	return v
}

// make counts bytes that were made.
func (m *meter) make(size int) {
	if m.made += size; m.made > maxMadeJQ && m.err == nil {
		m.err = errMadeJQ
	}
}

// loop is one evaluation of a "reduce". Values have no places that others could be
// put in, so of all that its update makes nothing is left but what is in its state:
// the rest is taken off again. An expression that adds to a text or a list makes
// many of them, and keeps one.
type loop struct {
	made   int // bytes that its update made, and has not lost
	before int // what the meter had when the update began
	next   int // made, from where on it is worth looking how large the state is
}

// worthwhile is how much a loop makes before its state is looked at, in bytes.
const worthwhile = 8 << 20

// enter is before an update of a loop.
func (m *meter) enter(l *loop, v any) any {
	l.before = m.made
	return m.result(v, nil)
}

// leave is behind an update, with the new state.
func (m *meter) leave(l *loop, v any) any {
	l.made += m.made - l.before
	if l.made > max(l.next, worthwhile) {
		left := l.made
		m.weighMade(v, &left)
		m.made -= max(left, 0)
		l.made -= max(left, 0)
		l.next = 2 * l.made
	}
	l.before = m.made
	return m.result(v, nil)
}

// weighMade takes from left what a value takes with all within it, until there is no
// more.
func (m *meter) weighMade(v any, left *int) {
	if *left -= sizeMade(v); *left < 0 || !m.work(1) {
		return
	}
	switch v := v.(type) {
	case []any:
		for i := 0; i < len(v) && *left >= 0 && m.err == nil; i++ {
			m.weighMade(v[i], left)
		}
	case map[string]any:
		for _, e := range v {
			if m.weighMade(e, left); *left < 0 {
				break
			}
		}
	}
}
