package figures

import (
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"seine/internal/ops/overview"
	"seine/pkg/messages"
)

var began = time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC)

// looked returns an overview of a crawl after some seconds.
func looked(seconds int, name string, pages int64) *overview.Overview {
	c := overview.Crawl{Name: name, State: overview.Running}
	c.Pages, c.BytesBody, c.Queued, c.Done = pages, 1000*pages, 100-pages, pages
	c.Attempts = map[messages.Class]int64{messages.OK: pages, messages.Timeout: pages / 2}
	return &overview.Overview{At: began.Add(time.Duration(seconds) * time.Second), Crawls: []overview.Crawl{c}}
}

func sampler(file string) *Sampler { return New(file, slog.New(slog.DiscardHandler)) }

func values(list []*float64) (text string) {
	for _, v := range list {
		if v == nil {
			text += "- "
		} else {
			text += fmt.Sprintf("%g ", *v)
		}
	}
	return text
}

// Rates are computed between consecutive samples. Where samples are missing, a line has a gap
// instead of a slope.
func TestChartsHaveGapsWhereNobodyLooked(t *testing.T) {
	s := sampler("")
	for i, seconds := range []int{0, 5, 10, 600, 605} {
		s.Observe(looked(seconds, "shop", int64(10*i)))
	}
	c := s.Chart("shop", Hour, began.Add(605*time.Second))
	if got := values(c.Pages); got != "- 2 2 - - 2 " {
		t.Errorf("pages a second: %s", got)
	}
	if got := values(c.Answer["network"]); got != "- 1 1 - - 1 " {
		t.Errorf("answers of the group network: %s", got)
	}
	if got := values(c.Queued); got != "100 90 80 - 70 60 " {
		t.Errorf("queued: %s", got)
	}
	if got := c.Summarize(); got != (Summary{Mean: 2, Peak: 2, Known: true}) {
		t.Errorf("in short: %+v", got)
	}
}

// The total over all crawls counts from the sampler's start. It includes the pages of a crawl that
// was deleted and started again, but no page twice.
func TestFiguresOfAllCrawlsCountWhatHasCome(t *testing.T) {
	s := sampler("")
	for i, pages := range []int64{1000, 1010, 1030, 5, 25} {
		s.Observe(looked(5*i, "shop", pages))
	}
	if got := values(s.Chart("", Hour, began.Add(20*time.Second)).Pages); got != "- 2 4 1 4 " {
		t.Errorf("pages a second of all crawls: %s", got)
	}
	if got := values(s.Chart("shop", Hour, began.Add(20*time.Second)).Pages); got != "- 2 4 - 4 " {
		t.Errorf("pages a second of the crawl: %s", got)
	}
}

// However many samples and crawls there are, the stored data is bounded, and the charts show the
// last hour and day.
func TestWhatIsKeptHasABound(t *testing.T) {
	s := sampler("")
	for i := range 3 * 24 * 60 * 12 {
		s.Observe(looked(5*i, "shop", int64(i)))
	}
	now := began.Add(3 * 24 * time.Hour)
	of := s.crawls["shop"]
	if n := len(of.Fine.Points); n > fineMost {
		t.Errorf("%d points of the hour, at most %d are kept", n, fineMost)
	}
	if n := len(of.Coarse.Points); n > coarseMost {
		t.Errorf("%d points of the day, at most %d are kept", n, coarseMost)
	}
	if n := len(s.Chart("shop", Hour, now).At); n < 3600/fineStep-1 || n > 3600/fineStep+2 {
		t.Errorf("%d points are drawn of an hour", n)
	}
	if n := len(s.Chart("shop", Day, now).At); n < 24*60-1 || n > 24*60+2 {
		t.Errorf("%d points are drawn of a day", n)
	}
	for i := range 3 * maxCrawls {
		s.Observe(looked(3*24*3600+5*i, fmt.Sprint("crawl", i), 1))
	}
	if len(s.crawls) > maxCrawls {
		t.Errorf("%d crawls are kept", len(s.crawls))
	}
	if s.crawls[fmt.Sprint("crawl", 3*maxCrawls-1)] == nil {
		t.Error("the crawl that was seen last is not kept")
	}
}

// The displayed rate and remaining time are averages over 30 seconds, because rates between two
// samples jump.
func TestRateIsThatOfHalfAMinute(t *testing.T) {
	s := sampler("")
	var last overview.Crawl
	last30 := began.Add(30 * time.Second)
	for i, pages := range []int64{0, 30, 30, 30, 30, 30, 30} {
		o := looked(5*i, "shop", pages)
		s.Observe(o)
		last = o.Crawls[0]
	}
	if last.Rate != 1 || !last.ETA.Equal(last30.Add(70*time.Second)) {
		t.Errorf("rate %g, done at %s", last.Rate, last.ETA)
	}
}

// Samples are stored over a restart; a damaged file counts as empty.
func TestFiguresOutliveARestart(t *testing.T) {
	file := filepath.Join(t.TempDir(), "figures")
	s := sampler(file)
	for i := range 4 {
		s.Observe(looked(5*i, "shop", int64(10*i)))
	}
	s.Store()
	later := sampler(file)
	later.Observe(looked(300, "shop", 100))
	later.Observe(looked(305, "shop", 110))
	if got := values(later.Chart("shop", Hour, began.Add(305*time.Second)).Pages); got != "- 2 2 2 - - 2 " {
		t.Errorf("after a restart: %s", got)
	}
	if err := os.WriteFile(file, []byte("not that"), 0o644); err != nil {
		t.Fatal(err)
	}
	if got := sampler(file).Chart("shop", Hour, began.Add(305*time.Second)); len(got.At) > 0 {
		t.Errorf("a damaged file has %d points", len(got.At))
	}
}
