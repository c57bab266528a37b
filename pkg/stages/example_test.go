package stages_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"seine/pkg/messages"
	"seine/pkg/stages"
)

// A custom stage reads the records of all crawls as they are made (command.Stage provides the same
// as a command). Each message goes to one of its instances, and is redelivered if that dies before
// it has handled it. Reading stored records needs nothing more: a new consumer begins with the
// oldest record in RECORDS.
func ExampleRunner() {
	bus := connect() // stages.Dial("nats://127.0.0.1:4222", "titles", slog.Default())
	defer bus.Close()
	ctx, stop := context.WithTimeout(context.Background(), time.Minute)
	defer stop()
	if err := bus.Join(ctx); err != nil { // waits for the frontier, which creates the streams
		fmt.Println(err)
		return
	}
	stage := stages.Runner{
		Stage: "titles", Bus: bus, Stream: messages.StreamRecords,
		Consumer: messages.WorkConsumer("titles", "", 100),
		Workers:  4, Drain: 5 * time.Second,
		Handle: func(_ context.Context, m *stages.Message) (stages.Output, error) {
			parts, err := m.Parts() // it may be a batch of records
			for _, part := range parts {
				var record messages.Record
				if err = json.Unmarshal(part.Data, &record); err != nil {
					break
				}
				fmt.Println(record.URL, record.Title)
			}
			if err != nil {
				return stages.Output{}, stages.PoisonError(err) // it goes to DEAD; other messages are redelivered
			}
			stop()
			return stages.Output{}, nil // or messages to publish before this one is acknowledged
		},
	}
	if err := stage.Run(ctx); err != nil {
		fmt.Println(err)
	}
	// Output:
	// https://example.org/ Example Domain
	// https://example.org/ Another
}

// connect stands for a cluster in which a crawl has made a record.
func connect() *stages.Bus {
	dir, err := os.MkdirTemp("", "example-")
	must(err)
	s, err := server.NewServer(&server.Options{JetStream: true, StoreDir: dir, JetStreamMaxStore: 1 << 40, DontListen: true, NoSigs: true, NoLog: true})
	must(err)
	s.Start()
	bus, err := stages.Dial("", "example", slog.New(slog.DiscardHandler), nats.InProcessServer(s))
	must(err)
	bus.NC.SetClosedHandler(func(*nats.Conn) { s.Shutdown(); s.WaitForShutdown(); _ = os.RemoveAll(dir) })
	must(bus.Provision(context.Background(), 1, messages.DefaultStreamLimits(), 1))
	var msgs []*nats.Msg
	for _, title := range []string{"Example Domain", "Another"} {
		record, err := json.Marshal(messages.Record{URL: "https://example.org/", Title: title, Crawl: "demo"})
		must(err)
		msgs = append(msgs, messages.RecordMsg("demo", 0, title, record))
	}
	_, err = bus.JS.PublishMsg(context.Background(), messages.JoinBatch(msgs))
	must(err)
	return bus
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}
