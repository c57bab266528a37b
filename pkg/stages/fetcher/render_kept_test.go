package fetcher

import (
	"context"
	"errors"
	"strings"
	"testing"

	"seine/internal/render"
	"seine/internal/testing/testweb"
	"seine/pkg/crawlspec"
	"seine/pkg/messages"
)

// failingRenderer cannot render any page.
type failingRenderer struct{ err error }

func (r failingRenderer) Warm(context.Context) {}

func (r failingRenderer) Render(context.Context, *render.Job) (*render.Page, error) {
	return nil, r.err
}

// A page that cannot be rendered is retried. If that fails as well, the document is kept as
// received, with the reason.
func TestDocumentOfAPageThatCannotBeRendered(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		err     error
		attempt int
		login   bool
		kept    bool
	}{
		"first time":        {&render.Error{Kind: render.NoAnswer, Text: "a script never ends"}, 1, false, false},
		"second time":       {&render.Error{Kind: render.NoAnswer, Text: "a script never ends"}, 2, false, true},
		"crash":             {&render.Error{Kind: render.Crash, Text: "out of memory"}, 2, false, true},
		"too large":         {&render.Error{Kind: render.TooLarge, Text: "too many nodes"}, 1, false, true},
		"led nowhere":       {&render.Error{Kind: render.HalfRead, Text: "half of it"}, 1, false, true},
		"login failed":      {&render.Error{Kind: render.LoginFailed, Text: "no button"}, 2, false, false},
		"behind a login":    {&render.Error{Kind: render.NoAnswer, Text: "a script never ends"}, 2, true, false},
		"no browser starts": {errors.New("no such file"), 2, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newFetcherFixture(t, ignoreRobots, func(_ *Config, s *crawlspec.Spec, _ *testweb.Config) {
				s.SetRender(crawlspec.RenderAlways)
				if tt.login {
					s.Render.Login = &crawlspec.RenderLogin{URL: "http://127.0.0.1/login", Script: "0", When: "form"}
				}
			})
			s.renderer = failingRenderer{tt.err}
			req := request(s.url("/"))
			req.Attempt = tt.attempt
			h := s.handle1(req, 1)
			if kept := h.Class == messages.OK; kept != tt.kept {
				t.Fatalf("it ends with %s: %s", h.Class, h.Error)
			}
			if tt.kept && (!strings.Contains(string(h.body), "<title>") || !strings.Contains(h.page.Cut, tt.err.Error()) || h.NotRendered == "") {
				t.Errorf("it is %.80s, cut: %q, not rendered: %q", h.body, h.page.Cut, h.NotRendered)
			}
		})
	}
}
