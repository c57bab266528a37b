package structured

import "fmt"

// Limits of a page's data. Each is about ten times the maximum of real pages, and low enough that a
// hostile page costs at most a few seconds.
const (
	maxScripts     = 10_000  // JSON-LD scripts; shop pages have up to some hundred
	maxScriptBytes = 8 << 20 // of one JSON-LD script
	maxJSONValues  = 50_000  // in all scripts
	maxJSONDepth   = 200     // nesting of arrays and objects
	maxNumber      = 1000    // digits; parsers of big numbers take quadratic time

	maxItemDepth = 100      // nesting of items, by elements or itemref
	maxTypes     = 100      // of one item
	maxValues    = 1 << 18  // values of all items of a syntax: names times elements
	maxItemBytes = 32 << 20 // text of all these values
	maxSteps     = 1 << 23  // work for values and itemref, in nodes, which may be visited repeatedly

	maxMetas     = 10_000  // kept names of meta elements
	maxMetaBytes = 8 << 20 // of those names and their contents
	maxAuthors   = 100     // of a page; papers in physics name thousands
	maxName      = 200     // bytes of an author's name; a longer text is a sentence
	maxProblems  = 100     // reported for one part
)

// Problem is a part of the page that could not be read.
type Problem struct {
	// Part is "json_ld", "microdata" or "rdfa".
	Part string
	// Script is the index of the JSON-LD script, from 0, and Offset is in bytes from the start of
	// the script's text. Both are 0 for the other parts.
	Script int
	Offset int
	// Text describes the problem.
	Text string
}

// String returns the position on the page and the description.
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

// budget is the rest of the limits for one syntax of items.
type budget struct {
	values, bytes, steps int
	deep                 bool // items were omitted because of their depth
	spent                bool // values were omitted because of a limit
}

func newBudget() budget {
	return budget{values: maxValues, bytes: maxItemBytes, steps: maxSteps}
}

// spend subtracts values and bytes, and reports whether they were available.
func (b *budget) spend(values, bytes int) bool {
	if b.spent || values > b.values || bytes > b.bytes {
		b.spent = true
		return false
	}
	b.values -= values
	b.bytes -= bytes
	return true
}

// step subtracts work that may be repeated many times: n nodes, or the equivalent.
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
