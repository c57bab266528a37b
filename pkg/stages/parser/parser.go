package parser

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/klauspost/compress/zstd"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"seine/internal/coding"
	"seine/internal/htmlpage"
	"seine/internal/robots"
	"seine/pkg/messages"
	"seine/pkg/stages"
)

// Parser is one process of the stage.
type Parser struct {
	cfg   Config
	bus   *stages.Bus
	specs *stages.Specs
	unzip *zstd.Decoder
	sent  *linkCache
	rules stages.Normalizers
}

// New returns a parser. It starts nothing.
func New(cfg Config, bus *stages.Bus, specs *stages.Specs) (*Parser, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	unzip, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(cfg.workers()), zstd.WithDecoderMaxMemory(2<<30))
	if err != nil {
		return nil, fmt.Errorf("make zstd decoder: %w", err)
	}
	return &Parser{cfg: cfg, bus: bus, specs: specs, unzip: unzip, sent: newLinkCache()}, nil
}

// Run works until ctx is done, then finishes what it holds.
func (p *Parser) Run(ctx context.Context) error {
	defer p.unzip.Close()
	r := &stages.Runner{
		Stage: messages.StageParser, Bus: p.bus, Stream: messages.StreamPages,
		Consumer: messages.WorkConsumer(messages.ConsumerParse, "seine.pages.*.*", 4096),
		Workers:  p.cfg.workers(), Prefetch: p.cfg.Prefetch,
		Handle: p.handle, Bury: p.bury, Drain: time.Duration(p.cfg.Drain),
	}
	if err := r.Run(ctx); err != nil {
		return fmt.Errorf("parser: %w", err)
	}
	return nil
}

// handle turns one page into its record and its links.
func (p *Parser) handle(ctx context.Context, m *stages.Message) (stages.Output, error) {
	page, err := messages.DecodePage(m.Header)
	if err != nil {
		return stages.Output{}, stages.PoisonError(err)
	}
	spec, err := p.specs.Get(ctx, page.Crawl, page.Rev)
	if err != nil {
		return stages.Output{}, err
	}
	body, err := p.body(ctx, page, m.Data)
	if err != nil {
		return stages.Output{}, err
	}
	out, err := p.read(page, body, spec.Spec)
	if err != nil {
		return stages.Output{}, stages.PoisonError(err)
	}
	if page.BodyObject != "" {
		learn := out.Done
		out.Done = func() { learn(); p.bodyRead(ctx, page) }
	}
	return out, nil
}

// read reads a page. A sitemap is no page: it gives links, and no record.
func (p *Parser) read(page *messages.Page, body []byte, spec *messages.Spec) (stages.Output, error) {
	partition := messages.Partition(page.URL, p.bus.Layout.Partitions)
	if site := readSitemap(page, body, spec); site != nil {
		urls, depth := p.listed(page, site, spec)
		return p.links(page, partition, urls, depth, 0), nil
	}
	found, err := p.scan(page, body, spec)
	if err != nil {
		return stages.Output{}, err
	}
	found.Restrict(headerDirectives(page, spec))
	urls := normalized(follow(found, spec), page.URL, p.rules.Of(page.Crawl, spec))
	out := p.links(page, partition, candidates(urls), page.Depth+1, found.Content)
	out.First = append(out.First, p.record(page, partition, found))
	return out, nil
}

func candidates(urls []string) []messages.Candidate {
	cs := make([]messages.Candidate, len(urls))
	for i, u := range urls {
		cs[i].URL = u
	}
	return cs
}

// body returns the decoded body of a page, from the message or from the object
// store.
func (p *Parser) body(ctx context.Context, page *messages.Page, payload []byte) ([]byte, error) {
	_, _, payload, err := page.Split(payload)
	if err != nil {
		return nil, stages.PoisonError(err)
	}
	if page.BodyObject != "" {
		store, err := p.bus.JS.ObjectStore(ctx, messages.BucketBodies)
		if err != nil {
			return nil, fmt.Errorf("open object store %s: %w", messages.BucketBodies, err)
		}
		payload, err = store.GetBytes(ctx, page.BodyObject)
		if errors.Is(err, jetstream.ErrObjectNotFound) {
			return nil, stages.PoisonError(fmt.Errorf("body %s is no longer in the object store", page.BodyObject))
		}
		if err != nil {
			return nil, fmt.Errorf("read body %s: %w", page.BodyObject, err)
		}
	}
	body, err := p.decoded(page, payload)
	if err != nil {
		return nil, stages.PoisonError(fmt.Errorf("decompress body: %w", err))
	}
	return body, nil
}

// decoded undoes the encoding of a body. The fetcher has seen that it can be.
func (p *Parser) decoded(page *messages.Page, payload []byte) ([]byte, error) {
	room := make([]byte, 0, min(page.BodySize, 64<<20))
	switch page.BodyEncoding {
	case "":
		return payload, nil
	case messages.BodyZstd:
		return p.unzip.DecodeAll(payload, room)
	}
	names, err := coding.Parse([]string{page.BodyEncoding})
	if err != nil {
		return nil, err
	}
	z := coding.NewReader(bytes.NewReader(payload), names, 0)
	defer func() { _ = z.Close() }()
	body := bytes.NewBuffer(room)
	_, err = io.Copy(body, io.LimitReader(z, page.BodySize))
	return body.Bytes(), err
}

