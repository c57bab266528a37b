package alerts

import (
	"strings"
	"testing"
	"time"
)

// runs returns ended runs of 100 pages, the last one first, by their number of products.
func runs(products ...int64) (all []Run) {
	for i, n := range products {
		all = append(all, Run{
			Started: time.Date(2026, 11, 23-i, 6, 0, 0, 0, time.UTC), Records: map[string]int64{"product": n, "page": 100}, Pages: 100,
		})
	}
	return all
}

// ends completes a run before the next evaluation.
func (d *day) ends(made []Run) {
	d.pass(10*time.Minute, func(l *Observation) {
		l.Crawl.Runs, l.Crawl.Kinds = made, []string{"product"}
		requests(1, 0)(l)
	})
}

func (d *day) wantText(part string) {
	d.t.Helper()
	for _, a := range d.state.Raised() {
		if strings.Contains(a.Text, part) {
			return
		}
	}
	d.t.Errorf("raised is %+v, want one that says %q", d.state.Raised(), part)
}

func TestKindThatYieldsLessThanInTheRunsBeforeIsTold(t *testing.T) {
	d := newDay(t)
	d.ends(nil)
	d.ends(runs(10, 380, 390)) // too few for a median
	d.want()
	d.ends(runs(200, 10, 370, 380, 390)) // half of the median is 187.5
	d.want()
	d.ends(runs(12, 200, 380, 390))
	d.want("raised yield product")
	d.wantText("the run of 2026-11-23T06:00:00Z made 12 records of kind product; the median of the previous 3 is 380")
	d.ends(nil) // another process leads, and has no data yet
	d.want()
	d.ends(runs(300, 12, 200, 380, 390))
	d.want("cleared yield product")
}

func TestYieldGoesByTheLastRunsAlone(t *testing.T) {
	d := newDay(t)
	d.ends(runs(20, 22, 21, 20, 20, 22, 21, 20, 20, 22, 21, 900, 900, 900, 900, 900, 900, 900, 900, 900, 900, 900, 900))
	d.want()
}

// Unchanged pages produce no new records: runs in which most pages of a shop are unchanged raise no
// alert. If the pages change again and produce nothing, an alert is raised.
func TestUnchangedPagesDoNotLowerAYield(t *testing.T) {
	d := newDay(t)
	made := runs(0, 0, 0, 0, 95)
	for i := range 4 {
		made[i].Pages, made[i].Unchanged, made[i].Records["page"] = 1, 99, 1
	}
	d.ends(made)
	d.want()
	made = append(runs(0), made[:4]...)
	made = append(made, runs(95)...)
	d.ends(made)
	d.want("raised yield product")
	unchanged := runs(0)
	unchanged[0].Pages, unchanged[0].Unchanged, unchanged[0].Records["page"] = 1, 99, 1
	made = append(unchanged, made...)
	d.ends(made) // the pages are unchanged and still produce nothing
	d.want()
	mended := runs(19)
	mended[0].Pages, mended[0].Unchanged, mended[0].Records["page"] = 20, 80, 20
	d.ends(append(mended, made...))
	d.want("cleared yield product")
	late := newDay(t) // a leader that starts after the bad run
	late.ends(made)
	late.want("raised yield product")
}

func TestKindThatTheSpecMakesNoMoreIsNotMissed(t *testing.T) {
	d := newDay(t)
	made := runs(0, 380, 380, 390)
	made[0].Records = map[string]int64{"offer": 380}
	d.pass(10*time.Minute, func(l *Observation) {
		l.Crawl.Runs, l.Crawl.Kinds = made, []string{"offer"}
		requests(1, 0)(l)
	})
	d.want()
}

func TestYieldCanBeTurnedOff(t *testing.T) {
	d := newDay(t)
	d.ends(runs(0, 380, 390, 400))
	d.want("raised yield product")
	d.rules.Yield = 0
	d.ends(runs(0, 380, 390, 400))
	d.want("cleared yield product")
}

// A single changed page says nothing about the yield of the others. A run with as many products as
// before raises nothing and clears the alert.
func TestOneChangedPageRaisesNoYield(t *testing.T) {
	d := newDay(t)
	made := runs(34, 1, 0, 0, 0, 34)
	for i, changed := range []int64{65, 1, 0, 0, 0, 65} {
		made[i].Pages, made[i].Unchanged, made[i].Records["page"] = changed, 65-changed, changed
	}
	d.ends(made)
	d.want()
	broken := append(runs(0), made...)
	broken[0].Pages, broken[0].Records["page"] = 65, 65
	d.ends(broken)
	d.want("raised yield product")
	d.wantText("the median of the previous 6 is 34")
	d.ends(made)
	d.want("cleared yield product")
}
