package backup

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"seine/internal/run/works"
	"seine/internal/streams/partition"
	"seine/internal/streams/retention"
	"seine/internal/testing/await"
	"seine/internal/testing/natstest"
	"seine/internal/testing/stagestest"
	"seine/pkg/messages"
	"seine/pkg/stages"
)

// cluster returns a connection to a new server with the traces of a crawl: messages, some of them
// purged and some read, keys, a body, and the snapshot of a partition.
func cluster(t *testing.T) *stages.Bus {
	t.Helper()
	b, _ := stagestest.Dial(t, natstest.NewBroker(t).URL())
	ctx := t.Context()
	must(t, b.Provision(ctx, 4, messages.DefaultStreamLimits(), 1))
	stagestest.ProvisionSnapshots(t, b, 64<<20)
	for i := range 100 {
		for _, subject := range []string{
			messages.SubjectURLs(messages.SourceLink, "c", i%4), messages.SubjectResults("c", i%4), messages.SubjectPages("c", i%4), messages.SubjectRecords("c", i%4),
		} {
			_, err := b.JS.Publish(ctx, subject, fmt.Appendf(nil, "%d of %s", i, subject))
			must(t, err)
		}
	}
	c, err := b.OpenConsumer(ctx, messages.StreamPages, messages.WorkConsumer(messages.ConsumerParse, "", 100))
	must(t, err)
	got, err := c.Fetch(10)
	must(t, err)
	for m := range got.Messages() {
		must(t, m.DoubleAck(ctx))
	}
	must(t, natstest.StreamOf(t, b.JS, messages.StreamRecords).Purge(ctx, jetstream.WithPurgeSequence(31)))
	kv, err := b.JS.KeyValue(ctx, messages.BucketCrawls)
	must(t, err)
	for i := range 3 {
		_, err = kv.Put(ctx, "c", fmt.Appendf(nil, `{"rev": %d}`, i))
		must(t, err)
	}
	bodies, err := b.JS.ObjectStore(ctx, messages.BucketBodies)
	must(t, err)
	_, err = bodies.PutBytes(ctx, "body", natstest.NoiseBytes(1, 3<<20))
	must(t, err)
	leases, err := b.JS.KeyValue(ctx, messages.BucketLeases)
	must(t, err)
	for p := range 4 {
		epoch, err := leases.Put(ctx, fmt.Sprint("frontier.", p), nil)
		must(t, err)
		saveState(t, b, p, epoch)
	}
	return b
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func stateOf(p int, epoch uint64) string {
	return fmt.Sprintf("state of partition %d under epoch %d", p, epoch)
}

func saveState(t *testing.T, b *stages.Bus, p int, epoch uint64) {
	t.Helper()
	_, err := partition.NewSnapshots(b).Save(t.Context(), p, partition.Snapshot{Owner: "store", Epoch: epoch, Format: 1}, func(w io.Writer) error {
		_, err := io.WriteString(w, stateOf(p, epoch))
		return err
	})
	must(t, err)
}

// contents returns everything that a client can see of a cluster.
func contents(t *testing.T, b *stages.Bus) map[string]any {
	t.Helper()
	all := make(map[string]any)
	names, err := streams(t.Context(), b)
	must(t, err)
	for _, name := range names {
		if name == snapshotsStream || name == metaStream {
			continue
		}
		s := natstest.StreamOf(t, b.JS, name)
		info := s.CachedInfo()
		if !isBucket(name) {
			all[name+" made"] = info.Created
		}
		all[name+" config"] = info.Config.MaxBytes
		if name == keyValues(messages.BucketLeases) { // leases expire soon, and works have keys there, so only the rising numbers count
			all[name+" goes on"] = info.State.LastSeq >= 4
			continue
		}
		all[name+" ends"] = [2]uint64{max(1, info.State.FirstSeq), info.State.LastSeq}
		for seq := max(1, info.State.FirstSeq); seq <= info.State.LastSeq; seq++ {
			m, err := s.GetMsg(t.Context(), seq)
			if errors.Is(err, jetstream.ErrMsgNotFound) {
				continue
			}
			must(t, err)
			all[fmt.Sprint(name, " ", seq)] = fmt.Sprint(m.Subject, m.Header, string(m.Data), m.Time)
		}
		consumers, err := b.Consumers(t.Context(), name)
		must(t, err)
		for _, c := range consumers {
			all[name+" consumer "+c.Name] = [2]uint64{c.AckFloor.Stream, c.NumPending}
		}
	}
	for p := range 4 {
		snapshots := partition.NewSnapshots(b)
		snap, found, err := snapshots.Newest(t.Context(), p)
		must(t, err)
		if !found {
			continue
		}
		r, err := snapshots.Open(t.Context(), snap)
		must(t, err)
		text, err := io.ReadAll(r)
		must(t, err)
		all[fmt.Sprint("state ", p)] = string(text)
	}
	return all
}

func wantContents(t *testing.T, got, want map[string]any) {
	t.Helper()
	for k, v := range want {
		if !reflect.DeepEqual(got[k], v) {
			t.Errorf("%s is %v, was %v", k, got[k], v)
		}
	}
	for k := range got {
		if _, ok := want[k]; !ok {
			t.Errorf("%s is new: %v", k, got[k])
		}
	}
}

func takeBackup(t *testing.T, b *stages.Bus) (dir string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "backup")
	_, err := (&Backup{Bus: b, Dir: dir}).Run(t.Context())
	must(t, err)
	return dir
}

