package fetcher

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"seine/internal/render"
	"seine/internal/testing/testweb"
	"seine/pkg/crawlspec"
	"seine/pkg/messages"
	"seine/pkg/stages"
)

// stallingRenderer shows pages that request one resource. The first time, the process stalls before
// that.
type stallingRenderer struct {
	bus   *stages.Bus
	asked []error
}

func (r *stallingRenderer) Warm(context.Context) {}

func (r *stallingRenderer) Render(ctx context.Context, job *render.Job) (*render.Page, error) {
	if len(r.asked) == 0 {
		r.bus.MarkStale()
	}
	ask, err := http.NewRequestWithContext(ctx, http.MethodGet, job.Main.URL+"style.css", nil)
	if err != nil {
		return nil, err
	}
	r.asked = append(r.asked, job.Allow(ctx, ask))
	return &render.Page{HTML: job.Main.Body}, nil
}

// A process that was suspended, or cut off, while it rendered a page sends no further request to
// the host until it has claimed the page again. The page is then rendered again, and the incomplete
// result is dropped.
func TestPageThatBecomesSuspectWhileItIsShown(t *testing.T) {
	t.Parallel()
	for name, wanted := range map[string]bool{"another has done it": false, "it is still to be done": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newFetcherFixture(t, ignoreRobots, func(_ *Config, s *crawlspec.Spec, _ *testweb.Config) { s.SetRender(crawlspec.RenderAlways) })
			answerWanted(t, s.bus, wanted)
			browser := &stallingRenderer{bus: s.bus}
			s.renderer = browser
			m := &stages.Message{Data: request(s.url("/")).Encode(), Deliveries: 1, Stored: time.Now()}
			out, err := s.handle(t.Context(), m)
			if err != nil || wanted != (len(out.Messages()) > 0) {
				t.Errorf("handled to %v, %v", out, err)
			}
			if out.Free != nil {
				out.Free()
			}
			if first := browser.asked[0]; first != errRequisiteNotSent { //nolint:errorlint // it is given as it is
				t.Errorf("what the page asks for is refused with %v", first)
			}
			if wanted && (len(browser.asked) != 2 || browser.asked[1] != nil) || !wanted && len(browser.asked) != 1 {
				t.Errorf("it is asked for with the answers %v", browser.asked)
			}
			for _, m := range out.Messages() {
				if res, err := messages.DecodeResult(m.Data); err == nil && res.Class != messages.OK {
					t.Errorf("it ends with %s: %s", res.Class, res.Error)
				}
			}
		})
	}
}

// freezingRenderer stalls while it renders a page for the first time: when it resumes, the time for
// the page is over.
type freezingRenderer struct {
	bus   *stages.Bus
	shown int
	fails bool // the browser has not read the document by then
}

func (r *freezingRenderer) Warm(context.Context) {}

func (r *freezingRenderer) Render(_ context.Context, job *render.Job) (*render.Page, error) {
	if r.shown++; r.shown > 1 {
		return &render.Page{HTML: job.Main.Body}, nil
	}
	r.bus.MarkStale()
	if r.fails {
		return nil, &render.Error{Kind: render.NoAnswer, Text: "the browser has not read the document"}
	}
	return &render.Page{HTML: []byte("<title>half</title>"), Cut: "the wait condition of the page was not met"}, nil
}

// If the time of a page ends while the process is stalled, the partial result counts neither as a
// page nor as a failure: the page waited for data that the process did not deliver. It is rendered
// again.
func TestPageWhoseTimeIsOverInAStandstillIsShownAgain(t *testing.T) {
	t.Parallel()
	for name, fails := range map[string]bool{"half of it was shown": false, "nothing of it was": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newFetcherFixture(t, ignoreRobots, func(_ *Config, s *crawlspec.Spec, _ *testweb.Config) { s.SetRender(crawlspec.RenderAlways) })
			answerWanted(t, s.bus, true)
			browser := &freezingRenderer{bus: s.bus, fails: fails}
			s.renderer = browser
			h := s.get(s.url("/"))
			h.wants(t, messages.OK)
			if browser.shown != 2 || strings.Contains(string(h.body), "half") {
				t.Errorf("shown %d times, as %.80s", browser.shown, h.body)
			}
		})
	}
}
