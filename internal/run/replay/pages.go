package replay

import (
	"context"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go"

	"seine/internal/base/sleep"
	"seine/internal/streams/jsclient"
	"seine/pkg/crawlspec"
	"seine/pkg/messages"
	"seine/pkg/stages"
	"seine/pkg/stages/parser"
)

// messageCopier produces the output of messages.
type messageCopier struct {
	*replay
	specs map[string]uint64 // revisions on the scratch server, by crawl
	have  *stages.Specs     // specs of the crawls
	puts  *stages.Specs     // specs on the scratch server
	pages *parser.Parser    // nil if records are copied
	dead  *stages.Publisher // to the scratch server
}

func (r *replay) newMessageCopier(ctx context.Context) (*messageCopier, error) {
	p := &messageCopier{replay: r, specs: make(map[string]uint64), dead: stages.NewPublisher(r.scratch.feed, "replay")}
	var err error
	if p.have, err = stages.OpenSpecs(ctx, r.Source); err != nil {
		return nil, err
	}
	var stop func()
	if p.puts, stop, err = stages.FollowSpecs(ctx, r.scratch.feed); err != nil {
		return nil, err
	}
	r.stop = append(r.stop, stop)
	if r.Stream == messages.StreamPages {
		p.pages, err = parser.New(r.Parser, r.scratch.feed, p.puts)
	}
	return p, err
}

// workers returns how many messages are processed in parallel.
func (p *messageCopier) workers() int {
	if p.pages == nil || p.Parser.Workers > 0 {
		return max(1, p.Parser.Workers)
	}
	return 2 * runtime.GOMAXPROCS(0)
}

// page returns a maker that parses a page with the spec on the scratch server. A message that is
// not a page becomes a dead letter.
func (p *messageCopier) page(ctx context.Context, m *stages.Message) (maker, error) {
	in := *m
	in.Subject, in.Header, in.Deliveries = messages.SubjectForParser(m.Subject), copyOf(m).Header, 1
	page, err := messages.DecodePage(m.Header)
	switch {
	case err != nil && p.Choice.Host == "":
		return func(ctx context.Context) ([]*nats.Msg, error) { return p.parse(ctx, nil, &in) }, nil
	case err != nil, !p.Choice.has(page.URL):
		return nil, nil
	}
	if page.Rev, err = p.spec(ctx, page.Crawl); err != nil {
		return nil, err
	}
	return func(ctx context.Context) ([]*nats.Msg, error) { return p.parse(ctx, page, &in) }, nil
}

// copyOf returns a copy of a message without the headers for its former server.
func copyOf(m *stages.Message) *nats.Msg {
	out := nats.NewMsg(m.Subject)
	for name, values := range m.Header {
		if !strings.HasPrefix(name, "Nats-") {
			out.Header[name] = values
		}
	}
	out.Data = m.Data
	return out
}

// retryWait is the wait before a failed page is parsed again.
const retryWait = 500 * time.Millisecond

// parse returns the records of a page. Records that cannot be made, and pages that cannot be
// parsed, become dead letters.
func (p *messageCopier) parse(ctx context.Context, page *messages.Page, in *stages.Message) ([]*nats.Msg, error) {
	for tries := 1; ; tries++ {
		records, letters, err := p.tryParse(ctx, page, in)
		switch {
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case err == nil:
			return records, p.dead.Publish(ctx, letters...)
		case stages.IsPoison(err), tries == messages.MaxDeliver && !jsclient.Unavailable(err):
			return nil, p.dead.Publish(ctx, stages.DeadLetter(messages.StageParser, in, err))
		}
		p.Log.Warn("cannot parse a page, trying again", "sequence", in.Sequence, "error", err)
		if err := sleep.For(ctx, retryWait); err != nil {
			return nil, err
		}
	}
}

// headerRoom is the room for headerReplay, in bytes.
const headerRoom = 256

// tryParse has the parser handle a page. It drops the links and the end of the visit.
func (p *messageCopier) tryParse(ctx context.Context, page *messages.Page, in *stages.Message) (records, letters []*nats.Msg, err error) {
	whole := *in
	if page != nil {
		if whole.Data, err = p.payload(ctx, page, in.Data); err != nil {
			return nil, nil, err
		}
		inline := *page
		inline.BodyObject = ""
		whole.Header = inline.Msg(0, nil).Header
	}
	out, err := stages.Recovered(func() (stages.Output, error) { return p.pages.Handle(ctx, &whole) })
	if err != nil {
		return nil, nil, err
	}
	if out.Free != nil {
		defer out.Free()
	}
	for _, m := range out.Messages() {
		switch kind := strings.Split(m.Subject, ".")[1]; {
		case kind == "dead":
			letters = append(letters, m)
		case kind != "records":
		case int64(m.Size())+headerRoom > p.scratch.feed.MaxPayload():
			return nil, nil, stages.PoisonError(fmt.Errorf("%w: %d bytes to %s", stages.ErrUnpublishable, m.Size(), m.Subject))
		default:
			records = append(records, m)
		}
	}
	return records, letters, nil
}

// payload returns the message data of a page including the body, which may be in the object store.
func (p *messageCopier) payload(ctx context.Context, page *messages.Page, data []byte) ([]byte, error) {
	if page.BodyObject == "" {
		return data, nil
	}
	in, err := stages.NewPageBody(p.Source, page, nil).Stored(ctx)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	body, err := io.ReadAll(in)
	return slices.Concat(data, body), err
}

// spec stores the spec of a crawl on the scratch server, once per run, and returns its revision
// there.
func (p *messageCopier) spec(ctx context.Context, crawl string) (rev uint64, err error) {
	if rev := p.specs[crawl]; rev > 0 {
		return rev, nil
	}
	there, err := p.puts.Get(ctx, crawl, 0)
	if err != nil {
		return 0, err
	}
	if rev = there.Rev; rev == 0 {
		if rev, err = p.putSpec(ctx, crawl); err != nil {
			return 0, err
		}
	}
	p.specs[crawl] = rev
	return rev, nil
}

// putSpec stores the given spec, or else the crawl's own spec. It disables the omission of
// unchanged pages, because the previous visit may not be among the selected messages.
func (p *messageCopier) putSpec(ctx context.Context, crawl string) (uint64, error) {
	spec := p.Spec
	if spec == nil {
		have, err := p.have.Get(ctx, crawl, 0)
		if err != nil {
			return 0, err
		}
		spec = have.Spec
	}
	if err := p.checkGeneration(crawl, spec); err != nil {
		return 0, err
	}
	if err := p.checkFields(ctx, crawl, spec); err != nil {
		return 0, err
	}
	all := *spec
	all.Duplicates.Unchanged = crawlspec.UnchangedKeep
	return p.puts.Put(ctx, crawl, &all)
}

// checkGeneration rejects a spec with a field named like the field for the generation, if records
// go back to the crawl.
func (p *messageCopier) checkGeneration(crawl string, spec *crawlspec.Spec) error {
	for i := range spec.Records {
		rule := &spec.Records[i]
		for j := range rule.Fields {
			if p.Writer == nil && rule.Fields[j].Name == messages.FieldGeneration {
				return fmt.Errorf("crawl %s: records of kind %s have a field %q, which a new generation needs for its name: write them to --out",
					crawl, rule.Kind, messages.FieldGeneration)
			}
		}
	}
	return nil
}
