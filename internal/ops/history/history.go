// Package history collects the history of one URL from all stages: the frontier's state, the
// messages of its visits that the streams still hold, and the written output.
package history

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"seine/internal/base/jsontext"
	"seine/internal/base/weburl"
	"seine/internal/ops/deadletters"
	"seine/internal/output"
	"seine/internal/streams/jsclient"
	"seine/pkg/messages"
	"seine/pkg/stages"
	"seine/pkg/stages/frontier/frontierapi"
	"seine/pkg/stages/parser"
)

// History is the history of a URL in a crawl.
type History struct {
	Crawl     string `json:"crawl"`
	Asked     string `json:"asked"`
	Canonical string `json:"canonical"` // form of Asked; the crawl knows the URL by the one in Explanation
	Partition int    `json:"partition"`
	frontierapi.Explanation
	// Trace is the trace ID of its visits, if they are sampled.
	Trace string `json:"trace,omitempty"`
	// Request is its message on FETCH, if there is one.
	Request *StoredMessage           `json:"request,omitempty"`
	Results []Result                 `json:"results,omitempty"`
	Pages   []Page                   `json:"pages,omitempty"`
	Records []Record                 `json:"records,omitempty"`
	Dead    []deadletters.DeadLetter `json:"dead,omitempty"`
	Writers []Writer                 `json:"writers,omitempty"`
	// From lists the redirects that led to the URL, the first one first; To lists the redirects
	// that it leads to.
	From []Hop `json:"redirected_from,omitempty"`
	To   []Hop `json:"redirected_to,omitempty"`
	// Near lists similar URLs that are known, and other crawls that know the URL, if the crawl does
	// not know it.
	Near []SimilarURL `json:"near,omitempty"`
	// NoRecord lists for each rule of the spec why it makes no record of the newest page.
	NoRecord []string `json:"no_record,omitempty"`
	// Remedy names the key of the spec that excludes the URL, and a change that admits it.
	Remedy   string   `json:"remedy,omitempty"`
	Searches []Search `json:"searches,omitempty"`
	// Out is set if an output was searched for the records, Archive if it is an archive and was
	// searched for captures, Sealed if its indexes are encrypted.
	Out      bool      `json:"out_searched,omitempty"`
	Archive  bool      `json:"archive_searched,omitempty"`
	Sealed   bool      `json:"archive_encrypted,omitempty"`
	Captures []Capture `json:"captures,omitempty"`

	requestSubject string // subject of Request, "" if History was read from elsewhere
}

// Result is a message of RESULTS.
type Result struct {
	StoredMessage
	messages.Result
}

// Page is a message of PAGES.
type Page struct {
	StoredMessage
	Visit       messages.Visit `json:"visit"`
	Status      int            `json:"status"`
	ContentType string         `json:"content_type,omitempty"`
	BodySize    int64          `json:"body_size"`
	Object      string         `json:"object,omitempty"` // object with the body
	// Gone is set if the object was deleted after all consumers had read it.
	Gone bool `json:"gone,omitempty"`
	// DuplicateOf is the visit of the page that this one duplicates, according to the parser.
	DuplicateOf messages.Visit `json:"duplicate_of,omitzero"`
	Exact       bool           `json:"exact,omitempty"`
}

// Record is a message of RECORDS.
type Record struct {
	StoredMessage
	Kind string `json:"kind"`
	// Files are the files of the output that contain the record.
	Files []string `json:"files,omitempty"`
	// Table is the table with the record, if the output is a database.
	Table  string `json:"table,omitempty"`
	Commit string `json:"commit,omitempty"`
}

// Writer is the position of a writer in the partition of the URL.
type Writer struct {
	Name   string `json:"name"`
	Stream string `json:"stream"`
	// Committed is the sequence of the last committed message. All messages before it are committed
	// too.
	Committed uint64 `json:"committed"`
}

// Hop is a step in a chain of redirects.
type Hop struct {
	URL    string         `json:"url"`
	State  string         `json:"state,omitempty"` // "" if it is unknown
	Class  messages.Class `json:"class,omitempty"`
	Status int            `json:"status,omitempty"`
	// Loop is set if the chain has visited the URL before.
	Loop bool `json:"loop,omitempty"`
}

// SimilarURL is a known URL that resembles the requested one.
type SimilarURL struct {
	Crawl  string `json:"crawl"`
	URL    string `json:"url"`
	State  string `json:"state"`
	Reason string `json:"reason,omitempty"`
}

