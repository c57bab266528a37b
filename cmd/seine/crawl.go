package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime/pprof"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"seine/internal/base/overlay"
	"seine/internal/base/procname"
	"seine/internal/base/safeprint"
	"seine/internal/base/stateencryption"
	"seine/internal/base/tracing"
	"seine/internal/base/version"
	"seine/internal/base/weburl"
	"seine/internal/frontier/state"
	"seine/internal/ops/seeds"
	"seine/internal/output"
	"seine/internal/output/bucket"
	"seine/internal/output/format"
	"seine/internal/render"
	"seine/internal/run/config"
	"seine/internal/run/connect"
	"seine/internal/run/crawl"
	"seine/internal/run/process"
	"seine/internal/run/specfile"
	"seine/pkg/crawlspec"
	"seine/pkg/messages"
	"seine/pkg/stages/writer"
)

// outputPlace has no Validate method, which kong would call before the flags that --data remembers
// are added.
type outputPlace writer.OutputConfig

type crawlCmd struct {
	URLs []string `arg:"" optional:"" name:"url" help:"Seeds, in addition to those of the spec. With -, read seeds from standard input: one URL per line, or JSON (see seine seed --help). Not needed to resume a crawl."`

	crawlStart         `embed:"" group:"start"`
	crawlScope         `embed:"" group:"scope"`
	crawlPace          `embed:"" group:"pace"`
	crawlRecords       `embed:"" group:"records"`
	outputPlace        `embed:"" group:"output"`
	chunkFlags         `embed:"" group:"output"`
	ChangeOutput       bool `group:"output" help:"Write to the destination that the flags of this command name from now on, instead of the one that --data remembers. The new destination also receives already written records that the streams still hold."`
	crawlArchive       `embed:"" group:"archive"`
	crawlRendering     `embed:"" group:"rendering"`
	crawlState         `embed:"" group:"state"`
	NATS               connect.Options `embed:"" group:"nats"`
	Bind               string          `group:"nats" name:"listen" help:"Address of the embedded NATS server; port 0 chooses a free port." default:"127.0.0.1:0"`
	crawlObservability `embed:"" group:"observability"`

	first    bool   // --data remembers no output yet
	recalled []byte // contents of the file that remembers it

	bad complaints // invalid lines of standard input

	serverUntyped bool // a NATS server is configured, but not on the command line
}

// crawlStart selects the crawl and its spec.
type crawlStart struct {
	Spec   string `basic:"" help:"Crawl spec (YAML). Flags override it." placeholder:"FILE"`
	file   *crawlspec.Spec
	Name   string `basic:"" name:"crawl" help:"Name of the crawl." placeholder:"default"`
	Again  bool   `basic:"" help:"Visit every page of a complete crawl again; some sites then send only changed pages. A crawl that is not complete resumes instead."`
	DryRun bool   `basic:"" help:"Print what would be crawled and where the output would go. Send no requests to sites and write nothing. An S3 output is checked with read requests; a database is not contacted."`
	Strict bool   `help:"Exit with code 3 at any limit, including --max-pages, --max-bytes and --max-duration."`
}

// crawlScope selects the URLs to crawl.
type crawlScope struct {
	Scope        *crawlspec.Scope    `basic:"" help:"Hosts to crawl: any, host (the seeds' hosts) or domain (all hosts of the seeds' domains); default host." placeholder:"host"`
	Include      []string            `basic:"" help:"Crawl only URLs that match. A pattern that begins with / is matched against path and query, any other against the complete URL; * matches any text; re:… is a regular expression. Repeatable." sep:"none" placeholder:"PATTERN"`
	Exclude      []string            `basic:"" help:"Skip URLs that match. Repeatable." sep:"none" placeholder:"PATTERN"`
	MaxPages     *int64              `basic:"" help:"Stop after N pages; 0 for no limit (default 0)." placeholder:"N"`
	MaxDepth     *int                `basic:"" help:"Crawl only pages at most N links away from a seed; 0 follows no links (default: no limit)." placeholder:"N"`
	MaxBytes     *crawlspec.Bytes    `help:"Stop after this many bytes of response bodies, such as 10GiB; 0 for no limit (default 0)." placeholder:"SIZE"`
	MaxDuration  *crawlspec.Duration `help:"Stop this long after the first request; 0s for no limit (default 0s)." placeholder:"TIME"`
	Robots       *crawlspec.Robots   `help:"robots.txt: obey or ignore (default obey)." placeholder:"obey"`
	Sitemaps     *bool               `help:"Also crawl the URLs in sitemaps: those in robots.txt, linked from pages, or given as seeds."`
	AllowPrivate *bool               `basic:"" help:"Allow requests to loopback and private addresses."`
}

