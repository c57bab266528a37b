package fetcher

import (
	"context"
	"io"
	"math/rand/v2"
	"net/http"
	"strconv"
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

// Each large body gets a mark once its message is stored, whatever the message: a page for a
// parser, or the document of a rendered page, which is only for archives. The janitor may remove
// the body when all consumers have read the message.
func TestLargeBodiesAreMarked(t *testing.T) {
	t.Parallel()
	for part, spec := range map[messages.Part]func(*crawlspec.Spec){
		"": func(*crawlspec.Spec) {},
		messages.PartDocument: func(s *crawlspec.Spec) {
			s.SetRender(crawlspec.RenderAlways)
			s.Archive = true
		},
	} {
		t.Run("part "+string(part), func(t *testing.T) {
			t.Parallel()
			s := newFetcherFixture(t, ignoreRobots, func(_ *Config, s *crawlspec.Spec, _ *testweb.Config) { spec(s) })
			subject := messages.SubjectFetch
			if part != "" {
				s.renderer, s.renderOnly, subject = briefRenderer{}, true, messages.SubjectRender
			}
			s.web.Handle(0, "/large", func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "text/html")
				_, _ = io.CopyN(w, rand.NewChaCha8([32]byte{1}), 3<<20)
			})
			req := request(s.url("/large"))
			if _, err := s.bus.JS.Publish(t.Context(), subject(req.Crawl, 0), req.Encode()); err != nil {
				t.Fatal(err)
			}
			await.Start(t, s.Run)
			store, err := s.bus.JS.ObjectStore(t.Context(), messages.BucketBodies)
			if err != nil {
				t.Fatal(err)
			}
			await.Eventually(t, "the body is marked", func() bool {
				all, err := store.List(t.Context())
				if err != nil || len(all) != 1 {
					return false
				}
				mark := all[0].Metadata[messages.BodyPage]
				return mark != "" && mark == sequenceOf(t, s.bus.JS, all[0].Name)
			})
		})
	}
}

// sequenceOf returns the sequence in PAGES of the message that names an object, "" if there is
// none.
func sequenceOf(t *testing.T, js jetstream.JetStream, object string) string {
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
		if page, err := messages.DecodePage(m.Header); err == nil && page.BodyObject == object {
			return strconv.FormatUint(seq, 10)
		}
	}
	return ""
}
