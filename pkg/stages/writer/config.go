package writer

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"seine/internal/base/defaults"
	"seine/internal/base/lazyregexp"
	"seine/internal/output"
	"seine/internal/output/bucket"
	"seine/internal/output/format"
	"seine/pkg/crawlspec"
	"seine/pkg/messages"
)

// Config is the configuration of a writer process. The defaults are in the tags.
type Config struct {
	OutputConfig `embed:""`
	Name         string             `help:"Name of the writer. Writers with the same name share the work; each name receives all records." default:"default" placeholder:"NAME"`
	From         string             `help:"Stream to write: records, pages or results." enum:"records,pages,results" default:"records"`
	ChunkRecords int                `help:"Records per file (default 10000; 15360 for WARC)." placeholder:"N"`
	ChunkBytes   crawlspec.Bytes    `help:"Bytes per file, before compression (default 64MiB; 1GiB for WARC; 4MiB per transaction in a database)." placeholder:"SIZE"`
	ChunkAge     crawlspec.Duration `help:"Finish a file this long after its first record (default 60s, or 4m while less than 4MiB arrive in 60s; 60s in a database; 4m for WARC)." placeholder:"TIME"`
	State        string             `help:"Directory of the writer's index and of files to be uploaded to S3." default:"./seine-data/writer" placeholder:"DIR"`
	Adopt        bool               `help:"Continue with the --state of another installation, for example after the NATS server lost its data. Needed once."`
	ChangeOutput bool               `help:"Change the destination or format of this writer name. Records still in the stream go to the new destination."`
	Drain        crawlspec.Duration `help:"Time to finish in-flight work after the first signal." default:"20s" placeholder:"TIME"`
}

// OutputConfig defines the destination and the form of the output.
type OutputConfig struct {
	Out     string         `basic:"" group:"output" help:"Output: a directory, s3://BUCKET/PREFIX, sqlite:FILE or postgres://USER@HOST/DATABASE." default:"./seine-out" placeholder:"DIR"`
	Format  string         `basic:"" group:"output" help:"Output format: jsonl, jsonl.gz, jsonl.zst, json, csv, csv.gz, csv.zst, parquet, objects or objects.pretty (one file per record), or markdown (one file per page); default jsonl.zst. Only 'writer --from pages' takes objects.raw, warc, warc.gz (its default) and warc.zst." placeholder:"NAME"`
	Path    string         `group:"output" help:"Directory template of the files, with {crawl}, {kind}, {date}, {hour}, {date:ZONE}, {hour:ZONE}, {run}, {host}, {partition} and {field:NAME} (default {crawl}; {crawl}/{kind} for CSV and Parquet)." placeholder:"TEMPLATE"`
	Key     string         `group:"output" help:"Path template of each object, with {crawl}, {kind}, {date}, {hour}, {date:ZONE}, {hour:ZONE}, {run}, {partition}, {host}, {ext}, {path}, {id}, {key}, {visit}, {url_hash} and {field:NAME} (default {crawl}/{kind}/{id}.json; {host}/{path}.md for markdown; {crawl}/{host}/{url_hash}.{ext} for pages)." placeholder:"TEMPLATE"`
	Encrypt []string       `group:"output" help:"Encrypt files for this recipient: an age or SSH public key, or @FILE with keys. Repeatable." sep:"none" placeholder:"RECIPIENT"`
	CSVBOM  bool           `group:"output" name:"csv-bom" help:"Start each CSV file with a byte order mark, so that Excel reads it as UTF-8."`
	CSVSafe bool           `group:"output" name:"csv-safe" help:"In CSV, prefix values that a spreadsheet would run as a formula with an apostrophe."`
	S3      bucket.Options `embed:"" prefix:"s3-"`
}

// Help has examples of the flags of an OutputConfig.
const Help = `Output examples:

  --out ./seine-out --path '{crawl}/{kind}/dt={date}'
  --format objects --key '{crawl}/{field:season}/{field:game_id}.json'
  --out s3://BUCKET/PREFIX --s3-endpoint https://s3.example.org --s3-path-style
  --encrypt age1… --encrypt @team.txt       # age public keys, or a file with one per line; seine cat --identity decrypts`

// DefaultConfig returns the defaults.
func DefaultConfig() Config { return defaults.Of[Config]() }

var (
	writerName = lazyregexp.New(`^[a-z0-9][a-z0-9_-]{0,30}$`)

	// Messages that are read and not committed are not acknowledged. The server delivers at most
	// MaxAckPending of them, and redelivers them after AckWait.
	consumer   = messages.PartitionConsumer("", "", 0)
	maxRecords = consumer.MaxAckPending - 1024
	maxAge     = consumer.AckWait - time.Minute
)

