package stages

import (
	"context"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"seine/internal/streams/jsclient"
	"seine/internal/testing/await"
	"seine/internal/testing/natstest"
	"seine/pkg/crawlspec"
)

// A reader that finds no key can create it, whatever the reason why it is missing; of two such
// writers, only one succeeds.
func TestKeyIsWrittenOverAnyThatIsNotThere(t *testing.T) {
	t.Parallel()
	_, b := open(t)
	ctx := t.Context()
	plain, err := b.JS.CreateKeyValue(ctx, jetstream.KeyValueConfig{Bucket: "plain", History: 5})
	if err != nil {
		t.Fatal(err)
	}
	marked, err := b.JS.CreateKeyValue(ctx, jetstream.KeyValueConfig{Bucket: "marked", History: 5, LimitMarkerTTL: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	erase := func(kv jetstream.KeyValue, key string) error {
		return natstest.StreamOf(t, b.JS, "KV_"+kv.Bucket()).Purge(ctx, jetstream.WithPurgeSubject("$KV."+kv.Bucket()+"."+key))
	}
	for name, c := range map[string]struct {
		kv     jetstream.KeyValue
		remove func(jetstream.KeyValue, string) error
	}{
		"missing": {plain, nil},
		"deleted": {plain, func(kv jetstream.KeyValue, key string) error { return kv.Delete(ctx, key) }},
		"purged":  {plain, func(kv jetstream.KeyValue, key string) error { return kv.Purge(ctx, key) }},
		"erased":  {plain, erase},
		"expired": {marked, func(kv jetstream.KeyValue, key string) error {
			return kv.Purge(ctx, key, jetstream.PurgeTTL(time.Hour))
		}},
		"marked": {marked, func(kv jetstream.KeyValue, key string) error {
			_, err := b.JS.PublishMsg(ctx, marker(kv.Bucket(), key))
			return err
		}},
	} {
		if c.remove != nil {
			if _, err := jsclient.Swap(ctx, c.kv, name, []byte("before"), 0); err != nil {
				t.Fatal(err)
			}
			if err := c.remove(c.kv, name); err != nil {
				t.Fatal(err)
			}
		}
		rev, err := jsclient.Swap(ctx, c.kv, name, []byte("one"), 0)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if _, err := jsclient.Swap(ctx, c.kv, name, []byte("two"), 0); !jsclient.IsConflict(err) {
			t.Errorf("%s: a second one that saw nothing: %v", name, err)
		}
		if _, err := jsclient.Swap(ctx, c.kv, name, []byte("two"), rev); err != nil {
			t.Errorf("%s: who saw the first: %v", name, err)
		}
		if _, err := jsclient.Swap(ctx, c.kv, name, []byte("three"), rev); !jsclient.IsConflict(err) {
			t.Errorf("%s: again from what is replaced: %v", name, err)
		}
	}
}

// A spec whose key is deleted can be changed, starting from the spec that the stages still use.
func TestDeletedSpecCanBeChanged(t *testing.T) {
	t.Parallel()
	s, _ := openSpecs(t)
	ctx, cancel := context.WithTimeout(t.Context(), await.Patience)
	defer cancel()
	for crawl, remove := range map[string]func(string) error{
		"deleted": func(key string) error { return s.kv.Delete(ctx, key) },
		"purged":  func(key string) error { return s.kv.Purge(ctx, key) },
	} {
		put(t, s, crawl, 2*time.Second)
		if err := remove(crawl); err != nil {
			t.Fatal(err)
		}
		rev, err := s.Change(ctx, crawl, func(spec *crawlspec.Spec) error { return spec.SetState("", crawlspec.Paused) })
		if err != nil {
			t.Fatalf("%s: %v", crawl, err)
		}
		want := crawlspec.Duration(2 * time.Second)
		if crawl == "purged" {
			want = crawlspec.DefaultDelay
		}
		if r := get(t, s, crawl, rev); r.Rev != rev || r.State != crawlspec.Paused || r.Delay != want {
			t.Errorf("%s: got revision %d, %s with a delay of %v, want %d, paused, %v", crawl, r.Rev, r.State, r.Delay, rev, want)
		}
	}
}

// marker is the marker that a server leaves for an expired key.
func marker(bucket, key string) *nats.Msg {
	m := nats.NewMsg("$KV." + bucket + "." + key)
	m.Header.Set(jetstream.MarkerReasonHeader, "MaxAge")
	return m
}