// Options selects a URL and the sources to search.
type Options struct {
	Crawl, URL string
	// Within is how far from known times messages are searched.
	Within time.Duration
	// Out, if set, is the output to search.
	Out *output.Output
	// TableOf returns the table of a kind of records, if Out is a database.
	TableOf func(kind string) string
	// Brief omits searches of streams that need a consumer.
	Brief bool
}

// skew is the tolerated difference between the clocks of a frontier and a broker.
const skew = 5 * time.Second

// finder collects one history.
type finder struct {
	History
	ctx    context.Context
	bus    *stages.Bus
	client frontierapi.Client
	q      Options
	prefix string         // identity prefix of all its visits
	page   *messages.Page // the newest of Pages
}

// ErrNotURL is returned for text that is not a URL and is in no dead letter.
var ErrNotURL = errors.New("not a URL")

// Find returns the history of a URL.
func Find(ctx context.Context, bus *stages.Bus, q Options) (*History, error) {
	f := &finder{ctx: ctx, bus: bus, client: frontierapi.Client{Bus: bus}, q: q}
	f.Crawl, f.Asked = q.Crawl, q.URL
	canonical, err := weburl.CanonicalizeRoute(q.URL)
	if err != nil && q.Brief {
		return nil, fmt.Errorf("%w: %w", ErrNotURL, err)
	}
	if err != nil {
		if lost := f.deadSeeds(); lost != nil {
			return nil, lost
		}
		if len(f.Dead) == 0 {
			return nil, fmt.Errorf("%w: %w", ErrNotURL, err)
		}
		return &f.History, nil
	}
	f.Canonical = canonical
	if f.Explanation, err = f.client.Explain(ctx, q.Crawl, canonical); err != nil {
		return nil, err
	}
	f.Remedy = specFinder{f}.remedy()
	f.locate()
	for _, step := range f.steps() {
		if err := step(); err != nil {
			return nil, err
		}
	}
	return &f.History, nil
}

// steps returns the searches to run after the frontier's answer.
func (f *finder) steps() []func() error {
	switch {
	case !f.Known && f.q.Brief:
		return []func() error{f.near}
	case !f.Known:
		return []func() error{f.deadSeeds, f.near}
	case f.q.Brief:
		return []func() error{f.request, f.writers, f.redirects}
	default:
		return []func() error{f.request, f.results, f.pages, f.records, specFinder{f}.noRecord, f.letters, f.writers, f.files, f.redirects}
	}
}

// locate sets the partition of the URL and the prefix of its message identities.
func (f *finder) locate() {
	f.Partition = messages.Partition(f.URL, f.bus.Layout.Partitions)
	f.prefix = f.Crawl + "." + messages.HashURL(f.URL).String() + "."
}

// windows returns the times at which messages of the visits may have been stored. A result is
// applied after it is stored, and a page is stored before its result.
func (f *finder) windows() (ws []timeRange) {
	for _, a := range f.History.History {
		at := time.UnixMilli(a.AtMS)
		ws = append(ws, timeRange{at.Add(-f.q.Within - time.Duration(a.TookMS)*time.Millisecond), at.Add(skew)})
	}
	return ws
}

