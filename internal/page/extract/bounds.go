package extract

import (
	"errors"
	"time"
)

// Bounds of what a page can make of rules.
const (
	// MaxTime is how long rules may take on one page: a thousand times what a
	// large page takes. Its outcome depends on the machine, as that of maxTimeJQ
	// and maxMemoryJQ does; the others end what a page can do long before.
	MaxTime = time.Minute
	// MaxRecords and MaxLinks are per page, and of all rules together. The largest
	// listings have a few thousand items.
	MaxRecords = 10_000
	MaxLinks   = 10_000
	// MaxRecord is the size of a record in JSON, in bytes, envelope included: with
	// its headers it must fit a NATS message of 1 MiB.
	MaxRecord = 1000 << 10
	// MaxRecordBytes is the size of all records of a page together.
	MaxRecordBytes = 64 << 20
	// MaxValues is how many values one field may have.
	MaxValues = 10_000
	// MaxProblems is how many problems, and how many notes, a page may have; the
	// rest is left out.
	MaxProblems = 100
	// MaxWork bounds what one rule looks at: bytes of text, and nodes. An item in an
	// item makes the same text count again.
	MaxWork = 512 << 20
	// maxSteps bounds the moves of one XPath expression, which can be quadratic in
	// the page and worse.
	maxSteps = 20_000_000
	// maxTimeJQ is how much processor time one evaluation of a jq program may take,
	// and maxMemoryJQ how much memory, in bytes, beside its value.
	maxTimeJQ   = 5 * time.Second
	maxMemoryJQ = 256 << 20
)

// errBound is wrapped where a bound is exceeded.
var errBound = errors.New("too much on one page")
