package messages

import (
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
)

// Headers of a message on DEAD. Its payload and its other headers, but for those
// of NATS, are those of the message that could not be handled.
const (
	HeaderDeadReason   = "Seine-Dead-Reason"   // for a person
	HeaderDeadStage    = "Seine-Dead-Stage"    // who gave up
	HeaderDeadSubject  = "Seine-Dead-Subject"  // where it was read
	HeaderDeadStream   = "Seine-Dead-Stream"   // and from which stream
	HeaderDeadSequence = "Seine-Dead-Sequence" // at which sequence
	HeaderDeadTries    = "Seine-Dead-Tries"    // deliveries until then
	HeaderDeadTime     = "Seine-Dead-Time"     // RFC 3339, UTC
	HeaderDeadID       = "Seine-Dead-Id"       // its Nats-Msg-Id, if it had one
	// HeaderDeadSize is there if the message was too large for the letter: how many bytes its payload has. The letter has the
	// beginning of the payload, and none of the headers.
	HeaderDeadSize = "Seine-Dead-Size"
	// HeaderRedriven is how often a person gave the message to its stage again.
	HeaderRedriven = "Seine-Redriven"
)

// Dead describes a message that could not be handled. Stages decide that in pkg/stages/dead_letters.go;
// internal/ops/deadletters reads it again.
type Dead struct {
	Stage, Crawl, Reason string
	Subject, Stream      string
	Sequence, Tries      uint64
	Time                 time.Time
	Stored               time.Time // when the stream stored the message
	Header               nats.Header
	Payload              []byte
	// Part tells apart several dead letters of one message, such as the bad
	// lines of one SEEDS message, and InBatch those of the messages of a batch.
	Part, InBatch int
}

// Msg returns the dead letter. Its Nats-Msg-Id is that of the place where the
// message was read, so that giving up twice makes one letter. It has the time of the message as well: a stream that was
// created again has others with the same sequences.
func (d *Dead) Msg() *nats.Msg {
	crawl := d.Crawl
	if CheckCrawl(crawl) != nil {
		crawl = DefaultCrawl
	}
	m := nats.NewMsg(SubjectDead(d.Stage, crawl))
	for k, v := range d.Header {
		// What a publisher asked of the other stream, such as Nats-Expected-Stream,
		// would make DEAD refuse the letter for ever.
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
