package fetcher

import (
	"context"
	"net/http"
	"testing"
	"time"

	"seine/internal/render"
	"seine/internal/testing/testweb"
	"seine/pkg/crawlspec"
	"seine/pkg/messages"
	"seine/pkg/stages"
)

// stallingRenderer shows pages that ask for one thing. The first time, the process stands still before that.
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

// Who stood still, or was cut off, while a page is shown asks its host for nothing more until it is known that no other process
// has the page: it is shown again then, and what was shown without what it needs is thrown away.
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
