package deadletters

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/nats-io/nats.go"

	"seine/pkg/messages"
)

// ErrForeign is returned for a letter that names a place from which its stage reads nothing: whoever
// may publish letters must not choose where an operator publishes.
var ErrForeign = errors.New("the letter names a place from which its stage reads no messages of its crawl: it is not sent")

// ErrUnrouted is returned for a message whose partition cannot be told.
var ErrUnrouted = errors.New("the message names no URL, and the number of partitions was changed: its partition is unknown")

// reads has the second tokens of the subjects that a stage reads, by stream.
var reads = map[string]map[string][]string{
	messages.StageFrontier: {messages.StreamSeeds: {"seeds"}, messages.StreamURLs: candidateKinds, messages.StreamResults: {"results"}},
	messages.StageFetcher:  {messages.StreamFetch: {"fetch", "render"}},
	messages.StageRenderer: {messages.StreamFetch: {"fetch", "render"}},
	messages.StageParser:   {messages.StreamPages: {messages.KindOfPages, messages.KindOfChained}},
	messages.StageWriter:   {messages.StreamRecords: {"records"}, messages.StreamPages: exchanges},
}

var (
	candidateKinds = []string{messages.KindOfLinks, messages.KindOfRedirects, messages.KindOfSeeded}
	exchanges      = []string{messages.KindOfPages, messages.KindOfChained, "answers"}
)

// customReads is reads of a stage of a user's own.
var customReads = map[string][]string{messages.StreamPages: exchanges, messages.StreamResults: {"results"}, messages.StreamRecords: {"records"}}

// checkOrigin reports whether the message of a letter may go back to where the letter says that it was
// read. The stage and the crawl are those of the subject of the letter, which the server has checked.
func (l *DeadLetter) checkOrigin() error {
	if l.Subject == "" || l.Stream == "" {
		return ErrNoOrigin
	}
	kinds := customReads[l.Stream]
	if own, ok := reads[l.stage()]; ok {
		kinds = own[l.Stream]
	}
	parts := strings.Split(l.Subject, ".")
	named := len(parts) == 3 && l.Stream == messages.StreamSeeds
	if len(parts) == 4 && l.Stream != messages.StreamSeeds {
		p, err := strconv.ParseUint(parts[3], 10, 16)
		named = err == nil && p < messages.MaxPartitions
	}
	if !named || parts[0] != "seine" || !slices.Contains(kinds, parts[1]) || parts[2] != l.Crawl || messages.CheckCrawl(l.Crawl) != nil {
		return fmt.Errorf("%w (%s of stream %s)", ErrForeign, messages.Clip(l.Subject), messages.Clip(l.Stream))
	}
	return nil
}

// stage is that of the subject of the letter; its header may say anything.
func (l *DeadLetter) stage() string {
	_, after, _ := strings.Cut(l.Message.Subject, "seine.dead.")
	stage, _, _ := strings.Cut(after, ".")
	return stage
}

// isKept reports whether a header belongs to the message that goes back. Headers of NATS, which ask something of
// the server, do not.
func isKept(name string) bool {
	return name == "traceparent" || name == "tracestate" || strings.HasPrefix(name, "Seine-") && !strings.HasPrefix(name, "Seine-Dead-")
}

// route returns the messages that bring m to the partitions that its URLs belong to now, among n.
func route(m *nats.Msg, n int) ([]*nats.Msg, error) {
	switch parts := strings.Split(m.Subject, "."); {
	case len(parts) != 4: // seeds belong to no partition
		return []*nats.Msg{m}, nil
	case slices.Contains(candidateKinds, parts[1]):
		if c, err := messages.DecodeCandidates(m.Data); err == nil {
			return routeCandidates(m, c, n), nil
		}
		fallthrough
	default:
		p, err := partitionOf(m, parts[3], n)
		if err != nil {
			return nil, err
		}
		m.Subject = strings.Join(append(parts[:3], strconv.Itoa(p)), ".")
		return []*nats.Msg{m}, nil
	}
}

// partitionOf returns the partition of the URL of m, or, if m names none, the one in which it was read.
func partitionOf(m *nats.Msg, was string, n int) (int, error) {
	first, _, _ := bytes.Cut(m.Data, []byte("\n")) // the messages of a batch are of one partition
	if url := urlOf(m.Header, first); url != "" {
		return messages.Partition(url, n), nil
	}
	p, err := strconv.Atoi(was)
	if err != nil || p >= n {
		return 0, ErrUnrouted
	}
	return p, nil
}

// routeCandidates returns a message of URLS for each partition that URLs of c, the payload of m, belong to, and last
// one for that of the page whose visit c ends.
func routeCandidates(m *nats.Msg, c *messages.Candidates, n int) (all []*nats.Msg) {
	ends, everywhere := -1, c.Source == messages.SourceUnchanged || c.SeedListEnd
	if !c.Ends.IsZero() {
		ends = messages.Partition(c.Referrer, n)
	}
	for i := range n {
		p, part := (ends+1+i)%n, *c
		part.URLs = slices.DeleteFunc(slices.Clone(c.URLs), func(u messages.Candidate) bool { return messages.Partition(u.URL, n) != p })
		if p != ends {
			part.Ends = messages.Visit{}
		}
		if p != ends && len(part.URLs) == 0 && !everywhere {
			continue
		}
		to := &nats.Msg{Subject: messages.SubjectURLs(c.Source, c.Crawl, p), Header: maps.Clone(m.Header), Data: part.Encode()}
		if id := m.Header.Get(nats.MsgIdHdr); id != "" && to.Subject != m.Subject { // one of several, perhaps
			to.Header.Set(nats.MsgIdHdr, id+"."+strconv.Itoa(p))
		}
		all = append(all, to)
	}
	return all
}
