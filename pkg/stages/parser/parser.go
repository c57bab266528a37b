package parser

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"log/slog"
	"time"

	"github.com/klauspost/compress/zstd"
	"github.com/nats-io/nats.go"

	"seine/internal/page/extract"
	"seine/pkg/crawlspec"
	"seine/pkg/messages"
	"seine/pkg/stages"
)

// Parser is one process of the stage.
type Parser struct {
	cfg        Config
	bus        *stages.Bus
	specs      *stages.Specs
	unzip      *zstd.Decoder
	sent       *linkCache
	plans      stages.SpecCache[*parsePlan]
	duplicates duplicateIndex

	extractors []Extractor
}

// New returns a parser. It starts nothing.
func New(cfg Config, bus *stages.Bus, specs *stages.Specs, extractors ...Extractor) (*Parser, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	unzip, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(cfg.workers()), zstd.WithDecoderMaxMemory(maxDecoded))
	if err != nil {
		return nil, fmt.Errorf("create zstd decoder: %w", err)
	}
	return &Parser{
		cfg: cfg, bus: bus, specs: specs, unzip: unzip, sent: newLinkCache(),
		plans: stages.SpecCache[*parsePlan]{Make: func(s *crawlspec.Spec) *parsePlan {
			plan := newParsePlan(cfg, s, s.Normalizer())
			plan.maxRecord = min(maxRecord, int(bus.MaxPayload())-headerRoom)
			return plan
		}},
		duplicates: duplicatesIn(bus),
		extractors: extractors,
	}, nil
}

// Run works until ctx is done, then finishes its in-flight pages.
func (p *Parser) Run(ctx context.Context) error {
	defer p.unzip.Close()
	consumer, _ := messages.NamedConsumer(messages.StreamPages, messages.ConsumerParse)
	r := &stages.Runner{
		Stage: messages.StageParser, Bus: p.bus, Stream: messages.StreamPages, Consumer: consumer,
		Workers: p.cfg.workers(), Prefetch: p.cfg.Prefetch,
		Handle: p.Handle, OnDeadLetter: p.onDeadLetter, Describe: subject, Drain: time.Duration(p.cfg.Drain),
	}
	if err := r.Run(ctx); err != nil {
		return fmt.Errorf("parser: %w", err)
	}
	return nil
}

// subject returns the crawl and the URL of a message of PAGES.
func subject(m *stages.Message) stages.MessageContext {
	page, err := messages.DecodePage(m.Header)
	if err != nil {
		return stages.MessageContext{}
	}
	return subjectOf(page)
}

func subjectOf(page *messages.Page) stages.MessageContext {
	return stages.MessageContext{Crawl: page.Crawl, URL: page.URL, Visit: page.Visit, Attempt: page.Attempt}
}

// Chain returns a chain for the pages of a fetcher in the same process.
func (p *Parser) Chain() *stages.Chain { return stages.NewChain(p.bus, p.cfg.workers(), p.parse) }

// Handle returns the messages to publish for one message of PAGES.
func (p *Parser) Handle(ctx context.Context, m *stages.Message) (stages.Output, error) {
	page, err := messages.DecodePage(m.Header)
	if err != nil {
		return stages.Output{}, stages.PoisonError(err)
	}
	return p.parse(ctx, page, m)
}

// parse turns one page into its records and its links.
func (p *Parser) parse(ctx context.Context, page *messages.Page, m *stages.Message) (stages.Output, error) {
	spec, err := p.specs.Get(ctx, page.Crawl, page.Rev)
	if err != nil {
		return stages.Output{}, err
	}
	if spec.Deleted(page.Rev) {
		return stages.Output{}, nil
	}
	if err := spec.Blocked(); err != nil {
		return stages.Output{}, err
	}
	plan := p.plans.Get(page.Crawl, spec.Spec)
	if plan.err != nil {
		return stages.Output{}, stages.PoisonError(plan.err)
	}
	body, err := p.body(ctx, page, m, plan)
	if err != nil {
		return stages.Output{}, err
	}
	began := time.Now()
	r, err := p.read(ctx, page, body, plan)
	readSeconds.Observe(time.Since(began).Seconds())
	readBytes.Add(float64(len(body)))
	if err != nil {
		return stages.Output{}, poisonUnless(ctx, err)
	}
	r.rev = spec.Rev
	if r.warning == "" {
		r.warning = renderWarning(page, r.scanned.Text)
	}
	plan.contentless.count(r, body)
	if err := p.checkDuplicate(ctx, r); err != nil {
		return stages.Output{}, err
	}
	out, err := p.output(ctx, m, r)
	if err != nil {
		return stages.Output{}, err
	}
	if p.bus.Log.Enabled(ctx, slog.LevelDebug) {
		p.bus.Log.Debug("parsed", append(subjectOf(page).LogAttrs(ctx), "messages", len(out.Messages()),
			"problems", len(r.problems), "bytes", page.BodySize)...)
	}
	for _, y := range r.byRules.Told {
		if len(y.Joined) > 0 {
			p.bus.Log.Warn("records of several hosts share a key and replace each other: if they are different things, add {host} to the key",
				"crawl", page.Crawl, "rule", y.Rule, "kind", y.Kind, "hosts", y.Joined)
			continue
		}
		p.bus.Log.Warn("fields of a rule have no value in any record: try the rule with seine extract URL",
			"crawl", page.Crawl, "rule", y.Rule, "kind", y.Kind, "records", y.Records, "found_nothing", y.Nothing, "not_of_their_type", y.Unfit)
	}
	if r.warning != "" {
		p.bus.Log.Warn("page incomplete", append(subjectOf(page).LogAttrs(ctx), "warning", r.warning)...)
	}
	r.count()
	return out, nil
}

