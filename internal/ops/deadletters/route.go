package deadletters

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"seine/pkg/messages"
)

// ErrForeign is returned for a letter with an origin that its stage does not read. A user who may
// publish letters must not choose where an operator publishes.
var ErrForeign = errors.New("its stage reads no messages of this crawl from the subject in the dead letter: it is not redriven")

// reads lists the second tokens of the subjects that a stage reads, by stream.
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

// customReads is like reads for custom stages.
var customReads = map[string][]string{messages.StreamPages: exchanges, messages.StreamResults: {"results"}, messages.StreamRecords: {"records"}}

// checkOrigin reports whether the message of a letter may be published to its stated origin. It
// takes the stage and the crawl from the subject of the letter, which the server has checked.
func (l *DeadLetter) checkOrigin(partitions int) error {
	if l.Subject == "" || l.Stream == "" {
		return ErrNoOrigin
	}
	kinds := customReads[l.Stream]
	if own, ok := reads[l.stage()]; ok {
		kinds = own[l.Stream]
	}
	parts := strings.Split(l.Subject, ".")
	tokens := 4
	if l.Stream == messages.StreamSeeds {
		tokens = 3
	}
	named := len(parts) == tokens && !messages.IsStray(l.Stream, l.Subject, partitions)
	if !named || parts[0] != "seine" || !slices.Contains(kinds, parts[1]) || parts[2] != l.Crawl || messages.CheckCrawl(l.Crawl) != nil {
		return fmt.Errorf("%w (%s of stream %s)", ErrForeign, messages.Clip(l.Subject), messages.Clip(l.Stream))
	}
	return nil
}

// stage returns the stage of the letter's subject. The letter's header is not trusted.
func (l *DeadLetter) stage() string {
	_, after, _ := strings.Cut(l.Message.Subject, "seine.dead.")
	stage, _, _ := strings.Cut(after, ".")
	return stage
}

// isKept reports whether a header belongs to the redriven message. Headers of NATS, which are
// instructions to the server, do not.
func isKept(name string) bool {
	return name == "traceparent" || name == "tracestate" || strings.HasPrefix(name, "Seine-") && !strings.HasPrefix(name, "Seine-Dead-")
}
