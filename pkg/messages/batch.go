package messages

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nuid"
)

// Headers of a batch: a message that holds several messages of one subject, one per line.
const (
	// HeaderBatch is the number of lines.
	HeaderBatch = "Seine-Batch"
	// HeaderBatchID has the Nats-Msg-Id of each line, in order, if they have one.
	HeaderBatchID = "Seine-Batch-Id"
)

// MaxBatch is how many messages a batch holds at most: their identities must fit into the 64 KiB of
// headers that JetStream accepts.
const MaxBatch = 128

// JoinBatch returns the batch of msgs, which must satisfy BatchesWith. Its Nats-Msg-Id is unique to
// this batch, so that JetStream recognises a repeated publish; each line keeps its own identity.
func JoinBatch(msgs []*nats.Msg) *nats.Msg {
	batch := nats.NewMsg(msgs[0].Subject)
	size := 0
	for _, m := range msgs {
		size += len(m.Data) + 1
		if id := m.Header.Get(nats.MsgIdHdr); id != "" {
			batch.Header[HeaderBatchID] = append(batch.Header[HeaderBatchID], id)
		}
	}
	for name, values := range msgs[0].Header {
		if name != nats.MsgIdHdr {
			batch.Header[name] = values
		}
	}
	batch.Header.Set(nats.MsgIdHdr, "batch."+nuid.Next())
	batch.Header.Set(HeaderBatch, strconv.Itoa(len(msgs)))
	batch.Data = make([]byte, 0, size)
	for i, m := range msgs {
		if i > 0 {
			batch.Data = append(batch.Data, '\n')
		}
		batch.Data = append(batch.Data, m.Data...)
	}
	return batch
}

// BatchesWith reports whether a and b may be lines of one batch: they have the same subject and the
// same headers except for the identity, which both have or neither.
func BatchesWith(a, b *nats.Msg) bool {
	if a.Subject != b.Subject || len(a.Header) != len(b.Header) {
		return false
	}
	for name, values := range a.Header {
		other, ok := b.Header[name]
		if !ok || name != nats.MsgIdHdr && !slices.Equal(values, other) {
			return false
		}
	}
	return true
}

// BatchPart is one of the messages in a batch.
type BatchPart struct {
	Header nats.Header
	Data   []byte
}

// SplitBatch returns the messages in a message of a stream: the message itself, unless it is a
// batch.
func SplitBatch(header nats.Header, data []byte) ([]BatchPart, error) {
	said := header.Get(HeaderBatch)
	if said == "" {
		return []BatchPart{{header, data}}, nil
	}
	lines, ids := bytes.Split(data, newline), header[HeaderBatchID]
	switch n, err := strconv.Atoi(said); {
	case err != nil || n != len(lines):
		return nil, fmt.Errorf("batch has %d lines: %s says %s", len(lines), HeaderBatch, Clip(said))
	case len(ids) > 0 && len(ids) != n:
		return nil, fmt.Errorf("batch has %d lines: %s names %d identities", n, HeaderBatchID, len(ids))
	}
	shared := maps.Clone(header)
	for _, name := range []string{nats.MsgIdHdr, HeaderBatch, HeaderBatchID} {
		delete(shared, name)
	}
	parts := make([]BatchPart, len(lines))
	for i, line := range lines {
		parts[i] = BatchPart{shared, line}
		if len(ids) > 0 {
			parts[i].Header = maps.Clone(shared)
			parts[i].Header.Set(nats.MsgIdHdr, ids[i])
		}
	}
	return parts, nil
}

// BatchIDs returns the identities of the messages in a message with this header, in order: its own,
// unless it is a batch.
func BatchIDs(header nats.Header) []string {
	if header.Get(HeaderBatch) != "" {
		return header[HeaderBatchID]
	}
	return []string{header.Get(nats.MsgIdHdr)}
}
