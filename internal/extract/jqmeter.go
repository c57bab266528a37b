package extract

import (
	"context"
	"fmt"
	"reflect"
	"runtime"
	"unsafe"
	"weak"

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
	// maxMadeJQ is how many bytes the values may take that one evaluation makes and
	// keeps.
	maxMadeJQ = 256 << 20
	// maxTextJQ, maxTextRegexJQ, maxTextExplodeJQ and maxTextParseJQ are the largest texts, in bytes,
	// that functions are given; maxListJQ and maxObjectJQ are the most members of
	// lists and objects. The interpreter goes through these in one piece, which must
	// take less than 100 ms.
	maxTextJQ        = 8 << 20
	maxTextRegexJQ   = 64 << 10
	maxTextExplodeJQ = 2 << 20
	maxTextParseJQ   = 4 << 20
	maxListJQ        = 1_000_000
	maxObjectJQ      = 100_000
	// maxPairsJQ is how many members of two lists may be compared with each other by
	// an operator.
	maxPairsJQ = 10_000_000
	// maxIndexJQ is the largest index that an assignment may fill a list up to.
	maxIndexJQ = maxListJQ
	// maxPathsJQ is how many paths may be deleted at once.
	maxPathsJQ = 100_000
	// maxNumberJQ is the size of the whole numbers that are computed, in bytes: more
	// digits take quadratic time.
	maxNumberJQ = 4 << 10
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

	made int         // bytes of the values that were made, but those known to be gone
	kept []madeValue // the large ones of them
}

// madeValue is a value that may be gone.
type madeValue struct {
	at   weak.Pointer[byte]
	size int
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
	// largeMade is the size from where on it is worth looking whether a value is gone.
	largeMade = 4 << 10
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
	if size >= largeMade {
		m.kept = append(m.kept, madeValue{weak.Make(addressOf(v)), size})
	}
	m.made += size
	if m.work(size/bytesAWork) && m.made > maxMadeJQ {
		m.forget()
	}
	if m.err != nil {
		return m.err
	}
	return v
}

// forget takes off what of the values is gone. An expression that adds to a text or
// list in a loop makes many, and keeps one.
func (m *meter) forget() {
	runtime.GC()
	kept := m.kept[:0]
	for _, v := range m.kept {
		if v.at.Value() != nil {
			kept = append(kept, v)
		} else {
			m.made -= v.size
		}
	}
	clear(m.kept[len(kept):])
	m.kept = kept
	const worthwhile = maxMadeJQ / 4 * 3 // else the next time comes at once
	if m.made > worthwhile {
		m.err = errMadeJQ
	}
}

// addressOf returns where a text, list or object, which is not empty, is in memory.
func addressOf(v any) *byte {
	switch v := v.(type) {
	case string:
		return unsafe.StringData(v) //nolint:gosec // a weak pointer is made of it, nothing is read
	case []any:
		return (*byte)(unsafe.Pointer(unsafe.SliceData(v))) //nolint:gosec // as above
	default:
		return (*byte)(reflect.ValueOf(v).UnsafePointer()) //nolint:gosec // as above
	}
}
