package writer

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"time"

	"seine/internal/base/installation"
	"seine/internal/base/procname"
	"seine/internal/output"
	"seine/internal/output/bucket"
	"seine/internal/output/sqlite"
	"seine/internal/output/sqlsink"
	"seine/internal/streams/jsclient"
	"seine/pkg/messages"
	"seine/pkg/stages"
)

// binder manages the binding of a writer's name to its output.
type binder struct{ *Writer }

// BoundError is returned if the name of a writer is bound to another output.
type BoundError struct {
	Name string
	Out  string // requested output, without secrets
	Have output.Binding
	Why  string // the differences
}

// Error describes the binding and the remedies.
func (e *BoundError) Error() string {
	return e.Of("--out", fmt.Sprintf("the writer %q", e.Name)) + "; to write both, start a writer of another name"
}

// Of describes the binding of what, whose destination is set by a flag.
func (e *BoundError) Of(flag, what string) string {
	return fmt.Sprintf("%s %s: %s is bound to %s (since %s, by %s): %s: use that output, or --change-output to change it",
		flag, e.Out, what, e.Have.Out, e.Have.Since.UTC().Format("2006-01-02 15:04:05Z"), e.Have.Host, e.Why)
}

// binding returns the binding that the writer's name would have, without the ID of the destination.
func (c *Config) binding() output.Binding {
	d := c.withDefaults()
	b := output.Binding{V: 1, Out: absolute(d.Out), Host: procname.Host(), Since: time.Now().UTC(), From: d.From}
	if IsDatabase(d.Out) {
		return b
	}
	b.Form = *formOf(&d.OutputConfig)
	return b
}

// Effective returns a copy with defaults for omitted options, so that two configurations with the
// same effect are equal.
func (c *OutputConfig) Effective() OutputConfig {
	e := *c
	if IsDatabase(c.Out) {
		return e
	}
	e.Format = c.format()
	if f, err := newFileLayout(&e, nil); err == nil && f.body != nil {
		e.Key = f.key.String()
	} else if path, err := e.path(); err == nil {
		e.Path = path.String()
	}
	return e
}

// absolute returns out in a form that is independent of the working directory, without secrets.
func absolute(out string) string {
	switch {
	case bucket.Is(out):
		return strings.TrimSuffix(out, "/")
	case sqlite.Is(out):
		if abs, err := filepath.Abs(sqlite.File(out)); err == nil {
			return sqlite.Scheme + abs
		}
	case !IsDatabase(out):
		if abs, err := filepath.Abs(out); err == nil {
			return abs
		}
	}
	return Redact(out)
}

// bindingDifferences describes how destination and form of want differ from those of have, "" if
// they do not.
func bindingDifferences(have, want *output.Binding) string {
	var why []string
	if have.Place != want.Place {
		text := want.Out + " is another destination"
		switch {
		case want.Place == "" && have.Out == want.Out:
			text = "its files have been removed, or it is not mounted"
		case want.Place == "":
			text += " (or the same one, emptied or not mounted)"
		case have.Out == want.Out:
			text = "another volume is mounted there"
		}
		why = append(why, text)
	}
	if have.From != want.From {
		why = append(why, fmt.Sprintf("--from is %s there, and %s here", have.From, want.From))
	}
	if have.Place == want.Place || have.Format != "" && want.Format != "" {
		why = append(why, differences(&have.Form, &want.Form)...)
	}
	return strings.Join(why, "; ")
}

// placeID returns the ID of the destination in c, "" if it has none. It creates nothing there.
func (c *Config) placeID() (string, error) {
	log, err := readLog(c.Out, c.Name, c.S3)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, sqlsink.ErrNoTables) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	id, err := log.(output.Place).PlaceID("")
	if err != nil {
		return "", fmt.Errorf("--out %s: read the ID of the output: %w", Redact(c.Out), err)
	}
	return id, closeSink(log)
}

// CheckBinding returns a BoundError if the writer's name is bound to another destination or form,
// unless ChangeOutput is set. It creates nothing.
func (c *Config) CheckBinding(ctx context.Context, b *stages.Bus) error {
	have, _, err := output.ReadBinding(ctx, b, c.Name)
	if err != nil || have == nil || c.ChangeOutput {
		return err
	}
	want := c.binding()
	if want.Place, err = c.placeID(); err != nil {
		return err
	}
	return c.checkSame(have, &want)
}

// checkSame returns a BoundError if want differs from have.
func (c *Config) checkSame(have, want *output.Binding) error {
	if why := bindingDifferences(have, want); why != "" {
		return &BoundError{Name: c.Name, Out: want.Out, Have: *have, Why: why}
	}
	return nil
}

// bind binds the name to the open destination, unless it is bound already.
func (b binder) bind(ctx context.Context) (err error) {
	want := b.cfg.binding()
	if want.Place, err = b.sink.(output.Place).PlaceID(rand.Text()); err != nil {
		return fmt.Errorf("--out %s: write the ID of the output: %w", Redact(b.cfg.Out), err)
	}
	b.binding = want
	return jsclient.RetryUnavailable(ctx, func(ctx context.Context) error {
		return jsclient.RetryConflicts(ctx, func() error { return b.bindOnce(ctx) })
	})
}

// bindOnce binds the name once. It fails if another process changes the binding at the same time.
func (b binder) bindOnce(ctx context.Context) error {
	have, rev, err := output.ReadBinding(ctx, b.bus, b.cfg.Name)
	if err != nil {
		return err
	}
	if have != nil {
		if err := b.cfg.checkSame(have, &b.binding); err == nil || !b.cfg.ChangeOutput {
			return err
		}
		b.log.Warn("the writer is now bound to another output", "was", have.Out, "is", b.binding.Out)
	}
	if _, err = b.bus.SwapKey(ctx, messages.BucketMeta, messages.KeyWriter(b.cfg.Name), messages.Encode(&b.binding), rev); err != nil {
		return fmt.Errorf("bind the writer %s to its output: %w", b.cfg.Name, err)
	}
	return nil
}

// stillBound returns a BoundError once the name is bound to another output, and
// installation.ErrOther once the server has the streams of another installation.
func (b binder) stillBound(ctx context.Context) error {
	if err := b.bus.CheckInstallation(ctx); errors.Is(err, installation.ErrOther) {
		return err
	}
	have, _, err := output.ReadBinding(ctx, b.bus, b.cfg.Name)
	if err != nil || have == nil { // NATS is unavailable
		return nil // the next check reports it
	}
	return b.cfg.checkSame(have, &b.binding)
}
