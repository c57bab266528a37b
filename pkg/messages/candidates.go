package messages

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"seine/internal/base/jsontext"
)

// Source is the origin of candidates.
type Source string

// Sources of candidates.
const (
	SourceSeed     Source = "seed"     // submitted by a user or a program: defines the scope
	SourceLink     Source = "link"     // found on a page
	SourceRedirect Source = "redirect" // target of a page's redirect
	// SourceUnchanged names no URLs: the referrer is unchanged since an earlier visit, and the URLs
	// found then are found again.
	SourceUnchanged Source = "unchanged"
)

// Candidates is a message on URLS: the URLs of one partition that were found in one place, and, in
// the partition of the page itself, the end of its visit.
type Candidates struct {
	V     int    `json:"v"`
	Crawl string `json:"crawl"`
	Rev   uint64 `json:"rev,omitempty"` // revision of the spec under which the message was made
	// Source is the origin of the URLs, Referrer the page with them.
	Source   Source `json:"source"`
	Referrer string `json:"referrer,omitempty"`
	// Depth is the distance of the URLs from a seed, in links; a seed has 0, and a redirect keeps
	// the depth of its source.
	Depth int `json:"depth"`
	// Redirects is the number of consecutive redirects that led here.
	Redirects int `json:"redirects,omitempty"`
	// Run is the run of the crawl that found the URLs; a URL of an earlier run is visited again.
	Run int64 `json:"run,omitempty"`
	// Era is the era of the visit that found the URLs (EraOf), or of a seed's arrival.
	Era  uint64      `json:"era,omitempty"`
	URLs []Candidate `json:"urls,omitempty"`
	// PageRound is the round of the page's visit in which these links were found, set if the
	// frontier keeps the links of a page: see Spec.KeepsLinks. PagePart counts the messages of the
	// visit to one partition, from 0, and PageDepth is the depth of the page itself.
	PageRound uint64 `json:"page_round,omitempty"`
	PagePart  int    `json:"page_part,omitempty"`
	PageDepth int    `json:"page_depth,omitempty"`
	// SeedList identifies the list of Spec.Seeds with these seeds; a run of the crawl begins with
	// them only while the spec has them. SeedListEnd marks the last seeds of that list in this
	// partition.
	SeedList    uint64 `json:"seed_list,omitempty"`
	SeedListEnd bool   `json:"seed_list_end,omitempty"`
	// Metadata is the metadata of the page with these links, or of the page that redirects to them;
	// links have it only with Inherit, which passes it on further. Seeds have theirs with each URL.
	Metadata Metadata `json:"metadata,omitzero"`
	Inherit  bool     `json:"inherit,omitempty"`
	// Ends is the visit that this message ends: the page was parsed, and everything found on it has
	// been published before.
	Ends Visit `json:"ends,omitzero"`
	// ParseError is why the page of that visit could not be parsed.
	ParseError string `json:"parse_error,omitempty"`
	// Warning describes the part of that page, a sitemap or a feed, that could not be read,
	// although the rest was.
	Warning string `json:"warning,omitempty"`
	// LeftOut is why the spec wants no record of that page: it begins with one of LeftOutReasons
	// and a colon.
	LeftOut string `json:"left_out,omitempty"`
	// Content identifies the text of the page, without parts that only identify the page itself;
	// pages without distinct text share it. 0 means none.
	Content uint64 `json:"content,omitempty"`
	// Records are the numbers of records made of that page by kind, each kind once.
	Records []KindCount `json:"records,omitempty"`
}

// LeftOutDuplicate is the reason in LeftOutReasons for a page that repeats another.
const LeftOutDuplicate = "duplicate"

// LeftOutReasons are the reasons why pages have no record: the declared language of the page, the
// language of its text, a repeat of another page, and any other condition.
var LeftOutReasons = []string{"language", "text_language", LeftOutDuplicate, "condition"}

// LeftOutReason returns the reason in LeftOutReasons with which a text begins.
func LeftOutReason(text string) string {
	reason, _, _ := strings.Cut(text, ":")
	if slices.Contains(LeftOutReasons, reason) {
		return reason
	}
	return LeftOutReasons[len(LeftOutReasons)-1]
}

// BatchBytes returns the maximum bytes of URLs in a message, given the max_payload of the server.
func BatchBytes(maxPayload int64) int { return int(min(256<<10, maxPayload/2)) }

// Batches splits candidates into batches of at most most bytes and MaxBatchURLs URLs, one for each
// message.
func Batches(urls []Candidate, most int) (all [][]Candidate) {
	size, from := 0, 0
	for i := range urls {
		n := urls[i].maxSize()
		if i > from && (size+n > most || i-from == MaxBatchURLs) {
			all = append(all, urls[from:i])
			size, from = 0, i
		}
		size += n
	}
	if from < len(urls) {
		all = append(all, urls[from:])
	}
	return all
}

// InheritFrom gives the links in c the metadata of their page, if they inherit it.
func (c *Candidates) InheritFrom(m Metadata, inherit bool) {
	if inherit {
		c.Metadata, c.Inherit = m, true
	}
}

// KindCount is the number of records of a kind.
type KindCount struct {
	Kind string `json:"kind"`
	N    int64  `json:"n"`
}

// MaxKinds is how many kinds of records are counted separately; others count as KindOther.
const MaxKinds = 64

// Candidate is one canonical URL.
type Candidate struct {
	URL      string `json:"u"`
	Priority *int   `json:"p,omitempty"` // nil means DefaultPriority
	// Metadata and Inherit are those of a Seed.
	Metadata Metadata `json:"m,omitzero"`
	Inherit  bool     `json:"i,omitempty"`
	// Sitemap marks a URL as a sitemap: robots.txt or a sitemap index names it, a sitemap redirects
	// to it, or it was submitted as one.
	Sitemap bool `json:"s,omitempty"`
}

