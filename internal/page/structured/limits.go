package structured

import "fmt"

// What a page may ask for. Each bound is some ten times what the largest honest
// pages have, and low enough that a page made to cost much costs at most a few
// seconds.
const (
	maxScripts     = 10_000  // JSON-LD scripts; pages of a shop have up to some hundred
	maxScriptBytes = 8 << 20 // of one JSON-LD script
	maxJSONValues  = 50_000  // in all of them
	maxJSONDepth   = 200     // arrays and objects in each other
	maxNumber      = 1000    // digits; readers of big numbers take quadratic time

	maxItemDepth = 100      // items in each other, by nesting or itemref
	maxTypes     = 100      // of one item
	maxValues    = 1 << 18  // values of all items of a syntax: names times elements
	maxItemBytes = 32 << 20 // text of all those values
	maxSteps     = 1 << 23  // work for values and by itemref, in nodes, which may be seen often

	maxMetas     = 10_000  // names of meta elements kept
	maxMetaBytes = 8 << 20 // of those names and their contents
	maxAuthors   = 100     // of one page: papers in physics name thousands
	maxName      = 200     // bytes of an author's name; longer is a sentence
	maxProblems  = 100     // reported of one part
)

// A Problem is something on the page that could not be read.
type Problem struct {
	// Part is "json_ld", "microdata" or "rdfa".
	Part string
	// Script counts the page's JSON-LD scripts, from 0, and Offset is in bytes
	// from the start of the script's text. Both are 0 for the other parts.
	Script int
	Offset int
	// Text says what is wrong.
	Text string
}

// String says where on the page it is, and what is wrong.
func (p Problem) String() string {
	if p.Part != partJSONLD {
		return p.Text
	}
	return fmt.Sprintf("script %d, byte %d: %s", p.Script+1, p.Offset, p.Text)
}

const (
	partJSONLD    = "json_ld"
	partMicrodata = "microdata"
	partRDFa      = "rdfa"
)

// budget is what remains of the bounds for one syntax of items.
type budget struct {
	values, bytes, steps int
	deep                 bool // items were left out for their depth
	spent                bool // values were left out for a bound
}

func newBudget() budget {
	return budget{values: maxValues, bytes: maxItemBytes, steps: maxSteps}
}

// spend pays for values and bytes, and reports whether they are still to be had.
func (b *budget) spend(values, bytes int) bool {
	if b.spent || values > b.values || bytes > b.bytes {
		b.spent = true
		return false
	}
	b.values -= values
	b.bytes -= bytes
	return true
}

// step pays for work that may be done many times over: n nodes, or as much.
func (b *budget) step(n int) bool {
	if b.steps -= n; b.steps < 0 {
		b.spent = true
	}
	return !b.spent
}

func (b *budget) problems(part string) []Problem {
	var ps []Problem
	if b.deep {
		ps = append(ps, Problem{Part: part, Text: fmt.Sprintf("items more than %d deep are left out", maxItemDepth)})
	}
	if b.spent {
		ps = append(ps, Problem{Part: part, Text: "too much data: the rest is left out"})
	}
	return ps
}
