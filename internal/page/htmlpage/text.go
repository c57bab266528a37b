package htmlpage

import (
	"encoding/binary"
	"math/bits"

	"seine/internal/base/truncate"
)

// gap is the separator between the text written so far and the next word. The wider gap wins.
type gap uint8

const (
	gapNone gap = iota
	gapSpace
	gapLine
)

// folder collects text with its whitespace folded: one space inside a block, one newline between
// blocks, nothing at either end.
//
// Whitespace is ASCII whitespace and U+00A0: a no-break space is layout, and would otherwise join
// words in a full-text search. NUL is dropped (section 13.2.6.4.7), also because some databases
// reject it.
type folder struct {
	buf  []byte
	gap  gap
	max  int
	full bool
}

func (f *folder) reset(limit int) {
	f.buf, f.gap, f.max, f.full = f.buf[:0], gapNone, limit, false
}

// separate requests a gap before the next word.
func (f *folder) separate(g gap) { f.gap = max(f.gap, g) }

// write adds text. It decodes character references if references is set.
func (f *folder) write(b []byte, references bool) {
	for i := 0; i < len(b) && !f.full; {
		switch c := b[i]; {
		case has(c, isSpace):
			f.separate(gapSpace)
			i = skip(b, i+1, isSpace)
		case c == 0:
			i++
		case c == '&' && references:
			i += f.reference(b[i:])
		case c == 0xc2 && isNoBreakSpace(b[i:]):
			f.separate(gapSpace)
			i += 2
		default:
			end := plainEnd(b, i+1)
			f.put(b[i:end])
			i = end
		}
	}
}

// plainEnd returns the end of the run, at or after i, that can be copied unchanged: words separated
// by single spaces. The byte before i is part of a word.
func plainEnd(b []byte, i int) int {
	i = plainBlocks(b, i)
	for {
		i = until(b, i, breaksText)
		if i+1 >= len(b) || b[i] != ' ' || has(b[i+1], breaksText) {
			return i
		}
		i++
	}
}

// plainBlocks advances i like plainEnd, eight bytes at a time, up to the first byte that must be
// checked: one that breaks text and is not a space, a control character, or the first of two
// spaces. It may stop at the last space before that, or in the last eight bytes, where plainEnd
// continues.
func plainBlocks(b []byte, i int) int {
	for after := uint64(0); i+8 <= len(b); i += 8 { // after is set if the byte before is a space
		x := binary.LittleEndian.Uint64(b[i:])
		spaces := zeroBytes(x ^ ' '*each)
		stops := ^(x&lows+(0x80-' ')*each)&^x&highs | // controls
			zeroBytes(x^'&'*each) | zeroBytes(x^0xc2*each) | spaces&(spaces<<8|after)
		if stops != 0 {
			i += bits.TrailingZeros64(stops) / 8
			break
		}
		after = spaces >> 56
	}
	if b[i-1] == ' ' { // the next byte decides whether to copy it
		i--
	}
	return i
}

// zeroBytes sets the high bit of each byte that is zero, exactly.
func zeroBytes(x uint64) uint64 { return ^(x&lows + lows | x) & highs }

func isNoBreakSpace(b []byte) bool {
	return len(b) > 1 && b[0] == 0xc2 && b[1] == 0xa0
}

// reference writes the expansion of the character reference at the start of b, folded like any
// text, and returns the length of the reference.
func (f *folder) reference(b []byte) int {
	var tmp [64]byte
	s, n := appendReference(tmp[:0], b, false)
	f.write(s, false)
	return n
}

// put appends a run after the pending gap, up to the limit.
func (f *folder) put(run []byte) {
	room := f.max - len(f.buf)
	if len(f.buf) > 0 && f.gap != gapNone {
		room--
	}
	if room <= 0 {
		f.full = true
		return
	}
	f.putGap()
	if len(run) > room {
		run, f.full = truncate.To(run, room), true
	}
	f.buf = append(f.buf, run...)
}

func (f *folder) putGap() {
	if len(f.buf) > 0 {
		switch f.gap {
		case gapSpace:
			f.buf = append(f.buf, ' ')
		case gapLine:
			f.buf = append(f.buf, '\n')
		case gapNone:
		}
	}
	f.gap = gapNone
}

// String returns the text. It trims a gap that truncation may have left at the end.
func (f *folder) String() string { return string(trimSpace(f.buf)) }
