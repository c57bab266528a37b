package replays

import (
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"strings"

	"seine/internal/base/lazyregexp"
	"seine/internal/run/replay"
	"seine/internal/run/specfile"
	"seine/pkg/messages"
	"seine/pkg/stages/parser"
	"seine/pkg/stages/writer"
)

// Source is the kind of messages to replay.
type Source string

// Sources.
const (
	Pages   Source = "pages"
	Records Source = "records"
)

// streams maps a source to its stream.
var streams = map[Source]string{Pages: messages.StreamPages, Records: messages.StreamRecords}

// Target is the destination of the records.
type Target string

// Targets.
const (
	ToFiles   Target = "files"
	ToRecords Target = "records"
)

// Request is a request for a replay of a crawl.
type Request struct {
	Of      Source `json:"of" enum:"pages,records" doc:"pages are parsed again; records are written to another place."`
	Host    string `json:"host,omitempty" maxLength:"255" doc:"Only of this host: with its port, or without for any."`
	Since   string `json:"since,omitempty" maxLength:"64" example:"2d" doc:"Only what was stored since then: how long ago, as 90m or 2d, or a time, as 2026-11-21T10:00:00Z."`
	Until   string `json:"until,omitempty" maxLength:"64" doc:"Only what was stored before."`
	FromSeq uint64 `json:"from_seq,omitempty" doc:"Only from this sequence of the stream on."`

	To         Target   `json:"to,omitempty" enum:"files,records" default:"files" doc:"files in a folder of their own; records: back into the stream RECORDS of the crawl, as a new generation."`
	Folder     string   `json:"folder,omitempty" maxLength:"64" pattern:"^[A-Za-z0-9][A-Za-z0-9_-]*$" doc:"Name of that folder, in the one that the server has for replays; by default the id."`
	Format     string   `json:"format,omitempty" maxLength:"32" doc:"Of the files, as of seine crawl --format; jsonl.zst without it."`
	Path       string   `json:"path,omitempty" maxLength:"255" doc:"Folders of the files, as of seine crawl --path."`
	Encrypt    []string `json:"encrypt,omitempty" maxItems:"32" doc:"Encrypt the files for these recipients: age1… or SSH public keys."`
	Generation string   `json:"generation,omitempty" maxLength:"31" doc:"Name of the generation; by default the time of the start."`
	Beyond     bool     `json:"beyond_spec,omitempty" doc:"With to: records and a spec: send records with fields that the spec of the crawl lacks as well."`
}

// InputError is an error in a request.
type InputError struct{ text string }

// Error describes the error and the correction.
func (e *InputError) Error() string { return e.text }

// flagName matches a flag in a message of the command.
var flagName = lazyregexp.New(`--[a-z]+(-[a-z]+)*`)

// inWords replaces the flags in a message of the command by the fields of a request.
func inWords(err error) string {
	text := flagName().ReplaceAllStringFunc(err.Error(), func(flag string) string {
		switch flag {
		case "--into-records":
			return "to: records"
		case "--out":
			return "folder"
		}
		return strings.ReplaceAll(strings.TrimPrefix(flag, "--"), "-", "_")
	})
	return strings.ReplaceAll(text, "the same command resumes it", "resume it to continue")
}

// options returns the options of a replay without its source. The error is an *InputError or a
// *specfile.Errors.
func (s *Service) options(r *Job) (o replay.Options, err error) {
	o, err = s.unchecked(r)
	if err == nil {
		err = o.Validate()
	}
	if _, ok := errors.AsType[*specfile.Errors](err); err != nil && !ok {
		err = &InputError{inWords(err)}
	}
	return o, err
}

func (s *Service) unchecked(r *Job) (o replay.Options, err error) {
	if r.Folder != "" && !folderName().MatchString(r.Folder) {
		return o, fmt.Errorf("folder %q: must be up to 64 of A-Z, a-z, 0-9, '-' and '_', and begin with a letter or a digit", r.Folder)
	}
	o = replay.Options{
		Stream: streams[r.Of], Parser: parser.DefaultConfig(), State: s.stateOf(r.ID), Log: s.log, Generation: r.Generation, Beyond: r.Beyond,
		Choice: replay.Selection{Crawl: r.Crawl, Host: r.Host, Since: replay.TimeSpec(r.Since), Until: replay.TimeSpec(r.Until), FromSeq: r.FromSeq},
	}
	o.Parser.Workers = max(1, runtime.GOMAXPROCS(0)/2) // leaves CPU for the crawl and the server
	if r.Spec != "" {
		if o.Spec, err = specfile.Load("spec", []byte(r.Spec)); err != nil {
			return o, err
		}
	}
	if r.To == ToRecords {
		if r.Folder+r.Format+r.Path != "" || len(r.Encrypt) > 0 {
			return o, errors.New("folder, format, path and encrypt are for files: the writers of the crawl decide how its records are written")
		}
		return o, nil
	}
	for _, to := range r.Encrypt {
		if strings.HasPrefix(to, "@") {
			return o, errors.New("encrypt: the server reads no files for a replay: give the recipients themselves")
		}
	}
	cfg := writer.DefaultConfig()
	cfg.Out, cfg.Format, cfg.Path, cfg.Encrypt = s.folderOf(r), r.Format, r.Path, r.Encrypt
	o.Writer = &cfg
	return o, nil
}

// folderName matches valid directory names, which cannot leave the directory of replays.
var folderName = lazyregexp.New(`^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$`)

// folderOf returns the directory that a replay writes to.
func (s *Service) folderOf(r *Job) string {
	name := r.Folder
	if name == "" {
		name = r.ID
	}
	return filepath.Join(s.out, name)
}