// slowBytes is the least size of a chunk at the default age. A smaller chunk is left open until
// maxAge: otherwise a slow stream would make a small file each minute.
const slowBytes = 4 << 20

// withDefaults returns c with defaults for omitted options, which depend on the destination and the
// format. Archives should have large files, so they use the server's limits; a batch of rows is in
// memory.
func (c Config) withDefaults() Config {
	records, size, age := 10000, crawlspec.Bytes(64<<20), crawlspec.Duration(time.Minute)
	switch {
	case IsDatabase(c.Out):
		size = rowBytes
	case c.Format == "" && c.From == "pages":
		c.Format = archiveFormat
	default:
		c.Format = c.format()
	}
	if format.IsArchive(c.Format) {
		records, size, age = maxRecords, format.ArchiveBytes, crawlspec.Duration(maxAge)
	}
	c.ChunkRecords, c.ChunkBytes, c.ChunkAge = cmp.Or(c.ChunkRecords, records), cmp.Or(c.ChunkBytes, size), cmp.Or(c.ChunkAge, age)
	return c
}

// Validate returns an error for the first invalid option, with its valid values.
func (c *Config) Validate() error {
	d := c.withDefaults()
	return d.validate()
}

func (c *Config) validate() error {
	switch {
	case c.State == "":
		return fmt.Errorf("--state: must name a directory")
	case !writerName().MatchString(c.Name):
		return fmt.Errorf("--name %q: must be 1 to 31 of a-z, 0-9, '-' and '_', and start with a letter or digit", c.Name)
	case c.Name == exportName:
		return fmt.Errorf("--name %q: is reserved for seine export: use another", c.Name)
	case sources[c.From].stream == "":
		return fmt.Errorf("--from %q: must be records, pages or results", c.From)
	case c.ChunkRecords < 1 || c.ChunkRecords > maxRecords:
		return fmt.Errorf("--chunk-records %d: must be from 1 to %d, or the server would stop sending before a file is finished", c.ChunkRecords, maxRecords)
	case c.ChunkBytes < 1<<10:
		return fmt.Errorf("--chunk-bytes %s: must be at least 1KiB", c.ChunkBytes)
	case c.ChunkAge < crawlspec.Duration(100*time.Millisecond) || c.ChunkAge > crawlspec.Duration(maxAge):
		return fmt.Errorf("--chunk-age %s: must be from 100ms to %s, or the server would send everything again", c.ChunkAge, maxAge)
	case c.Drain < crawlspec.Duration(time.Second):
		return fmt.Errorf("--drain %s: must be at least 1s", c.Drain)
	}
	if err := c.OutputConfig.Validate(); err != nil {
		return err
	}
	if IsDatabase(c.Out) {
		if c.From == format.FromPages {
			return fmt.Errorf("--from pages: a database takes records or results")
		}
		return nil
	}
	if err := format.CheckSource(c.Format, c.From); err != nil {
		return fmt.Errorf("--format %s: %w", c.Format, err)
	}
	return nil
}

// format returns the format of files.
func (c *OutputConfig) format() string { return cmp.Or(c.Format, fileFormat) }

// Validate returns an error for the first invalid option, with its valid values.
func (c *OutputConfig) Validate() error {
	if c.Out == "" {
		return fmt.Errorf("--out: must name a directory, or s3://BUCKET/PREFIX, sqlite:FILE or postgres://…")
	}
	if c.Out == "-" {
		return fmt.Errorf("--out -: Seine does not write to standard output: name a directory (./- for one named -), and print it with seine cat")
	}
	if (c.CSVBOM || c.CSVSafe) && !strings.HasPrefix(c.Format, "csv") {
		flag := "--csv-safe"
		if c.CSVBOM {
			flag = "--csv-bom"
		}
		return fmt.Errorf("%s: is for --format csv, csv.gz and csv.zst", flag)
	}
	if IsDatabase(c.Out) {
		return c.validateDatabase()
	}
	if err := checkPlace(c.Out); err != nil {
		return err
	}
	if _, err := newFileLayout(c, nil); err != nil {
		return err
	}
	return c.S3.Validate(c.Out)
}

// path returns the template for the folders of the chunks. In a format with columns, each chunk has
// one kind of record.
func (c *OutputConfig) path() (output.Path, error) {
	columns := format.HasColumns(c.format())
	template := filePath
	if columns {
		template = rowPath
	}
	path, err := output.ParsePath(cmp.Or(c.Path, template))
	if err == nil && columns && !path.ByKind {
		err = fmt.Errorf("%q: must have {kind} in it: a file in %s has the columns of one kind of record", c.Path, c.Format)
	}
	return path, err
}