func emptyServer(t *testing.T) *stages.Bus {
	t.Helper()
	b, _ := stagestest.Dial(t, natstest.NewBroker(t).URL())
	return b
}

// A restored cluster has the contents of the original: each message with its sequence and time, the
// positions of consumers, keys with their history, bodies, and the states of partitions.
func TestRestoreHasAllThatWasCopied(t *testing.T) {
	t.Parallel()
	b := cluster(t)
	want := contents(t, b)
	dir := takeBackup(t, b)
	wantContents(t, contents(t, b), want)
	restored := emptyServer(t)
	_, err := (&Restore{Bus: restored, Dir: dir}).Run(t.Context())
	must(t, err)
	wantContents(t, contents(t, restored), want)
}

// restoreSteps are the log messages of a restore before its last steps.
var restoreSteps = []string{"restoring the state of", "restoring " + metaStream, "installing", "completing"}

// A restore that was interrupted after any step is started again by the next one, and does not
// count as complete before.
func TestRestoreIsBegunAnewAfterEachStep(t *testing.T) {
	t.Parallel()
	b := cluster(t)
	want := contents(t, b)
	dir := takeBackup(t, b)
	restored := emptyServer(t)
	for _, last := range restoreSteps {
		ctx, end := context.WithCancel(t.Context())
		_, err := (&Restore{Bus: restored, Dir: dir, Progress: func(step string) {
			if strings.HasPrefix(step, last) {
				end()
			}
		}}).Run(ctx)
		if !errors.Is(err, context.Canceled) {
			t.Fatalf("ended while %s with %v", last, err)
		}
	}
	_, err := (&Restore{Bus: restored, Dir: dir}).Run(t.Context())
	must(t, err)
	wantContents(t, contents(t, restored), want)
}

// electing is a cluster whose newly restored streams have no leader yet.
type electing struct {
	jetstream.JetStream
	asked map[string]bool
}

func (e electing) Stream(ctx context.Context, name string) (jetstream.Stream, error) {
	if !isBucket(name) && !e.asked[name] {
		e.asked[name] = true
		return nil, context.DeadlineExceeded
	}
	return e.JetStream.Stream(ctx, name)
}

