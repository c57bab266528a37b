package messages

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"seine/internal/base/jsontext"
)

// Source says where candidates come from.
type Source string

// Sources of candidates.
const (
	SourceSeed     Source = "seed"     // fed by a person or a program: defines the scope
	SourceLink     Source = "link"     // found on a page
	SourceRedirect Source = "redirect" // where a page sent us
	// SourceUnchanged names no URLs: the referrer is unchanged since an earlier visit,
	// and what was found on it then is found again.
	SourceUnchanged Source = "unchanged"
)

// Candidates is a message on URLS: the URLs of one partition that were found
// in one place, and, in the partition of the page itself, the end of its visit.
type Candidates struct {
	V     int    `json:"v"`
	Crawl string `json:"crawl"`
	Rev   uint64 `json:"rev,omitempty"` // revision of the spec that it was made under
	// Source says where the URLs come from, Referrer on which page.
	Source   Source `json:"source"`
	Referrer string `json:"referrer,omitempty"`
	// Depth is the distance of the URLs from a seed, in links; a seed has 0, and
	// a redirect keeps the depth of what redirected.
	Depth int `json:"depth"`
	// Redirects counts the redirects in a row that led here.
	Redirects int `json:"redirects,omitempty"`
	// Run is the run of the crawl that found them; a URL of an earlier run is
	// visited again.
	Run int64 `json:"run,omitempty"`
	// Era is that of the visit that found them (EraOf), or of a seed's arrival.
	Era  uint64      `json:"era,omitempty"`
	URLs []Candidate `json:"urls,omitempty"`
	// PageRound is the round of the page's visit in which these links were found, set
	// where the frontier keeps the links of a page: see Spec.KeepsLinks. PagePart counts the
	// messages of the visit to one partition, from 0, and PageDepth is the depth of the
	// page itself.
	PageRound uint64 `json:"page_round,omitempty"`
	PagePart  int    `json:"page_part,omitempty"`
	PageDepth int    `json:"page_depth,omitempty"`
	// SeedList tells which list of Spec.Seeds these seeds are of; a run of the crawl
	// begins with them only while the spec has them. SeedListEnd says that they are the
	// last of that list in this partition.
	SeedList    uint64 `json:"seed_list,omitempty"`
	SeedListEnd bool   `json:"seed_list_end,omitempty"`
	// Metadata is that of the page which they are found on, or which redirects to
	// them, and Inherit whether what is found from there has it too: links have it only
	// then. That of seeds is with each URL.
	Metadata Metadata `json:"metadata,omitzero"`
	Inherit  bool     `json:"inherit,omitempty"`
	// Ends names the visit that this message brings to its end: the page was
	// parsed, and everything found on it has been published before.
	Ends Visit `json:"ends,omitzero"`
	// ParseError says why the page of that visit gave nothing.
	ParseError string `json:"parse_error,omitempty"`
	// Warning says what of that page, a sitemap or a feed, could not be read, though the
	// rest was.
	Warning string `json:"warning,omitempty"`
	// LeftOut says why the spec wants no record of that page: it begins with one of
	// LeftOutReasons and a colon.
	LeftOut string `json:"left_out,omitempty"`
	// Content tells pages apart by their text, without what says only which page
	// it is; pages without distinct text share it. 0 is none.
	Content uint64 `json:"content,omitempty"`
	// Records are how many records were made of that page, by kind, each kind once.
	Records []KindCount `json:"records,omitempty"`
}

// LeftOutDuplicate is the one of LeftOutReasons for a page that repeats another.
const LeftOutDuplicate = "duplicate"

// LeftOutReasons are why pages have no record: the language that a page has, that of its
// text, that it repeats another page, and any other condition.
var LeftOutReasons = []string{"language", "text_language", LeftOutDuplicate, "condition"}

// LeftOutReason is the one of LeftOutReasons that a text begins with.
func LeftOutReason(text string) string {
	reason, _, _ := strings.Cut(text, ":")
	if slices.Contains(LeftOutReasons, reason) {
		return reason
	}
	return LeftOutReasons[len(LeftOutReasons)-1]
}

// BatchBytes is how many bytes of URLs a message has at most on a server with a max_payload.
func BatchBytes(maxPayload int64) int { return int(min(256<<10, maxPayload/2)) }

// Batches splits candidates into as many as fit a message each, which has at most so many bytes of them.
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

// InheritFrom gives the URLs, which are links, the metadata of the page that they are found
// on, if they inherit it.
func (c *Candidates) InheritFrom(m Metadata, inherit bool) {
	if inherit {
		c.Metadata, c.Inherit = m, true
	}
}

// KindCount is how many records there are of a kind.
type KindCount struct {
	Kind string `json:"kind"`
	N    int64  `json:"n"`
}

// MaxKinds is how many kinds of records are counted separately; what is
// of others counts as KindOther.
const MaxKinds = 64

// Candidate is one canonical URL.
type Candidate struct {
	URL      string `json:"u"`
	Priority *int   `json:"p,omitempty"` // nil means DefaultPriority
	// Metadata and Inherit are those of a Seed.
	Metadata Metadata `json:"m,omitzero"`
	Inherit  bool     `json:"i,omitempty"`
	// Sitemap says that the URL is known as a sitemap: robots.txt or an index of
	// sitemaps names it, a sitemap redirects to it, or it was submitted as one.
	Sitemap bool `json:"s,omitempty"`
}

// maxSize bounds the bytes of the candidate in a message: a URL is as long in JSON, other texts are up to 6 times as long.
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

// DecodeCandidates reads a message on URLS. URLs are trusted to be canonical:
// the frontier checks the ones that it has not seen.
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

// MaxDepth is the largest depth: what the order of a queue can hold.
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

// Decode reads one JSON value, whose schema version is at version. Unknown fields are ignored, so that a version
// can gain fields that older readers need not know.
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
