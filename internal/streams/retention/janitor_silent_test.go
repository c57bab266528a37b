package retention

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"seine/internal/streams/jsclient"
	"seine/internal/testing/await"
	"seine/internal/testing/natscluster"
	"seine/internal/testing/natstest"
	"seine/internal/testing/stagestest"
	"seine/pkg/messages"
	"seine/pkg/stages"
)

// Messages that a consumer has not read stay, even if its server does not answer and the list of
// consumers lacks it.
func TestJanitorKeepsWhatAConsumerOfASilentServerLacks(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	nodes, err := natscluster.Start(ctx, t.TempDir(), 3, natscluster.Options{Ping: time.Hour}) // nobody notices
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nodes.Close)
	if err := nodes.WaitReady(ctx); err != nil {
		t.Fatal(err)
	}
	lister := nodes.MetaLeader(ctx)
	b, _ := stagestest.Dial(t, lister.URL())
	b.Layout.Partitions = 4
	if _, err := b.JS.CreateKeyValue(ctx, jetstream.KeyValueConfig{Bucket: messages.BucketLeases, Replicas: 3}); err != nil {
		t.Fatal(err)
	}
	leader := streamLedByAnother(ctx, t, b, lister.Name())
	var silent *natscluster.Node
	for _, n := range nodes.Nodes() {
		if n != lister && n.Name() != leader {
			silent = n
		}
	}
	frontier := consumerOn(ctx, t, b, messages.ConsumerURLs, func(node string) bool { return node != silent.Name() })
	archive := consumerOn(ctx, t, b, "archive", func(node string) bool { return node == silent.Name() })
	natstest.Send(t, b.JS, subjectURLs, 10)
	read(t, frontier, 10)

	silent.Cut()
	j := janitorOf(b, 1)
	if _, err := j.clean(ctx, messages.StreamURLs, 1); !errors.Is(err, jsclient.ErrConsumersSilent) || !strings.Contains(err.Error(), "archive") {
		t.Errorf("a janitor that cannot know what is read says %v", err)
	}
	silent.Heal()
	await.Eventually(t, "the list is whole", func() bool {
		_, err := j.clean(ctx, messages.StreamURLs, 1)
		return err == nil
	})
	read(t, archive, 10)
	await.Eventually(t, "what all have read goes", func() bool {
		_, err := j.clean(ctx, messages.StreamURLs, 1)
		return err == nil && natstest.State(t, b.JS, messages.StreamURLs).Msgs <= 1
	})
}

// streamLedByAnother creates a stream with three replicas whose leader is not the given node, and
// returns the leader.
func streamLedByAnother(ctx context.Context, t *testing.T, b *stages.Bus, node string) (leader string) {
	t.Helper()
	await.Eventually(t, "another node leads the stream", func() bool {
		s, err := b.JS.CreateStream(ctx, jetstream.StreamConfig{
			Name: messages.StreamURLs, Subjects: []string{"seine.urls.>"}, MaxBytes: 1 << 20, Replicas: 3, AllowDirect: true,
		})
		if err != nil {
			t.Fatal(err)
		}
		if leader = s.CachedInfo().Cluster.Leader; leader != "" && leader != node {
			return true
		}
		if err := b.JS.DeleteStream(ctx, messages.StreamURLs); err != nil {
			t.Fatal(err)
		}
		return false
	})
	return leader
}

// consumerOn creates a durable consumer with one replica, on a suitable node.
func consumerOn(ctx context.Context, t *testing.T, b *stages.Bus, name string, suits func(node string) bool) (c jetstream.Consumer) {
	t.Helper()
	for try := 0; ; try++ {
		config := jetstream.ConsumerConfig{Durable: fmt.Sprint(name, "-", try), AckPolicy: jetstream.AckExplicitPolicy, Replicas: 1}
		c, err := b.JS.CreateConsumer(ctx, messages.StreamURLs, config)
		if err != nil {
			t.Fatal(err)
		}
		if suits(c.CachedInfo().Cluster.Leader) {
			return c
		}
		if err := b.JS.DeleteConsumer(ctx, messages.StreamURLs, config.Durable); err != nil {
			t.Fatal(err)
		}
	}
}