func TestRestoreWaitsForLeaders(t *testing.T) {
	t.Parallel()
	b := cluster(t)
	want := contents(t, b)
	dir := takeBackup(t, b)
	restored := emptyServer(t)
	js := restored.JS
	restored.JS = electing{js, make(map[string]bool)}
	_, err := (&Restore{Bus: restored, Dir: dir}).Run(t.Context())
	must(t, err)
	restored.JS = js
	wantContents(t, contents(t, restored), want)
}

// Durable consumers continue after their last acknowledgement, whatever their configuration,
// including those of other applications.
func TestRestoredConsumersContinue(t *testing.T) {
	t.Parallel()
	b := cluster(t)
	last := natstest.StreamOf(t, b.JS, messages.StreamPages).CachedInfo().State.LastSeq
	acked := map[string]uint64{messages.ConsumerParse: 10, "new": last, "by-start": 49, "pushed": 0}
	for _, c := range []jetstream.ConsumerConfig{
		{Durable: "new", DeliverPolicy: jetstream.DeliverNewPolicy},
		{Durable: "by-start", DeliverPolicy: jetstream.DeliverByStartSequencePolicy, OptStartSeq: 50},
	} {
		c.AckPolicy = jetstream.AckExplicitPolicy
		_, err := b.JS.CreateConsumer(t.Context(), messages.StreamPages, c)
		must(t, err)
	}
	_, err := b.JS.CreatePushConsumer(t.Context(), messages.StreamPages, jetstream.ConsumerConfig{Durable: "pushed", DeliverSubject: "app.pages", AckPolicy: jetstream.AckExplicitPolicy})
	must(t, err)
	restored := emptyServer(t)
	_, err = (&Restore{Bus: restored, Dir: takeBackup(t, b)}).Run(t.Context())
	must(t, err)
	consumers, err := restored.Consumers(t.Context(), messages.StreamPages)
	must(t, err)
	if len(consumers) != len(acked) {
		t.Errorf("restored %d consumers, want %d", len(consumers), len(acked))
	}
	for _, c := range consumers {
		if want := last - acked[c.Name]; c.NumPending != want {
			t.Errorf("%d messages are pending for consumer %s, want %d", c.NumPending, c.Name, want)
		}
	}
}

// A restored cluster can be backed up and restored again: its streams keep the identity of their
// first creation times.
func TestRestoredClusterIsCopiedAgain(t *testing.T) {
	t.Parallel()
	b := cluster(t)
	want := contents(t, b)
	for range 2 {
		dir := takeBackup(t, b)
		b = emptyServer(t)
		_, err := (&Restore{Bus: b, Dir: dir}).Run(t.Context())
		must(t, err)
	}
	wantContents(t, contents(t, b), want)
	must(t, b.Provision(t.Context(), 4, messages.DefaultStreamLimits(), 1)) // as a starting frontier does
	wantContents(t, contents(t, b), want)
}

func TestRestoreSaysWhatIsInTheWay(t *testing.T) {
	t.Parallel()
	b := cluster(t)
	dir := takeBackup(t, b)
	damaged := filepath.Join(t.TempDir(), "damaged")
	must(t, os.CopyFS(damaged, os.DirFS(dir)))
	must(t, os.Truncate(snapshotFile(damaged, 2), 3))
	unfinished := filepath.Join(t.TempDir(), "unfinished")
	must(t, os.CopyFS(unfinished, os.DirFS(dir)))
	must(t, os.Remove(filepath.Join(unfinished, ManifestFile)))
	for name, c := range map[string]struct {
		bus  *stages.Bus
		dir  string
		want error
		says string
	}{
		"a server that has streams":                {b, dir, ErrNotEmpty, "URLS"},
		"a backup of which a file was cut":         {emptyServer(t), damaged, ErrDamaged, "partition-2"},
		"a backup that did not come to its end":    {emptyServer(t), unfinished, ErrNoBackup, ManifestFile},
		"more replicas than there are servers for": {emptyServer(t), dir, nil, "--replicas"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := &Restore{Bus: c.bus, Dir: c.dir}
			if c.want == nil {
				r.Replicas = 3
			}
			_, err := r.Run(t.Context())
			if err == nil || c.want != nil && !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.says) {
				t.Errorf("restored with %v, want %v that names %s", err, c.want, c.says)
			}
		})
	}
}