// crawlPace sets how fast to crawl, and with which identity.
type crawlPace struct {
	Delay     *crawlspec.Duration `basic:"" help:"Minimum time between a response and the next request to the same host (default 1s)." placeholder:"TIME"`
	PerHost   *int                `help:"Concurrent requests to one host, if --delay is 0s (default 1)." placeholder:"N"`
	Workers   int                 `help:"Concurrent requests to all hosts together." default:"64"`
	Contact   *string             `help:"URL or e-mail address for site owners, sent in the User-Agent header." placeholder:"CONTACT"`
	UserAgent *string             `help:"User-Agent header to send." placeholder:"TEXT"`
	Secrets   string              `help:"Directory with one file for each {secret:NAME} of the spec. The environment variable SEINE_SECRET_NAME takes precedence." placeholder:"DIR"`
}

// crawlRecords sets the contents of a page's record.
type crawlRecords struct {
	Fields  []string        `basic:"" help:"Fields of a page's record, such as url,title,markdown. docs/reference/spec.md lists all fields." placeholder:"NAME"`
	MaxText crawlspec.Bytes `help:"Maximum text kept of a page." default:"512KiB"`
	Chunks  *int            `help:"Instead of pages, write chunks of their main content, of at most N tokens each." placeholder:"N"`
}

// crawlArchive sets the outputs besides the records.
type crawlArchive struct {
	WARC        string `basic:"" name:"warc" help:"Archive all responses as WARC files in this directory or s3://BUCKET/PREFIX." placeholder:"DIR"`
	WARCFormat  string `name:"warc-format" help:"Archive format: warc.gz, warc.zst or warc." default:"warc.gz" enum:"warc.gz,warc.zst,warc"`
	LogRequests string `name:"log-requests" help:"Write one line for each request, including failed ones, to this directory, s3://BUCKET/PREFIX, or the database of --out." placeholder:"DIR"`
}

// crawlRendering selects the pages to render in a browser.
type crawlRendering struct {
	Render  *crawlspec.RenderMode `help:"Render pages in a browser before parsing: never, auto (only pages that look empty without JavaScript) or always (default never). Render rules of the spec override auto and always." placeholder:"auto"`
	Browser render.Config         `embed:""`
}

// crawlState sets where the crawl keeps its state.
type crawlState struct {
	Data         string `basic:"" help:"Directory of the crawl's state. Run the command again with the same directory to resume." default:"./seine-data"`
	EncryptState string `name:"encrypt-state" help:"Encrypt the streams and the frontier's store in --data with the key in this file: at least 32 random characters. The file is needed to resume." placeholder:"KEYFILE"`
	Sync         string `help:"Durability of a commit: os (survives kill -9) or always (survives a power failure)." enum:"os,always" default:"os"`
	Adopt        bool   `help:"Continue with the --data of another installation, for example after its directory nats was lost, or at another --nats. Needed once."`
	Chain        bool   `help:"Parse each page in the goroutine that fetched it. With --no-chain, the parser reads pages from their stream, as separate processes do." default:"true" negatable:""`
}