// request looks up the request on FETCH. If it is gone, its result is in flight.
func (f *finder) request() error {
	if f.FetchSeq == 0 {
		return nil
	}
	// Viewers may not read from replicas (docs/security.md).
	m, err := f.bus.ReadFromLeader(f.ctx, messages.StreamFetch, jsclient.Lookup{Seq: f.FetchSeq})
	if errors.Is(err, jetstream.ErrMsgNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	header, err := nats.DecodeHeadersMsg(m.Header)
	if err != nil {
		return fmt.Errorf("read the header of message %d of %s: %w", m.Seq, messages.StreamFetch, err)
	}
	at := stored(messages.StreamFetch, m.Seq, m.Time, header)[0]
	at.Size = len(m.Data)
	f.Request, f.requestSubject = &at, m.Subject
	f.trace(at)
	return nil
}

func (f *finder) trace(s StoredMessage) {
	if s.Trace != "" {
		f.Trace = s.Trace
	}
}

// seek searches a stream for messages of the visits.
func (f *finder) seek(stream string, subject func(crawl string, p int) string, ws []timeRange, found func(StoredMessage, nats.Header) error) error {
	if len(ws) == 0 {
		return nil
	}
	s, err := scan(f.ctx, f.bus, stream, subject(f.Crawl, f.Partition), f.prefix, ws, func(at StoredMessage, h nats.Header) error {
		f.trace(at)
		return found(at, h)
	})
	f.Searches = append(f.Searches, s)
	return err
}

func (f *finder) results() error {
	return f.seek(messages.StreamResults, messages.SubjectResults, f.windows(), func(at StoredMessage, _ nats.Header) error {
		r := Result{StoredMessage: at}
		data, err := f.payload(at)
		if err == nil && data != nil {
			var result *messages.Result
			if result, err = messages.DecodeResult(data); err == nil {
				r.Result = *result
			}
		}
		f.Results = append(f.Results, r)
		return err
	})
}

// payload returns the payload of a message, nil if it was just purged.
func (f *finder) payload(at StoredMessage) ([]byte, error) {
	s, err := f.bus.JS.Stream(f.ctx, at.Stream)
	if err != nil {
		return nil, fmt.Errorf("open stream %s: %w", at.Stream, err)
	}
	m, err := s.GetMsg(f.ctx, at.Seq)
	if errors.Is(err, jetstream.ErrMsgNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", at.Stream, err)
	}
	if at.Part == nil {
		return m.Data, nil
	}
	parts, err := messages.SplitBatch(m.Header, m.Data)
	if err != nil || *at.Part >= len(parts) {
		return nil, err
	}
	return parts[*at.Part].Data, nil
}

func (f *finder) pages() error {
	return f.seek(messages.StreamPages, messages.SubjectAny, f.windows(), func(at StoredMessage, h nats.Header) error {
		page, err := messages.DecodePage(h)
		if err != nil || page.IsAnswer() {
			return err
		}
		p := Page{StoredMessage: at, Visit: page.Visit, Status: page.Status, ContentType: page.ContentType, BodySize: page.BodySize, Object: page.BodyObject}
		if p.DuplicateOf, p.Exact, err = parser.DuplicateOf(f.ctx, f.bus, page); err != nil {
			return err
		}
		if p.Object != "" {
			there, err := f.bus.HasBody(f.ctx, p.Object)
			if err != nil {
				return err
			}
			p.Gone = !there
		}
		f.Pages, f.page = append(f.Pages, p), page
		return nil
	})
}

// records searches from the storage of the pages on, and before the end of the visit was applied.
func (f *finder) records() error {
	var ws []timeRange
	for i := range f.Pages {
		ws = append(ws, timeRange{f.Pages[i].At, f.Pages[i].At.Add(f.q.Within)})
	}
	if len(f.History.History) > 0 && f.ChangedMS > 0 {
		at := time.UnixMilli(f.ChangedMS)
		ws = append(ws, timeRange{at.Add(-f.q.Within), at.Add(skew)})
	}
	return f.seek(messages.StreamRecords, messages.SubjectRecords, ws, func(at StoredMessage, _ nats.Header) error {
		r := Record{StoredMessage: at, Kind: messages.KindPage}
		if parts := strings.Split(strings.TrimPrefix(at.ID, f.prefix), "."); len(parts) > 1 { // round, kind, number
			r.Kind = parts[1]
		}
		f.Records = append(f.Records, r)
		return nil
	})
}

// letters collects dead letters of any stage about the URL.
func (f *finder) letters() error {
	filter := deadletters.Filter{Crawl: f.Crawl}
	switch ws := merged(f.windows()); {
	case len(ws) > 0:
		filter.Since = ws[0].From
	case f.Sent > 0:
		filter.Since = time.UnixMilli(f.ChangedMS).Add(-f.q.Within)
	default: // only the frontier can have reported it
		filter.Stage = messages.StageFrontier
	}
	return f.eachLetter(filter, func(l *deadletters.DeadLetter) bool {
		return l.URL == f.URL || strings.HasPrefix(l.Message.Header.Get(messages.HeaderDeadID), f.prefix)
	})
}

// deadSeeds collects seeds that could not be parsed as URLs.
func (f *finder) deadSeeds() error {
	filter := deadletters.Filter{Crawl: f.Crawl, Stage: messages.StageFrontier}
	return f.eachLetter(filter, func(l *deadletters.DeadLetter) bool {
		text := strings.TrimSpace(string(l.Message.Data))
		var fed messages.Seed
		if jsontext.Unmarshal(l.Message.Data, &fed) == nil && fed.URL != "" {
			text = fed.URL
		}
		return text == f.Asked
	})
}

var errEnough = errors.New("enough was looked at")

// eachLetter collects the letters that are about the URL.
func (f *finder) eachLetter(filter deadletters.Filter, about func(*deadletters.DeadLetter) bool) error {
	s := Search{Stream: messages.StreamDead}
	err := deadletters.Each(f.ctx, f.bus, filter, func(l *deadletters.DeadLetter) error {
		if s.Looked == maxLooked {
			s.Cut = true
			f.Searches = append(f.Searches, s)
			return errEnough
		}
		s.Looked++
		if about(l) {
			f.Dead = append(f.Dead, *l)
		}
		return nil
	})
	if errors.Is(err, errEnough) {
		return nil
	}
	return err
}

// writers collects the writers of the partition.
func (f *finder) writers() error {
	for _, stream := range []string{messages.StreamRecords, messages.StreamPages} {
		consumers, err := f.bus.Consumers(f.ctx, stream)
		if err != nil {
			return err
		}
		for _, c := range consumers {
			name, ok := strings.CutPrefix(c.Config.Durable, messages.ConsumerWriter+"-")
			name, mine := strings.CutSuffix(name, fmt.Sprint("-", f.Partition))
			if ok && mine {
				f.Writers = append(f.Writers, Writer{Name: name, Stream: stream, Committed: c.AckFloor.Stream})
			}
		}
	}
	return nil
}

// files finds the files of an output that have the records, or the captures in an archive.
func (f *finder) files() error {
	if f.q.Out == nil {
		return nil
	}
	refs, err := f.q.Out.List(f.Partition)
	if err != nil {
		return fmt.Errorf("read commits: %w", err)
	}
	if f.Archive, err = f.isArchive(refs); err != nil {
		return err
	}
	if f.Archive {
		return f.captures(refs)
	}
	f.Out = true
	s, err := f.bus.JS.Stream(f.ctx, messages.StreamRecords)
	if err != nil {
		return fmt.Errorf("open stream %s: %w", messages.StreamRecords, err)
	}
	for i := range f.Records {
		if err := f.inFiles(&f.Records[i], refs, s.CachedInfo().Created); err != nil {
			return err
		}
	}
	return nil
}

// inFiles finds the commit with the sequence of a record in the same stream, and its files that may
// have the record: those of the crawl and the kind.
func (f *finder) inFiles(r *Record, refs []output.Ref, created time.Time) error {
	for i := len(refs) - 1; i >= 0; i-- {
		if refs[i].StreamCreated != output.CreatedStamp(created) || refs[i].First > r.Seq {
			continue
		}
		c, err := f.q.Out.Read(refs[i])
		if err != nil {
			return fmt.Errorf("read commits: %w", err)
		}
		if !c.Created.Equal(created) {
			continue
		}
		if c.LastSeq < r.Seq {
			return nil // no earlier commit of this stream has it
		}
		r.Commit = c.Name().String()
		if f.q.TableOf != nil {
			r.Table = f.q.TableOf(r.Kind)
			return nil
		}
		for _, file := range c.Files {
			if file.Crawl == f.Crawl && file.IndexOf == "" && (file.Kind == r.Kind || file.Kind == "" && (file.Kinds == nil || file.Kinds[r.Kind] > 0)) {
				r.Files = append(r.Files, file.Path)
			}
		}
		r.Files = f.ownFiles(r, r.Files)
		return nil
	}
	return nil
}

// ownFiles selects, among files with one record each, those named after the record's identity, the
// hash of its URL, or its path.
func (f *finder) ownFiles(r *Record, files []string) []string {
	if len(files) < 2 {
		return files
	}
	data, err := json.Marshal(map[string]string{"url": f.URL})
	var own []string
	for _, template := range []string{"{id}", "{url_hash}", "{host}/{path}"} {
		key, bad := output.ParseKey(template)
		name, none := key.Path(&output.KeyRecord{ID: r.ID, Crawl: f.Crawl, Kind: r.Kind, Data: data})
		if errors.Join(err, bad, none) != nil {
			continue
		}
		for _, file := range files {
			if strings.HasSuffix("/"+strings.TrimSuffix(file, path.Ext(file)), "/"+name) {
				own = append(own, file)
			}
		}
	}
	if len(own) == 0 {
		return files
	}
	return own
}