func TestBackupSaysWhatIsInTheWay(t *testing.T) {
	t.Parallel()
	b := cluster(t)
	taken := t.TempDir()
	must(t, os.WriteFile(filepath.Join(taken, "mine"), nil, 0o600))
	if _, err := (&Backup{Bus: b, Dir: taken}).Run(t.Context()); err == nil || !strings.Contains(err.Error(), "has something in it") {
		t.Errorf("copied to a folder of others with %v", err)
	}
	if _, err := (&Backup{Bus: emptyServer(t), Dir: filepath.Join(t.TempDir(), "backup")}).Run(t.Context()); err == nil || !strings.Contains(err.Error(), "no Seine streams") {
		t.Errorf("copied a server without streams with %v", err)
	}
	must(t, partition.NewSnapshots(b).Reset(t.Context(), 1, 1000, "store"))
	must(t, natstest.StreamOf(t, b.JS, messages.StreamURLs).Purge(t.Context(), jetstream.WithPurgeSequence(2)))
	if _, err := (&Backup{Bus: b, Dir: filepath.Join(t.TempDir(), "backup")}).Run(t.Context()); err == nil || !strings.Contains(err.Error(), "partition 1 has no snapshot") {
		t.Errorf("copied a cluster without snapshots with %v", err)
	}
}

// cancelling cancels when something is logged, as Join does before it waits.
type cancelling struct{ cancel func() }

func (c cancelling) Enabled(context.Context, slog.Level) bool { return true }

func (c cancelling) Handle(context.Context, slog.Record) error {
	c.cancel()
	return nil
}

func (c cancelling) WithAttrs([]slog.Attr) slog.Handler { return c }
func (c cancelling) WithGroup(string) slog.Handler      { return c }

// While a restore runs, or after it was interrupted, no frontier starts and no stage joins. A
// second restore is refused while one runs, and continues an interrupted one.
func TestRestoreKeepsOthersAway(t *testing.T) {
	t.Parallel()
	dir := takeBackup(t, cluster(t))
	b := emptyServer(t)
	frontier := func(when string) {
		ctx, cancel := context.WithCancel(t.Context())
		reader, _ := stagestest.Dial(t, b.NC.ConnectedUrl())
		reader.Log = slog.New(cancelling{cancel})
		if err := reader.Join(ctx); !errors.Is(err, context.Canceled) {
			t.Errorf("a stage joins %s: %v", when, err)
		}
		cancel()
		if err := b.Provision(t.Context(), 4, messages.DefaultStreamLimits(), 1); !errors.Is(err, stages.ErrRestoring) {
			t.Errorf("a frontier, %s: %v, want %v", when, err, stages.ErrRestoring)
		}
	}
	ctx, end := context.WithCancel(t.Context())
	_, err := (&Restore{Bus: b, Dir: dir, Progress: func(step string) {
		if !slices.ContainsFunc(restoreSteps, func(last string) bool { return strings.HasPrefix(step, last) }) {
			return
		}
		frontier("at " + step)
		if _, err := (&Restore{Bus: b, Dir: dir}).Run(t.Context()); !errors.Is(err, works.ErrExcluded) {
			t.Errorf("a second restore, at %s: %v, want %v", step, err, works.ErrExcluded)
		}
		if strings.HasPrefix(step, "completing") {
			end()
		}
	}}).Run(ctx)
	if !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	frontier("after an interruption")
	if _, err := (&Backup{Bus: b, Dir: filepath.Join(t.TempDir(), "backup")}).Run(t.Context()); !errors.Is(err, stages.ErrRestoring) {
		t.Errorf("a backup after an interruption: %v, want %v", err, stages.ErrRestoring)
	}
	_, err = (&Restore{Bus: b, Dir: dir}).Run(t.Context())
	must(t, err)
	must(t, b.Provision(t.Context(), 4, messages.DefaultStreamLimits(), 1))
}