// crawlObservability sets how the crawl reports its progress.
type crawlObservability struct {
	Serve      serveAt         `basic:"" help:"Also serve the web UI and the HTTP API during the crawl, as seine serve does. By default at 127.0.0.1:8077, which only this machine can reach; for another address, --serve=HOST:PORT." placeholder:"HOST:PORT"`
	Metrics    string          `help:"Serve Prometheus metrics and health checks at this address, such as 127.0.0.1:9464." placeholder:"HOST:PORT"`
	JSON       bool            `name:"json" help:"Print the summary as a JSON object to standard output."`
	Quiet      bool            `short:"q" help:"Do not show progress."`
	LogLevel   string          `help:"Log level: debug, info, warn or error." enum:"debug,info,warn,error" default:"warn"`
	LogFormat  string          `help:"Log format: text or json." enum:"text,json" default:"text"`
	Tracing    tracing.Options `embed:""`
	CPUProfile string          `name:"cpuprofile" hidden:"" placeholder:"FILE"`
}

// Help is shown below the list of flags.
func (c *crawlCmd) Help() string {
	return `Examples (--help-all lists all flags):

  seine crawl https://example.org/
  seine crawl https://example.org/docs/ --include '*/docs/*' --max-pages 500 --delay 500ms
  seine crawl http://127.0.0.1:8080/ --allow-private --delay 0s --per-host 16
  seine crawl https://example.org/ --warc ./warc
  seine crawl https://example.org/ --log-requests ./requests
  seine crawl                        # resume the crawl in ./seine-data
  seine crawl --again                # visit the pages of a complete crawl again

` + writer.Help + `

Exit codes: 0 complete, or stopped by a limit that a flag set; 1 failed, or no page; 2 wrong usage, or some lines of standard
input that are not URLs; 3 stopped by a limit of the spec (with --strict, by any limit); 4 interrupted (the same command resumes);
5 cancelled or deleted by another command. Hosts cancelled by seine cancel --host are named in the summary and do not change the exit code.`
}

// Validate adds the flags that --data remembers.
func (c *crawlCmd) Validate(flags *kong.Context) error {
	given := config.Given(flags)
	if err := c.recall(given); err != nil {
		return err
	}
	c.serverUntyped = c.NATS.Given() && len(config.Typed(flags, "nats", "nats-context")) == 0
	switch {
	case given["warc-format"] && c.WARC == "":
		return errors.New("--warc-format: needs --warc DIR")
	case given["listen"] && c.NATS.Given():
		return errors.New("--listen: is for the embedded server, but --nats names another: omit one of them")
	}
	return nil
}

// Run crawls.
func (c *crawlCmd) Run() error {
	seeds, err := c.seeds()
	if err != nil {
		return usageError{err}
	}
	spec, err := c.spec(crawlspec.Default()) // errors of the flags are errors with any spec
	if err != nil {
		return usageError{err}
	}
	if err := errors.Join(c.checkKey(spec), c.checkMarkdown(spec), c.Tracing.Validate()); err != nil {
		return usageError{err}
	}
	if c.DryRun {
		return cmp.Or(c.plan(seeds, len(seeds)+len(spec.Seeds) > 0), c.bad.err())
	}
	if err := cmp.Or(c.checkNATS(), c.checkService()); err != nil {
		return usageError{err}
	}
	o, err := c.options(seeds)
	if err != nil {
		return usageError{err}
	}
	if c.serverUntyped {
		server := cmp.Or(c.NATS.Context, c.NATS.NATS)
		safeprint.Fprintf(os.Stderr, "seine: this crawl runs at the NATS server %s, as the environment or the configuration file says, and not in %s: add --data %[2]s to run it there\n",
			server[strings.LastIndexByte(server, '@')+1:], c.Data) // without a password
	}
	c.warnOfOtherRecords(&o.Writer)
	show := newProgress(os.Stderr, c.Quiet)
	o.Progress, o.Log = show.update, process.Logging{LogLevel: c.LogLevel, LogFormat: c.LogFormat}.Logger(show)
	stopProfile, err := c.profile()
	if err != nil {
		return err
	}
	defer stopProfile()
	ctx, stop := process.Signals(context.Background(), os.Stderr)
	defer stop()
	if o.Tracer, err = c.Tracing.Open(ctx, "seine-crawl", version.Number, procname.Instance(), o.Log); err != nil {
		return err
	}
	o.Vitals.ReadyBy(o.Health.Err)
	if c.Metrics != "" {
		stop, err := process.Admin(c.Metrics, o.Vitals, o.Health, false, o.Log)
		if err != nil {
			return fmt.Errorf("--metrics %s: %w", c.Metrics, err)
		}
		defer stop()
	}
	stopServing, err := c.serve(ctx, o.Flusher, o.Log)
	if err != nil {
		return err
	}
	defer stopServing()
	o.Last = endsProcess
	summary, err := crawl.Run(ctx, o)
	o.Tracer.Close()
	show.done()
	return cmp.Or(c.report(summary, err), c.bad.err())
}