// maxSize bounds the bytes of the candidate in a message: a URL has the same length in JSON, other
// texts up to 6 times.
func (c *Candidate) maxSize() int {
	size := len(`{"u":"","p":9,"m":{},"i":true,"s":true},`) + len(c.URL)
	for name, value := range c.Metadata {
		size += len(`"":"",`) + 6*(len(name)+len(value))
	}
	return size
}

// Encode returns the message's payload.
func (c *Candidates) Encode() []byte {
	c.V = Version
	c.ParseError, c.Warning, c.LeftOut = Clip(c.ParseError), Clip(c.Warning), Clip(c.LeftOut)
	return Encode(c)
}

// DecodeCandidates decodes a message on URLS. It trusts that URLs are canonical: the frontier
// checks new ones.
func DecodeCandidates(payload []byte) (*Candidates, error) {
	c := new(Candidates)
	if err := Decode(payload, c, &c.V); err != nil {
		return nil, fmt.Errorf("decode candidates: %w", err)
	}
	if err := c.check(); err != nil {
		return nil, fmt.Errorf("decode candidates: %w", err)
	}
	return c, nil
}

func (c *Candidates) check() error {
	if err := CheckCrawl(c.Crawl); err != nil {
		return err
	}
	switch c.Source {
	case SourceSeed, SourceLink, SourceRedirect:
	case SourceUnchanged:
		if c.Referrer == "" || c.PageRound == 0 || len(c.URLs) > 0 || !c.Ends.IsZero() {
			return errors.New("source unchanged: must have a referrer and page_round, and neither urls nor ends")
		}
	default:
		return fmt.Errorf("source %q: must be seed, link, redirect or unchanged", c.Source)
	}
	if err := checkDepth(c.Depth); err != nil {
		return err
	}
	switch {
	case (c.SeedList != 0 || c.SeedListEnd) && c.Source != SourceSeed:
		return errors.New("seed_list and seed_list_end: the source must be seed")
	case c.PagePart < 0 || c.PagePart > maxPart:
		return fmt.Errorf("page_part %d: must be from 0 to %d", c.PagePart, maxPart)
	case checkDepth(c.PageDepth) != nil:
		return fmt.Errorf("page_depth %d: must be from 0 to %d", c.PageDepth, MaxDepth)
	case c.Redirects < 0 || c.Run < 0:
		return errors.New("redirects and run must not be negative")
	case c.Era > MaxEra:
		return fmt.Errorf("era %d: must be at most %d", c.Era, MaxEra)
	case len(c.URLs) > MaxBatchURLs:
		return fmt.Errorf("%d URLs: at most %d in one message", len(c.URLs), MaxBatchURLs)
	}
	for i := range c.URLs {
		if err := c.checkURL(&c.URLs[i]); err != nil {
			return err
		}
	}
	if c.Metadata != nil && c.Source != SourceLink && c.Source != SourceRedirect {
		return errors.New("metadata: the source must be link or redirect; that of seeds is with each URL")
	}
	return cmp.Or(c.Metadata.Check(c.Inherit), checkText("parse_error", c.ParseError), checkText("warning", c.Warning), checkText("left_out", c.LeftOut), checkKinds(c.Records))
}

func (c *Candidates) checkURL(u *Candidate) error {
	if u.Priority != nil && (*u.Priority < 0 || *u.Priority > MaxPriority) {
		return fmt.Errorf("priority %d of %s: must be from 0 to %d", *u.Priority, Clip(u.URL), MaxPriority)
	}
	if u.Metadata != nil && c.Source != SourceSeed {
		return fmt.Errorf("m of %s: the source must be seed", Clip(u.URL))
	}
	if err := u.Metadata.Check(u.Inherit); err != nil {
		return fmt.Errorf("%s: %w", Clip(u.URL), err)
	}
	return nil
}

func checkKinds(counts []KindCount) error {
	if len(counts) > MaxKinds {
		return fmt.Errorf("records: %d kinds: at most %d in one message", len(counts), MaxKinds)
	}
	for _, k := range counts {
		if k.N < 1 || !ValidKind(k.Kind) {
			return fmt.Errorf("records: %d of kind %q: must be at least 1, of a kind with a name as in a spec", k.N, Clip(k.Kind))
		}
	}
	return nil
}

// MaxDepth is the largest depth, bounded by the encoding of the queue order.
const MaxDepth = 1<<16 - 1

// maxPart is the largest PagePart.
const maxPart = 1<<16 - 1

// Encode encodes a message type or another stored type of Seine, none of which can fail to encode.
func Encode(v any) []byte {
	marshal := jsontext.Marshal
	switch v.(type) {
	case *Record, *VisitRecord, *Result: // lines of an output
		marshal = jsontext.MarshalRecord
	}
	b, err := marshal(v)
	if err != nil {
		panic(fmt.Sprintf("encode %T: %v", v, err))
	}
	return b
}

// ErrVersion is returned for a message of another schema version.
var ErrVersion = errors.New("unknown schema version")

// Decode decodes one JSON value, whose schema version it checks at version. Unknown fields are
// ignored, so that a version can gain fields that older readers need not know.
func Decode(payload []byte, v any, version *int) error {
	if err := jsontext.Unmarshal(payload, v); err != nil {
		return err
	}
	return checkVersion(*version)
}

func checkVersion(v int) error {
	if v != Version {
		return fmt.Errorf("v is %d, this build reads %d: %w", v, Version, ErrVersion)
	}
	return nil
}
