package secrets

import (
	"bytes"
	"slices"
	"sync"
	"sync/atomic"
	"unicode"
	"unicode/utf8"
)

// Mask overwrites the values of secrets in text: each byte of a value is replaced by an 'x', so the
// text keeps its length. It finds a value in plain form and as URLs, HTML and JSON encode it: see
// [value.match]. A nil Mask, and one without values, changes nothing. It is safe for concurrent
// use.
type Mask struct {
	adding sync.Mutex
	values atomic.Pointer[values]
}

// values are the values that a Mask looks for. They are immutable.
type values struct {
	all   []value
	first [256]bool // bytes that a value may begin with, in any encoding
}

// Minimum sizes of the values that a Mask looks for. Shorter values and plain words occur in
// unrelated text, where overwriting them would do more harm than good.
const (
	minMixed = 6  // bytes, of at least two kinds: letters, digits, others
	minPlain = 16 // bytes of any kind
)

// Maskable reports whether a Mask looks for a value: one of at least 16 bytes, or of at least six
// that are not all letters or all digits.
func Maskable(v string) bool {
	if len(v) < minMixed || len(v) >= minPlain {
		return len(v) >= minPlain
	}
	letters, digits := 0, 0
	for _, r := range v {
		switch {
		case unicode.IsLetter(r):
			letters++
		case unicode.IsDigit(r):
			digits++
		}
	}
	all := utf8.RuneCountInString(v)
	return letters < all && digits < all
}

// Add adds the values that are [Maskable].
func (m *Mask) Add(added ...string) {
	if m.knows(added) {
		return
	}
	m.adding.Lock()
	defer m.adding.Unlock()
	next := &values{}
	if old := m.values.Load(); old != nil {
		next.all = slices.Clone(old.all)
	}
	for _, v := range added {
		if Maskable(v) && !slices.Contains(next.all, value(v)) {
			next.all = append(next.all, value(v))
		}
	}
	for _, v := range next.all {
		next.first[v[0]] = true
	}
	for c := range next.first {
		next.first[c] = next.first[c] || begun[c] && len(next.all) > 0
	}
	m.values.Store(next)
}

// knows reports whether all maskable values are known already.
func (m *Mask) knows(added []string) bool {
	known := m.values.Load()
	return !slices.ContainsFunc(added, func(v string) bool {
		return Maskable(v) && (known == nil || !slices.Contains(known.all, value(v)))
	})
}

// Active reports whether the mask has any values.
func (m *Mask) Active() bool { return m.active() != nil }

func (m *Mask) active() *values {
	if m == nil {
		return nil
	}
	if v := m.values.Load(); v != nil && len(v.all) > 0 {
		return v
	}
	return nil
}

// In reports whether text contains a secret.
func (m *Mask) In(text string) bool {
	v := m.active()
	return v != nil && v.mask([]byte(text), true).found
}

// Is reports whether text is a secret and nothing else.
func (m *Mask) Is(text string) bool {
	v := m.active()
	if v == nil || text == "" {
		return false
	}
	end, _ := v.at([]byte(text), 0, true)
	return end == len(text)
}

// String returns text with the secrets overwritten.
func (m *Mask) String(text string) string {
	v := m.active()
	if v == nil {
		return text
	}
	b := []byte(text)
	if !v.mask(b, true).found {
		return text
	}
	return string(b)
}

// Bytes overwrites the secrets in b in place.
func (m *Mask) Bytes(b []byte) {
	if v := m.active(); v != nil {
		v.mask(b, true)
	}
}

// masked is the result of masking a part of a text.
type masked struct {
	found bool
	// done is the number of bytes that are final. The rest may begin a secret.
	done int
}

// mask overwrites the values in b. last says that nothing follows b.
func (vs *values) mask(b []byte, last bool) masked {
	res := masked{done: len(b)}
	for i := 0; i < len(b); {
		if !vs.first[b[i]] {
			i++
			continue
		}
		end, more := vs.at(b, i, last)
		if more {
			res.done = i
			return res
		}
		if end == 0 {
			i++
			continue
		}
		res.found = true
		copy(b[i:end], bytes.Repeat([]byte{'x'}, end-i))
		i = end
	}
	return res
}

// at returns the end of the longest value that begins at i, 0 if none does. more reports that this
// depends on the text after b.
func (vs *values) at(b []byte, i int, last bool) (end int, more bool) {
	for _, v := range vs.all {
		e, cut := v.match(b, i)
		if cut && !last {
			return 0, true
		}
		end = max(end, e)
	}
	return end, false
}
