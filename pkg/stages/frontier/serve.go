package frontier

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/micro"

	"seine/internal/base/jsontext"
	"seine/internal/base/version"
	"seine/pkg/crawlspec"
	"seine/pkg/messages"
	"seine/pkg/stages"
	"seine/pkg/stages/frontier/frontierapi"
)

// Service is the name under which frontiers answer queries, for `nats micro info`.
const Service = "seine-frontier-questions"

// serve answers queries until ctx is done. Every frontier receives the queries about a partition,
// and its owner answers; any frontier may answer those about a crawl.
func (f *Frontier) serve(ctx context.Context) error {
	svc, err := micro.AddService(f.bus.NC, micro.Config{
		Name: Service, Version: version.Number, Description: "State of crawls, hosts and URLs; pause, resume, cancel, delete",
		QueueGroupDisabled: true,
	})
	if err != nil {
		return fmt.Errorf("serve queries: %w", err)
	}
	defer func() { _ = svc.Stop() }()
	for _, op := range []string{
		frontierapi.OpStatus, frontierapi.OpHosts, frontierapi.OpHost, frontierapi.OpExplain, frontierapi.OpSurvey, frontierapi.OpFailed, frontierapi.OpURLs,
		messages.OpClaim,
	} {
		subject := "seine.frontier." + op + ".*"
		if err := svc.AddEndpoint(op, micro.HandlerFunc(f.forward), micro.WithEndpointSubject(subject)); err != nil {
			return fmt.Errorf("serve queries: %w", err)
		}
	}
	err = svc.AddEndpoint(frontierapi.OpControl, micro.HandlerFunc(func(r micro.Request) { f.control(ctx, r) }),
		micro.WithEndpointSubject(messages.SubjectControl), micro.WithEndpointQueueGroup(Service))
	if err != nil {
		return fmt.Errorf("serve queries: %w", err)
	}
	stop, err := stages.MakeConsumers(f.bus)
	if err != nil {
		return err
	}
	defer stop()
	<-ctx.Done()
	return nil
}

// forward passes a query to the loop of its partition, if this process owns it.
func (f *Frontier) forward(r micro.Request) {
	op, p, err := partitionOf(r.Subject())
	if err != nil {
		return
	}
	f.mu.Lock()
	part := f.owned[p]
	f.mu.Unlock()
	if part == nil {
		return // its owner answers
	}
	select {
	case part.queries <- queuedQuery{op, r}:
	default: // the queue is so long that the answer would be late
	}
}

func partitionOf(subject string) (op string, p int, err error) {
	parts := strings.Split(subject, ".")
	if len(parts) != 4 {
		return "", 0, fmt.Errorf("subject %s names no partition", subject)
	}
	p, err = strconv.Atoi(parts[3])
	return parts[2], p, err
}

// queuedQuery is a query for a partition.
type queuedQuery struct {
	op string
	micro.Request
}

// respond answers with a value, or with an error.
func respond(r micro.Request, reply any, err error) error {
	if err != nil {
		reply = frontierapi.Failure{Error: err.Error()}
	}
	if err := r.Respond(messages.Encode(reply)); err != nil && !errors.Is(err, nats.ErrConnectionClosed) {
		return fmt.Errorf("answer: %w", err)
	}
	return nil
}

// control changes the state of a crawl or of a host in the spec of the crawl, or deletes the crawl.
// So the change is durable, and every stage sees it. It answers before the client's timeout, even
// if the bucket is slow, since other commands wait for their turn.
func (f *Frontier) control(ctx context.Context, r micro.Request) {
	ctx, cancel := context.WithTimeout(ctx, frontierapi.ControlTimeout)
	defer cancel()
	var c frontierapi.Control
	err := jsontext.Unmarshal(r.Data(), &c)
	if err == nil {
		err = messages.CheckCrawl(c.Crawl)
	}
	rev := uint64(0)
	switch {
	case err != nil:
	case c.Delete:
		rev, err = deletions{f}.deleteCrawl(ctx, c.Crawl)
	default:
		rev, err = f.specs.Change(ctx, c.Crawl, func(s *crawlspec.Spec) error { return s.SetState(c.Host, c.State) })
	}
	if err := respond(r, struct {
		Rev uint64 `json:"rev"`
	}{rev}, err); err != nil {
		f.log.Debug("cannot answer", "error", err)
	}
}
