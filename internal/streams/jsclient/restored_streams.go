package jsclient

import (
	"context"
	"maps"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// KeyMade is the key in a stream's metadata of when the stream was made that it is a copy of, in time.RFC3339Nano. A
// server that restores a stream tells the time of that as when it was made (nats-server 2.15.2), but messages have the sequences and
// times that they had: so positions in the one are positions in the other.
const KeyMade = "seine_made"

// WithRestored returns js, to which a stream that was restored from a backup is made when the one was made that it
// is a copy of. Streams are known apart by that.
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

// UpdateStream implements jetstream.JetStream. It keeps when the stream was made.
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

// asMade returns info with the time that its metadata has.
func asMade(info *jetstream.StreamInfo) *jetstream.StreamInfo {
	text, ok := info.Config.Metadata[KeyMade]
	if !ok {
		return info
	}
	made, err := time.Parse(time.RFC3339Nano, text)
	if err != nil { // it was changed: then the stream is a new one
		return info
	}
	copied := *info
	copied.Created = made
	return &copied
}

// Made is what KeyMade is of a copy of a stream.
func Made(info *jetstream.StreamInfo) string { return info.Created.UTC().Format(time.RFC3339Nano) }
