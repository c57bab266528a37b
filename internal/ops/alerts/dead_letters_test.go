package alerts

import (
	"testing"
	"time"
)

func TestDeadLettersAreToldUntilSomebodyHasLookedAfterThem(t *testing.T) {
	d := newDay(t)
	letters := func(n map[string]uint64) func(*Observation) {
		return func(l *Observation) { l.Crawl.Dead = n; requests(1, 0)(l) }
	}
	d.pass(time.Hour, letters(nil))
	d.want()
	d.pass(time.Hour, letters(map[string]uint64{"parser": 2, "fetcher": 1}))
	d.want("raised dead_letters")
	d.wantText("3 dead letters: 1 of the fetcher, 2 of the parser (see seine dead list)")
	d.pass(time.Hour, letters(map[string]uint64{"parser": 1}))
	d.want()
	d.pass(time.Hour, letters(nil))
	d.want("cleared dead_letters")
	d.rules.DeadLetters = 100
	d.pass(time.Hour, letters(map[string]uint64{"parser": 99}))
	d.want()
}
