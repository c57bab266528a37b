package messages

import (
	"fmt"
	"strings"
	"time"
)

// Deletion records that the crawl with a name was deleted. It is stored in BucketCrawls beside the
// specs, under KeyDeletion, so that both share one order of revisions. Everything made under a
// lower revision than the deletion's belongs to the deleted crawl, and every stage ignores it.
// Everything with that revision or a higher one belongs to a new crawl of the same name. The
// deletion stays as long as the bucket, since old state may come back at any time.
type Deletion struct {
	V int `json:"v"`
	// Rev is the revision of the deletion. It is 0 until the value is stored again; then the
	// revision of the key itself counts.
	Rev uint64 `json:"rev,omitempty"`
	// Count is how often a crawl with this name was deleted, including this time.
	Count uint32 `json:"count"`
	// Unfinished is the number of directly preceding deletions of the name that were not done when
	// this one was stored: this one completes their purges.
	Unfinished uint32 `json:"unfinished,omitempty"`
	// Time is when it was stored, by the clock of the frontier.
	Time time.Time `json:"time"`
	// Timeout is how long a request of the crawl may be in flight.
	Timeout Millis `json:"timeout_ms,omitempty"`
	// Streams are the ends of the streams for the crawl, by stream name.
	Streams map[string]StreamEnd `json:"streams,omitempty"`
	// Done means that nothing is left of the crawl except this.
	Done bool `json:"done,omitempty"`
}

// StreamEnd is where a stream ended for a crawl.
type StreamEnd struct {
	Created  time.Time `json:"created"`  // creation time of the stream, to recognise a re-created one
	Sequence uint64    `json:"sequence"` // of the last message, 0 for none
}

// keyDeletion is the prefix of the keys of deletions in BucketCrawls. It has a dot, which no crawl
// name has.
const keyDeletion = "deleted."

// KeyDeletion is the key of a crawl's last deletion in BucketCrawls.
func KeyDeletion(crawl string) string { return keyDeletion + crawl }

// CrawlOfDeletion returns the crawl to which a deletion key of BucketCrawls belongs.
func CrawlOfDeletion(key string) (crawl string, ok bool) {
	crawl, ok = strings.CutPrefix(key, keyDeletion)
	return crawl, ok && crawl != "" && !IsFed(key)
}

// fed is the suffix of KeyFed, after KeyDeletion. It has a character that no crawl name has. The
// permission to store deletions includes it.
const fed = "=fed"

// KeyFed is the key of BucketCrawls, without a value, that is stored whenever a crawl with a
// Spec.Keep receives seeds.
func KeyFed(crawl string) string { return KeyDeletion(crawl) + fed }

// IsFed reports whether a key is the KeyFed of a crawl.
func IsFed(key string) bool { return strings.HasSuffix(key, fed) }

// Encode returns the stored form of the deletion.
func (d *Deletion) Encode() []byte {
	d.V = Version
	return Encode(d)
}

// DecodeDeletion decodes a stored deletion whose key has the revision rev.
func DecodeDeletion(data []byte, rev uint64) (*Deletion, error) {
	d := &Deletion{}
	if err := Decode(data, d, &d.V); err != nil {
		return nil, fmt.Errorf("decode deletion: %w", err)
	}
	if d.Rev == 0 {
		d.Rev = rev
	}
	return d, nil
}

// Covers reports whether a message of a stream was stored before the deletion.
func (d *Deletion) Covers(stream string, created time.Time, sequence uint64) bool {
	end, ok := d.Streams[stream]
	return ok && end.Created.Equal(created) && sequence <= end.Sequence
}
