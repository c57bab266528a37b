package fetcher

import (
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"context"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	brotli "github.com/molecule-man/go-brrr"
	"github.com/nats-io/nats.go"

	"seine/internal/testing/testweb"
	"seine/pkg/crawlspec"
	"seine/pkg/messages"
	"seine/pkg/stages"
)

// parseFunc parses a page that is passed in memory.
type parseFunc func(context.Context, *messages.Page, *stages.Message) (stages.Output, error)

// chained makes the fetcher pass its pages to parse, and counts the calls.
func (s *fetcherFixture) chained(parse parseFunc) (calls *int) {
	calls = new(int)
	s.Chain(stages.NewChain(s.bus, 1, func(ctx context.Context, page *messages.Page, m *stages.Message) (stages.Output, error) {
		*calls++
		return parse(ctx, page, m)
	}))
	return calls
}

// fetchPage handles a request for a page with a number of deliveries, and returns its output.
func (s *fetcherFixture) fetchPage(path string, deliveries uint64) (out stages.Output, page *messages.Page, msg *nats.Msg) {
	s.t.Helper()
	m, _ := requestMessage(s.url(path))
	m.Deliveries = deliveries
	out, err := s.handle(s.t.Context(), m)
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(out.Free)
	for _, m := range out.First {
		if m.Header.Get(messages.HeaderPage) == "" {
			continue
		}
		if page, err = messages.DecodePage(m.Header); err != nil {
			s.t.Fatal(err)
		}
		msg = m
	}
	return out, page, msg
}

func isChained(m *nats.Msg) bool {
	return strings.HasPrefix(m.Subject, "seine."+messages.KindOfChained+".")
}

// The page is stored where the parser's consumer does not see it, along with the parser's output;
// the result, which promises all of that, comes later.
func TestChainedPageIsStoredWithWhatWasMadeOfIt(t *testing.T) {
	s := newFetcherFixture(t, ignoreRobots)
	record, end := nats.NewMsg("seine.records.test.0"), nats.NewMsg("seine.urls.test.0")
	done := 0
	calls := s.chained(func(_ context.Context, page *messages.Page, m *stages.Message) (stages.Output, error) {
		if want := int(page.BodySize); len(m.Data) != want || m.Deliveries != 1 {
			t.Errorf("the parser was handed %d bytes, delivered %d times, want %d and once", len(m.Data), m.Deliveries, want)
		}
		return stages.Output{First: []*nats.Msg{record}, Then: []*nats.Msg{end}, Done: func() { done++ }}, nil
	})
	out, page, msg := s.fetchPage("/", 1)
	if *calls != 1 || page == nil || !isChained(msg) {
		t.Fatalf("parsed %d times, page %v on %v", *calls, page, msg)
	}
	if !slices.Contains(out.First, record) || len(out.First) != 2 || !slices.Equal(out.Then, []*nats.Msg{end}) || len(out.Last) != 1 {
		t.Errorf("published are %d messages, then %d, then %d, want page and record, the end of the visit, and the result",
			len(out.First), len(out.Then), len(out.Last))
	}
	plain := page.Msg(0, nil).Header
	if got, want := messages.PageID(msg.Header), plain.Get(nats.MsgIdHdr); got != want || msg.Header.Get(nats.MsgIdHdr) == want {
		t.Errorf("the page is %q by the header %q, want %q by another header", got, msg.Header.Get(nats.MsgIdHdr), want)
	}
	if out.Done(); done != 1 {
		t.Errorf("the parser was told %d times that all is stored", done)
	}
}

// A page is stored as received, and passed to the parser decoded. If there is not enough memory,
// the parser decodes it.
func TestChainedPageIsHandedOnDecoded(t *testing.T) {
	text := []byte("<title>x</title>" + strings.Repeat("words of a page, ", 30_000)) // 510 KB
	zip := func(coding string) []byte {
		var b bytes.Buffer
		br, err := brotli.NewWriter(&b, 6)
		if err != nil {
			t.Fatal(err)
		}
		w := map[string]io.WriteCloser{"gzip": gzip.NewWriter(&b), "br": br, "deflate": zlib.NewWriter(&b)}[coding]
		_, err = w.Write(text)
		if err := errors.Join(err, w.Close()); err != nil {
			t.Fatal(err)
		}
		return b.Bytes()
	}
	for name, tt := range map[string]struct {
		coding, encoding string
		memory           crawlspec.Bytes
		decoded          bool
	}{
		"gzip":           {"gzip", "gzip", 128 << 20, true},
		"brotli":         {"br", "br", 128 << 20, true},
		"deflate":        {"deflate", "deflate", 128 << 20, true},
		"no coding":      {"", messages.BodyZstd, 128 << 20, true},
		"without memory": {"gzip", "gzip", 8 << 20, false},
	} {
		t.Run(name, func(t *testing.T) {
			s := newFetcherFixture(t, ignoreRobots, func(c *Config, _ *crawlspec.Spec, _ *testweb.Config) { c.MaxInFlightBody = tt.memory })
			sent := text
			if tt.coding != "" {
				sent = zip(tt.coding)
			}
			s.web.Handle(0, "/page", func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "text/html")
				w.Header()["Content-Encoding"] = []string{tt.coding}
				_, _ = w.Write(sent)
			})
			calls := s.chained(func(_ context.Context, page *messages.Page, m *stages.Message) (stages.Output, error) {
				if page.BodyEncoding != tt.encoding || tt.coding != "" && !bytes.Equal(m.Data, sent) || page.BodySize != int64(len(text)) {
					t.Errorf("stored are %d bytes in %q, %d decoded", len(m.Data), page.BodyEncoding, page.BodySize)
				}
				if got := m.Body != nil; got != tt.decoded || got && !bytes.Equal(m.Body, text) {
					t.Errorf("the parser was handed %d decoded bytes", len(m.Body))
				}
				return stages.Output{}, nil
			})
			if s.fetchPage("/page", 1); *calls != 1 {
				t.Errorf("parsed %d times", *calls)
			}
		})
	}
}

