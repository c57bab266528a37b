package messages

import (
	"fmt"
	"strings"
	"time"
)

// Deletion says that the crawl of a name was deleted. It lives in BucketCrawls
// beside the specs, under KeyDeletion, so that one order holds for both: whatever
// was made under a lower revision than that of the deletion belongs to the deleted
// crawl, and is ignored by every stage; whatever has that revision or a higher one
// belongs to a new crawl of the same name. It stays for as long as the bucket:
// state that was away may come back at any time.
type Deletion struct {
	V int `json:"v"`
	// Rev is the revision of the deletion. It is 0 until the value is stored again,
	// and then the revision of the key itself.
	Rev uint64 `json:"rev,omitempty"`
	// Count is how often a crawl of this name was deleted, this time included.
	Count uint32 `json:"count"`
	// Unfinished is how many deletions of the name just before this one were not done
	// when this was stored: what they had still to purge is left to this.
	Unfinished uint32 `json:"unfinished,omitempty"`
	// Time is when, by the clock of the frontier that stored it.
	Time time.Time `json:"time"`
	// Timeout is how long a request of the crawl may be in flight.
	Timeout Millis `json:"timeout_ms,omitempty"`
	// Streams holds where the streams ended for the crawl, by their names.
	Streams map[string]StreamEnd `json:"streams,omitempty"`
	// Done says that nothing is left of the crawl but this.
	Done bool `json:"done,omitempty"`
}

// StreamEnd is where a stream ended for a crawl.
type StreamEnd struct {
	Created  time.Time `json:"created"`  // when the stream was made: another has other messages
	Sequence uint64    `json:"sequence"` // of the last message, 0 for none
}

// keyDeletion is what the keys of deletions in BucketCrawls begin with. It has a
// dot, which no name of a crawl has.
const keyDeletion = "deleted."

// KeyDeletion is the key of a crawl's last deletion in BucketCrawls.
func KeyDeletion(crawl string) string { return keyDeletion + crawl }

// CrawlOfDeletion returns the crawl that a key of BucketCrawls is the deletion of.
func CrawlOfDeletion(key string) (crawl string, ok bool) {
	crawl, ok = strings.CutPrefix(key, keyDeletion)
	return crawl, ok && crawl != "" && !IsFed(key)
}

// fed ends KeyFed, after KeyDeletion. It has a character that no name of a crawl has, and who may store deletions may
// store it.
const fed = "=fed"

// KeyFed is the key of BucketCrawls, without a value, that is stored whenever a crawl with a Spec.Keep receives seeds.
func KeyFed(crawl string) string { return KeyDeletion(crawl) + fed }

// IsFed reports whether a key is KeyFed of a crawl.
func IsFed(key string) bool { return strings.HasSuffix(key, fed) }

// Encode returns the deletion as it is stored.
func (d *Deletion) Encode() []byte {
	d.V = Version
	return Encode(d)
}

// DecodeDeletion reads a stored deletion, of which the key has the revision rev.
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
