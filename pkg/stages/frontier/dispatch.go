package frontier

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"time"

	"seine/pkg/messages"
)

// leaseTime is how long a request may be under way before the frontier asks
// what became of it. Asking is cheap and changes nothing while it is in FETCH.
const leaseTime = int64(60 * time.Second)

// readyIfDue puts a host into the ready list if it can be asked now.
func (s *shard) readyIfDue(h *host, now int64) {
	if w := s.wanted(h); !h.ready && w != 0 && w <= now {
		h.ready = true
		s.ready = append(s.ready, h)
	}
}

// retries moves URLs whose wait is over back into their queues.
func (s *shard) retries(now int64) error {
	if s.nextRetry > now {
		return nil
	}
	pre := prefix(s.partition, kindRetry)
	from := binary.BigEndian.AppendUint64(pre[:len(pre):len(pre)], uint64(max(s.nextRetry, 0)))
	s.nextRetry = math.MaxInt64
	return s.store.scan(pre, from, func(key, _ []byte) (bool, error) {
		due := int64(binary.BigEndian.Uint64(key[len(pre):]))
		if due > now {
			s.nextRetry = due
			return false, nil
		}
		name, hash, err := cutName(key[len(pre)+8:])
		if err != nil {
			return false, err
		}
		s.tx.delete(append([]byte(nil), key...))
		id := urlID{name, messages.URLHash(hash)}
		r, err := s.record(id)
		if err != nil || r == nil || r.State != Waiting {
			return err == nil, err
		}
		return true, s.queue(r, id, now)
	})
}

// maxReady bounds the hosts taken from the due index at once.
const maxReady = 1024

// loadDue takes hosts that are due from the index into the ready list. Their
// entries stay until they have been served.
func (s *shard) loadDue(now int64) error {
	if s.nextDue > now || len(s.ready) >= maxReady {
		return nil
	}
	pre := prefix(s.partition, kindDue)
	from := binary.BigEndian.AppendUint64(pre[:len(pre):len(pre)], uint64(max(s.nextDue, 0)))
	next := int64(math.MaxInt64)
	err := s.store.scan(pre, from, func(key, _ []byte) (bool, error) {
		due := int64(binary.BigEndian.Uint64(key[len(pre):]))
		if due > now || len(s.ready) >= maxReady {
			next = min(next, due)
			return false, nil
		}
		h, err := s.host(string(key[len(pre)+8:]))
		if err != nil {
			return false, err
		}
		if h.Due != due { // moved in this turn
			return true, nil
		}
		next = min(next, due)
		if !h.ready {
			h.ready = true
			s.ready = append(s.ready, h)
		}
		return true, nil
	})
	s.nextDue = next
	return err
}

// dispatch picks up to room requests that are due, one host after the other,
// so that a large host does not hold up the others.
func (s *shard) dispatch(now int64, room int) ([]*request, error) {
	if err := s.loadDue(now); err != nil {
		return nil, err
	}
	var out []*request
	s.parked = false
	for serving := len(s.ready); serving > 0 && len(out) < room; {
		h := s.ready[0]
		s.ready = s.ready[1:]
		req, err := s.next(h, now)
		if err != nil {
			return nil, err
		}
		if req == nil {
			h.ready = false
			serving--
			continue
		}
		out = append(out, req)
		if w := s.wanted(h); w == 0 || w > now {
			h.ready = false
			serving--
			continue
		}
		s.ready = append(s.ready, h)
	}
	return out, nil
}

// next takes the host's first request, nil if it has none that may go now.
func (s *shard) next(h *host, now int64) (*request, error) {
	if w := s.wanted(h); w == 0 || w > now {
		return nil, nil
	}
	for _, name := range h.crawls() {
		rules, err := s.specs(name, 0)
		if err != nil {
			return nil, err
		}
		q := s.queueOf(h, name)
		if err := s.fill(h, name, q); err != nil {
			return nil, err
		}
		if len(q.window) == 0 || h.inFlight >= h.limit(rules.Spec) {
			continue
		}
		if !s.budgets.reserve(name, rules.MaxPages) {
			s.parked = true
			continue
		}
		return s.send(h, urlID{name, q.window[0].hash()}, rules, now)
	}
	return nil, nil
}

// send puts the first URL of the host's queue under way.
func (s *shard) send(h *host, id urlID, rules *rules, now int64) (*request, error) {
	r, err := s.record(id)
	if err != nil {
		return nil, err
	}
	if r == nil || r.State != Queued {
		return nil, fmt.Errorf("queue of %s has a URL that is not queued: %s", h.name, id.hash)
	}
	s.drop(r, id, h)
	r.Sent++
	sentTotal.Inc()
	s.move(r, id, InFlight, "", now)
	h.inFlight++
	h.Next = max(h.Next, now) // the response will move it on
	req := &request{record: r, id: id, host: h, deadline: now + leaseTime}
	s.inFlight[id] = req
	s.tx.set(s.inFlightKey(id), nil)
	return req, nil
}

// message returns what is published for a request.
func (s *shard) message(req *request) (*messages.Request, error) {
	rules, err := s.specs(req.id.crawl, 0)
	if err != nil {
		return nil, err
	}
	return &messages.Request{
		Crawl: req.id.crawl, Rev: rules.Rev, URL: req.URL, Visit: req.visit(req.id.hash), Attempt: req.Sent,
		Depth: req.Depth, Referrer: req.Referrer, Redirects: req.Redirects,
		Delay: messages.Millis(req.host.delay(rules.Spec)), Epoch: s.epoch,
	}, nil
}

// sent notes where in FETCH a request is.
func (s *shard) sent(id urlID, attempt int, seq uint64) {
	req := s.inFlight[id]
	if req == nil || req.Sent != attempt {
		return
	}
	req.seq = seq
	text, err := json.Marshal(seq)
	if err != nil {
		panic(err) // a number
	}
	s.tx.set(s.inFlightKey(id), text)
}

// resend gives up on a request that is nowhere, and sends its visit again.
func (s *shard) resend(req *request, now int64) {
	req.Sent++
	req.seq, req.missing, req.unsent, req.deadline = 0, false, true, now+leaseTime
	s.tx.change(req.id, req.record)
	s.tx.set(s.inFlightKey(req.id), nil)
}
