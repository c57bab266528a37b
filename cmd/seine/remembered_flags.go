package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"syscall"

	"seine/internal/base/atomicfile"
	"seine/internal/base/filelock"
	"seine/internal/base/jsontext"
	"seine/internal/output/bucket"
	"seine/internal/output/sqlite"
	"seine/pkg/stages/writer"
)

// memory is what --data remembers of the output flags: a resumed crawl without them keeps its
// destinations.
type memory struct {
	V     int                        `json:"v"`
	Flags map[string]json.RawMessage `json:"flags"` // by name
	// Empty is set if nothing was written: the next run may use another output.
	Empty bool `json:"empty,omitempty"`
}

// memoryFile is the name of the file in --data.
const memoryFile = "output.json"

// flagValue is a flag and a pointer to its value.
type flagValue struct {
	name  string
	value any // a pointer
}

// remembered returns the flags that are remembered, in the order of messages.
func (c *crawlCmd) remembered() []flagValue {
	return []flagValue{
		{"out", &c.Out}, {"format", &c.Format}, {"path", &c.Path}, {"key", &c.Key}, {"encrypt", &c.Encrypt},
		{"csv-bom", &c.CSVBOM}, {"csv-safe", &c.CSVSafe},
		{"s3-endpoint", &c.S3.Endpoint}, {"s3-path-style", &c.S3.PathStyle}, {"s3-region", &c.S3.Region}, {"s3-sse", &c.S3.SSE},
		{"s3-storage-class", &c.S3.StorageClass},
		{"warc", &c.WARC}, {"warc-format", &c.WARCFormat}, {"log-requests", &c.LogRequests},
	}
}

// readMemory reads what --data remembers. It returns nil if the crawl is new.
func (c *crawlCmd) readMemory() (*memory, error) {
	file := filepath.Join(c.Data, memoryFile)
	text, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) { // a later check reports the error
		return nil, nil
	}
	c.recalled = text
	var m memory
	if err == nil {
		err = jsontext.Unmarshal(text, &m)
	}
	if err == nil && m.V != 1 {
		err = fmt.Errorf("it has version %d, this build reads 1", m.V)
	}
	if err != nil {
		return nil, fmt.Errorf("read the remembered output of %s: %w (without %s the flags are needed again)", c.Data, err, file)
	}
	return &m, nil
}

// recall sets flags that were not given to the remembered values, and rejects given flags that
// differ from them.
func (c *crawlCmd) recall(given map[string]bool) error {
	m, err := c.readMemory()
	if c.ChangeOutput {
		return nil
	}
	if err != nil {
		return err
	}
	if c.first = m == nil || m.Empty; m == nil {
		return nil
	}
	var was crawlCmd
	before := was.remembered()
	for _, f := range before {
		if text, ok := m.Flags[f.name]; ok {
			if err := jsontext.Unmarshal(text, f.value); err != nil {
				return fmt.Errorf("read the remembered --%[2]s of %[1]s: %[3]w", c.Data, f.name, err)
			}
		}
	}
	was.Out, was.WARC, was.LogRequests = below(c.Data, was.Out), below(c.Data, was.WARC), below(c.Data, was.LogRequests)
	for i, f := range c.remembered() {
		if _, ok := m.Flags[f.name]; ok && !given[f.name] {
			reflect.ValueOf(f.value).Elem().Set(reflect.ValueOf(before[i].value).Elem())
		}
	}
	if !given["log-requests"] && writer.IsDatabase(c.LogRequests) && writer.SamePlace(c.LogRequests, c.Out) {
		c.LogRequests = c.Out // c.Out may have the password
	}
	if m.Empty {
		c.ChangeOutput = true // from an empty output
		return nil
	}
	return c.sameAs(&was, given)
}

// effective returns the output configuration with its defaults filled in.
func (p outputPlace) effective() outputPlace {
	full := writer.OutputConfig(p)
	return outputPlace(full.Effective())
}