// warnOfOtherRecords warns if the output of a new crawl already has records of a crawl of that
// name.
func (c *crawlCmd) warnOfOtherRecords(w *writer.Config) {
	if !c.first || c.NATS.Given() || writer.IsDatabase(c.Out) {
		return
	}
	commits, err := w.ReadCommits()
	if err != nil { // the writer reports the error
		return
	}
	for i := range commits {
		if slices.ContainsFunc(commits[i].Files, func(f output.File) bool { return f.Crawl == c.Name }) {
			safeprint.Fprintf(os.Stderr, "seine: %s has records of an earlier crawl %s, with another --data: print one of each page by seine cat --latest, or use another --out\n", w.Out, c.Name)
			return
		}
	}
}

// checkKey returns an error if some kinds of records cannot be stored under the path of --key.
func (c *crawlCmd) checkKey(spec *crawlspec.Spec) error {
	kinds := spec.KindsWithoutKey()
	if len(kinds) == 0 || !strings.Contains(c.Key, "{key}") {
		return nil
	}
	return fmt.Errorf("--key %q: records of kind %s have no key: give one in the rules of --spec, or write {id}, {url_hash} or {field:NAME}",
		c.Key, strings.Join(kinds, ", "))
}

// checkNATS returns an error for invalid NATS options.
func (c *crawlCmd) checkNATS() error {
	if c.NATS.Given() && c.EncryptState != "" {
		return errors.New("--encrypt-state: encrypts --data, but with --nats the streams are on that server (docs/security.md): omit one of them")
	}
	if !c.NATS.Given() && c.NATS != (connect.Options{}) {
		return errors.New("the --nats-… flags need --nats or --nats-context")
	}
	return c.NATS.Validate()
}

// checkService returns an error for an invalid key of the state, or address of the metrics.
func (c *crawlCmd) checkService() error {
	if c.Metrics != "" {
		if err := process.CheckAddress("--metrics", c.Metrics); err != nil {
			return err
		}
	}
	if c.EncryptState == "" {
		return nil
	}
	return stateencryption.Check(c.EncryptState)
}

// seeds returns the seeds on the command line, apart from those of the spec.
func (c *crawlCmd) seeds() (seeds []messages.Seed, err error) {
	for _, arg := range c.URLs {
		if arg == "-" {
			lines, err := seedLines(os.Stdin, &c.bad)
			if err != nil {
				return nil, err
			}
			seeds = append(seeds, lines...)
			continue
		}
		u, err := weburl.CanonicalizeSeed(arg)
		if _, missing := os.Stat(arg); err != nil && missing == nil {
			return nil, fmt.Errorf("%s is a file: for a spec, write --spec %s; for a list of URLs, seine crawl - < %s", arg, arg, arg)
		}
		if err != nil {
			return nil, err
		}
		seeds = append(seeds, messages.Seed{URL: u})
	}
	return seeds, nil
}

// seedLines reads seeds as seine seed does. It reports and skips invalid lines, and fails if there
// are no valid ones.
func seedLines(from io.Reader, bad *complaints) (all []messages.Seed, err error) {
	r := seeds.Reader{Bad: bad.tell, Take: func(s messages.Seed) error {
		all = append(all, s)
		return nil
	}}
	if err := r.Lines("standard input", from); err != nil {
		return nil, badFormat(err)
	}
	switch {
	case len(all) > 0:
		return all, nil
	case bad.count > 0:
		return nil, fmt.Errorf("standard input: %s", bad.summary())
	}
	return nil, noURLIn("standard input")
}

