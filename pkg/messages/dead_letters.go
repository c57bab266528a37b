package messages

import (
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
)

// Headers of a message on DEAD. Its payload and its other headers, except those of NATS, are those
// of the message that could not be handled.
const (
	HeaderDeadReason   = "Seine-Dead-Reason"   // for users
	HeaderDeadStage    = "Seine-Dead-Stage"    // stage that abandoned it
	HeaderDeadSubject  = "Seine-Dead-Subject"  // subject on which it was read
	HeaderDeadStream   = "Seine-Dead-Stream"   // stream from which it was read
	HeaderDeadSequence = "Seine-Dead-Sequence" // sequence in that stream
	HeaderDeadTries    = "Seine-Dead-Tries"    // deliveries until then
	HeaderDeadTime     = "Seine-Dead-Time"     // RFC 3339, UTC
	HeaderDeadID       = "Seine-Dead-Id"       // its Nats-Msg-Id, if it had one
	// HeaderDeadSize is set if the message was too large for the letter, to the size of its payload
	// in bytes. The letter then has the beginning of the payload, and none of the headers.
	HeaderDeadSize = "Seine-Dead-Size"
	// HeaderRedriven is how often a user replayed the message to its stage.
	HeaderRedriven = "Seine-Redriven"
)

// Dead describes a message that could not be handled. Stages decide that in
// pkg/stages/dead_letters.go; internal/ops/deadletters decodes it.
type Dead struct {
	Stage, Crawl, Reason string
	Subject, Stream      string
	Sequence, Tries      uint64
	Time                 time.Time
	Stored               time.Time // when the stream stored the message
	Header               nats.Header
	Payload              []byte
	// Part distinguishes several dead letters of one message, such as the bad lines of one SEEDS
	// message; InBatch is the index in a batch.
	Part, InBatch int
}

// Msg returns the dead letter. Its Nats-Msg-Id identifies the position where the message was read,
// so that a repeat makes no second letter. It also contains the message's time, since a re-created
// stream uses the same sequences for other messages.
func (d *Dead) Msg() *nats.Msg {
	crawl := d.Crawl
	if CheckCrawl(crawl) != nil {
		crawl = DefaultCrawl
	}
	m := nats.NewMsg(SubjectDead(d.Stage, crawl))
	for k, v := range d.Header {
		// Publish options for the other stream, such as Nats-Expected-Stream, would make DEAD
		// refuse the letter forever.
		if !strings.HasPrefix(k, "Nats-") {
			m.Header[k] = v
		}
	}
	if id := d.Header.Get(nats.MsgIdHdr); id != "" {
		m.Header.Set(HeaderDeadID, id)
	}
	seq := strconv.FormatUint(d.Sequence, 10)
	m.Header.Set(nats.MsgIdHdr, d.Stage+"."+d.Stream+"."+seq+"."+strconv.FormatInt(d.Stored.UnixMicro(), 36)+"."+strconv.Itoa(d.InBatch*(MaxBatchURLs+1)+d.Part))
	m.Header.Set(HeaderDeadReason, headerText(d.Reason))
	m.Header.Set(HeaderDeadStage, d.Stage)
	m.Header.Set(HeaderDeadSubject, d.Subject)
	m.Header.Set(HeaderDeadStream, d.Stream)
	m.Header.Set(HeaderDeadSequence, seq)
	m.Header.Set(HeaderDeadTries, strconv.FormatUint(d.Tries, 10))
	m.Header.Set(HeaderDeadTime, d.Time.UTC().Format(time.RFC3339Nano))
	m.Data = d.Payload
	return m
}

// headerText makes text safe for a NATS header: one line of bounded length.
func headerText(s string) string {
	b := []byte(Clip(s))
	for i, c := range b {
		if c < ' ' || c == 0x7f {
			b[i] = ' '
		}
	}
	return string(b)
}