// The fetcher leaves some pages to the parsers of PAGES: a page that may have killed a process, one
// that cannot be parsed, one whose body is in the object store.
func TestPageIsLeftToTheParsersOfItsStream(t *testing.T) {
	fine := func(context.Context, *messages.Page, *stages.Message) (stages.Output, error) {
		return stages.Output{}, nil
	}
	for name, tt := range map[string]struct {
		path       string
		deliveries uint64
		parse      parseFunc
		calls      int
	}{
		"delivered before": {"/", 2, fine, 0},
		"poison": {"/", 1, func(context.Context, *messages.Page, *stages.Message) (stages.Output, error) {
			return stages.Output{First: []*nats.Msg{nats.NewMsg("seine.records.test.0")}}, stages.PoisonError(errors.New("no page"))
		}, 1},
		"panic": {"/", 1, func(context.Context, *messages.Page, *stages.Message) (stages.Output, error) { panic("no page") }, 1},
		"record that no server takes": {"/", 1, func(context.Context, *messages.Page, *stages.Message) (stages.Output, error) {
			return stages.Output{First: []*nats.Msg{{Subject: "seine.records.test.0", Data: make([]byte, 2<<20)}}}, nil
		}, 1},
		"large body": {"/special/big?mb=1", 1, fine, 0},
	} {
		t.Run(name, func(t *testing.T) {
			s := newFetcherFixture(t, ignoreRobots, func(_ *Config, spec *crawlspec.Spec, _ *testweb.Config) {
				spec.Archive = name == "large body" // otherwise it would be compressed, and small
			})
			answerWanted(t, s.bus, true)
			calls := s.chained(tt.parse)
			out, page, msg := s.fetchPage(tt.path, tt.deliveries)
			if page == nil || *calls != tt.calls {
				t.Fatalf("page %v, parsed %d times, want %d", page, *calls, tt.calls)
			}
			if want := messages.SubjectPages(testCrawl, messages.Partition(page.URL, s.bus.Layout.Partitions)); msg.Subject != want || len(out.First) != 1 {
				t.Errorf("%d messages, the page on %s, want it alone on %s", len(out.First), msg.Subject, want)
			}
		})
	}
}

// A dead letter of a record contains the position of its page, so the page is stored before it.
func TestChainedPageIsStoredForItsDeadLetters(t *testing.T) {
	s := newFetcherFixture(t, ignoreRobots)
	var at uint64
	s.chained(func(ctx context.Context, _ *messages.Page, m *stages.Message) (stages.Output, error) {
		err := m.Locate(ctx)
		at = m.Sequence
		return stages.Output{}, err
	})
	out, page, _ := s.fetchPage("/", 1)
	if page != nil || len(out.First) != 0 {
		t.Fatalf("%d messages are published once more", len(out.First))
	}
	stream, err := s.bus.JS.Stream(t.Context(), messages.StreamPages)
	if err != nil {
		t.Fatal(err)
	}
	m, err := stream.GetMsg(t.Context(), at)
	if err != nil || !isChained(&nats.Msg{Subject: m.Subject}) {
		t.Errorf("in PAGES, %d is %v (%v)", at, m, err)
	}
}

// The host's delay counts from the end of its response, although its result comes later.
func TestResultSaysForHowLongTheResponseWasThere(t *testing.T) {
	const parsing = 20 * time.Millisecond
	s := newFetcherFixture(t, ignoreRobots, func(_ *Config, _ *crawlspec.Spec, w *testweb.Config) { w.Latency = 50 * time.Millisecond })
	s.chained(func(context.Context, *messages.Page, *stages.Message) (stages.Output, error) {
		time.Sleep(parsing)
		return stages.Output{}, nil
	})
	out, _, _ := s.fetchPage("/", 1)
	res, err := messages.DecodeResult(out.Last[0].Data)
	if err != nil {
		t.Fatal(err)
	}
	ended := res.Started.Add(time.Duration(res.Timings.Total))
	if age := time.Duration(res.Age); age < parsing || age > time.Since(ended) {
		t.Errorf("the response was there for %s, want at least %s and at most %s", age, parsing, time.Since(ended))
	}
}
