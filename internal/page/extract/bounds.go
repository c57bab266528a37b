package extract

import (
	"errors"
	"time"
)

// Limits of the results that a page can produce with rules.
const (
	// MaxTime is how long rules may take on one page: a thousand times as long as a large page
	// needs. Like maxTimeJQ and maxMemoryJQ, it depends on the machine; the other limits stop rules
	// long before.
	MaxTime = time.Minute
	// MaxRecords and MaxLinks are per page, for all rules together. The largest listings have a few
	// thousand items.
	MaxRecords = 10_000
	MaxLinks   = 10_000
	// MaxRecord is the size of a record in JSON, in bytes, including its envelope: with its headers
	// it must fit a NATS message of 1 MiB.
	MaxRecord = 1000 << 10
	// MaxRecordBytes is the total size of the records of a page.
	MaxRecordBytes = 64 << 20
	// MaxValues is the number of values that a field may have.
	MaxValues = 10_000
	// MaxProblems is the number of problems, and of notes, that a page may have; further ones are
	// dropped.
	MaxProblems = 100
	// MaxWork bounds the work of a rule: bytes of text and nodes visited. Nested items count the
	// same text again.
	MaxWork = 512 << 20
	// maxSteps bounds the moves of one XPath expression, which can be quadratic in the page or
	// worse.
	maxSteps = 20_000_000
	// maxTimeJQ is the processor time that an evaluation of a jq program may take, and maxMemoryJQ
	// its memory, in bytes, besides its value.
	maxTimeJQ   = 5 * time.Second
	maxMemoryJQ = 256 << 20
)

// errBound is wrapped by errors about an exceeded limit.
var errBound = errors.New("too much on one page")