// The folder that a killed process left is not a valid backup, and does not prevent the next
// backup.
func TestBackupIsBegunAnewAfterAKill(t *testing.T) {
	t.Parallel()
	b := cluster(t)
	dir := filepath.Join(t.TempDir(), "backup")
	must(t, os.MkdirAll(filepath.Join(dir+unfinishedSuffix, "streams", "OTHER"), 0o700))
	_, err := (&Backup{Bus: b, Dir: dir}).Run(t.Context())
	must(t, err)
	if _, err := os.Stat(filepath.Join(dir, "streams", "OTHER")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("what another has left is in the backup: %v", err)
	}
}

// Two backups into one folder do not overwrite each other, and a refused one removes nothing.
func TestBackupsOfOneFolderAreMadeOneAtATime(t *testing.T) {
	t.Parallel()
	b := cluster(t)
	dir := filepath.Join(t.TempDir(), "new", "backup")
	tried := 0
	m, err := (&Backup{Bus: b, Dir: dir, Progress: func(string) {
		tried++
		if _, err := (&Backup{Bus: b, Dir: dir + "/"}).Run(t.Context()); !errors.Is(err, ErrInUse) {
			t.Errorf("a second backup: %v, want %v", err, ErrInUse)
		}
	}}).Run(t.Context())
	must(t, err)
	must(t, m.Verify(dir))
	if tried == 0 {
		t.Error("no second backup was tried")
	}
	left := filepath.Join(dir+"2"+unfinishedSuffix, "streams")
	must(t, os.MkdirAll(left, 0o700))
	must(t, works.Do(t.Context(), b, works.Replay, func(ctx context.Context) error {
		if _, err := (&Backup{Bus: b, Dir: dir + "2"}).Run(ctx); !errors.Is(err, works.ErrExcluded) {
			t.Errorf("a backup beside a replay: %v, want %v", err, works.ErrExcluded)
		}
		return nil
	}))
	if _, err := os.Stat(left); err != nil {
		t.Errorf("a backup that was refused has removed the folder of another: %v", err)
	}
}

// During a backup no janitor purges messages that are still to be copied; afterwards nothing is
// held any more.
func TestNothingIsPurgedWhileABackupIsMade(t *testing.T) {
	t.Parallel()
	b := cluster(t)
	config := messages.PartitionConsumer("reader", "records", 0)
	config.Durable, config.FilterSubject = "reader", ""
	c, err := b.OpenConsumer(t.Context(), messages.StreamRecords, config)
	must(t, err)
	got, err := c.Fetch(70)
	must(t, err)
	for m := range got.Messages() {
		must(t, m.DoubleAck(t.Context()))
	}
	janitor := retention.NewJanitor(b)
	janitor.Streams, janitor.KeepShare, janitor.KeepAge, janitor.Every = map[string]int{messages.StreamRecords: 1}, 1e-9, 0, 10*time.Millisecond
	before := natstest.State(t, b.JS, messages.StreamRecords).FirstSeq
	must(t, works.Do(t.Context(), b, works.Backup, func(context.Context) error {
		await.Start(t, janitor.Run)
		await.Always(t, 300*time.Millisecond, "nothing is purged", func() bool {
			return natstest.State(t, b.JS, messages.StreamRecords).FirstSeq == before
		})
		return nil
	}))
	await.Eventually(t, "what is read is purged", func() bool {
		return natstest.State(t, b.JS, messages.StreamRecords).FirstSeq > before
	})
}
