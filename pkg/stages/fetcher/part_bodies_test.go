package fetcher

import (
	"context"
	"io"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/nats-io/nats.go/jetstream"

	"seine/internal/render"
	"seine/internal/testing/await"
	"seine/internal/testing/testweb"
	"seine/pkg/crawlspec"
	"seine/pkg/messages"
)

// briefRenderer shows every page as a short one.
type briefRenderer struct{}

func (briefRenderer) Warm(context.Context) {}

func (briefRenderer) Render(context.Context, *render.Job) (*render.Page, error) {
	return &render.Page{HTML: []byte("<p>short")}, nil
}

// The document of a rendered page, as it came, is for archives alone. Where it is too large for a message, its object is marked as read once its
// message is stored: the janitor may remove it when the archives have it, as no parser will ever mark it.
func TestLargeDocumentOfARenderedPageIsMarked(t *testing.T) {
	t.Parallel()
	s := newFetcherFixture(t, ignoreRobots, func(_ *Config, s *crawlspec.Spec, _ *testweb.Config) {
		s.SetRender(crawlspec.RenderAlways)
		s.Archive = true
	})
	s.renderer, s.alone = briefRenderer{}, true
	s.web.Handle(0, "/large", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = io.CopyN(w, rand.NewChaCha8([32]byte{1}), 3<<20)
	})
	req := request(s.url("/large"))
	if _, err := s.bus.JS.Publish(t.Context(), messages.SubjectRender(req.Crawl, 0), req.Encode()); err != nil {
		t.Fatal(err)
	}
	await.Start(t, s.Run)
	store, err := s.bus.JS.ObjectStore(t.Context(), messages.BucketBodies)
	if err != nil {
		t.Fatal(err)
	}
	await.Eventually(t, "the document is marked", func() bool {
		all, err := store.List(t.Context())
		return err == nil && len(all) == 1 && strings.HasSuffix(all[0].Name, ".document.0") && all[0].Metadata[messages.BodyPage] == documentSequence(t, s.bus.JS)
	})
}

// documentSequence is where PAGES has the answer that is the document.
func documentSequence(t *testing.T, js jetstream.JetStream) string {
	t.Helper()
	pages, err := js.Stream(t.Context(), messages.StreamPages)
	if err != nil {
		t.Fatal(err)
	}
	for seq := pages.CachedInfo().State.FirstSeq; seq <= pages.CachedInfo().State.LastSeq; seq++ {
		m, err := pages.GetMsg(t.Context(), seq)
		if err != nil {
			t.Fatal(err)
		}
		if page, err := messages.DecodePage(m.Header); err == nil && page.Part == messages.PartDocument {
			return strconv.FormatUint(seq, 10)
		}
	}
	return ""
}