// spec returns the spec in the file, or else have, with the flags applied.
func (c *crawlCmd) spec(have crawlspec.Spec) (*crawlspec.Spec, error) {
	s := &have
	if c.Spec != "" {
		if c.file == nil { // it may be a pipe, which can be read only once
			var err error
			if c.file, err = specfile.Read(c.Spec); err != nil {
				return nil, fmt.Errorf("--spec: %w", err)
			}
		}
		have = *c.file
	}
	overlay.Set(s, &c.crawlScope)
	overlay.Set(s, &c.crawlPace)
	if c.Render != nil {
		s.SetRender(*c.Render)
	}
	if c.WARC != "" {
		s.Archive = true
	}
	if c.Chunks != nil {
		s.Chunks = &crawlspec.Chunks{Size: *c.Chunks}
	}
	if len(c.Fields) > 0 {
		s.Page.Emit, s.Page.Fields = crawlspec.EmitAlways, c.Fields
	}
	if c.Format == format.Markdown && len(s.Page.Fields) == 0 {
		s.Page.Fields = format.MarkdownFields
	}
	return s, s.Validate()
}

// checkMarkdown returns an error if a spec makes records that cannot be Markdown files.
func (c *crawlCmd) checkMarkdown(spec *crawlspec.Spec) error {
	if c.Format != format.Markdown {
		return nil
	}
	for _, kind := range spec.Kinds() {
		if kind != messages.KindPage {
			return fmt.Errorf("--format markdown: is for pages, but the spec makes records of kind %s: remove that rule, or use another format", kind)
		}
	}
	if !slices.Contains(spec.Page.Fields, "markdown") {
		return errors.New("--format markdown: needs the field markdown: add it to --fields, or to page.fields of the spec")
	}
	return nil
}

func (c *crawlCmd) options(seeds []messages.Seed) (crawl.Options, error) {
	unnamed := c.Name == ""
	c.Name = cmp.Or(c.Name, messages.DefaultCrawl)
	if err := errors.Join(messages.CheckCrawl(c.Name), crawl.CheckListen(c.Bind)); err != nil {
		return crawl.Options{}, err
	}
	o := crawl.DefaultOptions(c.Name, c.Data)
	o.Unnamed, o.Seeds, o.Spec, o.Again, o.EncryptState, o.NATS, o.Listen, o.Chain = unnamed, seeds, c.spec, c.Again, c.EncryptState, c.NATS, c.Bind, c.Chain
	o.Sync = state.Sync(c.Sync)
	o.Frontier.Sync, o.Frontier.Adopt, o.Writer.Adopt = o.Sync, c.Adopt, c.Adopt
	o.Fetcher.Workers, o.Fetcher.Secrets, o.Parser.MaxText, o.Browser = c.Workers, c.Secrets, c.MaxText, c.Browser
	o.Writer.OutputConfig, o.Writer.ChangeOutput = writer.OutputConfig(c.outputPlace), c.ChangeOutput
	o.Writer.ChunkRecords, o.Writer.ChunkBytes, o.Writer.ChunkAge = c.ChunkRecords, c.ChunkBytes, c.ChunkAge
	o.Opened = c.remember
	if writer.IsDatabase(c.WARC) {
		return o, fmt.Errorf("--warc %s: is a database, but an archive consists of files: name a directory or s3://BUCKET/PREFIX", writer.Redact(c.WARC))
	}
	if c.WARC != "" {
		o.More = append(o.More, c.archive())
	}
	if c.LogRequests != "" {
		o.More = append(o.More, c.requestLog())
	}
	if err := c.checkPlaces(&o); err != nil {
		return o, err
	}
	if name, ok := strings.CutPrefix(c.Format, "warc"); ok {
		return o, fmt.Errorf("--format warc%s: the archive is beside the records: --warc DIR --warc-format warc%s", name, name)
	}
	for _, v := range []interface{ Validate() error }{&o.Frontier, &o.Fetcher, &o.Parser, &o.Writer} {
		if err := v.Validate(); err != nil {
			return o, err
		}
	}
	return o, nil
}