// poisonUnless marks an error as poison, unless the parser is being stopped.
func poisonUnless(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return err
	}
	return stages.PoisonError(err)
}

// checkDuplicate drops or marks a page that repeats another, or itself at the previous visit, as
// the spec says. Its links are followed anyway.
func (p *Parser) checkDuplicate(ctx context.Context, r *parsedPage) error {
	want := r.plan.spec.Duplicates
	if want.Unchanged == crawlspec.UnchangedDrop && r.page.Unchanged && !r.noRecord {
		r.drop()
		r.unchanged = true
		return nil
	}
	if want.Exact == crawlspec.DuplicateKeep && want.Near == crawlspec.DuplicateKeep || r.noRecord || r.leftOut != "" {
		return nil // a page without a record must not stand for another
	}
	s := pageFingerprint{digest: digestOf(r), visit: r.page.Visit}
	distance := notNear
	if want.Near != crawlspec.DuplicateKeep {
		s.simhash, distance = pageEncoder{r}.simhash(), want.Distance
	}
	v, err := p.duplicates.classify(ctx, r.page.Crawl, s, distance)
	if err != nil || v.of.IsZero() {
		return err
	}
	do := want.Near
	if v.exact && want.Exact != crawlspec.DuplicateKeep {
		do = want.Exact
	}
	switch do {
	case crawlspec.DuplicateMark:
		r.duplicateOf = v.of
		marked.Inc()
	case crawlspec.DuplicateDrop:
		r.drop()
		r.leftOut = fmt.Sprintf("%s: %s the page of visit %s", messages.LeftOutDuplicate, map[bool]string{true: "repeats", false: "nearly repeats"}[v.exact], v.of)
	case crawlspec.DuplicateKeep:
	}
	return nil
}

// drop removes all records of the page.
func (r *parsedPage) drop() {
	r.noRecord, r.records, r.problems = true, nil, nil
	dropped.Inc()
}

// digestOf returns the start of the SHA-256 of the body, from the fetcher if it sent one.
func digestOf(r *parsedPage) uint64 {
	if b, err := hex.DecodeString(r.page.Digest); err == nil && len(b) >= 8 {
		return binary.BigEndian.Uint64(b)
	}
	sum := sha256.Sum256(r.doc.Raw())
	return binary.BigEndian.Uint64(sum[:])
}

// onDeadLetter ends the visit of a page that goes to DEAD, so that the crawl can end.
func (p *Parser) onDeadLetter(m *stages.Message, why error) stages.Output {
	page, err := messages.DecodePage(m.Header)
	if err != nil || page.Part == messages.PartCapture {
		return stages.Output{} // there is no visit, or it is unknown
	}
	c := &messages.Candidates{
		Crawl: page.Crawl, Rev: page.Rev, Source: messages.SourceLink, Referrer: page.URL, Depth: min(page.Depth+1, messages.MaxDepth),
		Run: page.Run, Ends: page.Visit, ParseError: messages.Clip(why.Error()),
	}
	own := messages.Partition(page.URL, p.bus.Layout.Partitions)
	return stages.Output{Then: []*nats.Msg{urlsMsg(own, c)}}
}

// Yields returns the records that this process has made by the record rules of a crawl's newest
// spec, and the number of pages.
func (p *Parser) Yields(crawl string) (all []extract.Yield, pages int64) {
	plan, found := p.plans.Peek(crawl)
	if !found || plan.rules == nil {
		return nil, 0
	}
	return plan.rules.Yields()
}
