package stagegroup

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

// until returns a stage that records its name when it stops.
func until(name string, ended *[]string) func(context.Context) error {
	return func(ctx context.Context) error {
		<-ctx.Done()
		*ended = append(*ended, name)
		return ctx.Err()
	}
}

func TestSendersStopFirst(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	g := New(ctx)
	var ended []string
	g.Go(until("receiver", &ended))
	g.GoSender(until("sender", &ended))
	cancel() // the stages outlive the context
	stopped, err := g.Stop(false)
	if !stopped || err != nil || !slices.Equal(ended, []string{"sender", "receiver"}) {
		t.Errorf("stopped %v, error %v, in the order %v", stopped, err, ended)
	}
}

func TestFailureStopsTheOthers(t *testing.T) {
	g := New(t.Context())
	broken := errors.New("broken")
	var ended []string
	g.Go(until("other", &ended))
	g.GoSender(func(context.Context) error { return broken })
	<-g.Context().Done()
	if stopped, err := g.Stop(false); !stopped || !errors.Is(err, broken) || len(ended) != 1 {
		t.Errorf("stopped %v, error %v, ended %v", stopped, err, ended)
	}
}

func TestStageThatHangsHoldsUpOnlyWhatGoesWell(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, hang := New(t.Context()), make(chan struct{})
		g.Go(func(context.Context) error { <-hang; return nil })
		began := time.Now()
		if stopped, err := g.Stop(true); stopped || err != nil || time.Since(began) != failedGrace {
			t.Errorf("after a failure: stopped %v, error %v, after %s", stopped, err, time.Since(began))
		}
		time.AfterFunc(time.Hour, func() { close(hang) })
		if stopped, err := g.Stop(false); !stopped || err != nil || time.Since(began) < time.Hour {
			t.Errorf("stopped %v, error %v, after %s", stopped, err, time.Since(began))
		}
	})
}