// checkPlaces validates the additional writers and the destinations of all writers. The --s3-…
// flags apply to all writers that write to S3.
func (c *crawlCmd) checkPlaces(o *crawl.Options) error {
	if c.S3 != (bucket.Options{}) && !bucket.Is(c.Out) && slices.ContainsFunc(o.More, func(w writer.Config) bool { return bucket.Is(w.Out) }) {
		o.Writer.S3 = bucket.Options{}
	}
	for i := range o.More {
		w := &o.More[i]
		w.ChangeOutput, w.Adopt = c.ChangeOutput, c.Adopt
		if bucket.Is(w.Out) {
			w.S3 = c.S3
		}
		if err := w.Validate(); err != nil {
			if strings.HasPrefix(err.Error(), "--out ") {
				return renamed{err, "--out", crawl.FlagOf(w)}
			}
			return fmt.Errorf("%s: %w", crawl.FlagOf(w), err)
		}
	}
	return crawl.CheckPlaces(c.Data, o.Writers()...)
}

// archive returns the configuration of the archive's writer, which encrypts for the recipients of
// the records.
func (c *crawlCmd) archive() writer.Config {
	w := writer.DefaultConfig()
	w.Name, w.From, w.Format = crawl.ArchiveName, "pages", c.WARCFormat
	w.Out, w.State, w.Encrypt = c.WARC, filepath.Join(c.Data, "archive"), c.Encrypt
	return w
}

// requestLog returns the configuration of the request log's writer. The log is as confidential as
// the records, so it is encrypted for the same recipients.
func (c *crawlCmd) requestLog() writer.Config {
	w := writer.DefaultConfig()
	w.Name, w.From = crawl.RequestsName, "results"
	w.Out, w.State = c.LogRequests, filepath.Join(c.Data, "requests")
	if !writer.IsDatabase(w.Out) {
		w.Encrypt = c.Encrypt
	}
	return w
}

func (c *crawlCmd) profile() (stop func(), err error) {
	if c.CPUProfile == "" {
		return func() {}, nil
	}
	f, err := os.Create(c.CPUProfile)
	if err != nil {
		return nil, fmt.Errorf("--cpuprofile: %w", err)
	}
	if err := pprof.StartCPUProfile(f); err != nil {
		return nil, fmt.Errorf("--cpuprofile: %w", err)
	}
	return func() { pprof.StopCPUProfile(); _ = f.Close() }, nil
}

// report prints the summary, and returns the error that determines the exit code.
func (c *crawlCmd) report(s *crawl.Summary, err error) error {
	if errors.Is(err, crawl.ErrNothingToDo) {
		return usageError{fmt.Errorf("%w: give a URL, a --spec with seeds, or the --data and --crawl of an earlier one (%s has none of that name)", err, c.Data)}
	}
	if s == nil {
		return err
	}
	if err == nil && c.first && s.WroteNothing() && !c.NATS.Given() {
		err = c.release()
	}
	if c.JSON {
		if err := printJSON(s); err != nil {
			return err
		}
	} else {
		s.Write(os.Stdout)
	}
	switch {
	case s.Outcome == crawl.OutcomeDeleted:
		return endError(exitSteered)
	case err != nil:
		return err
	case s.Outcome == crawl.OutcomeLimit && (c.Strict || !c.asksFor(s.Limit)):
		return endError(exitLimit)
	case s.Outcome == crawl.OutcomeInterrupted:
		return endError(exitInterrupted)
	case s.Outcome == crawl.OutcomeCancelled:
		return endError(exitSteered)
	case s.Outcome == crawl.OutcomeFailed:
		return errors.New(s.Error)
	case s.FetchedNothing():
		return fmt.Errorf("no page could be fetched: %s", cmp.Or(s.NoPagesReason, "the failed and excluded URLs are counted above; seine explain URL explains one"))
	}
	return nil
}

// asksFor reports whether a flag of this command sets a limit of the spec: then stopping at the
// limit is the expected end.
func (c *crawlCmd) asksFor(limit string) bool {
	switch limit {
	case "max_pages":
		return c.MaxPages != nil
	case "max_bytes":
		return c.MaxBytes != nil
	case "max_duration":
		return c.MaxDuration != nil
	}
	return false
}
