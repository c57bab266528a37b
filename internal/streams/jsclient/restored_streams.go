package jsclient

import (
	"context"
	"maps"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// KeyMade is the metadata key of the creation time of the stream that a restored stream is a copy
// of, in time.RFC3339Nano. A server that restores a stream reports the time of the restore as its
// creation time (nats-server 2.15.2), but messages keep their sequences and times. So positions in
// the original are positions in the copy.
const KeyMade = "seine_made"

// WithRestored returns js with restored streams reporting the creation time of their originals.
// Streams are identified by that time.
func WithRestored(js jetstream.JetStream) jetstream.JetStream { return restoring{js} }

type restoring struct{ jetstream.JetStream }

// Stream implements jetstream.JetStream.
func (r restoring) Stream(ctx context.Context, name string) (jetstream.Stream, error) {
	s, err := r.JetStream.Stream(ctx, name)
	if err != nil {
		return nil, err
	}
	return restoredStream{s}, nil
}

// UpdateStream implements jetstream.JetStream. It keeps the recorded creation time.
func (r restoring) UpdateStream(ctx context.Context, config jetstream.StreamConfig) (jetstream.Stream, error) {
	s, err := r.JetStream.Stream(ctx, config.Name)
	if err != nil {
		return nil, err
	}
	if made, ok := s.CachedInfo().Config.Metadata[KeyMade]; ok {
		config.Metadata = maps.Clone(config.Metadata)
		if config.Metadata == nil {
			config.Metadata = make(map[string]string)
		}
		config.Metadata[KeyMade] = made
	}
	return r.JetStream.UpdateStream(ctx, config)
}

type restoredStream struct{ jetstream.Stream }

// Info implements jetstream.Stream.
func (s restoredStream) Info(ctx context.Context, options ...jetstream.StreamInfoOpt) (*jetstream.StreamInfo, error) {
	info, err := s.Stream.Info(ctx, options...)
	if err != nil {
		return nil, err
	}
	return asMade(info), nil
}

// CachedInfo implements jetstream.Stream.
func (s restoredStream) CachedInfo() *jetstream.StreamInfo { return asMade(s.Stream.CachedInfo()) }

// asMade returns info with the creation time in its metadata.
func asMade(info *jetstream.StreamInfo) *jetstream.StreamInfo {
	text, ok := info.Config.Metadata[KeyMade]
	if !ok {
		return info
	}
	made, err := time.Parse(time.RFC3339Nano, text)
	if err != nil { // it was edited: treat the stream as a new one
		return info
	}
	copied := *info
	copied.Created = made
	return &copied
}

// Made returns the value of KeyMade for a copy of a stream.
func Made(info *jetstream.StreamInfo) string { return info.Created.UTC().Format(time.RFC3339Nano) }