// sameAs returns an error if given flags differ from those of was.
func (c *crawlCmd) sameAs(was *crawlCmd, given map[string]bool) error {
	asked, had := *c, *was
	asked.outputPlace, had.outputPlace = c.effective(), was.effective()
	asked.Encrypt, had.Encrypt = absoluteFiles(c.Encrypt), absoluteFiles(was.Encrypt)
	before := had.remembered()
	var other []string
	for i, f := range asked.remembered() {
		name, is, must := f.name, reflect.ValueOf(f.value).Elem(), reflect.ValueOf(before[i].value).Elem()
		switch {
		case !given[name], reflect.DeepEqual(is.Interface(), must.Interface()), is.Kind() == reflect.Slice && is.Len() == 0 && must.Len() == 0:
		case slices.Contains([]string{"out", "warc", "log-requests"}, name) && writer.SamePlace(is.String(), must.String()):
		case strings.HasPrefix(name, "warc") && was.WARC == "", name == "log-requests" && was.LogRequests == "": // new destinations
		default:
			other = append(other, fmt.Sprintf("--%s %s instead of %s", name, told(is), told(must)))
		}
	}
	if len(other) == 0 {
		return nil
	}
	return fmt.Errorf("the crawl in %s was started with another output (%s): omit the flag, add --change-output to change the output of this crawl, or start another crawl with another --data",
		c.Data, strings.Join(other, "; "))
}

// told formats a value for messages, without secrets.
func told(v reflect.Value) string {
	switch v.Kind() {
	case reflect.Slice:
		if v.Len() > 0 {
			return strings.Join(v.Interface().([]string), " ")
		}
	case reflect.Bool:
		return fmt.Sprint(v.Bool())
	default:
		if text := v.String(); text != "" {
			return writer.Redact(text)
		}
	}
	return "not given"
}

// remember stores the flags for the next run. Relative paths are stored relative to --data, so that
// both can be moved together.
func (c *crawlCmd) remember() error { return c.keep(false) }

func (c *crawlCmd) keep(empty bool) error {
	kept := *c
	kept.Out, kept.WARC = from(c.Data, writer.WithoutPassword(c.Out)), from(c.Data, c.WARC)
	kept.LogRequests = from(c.Data, writer.WithoutPassword(c.LogRequests))
	kept.Encrypt = absoluteFiles(c.Encrypt)
	m := memory{V: 1, Flags: make(map[string]json.RawMessage), Empty: empty}
	for _, f := range kept.remembered() {
		text, err := json.Marshal(f.value)
		if err != nil {
			return err
		}
		m.Flags[f.name] = text
	}
	return c.store(m)
}

// release lets the next run use another output, after a first try in --data that fetched nothing,
// for example without --allow-private. It keeps flags that another crawl has stored since.
func (c *crawlCmd) release() error {
	if err := c.keep(true); !errors.Is(err, errOtherMemory) {
		return err
	}
	return nil
}

// errOtherMemory is returned if another seine crawl has changed what --data remembers since this
// one read it.
var errOtherMemory = errors.New("another seine crawl has changed it since this one started: run it again")

// store replaces what is remembered, unless it was changed since it was recalled or stored here.
func (c *crawlCmd) store(m memory) error {
	file := filepath.Join(c.Data, memoryFile)
	err := filelock.With(file+".lock", func() error {
		have, err := os.ReadFile(file)
		switch {
		case err != nil && !errors.Is(err, fs.ErrNotExist):
			return err
		case !bytes.Equal(have, c.recalled):
			return errOtherMemory
		}
		if err = atomicfile.WriteJSON(file, m); err == nil {
			c.recalled, err = os.ReadFile(file)
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("remember the output in %s: %w", c.Data, err)
	}
	return nil
}

// isFolder reports whether out is a directory.
func isFolder(out string) bool { return out != "" && !bucket.Is(out) && !writer.IsDatabase(out) }

// from converts a relative path to one relative to dir.
func from(dir, out string) string {
	return relative(out, func(path string) string {
		base, err := filepath.Abs(dir)
		abs, err2 := filepath.Abs(path)
		if rel, err3 := filepath.Rel(base, abs); err == nil && err2 == nil && err3 == nil {
			return rel
		}
		return path
	})
}

// below converts a path relative to dir, as made by from, back.
func below(dir, out string) string {
	return relative(out, func(path string) string { return filepath.Join(dir, path) })
}

// relative applies change to the path of an output, if it has a relative one.
func relative(out string, change func(path string) string) string {
	scheme, path := "", out
	if file, ok := strings.CutPrefix(out, sqlite.Scheme); ok {
		scheme, path = sqlite.Scheme, file
	} else if !isFolder(out) {
		return out
	}
	if filepath.IsAbs(path) {
		return out
	}
	return scheme + change(path)
}

// absoluteFiles returns recipients with the paths of their files made absolute.
func absoluteFiles(recipients []string) []string {
	all := make([]string, len(recipients))
	for i, r := range recipients {
		if file, ok := strings.CutPrefix(r, "@"); ok {
			if abs, err := filepath.Abs(file); err == nil {
				r = "@" + abs
			}
		}
		all[i] = r
	}
	return all
}