// bodyRead lets the janitor delete the body. If that fails, the body stays
// longer than it must.
func (p *Parser) bodyRead(ctx context.Context, page *messages.Page) {
	if err := stages.BodyRead(ctx, p.bus, page.BodyObject); err != nil {
		p.bus.Log.Warn("large body stays", "error", err)
	}
}

// scan reads the page by its type. A type without a reader gives a record
// without text.
func (p *Parser) scan(page *messages.Page, body []byte, spec *messages.Spec) (htmlpage.Page, error) {
	switch kind(page.ContentType, body) {
	case kindHTML:
		return htmlpage.Scan(body, page.URL, page.ContentType, htmlpage.Options{
			Agent: spec.ProductToken(), MaxText: int(p.cfg.MaxText), MaxLinks: p.cfg.MaxLinks,
			Now: page.FetchedAt,
		})
	case kindText:
		text, charset, err := htmlpage.Plain(body, page.ContentType)
		return htmlpage.Page{Text: clip(text, int(p.cfg.MaxText)), Charset: charset}, err
	}
	return htmlpage.Page{}, nil
}

// headerDirectives reads X-Robots-Tag, by the time of the fetch: a page that is
// parsed again gives the same record. HTTP/2 has field names in lower case, and
// a fetcher of another make may leave them so.
func headerDirectives(page *messages.Page, spec *messages.Spec) robots.Directives {
	var values []string
	for name, v := range page.Header {
		if strings.EqualFold(name, "X-Robots-Tag") {
			values = append(values, v...)
		}
	}
	return robots.HeaderDirectives(values, spec.ProductToken(), page.FetchedAt)
}

// follow returns the URLs that may be followed: not those of a page, or marked
// one by one, as nofollow, unless the spec ignores robots.
func follow(found htmlpage.Page, spec *messages.Spec) []string {
	obey := spec.Robots == messages.RobotsObey
	if obey && found.NoFollow {
		return nil
	}
	urls := make([]string, 0, len(found.Links))
	for _, l := range found.Links {
		if !obey || !l.NoFollow {
			urls = append(urls, l.URL)
		}
	}
	return urls
}

// links distributes what was found over the partitions. Links that were sent
// from here before, from nowhere further, are left out.
func (p *Parser) links(page *messages.Page, own int, urls []messages.Candidate, depth int, content uint64) stages.Output {
	depth, from := min(depth, messages.MaxDepth), origin{page.Crawl, page.Run}
	batches := make(map[int][]messages.Candidate)
	var fresh []string
	for _, u := range urls {
		if u.Priority == nil && p.sent.has(from, u.URL, depth) {
			continue
		}
		fresh = append(fresh, u.URL)
		to := messages.Partition(u.URL, p.bus.Layout.Partitions)
		batches[to] = append(batches[to], u)
	}
	out := stages.Output{Done: func() { p.sent.add(from, fresh, depth) }}
	batch := func(urls []messages.Candidate) *messages.Candidates {
		return &messages.Candidates{
			Crawl: page.Crawl, Rev: page.Rev, Source: messages.SourceLink, Referrer: page.URL, Depth: depth,
			Run: page.Run, URLs: urls,
		}
	}
	for to, cs := range batches {
		for len(cs) > messages.MaxBatchURLs || to != own && len(cs) > 0 {
			n := min(len(cs), messages.MaxBatchURLs)
			out.First = append(out.First, urlsMsg(to, batch(cs[:n])))
			cs = cs[n:]
		}
		batches[to] = cs
	}
	last := batch(batches[own])
	last.Ends, last.Content = page.Visit, content
	if len(out.First) > 0 {
		out.Then = append(out.Then, urlsMsg(own, last))
	} else {
		out.First = append(out.First, urlsMsg(own, last))
	}
	return out
}

func urlsMsg(p int, c *messages.Candidates) *nats.Msg {
	return &nats.Msg{Subject: messages.SubjectURLs(c.Crawl, p), Data: c.Encode()}
}

// record makes the record of a page.
func (p *Parser) record(page *messages.Page, partition int, found htmlpage.Page) *nats.Msg {
	r := &messages.Record{
		URL: page.URL, Status: page.Status, ContentType: page.ContentType,
		Title: found.Title, Description: found.Description, Canonical: found.Canonical,
		Language: found.Language, Charset: found.Charset, NoIndex: found.NoIndex, Text: found.Text,
		FetchedAt: page.FetchedAt, Depth: page.Depth, Referrer: page.Referrer, Crawl: page.Crawl, Visit: page.Visit,
	}
	msg := r.Msg(partition)
	for len(msg.Data) > maxRecord { // text full of what JSON must escape
		r.Text = clip(r.Text, len(r.Text)/2)
		msg = r.Msg(partition)
	}
	return msg
}

// maxRecord leaves room for headers in a message of 1 MiB.
const maxRecord = 1000 << 10

// bury ends the visit of a page that goes to DEAD, so that the crawl can end.
func (p *Parser) bury(m *stages.Message, why error) stages.Output {
	page, err := messages.DecodePage(m.Header)
	if err != nil {
		return stages.Output{} // no visit can be told
	}
	c := &messages.Candidates{
		Crawl: page.Crawl, Rev: page.Rev, Source: messages.SourceLink, Referrer: page.URL, Depth: min(page.Depth+1, messages.MaxDepth),
		Run: page.Run, Ends: page.Visit, ParseError: messages.Clip(why.Error()),
	}
	own := messages.Partition(page.URL, p.bus.Layout.Partitions)
	return stages.Output{Then: []*nats.Msg{urlsMsg(own, c)}}
}
