package replay

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"seine/internal/base/sleep"
	"seine/pkg/crawlspec"
	"seine/pkg/messages"
	"seine/pkg/stages"
	"seine/pkg/stages/retention"
)

// messageCopier makes the messages for the stages at the side.
type messageCopier struct {
	*replay
	specs map[string]bool // crawls whose spec is at the side
	have  *stages.Specs   // of the crawls
	puts  *stages.Specs   // at the side
	// last is where at the side the page of a URL is, of those not parsed yet.
	last map[messages.URLHash]uint64
	done uint64 // up to where the parser has done with its pages, as last seen
	// resumed says that what earlier runs have fed is parsed.
	resumed bool
}

func (r *replay) newMessageCopier(ctx context.Context) (*messageCopier, error) {
	p := &messageCopier{replay: r, specs: make(map[string]bool), last: make(map[messages.URLHash]uint64)}
	var err error
	if p.have, err = stages.OpenSpecs(ctx, r.Source); err != nil {
		return nil, err
	}
	p.puts, err = stages.OpenSpecs(ctx, r.side.feed)
	return p, err
}

// page returns a page as the parser at the side is to have it: under the spec
// that is there, with its body in the store that is there. The repeat of a page is
// a page like any other: its records are told apart from none.
func (p *messageCopier) page(ctx context.Context, m jetstream.Msg) (*nats.Msg, error) {
	page, err := messages.DecodePage(m.Headers())
	if err != nil { // the parser says so, in a dead letter
		if p.Choice.Host != "" {
			return nil, nil
		}
		out := copyOf(m)
		out.Subject = messages.SubjectForParser(out.Subject)
		return out, nil
	}
	if !p.Choice.has(page.URL) {
		return nil, nil
	}
	if err := p.spec(ctx, page.Crawl); err != nil {
		return nil, err
	}
	if page.BodyObject != "" {
		if err := p.body(ctx, page); err != nil {
			return nil, err
		}
	}
	if err := p.follow(ctx, page.Visit.URL); err != nil {
		return nil, err
	}
	if page.BodyObject != "" { // for the janitor at the side
		if err := retention.MarkBody(ctx, p.side.feed, page.BodyObject, p.feeder.next()); err != nil {
			return nil, err
		}
	}
	page.Rev = 0 // revisions at the side are others
	out := page.Msg(0, m.Data())
	out.Subject = messages.SubjectForParser(m.Subject())
	out.Header.Del(nats.MsgIdHdr)
	return out, nil
}

// copyOf returns a message without what a publisher asked of the server.
func copyOf(m jetstream.Msg) *nats.Msg {
	out := nats.NewMsg(m.Subject())
	for name, values := range m.Headers() {
		if !strings.HasPrefix(name, "Nats-") {
			out.Header[name] = values
		}
	}
	out.Data = m.Data()
	return out
}

// spec stores the spec of a crawl at the side, once in the life of the replay.
func (p *messageCopier) spec(ctx context.Context, crawl string) error {
	if p.specs[crawl] {
		return nil
	}
	there, err := p.puts.Get(ctx, crawl, 0)
	if err != nil {
		return err
	}
	if there.Rev == 0 {
		if err := p.putSpec(ctx, crawl); err != nil {
			return err
		}
	}
	p.specs[crawl] = true
	return nil
}

// putSpec stores the spec that was given, or else the one that the crawl has, but that
// pages are not left out because they had not changed: the visit before may not be
// among those chosen.
func (p *messageCopier) putSpec(ctx context.Context, crawl string) error {
	spec := p.Spec
	if spec == nil {
		have, err := p.have.Get(ctx, crawl, 0)
		if err != nil {
			return err
		}
		spec = have.Spec
	}
	if err := p.checkGeneration(crawl, spec); err != nil {
		return err
	}
	if err := p.checkFields(ctx, crawl, spec); err != nil {
		return err
	}
	all := *spec
	all.Duplicates.Unchanged = crawlspec.UnchangedKeep
	_, err := p.puts.Put(ctx, crawl, &all)
	return err
}

// checkGeneration refuses a spec whose records cannot say which generation they are
// of, if they go back to the crawl.
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

// body copies a large body to the side, and waits for room there. Of one that is
// gone the parser says so.
func (p *messageCopier) body(ctx context.Context, page *messages.Page) error {
	if there, err := p.side.feed.HasBody(ctx, page.BodyObject); err == nil && there {
		return nil
	}
	for wait := minRefused; ; wait = min(2*wait, maxRefused) {
		err := p.copyBody(ctx, page)
		switch {
		case err == nil, stages.IsPoison(err):
			return nil
		case ctx.Err() != nil:
			return ctx.Err()
		case !stages.IsFull(err):
			p.Log.Warn("cannot copy a large body, trying again", "url", page.URL, "error", err)
		case wait == minRefused: // the parser may be waiting for the pages of those that are there
			p.Log.Debug("no room for a large body until others are parsed", "url", page.URL)
			if err := p.feeder.flush(ctx); err != nil {
				return err
			}
		}
		if err := sleep.For(ctx, wait); err != nil {
			return err
		}
	}
}

func (p *messageCopier) copyBody(ctx context.Context, page *messages.Page) error {
	in, err := stages.NewPageBody(p.Source, page, nil).Stored(ctx)
	if err != nil {
		return err
	}
	bodies, err := p.side.feed.LargeBodies(ctx)
	if err == nil {
		err = bodies.Put(ctx, page.BodyObject, in)
	}
	return errors.Join(err, in.Close())
}

// maxAhead bounds the pages that are fed and not parsed.
const maxAhead = 2048

// lookAgain is the wait between looks at the parser.
const lookAgain = 5 * time.Millisecond

// room waits until the parser is no more than maxAhead behind.
func (p *messageCopier) room(ctx context.Context, last uint64, n int) error {
	return p.await(ctx, func() bool { return last+uint64(n) <= p.done+maxAhead })
}

// follow waits until the page of the same URL that was fed before is parsed: of
// records that replace each other the later one must come later.
func (p *messageCopier) follow(ctx context.Context, url messages.URLHash) error {
	f := p.feeder
	at, ok := p.last[url]
	if !p.resumed { // of what earlier runs have fed, the URLs are not known
		at, ok, p.resumed = f.place.stored, true, true
	}
	if ok && at > p.done {
		if err := f.flush(ctx); err != nil {
			return err
		}
		if err := p.await(ctx, func() bool { return at <= p.done }); err != nil {
			return err
		}
	}
	if len(p.last) > 2*maxAhead { // most are parsed
		for url, at := range p.last {
			if at <= p.done {
				delete(p.last, url)
			}
		}
	}
	p.last[url] = f.next()
	return nil
}

// await looks at the parser until ok.
func (p *messageCopier) await(ctx context.Context, ok func() bool) error {
	for !ok() {
		done, _, err := p.side.handled(ctx)
		if err != nil {
			return err
		}
		if p.done = done; ok() {
			break
		}
		if err := sleep.For(ctx, lookAgain); err != nil {
			return err
		}
	}
	return nil
}
