package overview

import (
	"log/slog"
	"reflect"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"seine/internal/testing/natstest"
	"seine/pkg/messages"
	"seine/pkg/stages"
)

// Dead letters are counted by stage and crawl, because an alert names both.
func TestDeadLettersAreCountedByCrawlAndStage(t *testing.T) {
	t.Parallel()
	bus, err := stages.Dial("", "test", slog.New(slog.DiscardHandler), nats.InProcessServer(natstest.Start(t, natstest.Options(t))))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(bus.Close)
	if err := bus.Provision(t.Context(), 1, messages.DefaultStreamLimits(), 1); err != nil {
		t.Fatal(err)
	}
	for i, of := range [][2]string{{messages.StageParser, "shop"}, {messages.StageParser, "shop"}, {messages.StageFetcher, "shop"}, {messages.StageParser, "news"}} {
		d := messages.Dead{
			Stage: of[0], Crawl: of[1], Reason: "broken", Subject: "seine.pages." + of[1] + ".0", Stream: messages.StreamPages,
			Sequence: uint64(i + 1), Time: time.Unix(1_800_000_000, 0),
		}
		if _, err := bus.JS.PublishMsg(t.Context(), d.Msg()); err != nil {
			t.Fatal(err)
		}
	}
	var o Overview
	dead, err := (&Reader{Bus: bus}).readDead(t.Context(), &o)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]map[string]uint64{"shop": {"parser": 2, "fetcher": 1}, "news": {"parser": 1}}
	if !reflect.DeepEqual(dead.Of, want) || dead.ByStage["parser"] != 3 || o.Dead != 4 {
		t.Errorf("by crawl %v, by stage %v, %d in all", dead.Of, dead.ByStage, o.Dead)
	}
}
