package messages

import "time"

// A round numbers the visits of one URL. Its bits, from the highest: the era (31), the deletions of
// the crawl's name (12), the visits (20, from 1). A crawl that was never deleted has the rounds 1,
// 2, 3 … in era 0.
const (
	visitBits    = 20
	deletionBits = 12
	eraShift     = visitBits + deletionBits
	// MaxEra is the last era that a round can hold.
	MaxEra = 1<<(63-eraShift) - 1
)

// FirstRound returns the round of the first visit of a URL that is found in an era, in a crawl
// whose name was deleted that often. Two crawls with one name never share a round, and neither do
// the time after a restore and the time that it has undone: no stage mistakes a visit of one for a
// repeat of the other's.
func FirstRound(era uint64, deletions uint32) uint64 {
	return era<<eraShift | uint64(deletions%(1<<deletionBits))<<visitBits | 1
}

// FirstRoundOf returns the first round of the era and the crawl that a round belongs to.
func FirstRoundOf(round uint64) uint64 { return round>>visitBits<<visitBits | 1 }

// NextRound returns the round of the next visit after round, if it begins in era.
func NextRound(round, era uint64) uint64 {
	return max(round+1, FirstRound(era, Deletions(round))+1) // a new URL gets the first round
}

// eraStart is the second from which eras are numbered: 2026-01-01, in Unix time.
const eraStart = 1_767_225_600

// EraAt returns the number of an era that begins at now: the seconds since 2026-01-01.
func EraAt(now time.Time) uint64 { return uint64(max(now.Unix()-eraStart, 0)) }

// EraOf returns the era in which the visit of a round began.
func EraOf(round uint64) uint64 { return round >> eraShift }

// Deletions returns how often the name of the crawl was deleted before the visit of a
// round, modulo 4096.
func Deletions(round uint64) uint32 { return uint32(round>>visitBits) & (1<<deletionBits - 1) }

// Incarnation distinguishes the crawls with one name: see Deletions.
func (v Visit) Incarnation() uint32 { return Deletions(v.Round) }
