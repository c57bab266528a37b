package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"seine/bench/contract"
	"seine/bench/supervise"
	"seine/internal/base/installation"
	"seine/internal/base/sleep"
	"seine/pkg/messages"
)

// Faults of an operator who knows NATS: a stream or a consumer is edited by hand, or the brokers are started with other stores. Seine
// must restore what was edited, and must leave servers alone that are not its own.

const kindEmpty = "empty brokers"

// streamEdits lose nothing by themselves.
var streamEdits = []func(*jetstream.StreamConfig){
	func(c *jetstream.StreamConfig) { c.MaxMsgs = 1 },
	func(c *jetstream.StreamConfig) { c.MaxMsgSize = 1 },
	func(c *jetstream.StreamConfig) { c.MaxAge = time.Hour },
	func(c *jetstream.StreamConfig) { c.MaxConsumers = 1 },
	func(c *jetstream.StreamConfig) { c.NoAck = true },
	func(c *jetstream.StreamConfig) { c.AllowDirect = !c.AllowDirect },
	func(c *jetstream.StreamConfig) { c.Subjects = []string{"edited." + c.Name} },
}

// editedStreams are those of which all edits are allowed by the server.
var editedStreams = []string{messages.StreamSeeds, messages.StreamURLs, messages.StreamResults, messages.StreamPages, messages.StreamRecords}

// editStream edits a stream, and waits until it is as it was.
func editStream(ctx context.Context, r *testbed, victim string, d draw) {
	before, err := r.bus.JS.Stream(ctx, victim)
	if err != nil {
		return // the brokers have other troubles
	}
	want := before.CachedInfo().Config
	edited := want
	streamEdits[int(d.a*float64(len(streamEdits)))](&edited)
	if _, err := r.bus.JS.UpdateStream(ctx, edited); err != nil {
		r.tell.Note("edit %s: %v", victim, err)
	}
	r.awaitRestored(ctx, victim, func(ctx context.Context) (bool, error) {
		s, err := r.bus.JS.Stream(ctx, victim)
		return err == nil && reflect.DeepEqual(s.CachedInfo().Config, want), err
	})
}

// awaitRestored waits until an object that was edited is as it was.
func (r *testbed) awaitRestored(ctx context.Context, object string, restored func(context.Context) (bool, error)) {
	ctx, cancel := lasting(ctx)
	defer cancel()
	err := contract.Insist(ctx, "restore "+object, func(ctx context.Context) error {
		ok, err := restored(ctx)
		if err == nil && !ok {
			err = errors.New("it is as it was edited")
		}
		return err
	})
	if err != nil && ctx.Err() == nil {
		r.tell.Violation("%v", err)
	}
}

// consumerEdits lose nothing by themselves.
var consumerEdits = []func(*jetstream.ConsumerConfig){
	func(c *jetstream.ConsumerConfig) { c.MaxAckPending = 1 },
	func(c *jetstream.ConsumerConfig) { c.MaxRequestMaxBytes = 1 },
	func(c *jetstream.ConsumerConfig) { c.MaxRequestExpires = time.Millisecond },
	func(c *jetstream.ConsumerConfig) { c.AckWait = time.Second },
}

// editedConsumers are consumers by the stream that they read.
var editedConsumers = map[string]string{
	messages.ConsumerParse: messages.StreamPages, messages.ConsumerFetch: messages.StreamFetch,
	messages.ConsumerURLs + "-0": messages.StreamURLs, messages.ConsumerResults + "-1": messages.StreamResults,
	messages.ConsumerWriter + "-" + defaultWriter + "-0": messages.StreamRecords,
}

// editConsumer edits, pauses or deletes a consumer, and waits until it is as it was.
func editConsumer(ctx context.Context, r *testbed, victim string, d draw) {
	stream := editedConsumers[victim]
	before, err := r.bus.JS.Consumer(ctx, stream, victim)
	if err != nil {
		return // the brokers have other troubles
	}
	want := before.CachedInfo().Config
	switch {
	case d.b < 0.2:
		r.tell.Note("delete consumer %s", victim)
		err = r.bus.JS.DeleteConsumer(ctx, stream, victim)
	case d.b < 0.4:
		r.tell.Note("pause consumer %s", victim)
		_, err = r.bus.JS.PauseConsumer(ctx, stream, victim, time.Now().Add(d.between(shortest, longest)))
	default:
		edited := want
		consumerEdits[int(d.a*float64(len(consumerEdits)))](&edited)
		_, err = r.bus.JS.UpdateConsumer(ctx, stream, edited)
	}
	if err != nil {
		r.tell.Note("edit consumer %s: %v", victim, err)
	}
	r.awaitRestored(ctx, "consumer "+victim, func(ctx context.Context) (bool, error) {
		c, err := r.bus.JS.Consumer(ctx, stream, victim)
		if err != nil {
			return false, err
		}
		now := c.CachedInfo()
		now.Config.PauseUntil = want.PauseUntil
		return !now.Paused && reflect.DeepEqual(now.Config, want), nil
	})
}

// emptyBrokers starts the brokers with empty stores in mid-crawl, while the stages run, and then with their own again. Meanwhile nobody may
// take the empty servers for the cluster of the crawls, and doctor must say that something is wrong.
func emptyBrokers(ctx context.Context, r *testbed, _ string, d draw) {
	if !r.holdCluster(ctx) {
		return
	}
	defer r.cluster.Unlock()
	ctx, cancel := lasting(ctx)
	defer cancel()
	defer r.storm.quiet()()
	for _, name := range r.wanted(messages.StageFrontier) { // one with a new state would begin an installation on them, and rightly so
		_ = contract.Insist(ctx, "see the installation of "+name, func(context.Context) error {
			id, err := installation.Of(filepath.Join(r.dir, name, "state"))
			if err == nil && id.Name == "" {
				err = errors.New("there is none yet")
			}
			return err
		})
	}
	r.step("empty brokers: start")
	r.swapStores("jetstream", "aside")
	_ = contract.Insist(ctx, "reach the empty brokers", func(ctx context.Context) error {
		_, err := r.bus.JS.AccountInfo(ctx)
		return err // it is tried again
	})
	_ = sleep.For(ctx, d.between(5*time.Second, longest))
	if out, err := r.seine(ctx, "doctor"); err == nil {
		r.tell.Violation("doctor finds nothing wrong with empty brokers: %s", out)
	}
	if info, err := r.bus.JS.AccountInfo(ctx); err == nil && info.Streams > 0 {
		r.tell.Violation("somebody has made %d streams on empty brokers", info.Streams)
	}
	r.step("empty brokers: end")
	r.swapStores("aside", "jetstream")
	r.rejoin(ctx)
}

// swapStores starts the brokers again without the folder of their stores that they have, and with that of another name.
func (r *testbed) swapStores(from, to string) {
	again := r.endAll(roleBroker, (*supervise.Process).Kill)
	for _, name := range r.brokerOrder() {
		dir := r.disks[name].dir
		err := os.RemoveAll(filepath.Join(dir, to))
		if err == nil {
			err = os.Rename(filepath.Join(dir, from), filepath.Join(dir, to))
		}
		if err != nil {
			r.tell.Violation("swap the store of %s: %v", name, err)
		}
	}
	again()
}
