// Package drift compares streams, buckets and consumers with the configuration that Seine gives
// them. They may have been deleted, paused, sealed or edited.
package drift

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"seine/internal/base/jsontext"
	"seine/pkg/messages"
)

// Difference is a field of an object that differs from Seine's configuration, or the reason why the
// object is unusable.
type Difference struct {
	Object string // such as "stream PAGES"
	What   string // such as "max_msgs is 1, must be not set"
	Repair string // what to do if the object's owner does not fix it
}

// Text describes differences on one line.
func Text(all []Difference) string {
	var texts []string
	for _, d := range all {
		texts = append(texts, d.Object+" "+d.What)
	}
	return strings.Join(texts, "; ")
}

// Fields of streams and consumers that Seine leaves to the operator, or that the server sets. A
// Puller respects max_batch, which may be a limit of the server.
const (
	freeOfStreams = " name description metadata placement compression republish first_seq mirror_direct template_owner " +
		"allow_msg_ttl subject_delete_marker_ttl allow_msg_counter allow_atomic allow_msg_schedules persist_mode allow_batched "
	freeOfConsumers = " name durable_name description metadata num_replicas mem_storage sample_freq deliver_policy opt_start_seq opt_start_time pause_until max_batch "
)

// StreamObject returns a stream's name for messages: it may be the stream of a bucket or an object
// store.
func StreamObject(name string) string {
	for prefix, kind := range map[string]string{"KV_": "bucket ", "OBJ_": "object store "} {
		if bucket, ok := strings.CutPrefix(name, prefix); ok {
			return kind + bucket
		}
	}
	return "stream " + name
}

// ConsumerObject returns a name for messages of a consumer of a stream.
func ConsumerObject(stream, name string) string { return "consumer " + name + " of stream " + stream }

// Stream compares a stream with its configuration. It returns nil if they agree.
func Stream(want jetstream.StreamConfig, have *jetstream.StreamInfo) []Difference {
	d := Difference{Object: StreamObject(want.Name)}
	remove := "nats stream rm " + want.Name + ": a frontier creates it again, without its messages (nats stream backup saves them)"
	switch {
	case have == nil:
		d.What, d.Repair = "is missing", "start a frontier, which creates it"
	case have.Config.Metadata[messages.MetadataOwner] == "":
		d.What, d.Repair = "belongs to another application", "give Seine its own NATS account (docs/guides/stages.md#give-seine-its-own-account)"
	case have.Config.Sealed:
		d.What, d.Repair = "is sealed", remove
	default:
		repair := "start a frontier, which sets it; if the server refuses that: " + remove
		return compare(Difference{Object: d.Object, Repair: repair}, want, have.Config, freeOfStreams)
	}
	return []Difference{d}
}

// Restored returns the configuration for repairing a stream: fields that belong to the operator
// keep their values.
func Restored(want, have jetstream.StreamConfig) jetstream.StreamConfig {
	c := want
	c.Description, c.Placement, c.Compression, c.RePublish, c.FirstSeq = have.Description, have.Placement, have.Compression, have.RePublish, have.FirstSeq
	c.AllowMsgTTL, c.SubjectDeleteMarkerTTL, c.AllowMsgCounter = have.AllowMsgTTL, have.SubjectDeleteMarkerTTL, have.AllowMsgCounter
	c.AllowAtomicPublish, c.AllowMsgSchedules, c.PersistMode, c.AllowBatchPublish = have.AllowAtomicPublish, have.AllowMsgSchedules, have.PersistMode, have.AllowBatchPublish
	c.Metadata = have.Metadata
	return c
}

// Consumer compares a durable consumer of a stream with its configuration. It returns nil if they
// agree.
func Consumer(stream string, want jetstream.ConsumerConfig, have *jetstream.ConsumerInfo) []Difference {
	name := stream + " " + want.Durable
	d := Difference{Object: ConsumerObject(stream, want.Durable)}
	switch {
	case have == nil:
		d.What, d.Repair = "is missing", "start its stage, which creates it"
	case have.Paused:
		d.What, d.Repair = "is paused for "+have.PauseRemaining.Round(time.Second).String(), "nats consumer resume "+name
	default:
		want.MaxWaiting, want.AckWait = cmp.Or(want.MaxWaiting, 512), cmp.Or(want.AckWait, 30*time.Second) // the server's defaults
		want.MaxAckPending = cmp.Or(want.MaxAckPending, 1000)
		d.Repair = "start its stage, which sets it; if the server refuses that: nats consumer rm " + name
		return compare(d, want, have.Config, freeOfConsumers)
	}
	return []Difference{d}
}

// compare returns a copy of d for each field that differs.
func compare(d Difference, want, have any, free string) (all []Difference) {
	w, h := members(want), members(have)
	names := maps.Clone(w)
	maps.Copy(names, h)
	for _, name := range slices.Sorted(maps.Keys(names)) {
		if strings.Contains(free, " "+name+" ") || unset(w[name]) && unset(h[name]) || reflect.DeepEqual(w[name], h[name]) {
			continue
		}
		d.What = fmt.Sprintf("%s is %s, must be %s", name, text(h[name]), text(w[name]))
		all = append(all, d)
	}
	return all
}

// members returns a configuration as the JSON object of the server's API.
func members(config any) (m map[string]any) {
	b, _ := json.Marshal(config) // a struct of the client library
	_ = jsontext.Unmarshal(b, &m)
	return m
}

// unset reports whether a value is the default of its field; the server writes -1 for some fields
// without a limit.
func unset(value any) bool {
	if n, ok := value.(float64); ok {
		return n == 0 || n == -1
	}
	v := reflect.ValueOf(value)
	return !v.IsValid() || v.IsZero() || (v.Kind() == reflect.Map || v.Kind() == reflect.Slice) && v.Len() == 0
}

// text formats a value for messages; times are in nanoseconds.
func text(value any) string {
	if unset(value) {
		return "not set"
	}
	b, _ := json.Marshal(value) // it was read from JSON
	return string(b)
}
