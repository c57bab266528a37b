package writer

import (
	"crypto/sha256"
	"encoding/base32"
	"fmt"
	"strings"
	"time"

	"seine/internal/output"
	"seine/internal/output/ageencrypt"
	"seine/internal/output/format"
	"seine/internal/output/sqlsink"
	"seine/pkg/messages"
)

// fileLayout defines how records become files: chunks of many records, or one object for each.
type fileLayout struct {
	path   output.Path
	format format.Format
	body   format.Body // of objects; nil for chunks
	key    output.Key  // of objects
	sealed bool        // files are encrypted
	// archive is set for files that users combine with those of other crawls.
	archive bool
	// parsed is set for records that readers parse as part of a whole file or object.
	parsed bool
}

// newFileLayout returns the layout of p, or an error for the first invalid option. columns is used
// by formats with columns.
func newFileLayout(p *OutputConfig, columns columnsFunc) (*fileLayout, error) {
	if IsDatabase(p.Out) {
		path, err := output.ParsePath(rowPath)
		return &fileLayout{path: path, format: sqlsink.Format{Columns: columns}}, err
	}
	to, err := ageencrypt.ParseRecipients(p.Encrypt)
	if err != nil {
		return nil, fmt.Errorf("--encrypt: %w", err)
	}
	if body, ok := format.NewBody(p.Format); ok {
		return objectsForm(p, body, to)
	}
	f, known := format.New(p.format(), format.Options{Columns: columns.begun(), CSVBOM: p.CSVBOM, CSVSafe: p.CSVSafe})
	if !known {
		return nil, fmt.Errorf("--format %q: must be %s", p.Format, format.Names())
	}
	if p.Key != "" {
		return nil, fmt.Errorf("--key %q: is for --format objects, where each record is a file; --path sets the folders of %s", p.Key, p.format())
	}
	path, err := p.path()
	if err != nil {
		return nil, fmt.Errorf("--path %w", err)
	}
	if to.Any() {
		f = format.Encrypted(f, to)
	}
	return &fileLayout{path: path, format: f, archive: format.IsArchive(p.format()), parsed: p.format() == "json"}, nil
}

func objectsForm(p *OutputConfig, body format.Body, to ageencrypt.Recipients) (*fileLayout, error) {
	if p.Path != "" {
		return nil, fmt.Errorf("--path %q: is for files of many records; those of --format %s are named by --key", p.Path, p.Format)
	}
	template := p.Key
	if template == "" {
		template = output.DefaultKey
		switch {
		case format.OfPages(p.Format):
			template = output.RawKey
		case p.Format == format.Markdown:
			template = output.MarkdownKey
		}
	}
	key, err := output.ParseKey(template)
	if err != nil {
		return nil, fmt.Errorf("--key %w", err)
	}
	if to.Any() {
		body = format.EncryptedBody(body, to)
	}
	return &fileLayout{body: body, key: key, sealed: to.Any(), parsed: true}, nil
}

// fit returns the layout adapted to the destination s.
func (f *fileLayout) fit(s output.Sink) *fileLayout {
	if d, ok := s.(interface{ FoldsCase() bool }); ok && d.FoldsCase() {
		folded := *f
		folded.key, folded.path = f.key.FoldCase(), f.path.FoldCase()
		return &folded
	}
	return f
}

// group returns the group of a record. Objects are grouped only by crawl and kind.
func (f *fileLayout) group(crawl string, rec *format.Record, partition int) output.Group {
	if f.body != nil {
		return output.Group{Crawl: crawl, Kind: rec.Kind}
	}
	return f.path.Group(&output.KeyRecord{Crawl: crawl, Kind: rec.Kind, Partition: partition, Stored: rec.Stored, Data: knownOf(rec)})
}

// knownOf returns the data of a record as JSON; for a page, its header.
func knownOf(rec *format.Record) []byte {
	if rec.Page != nil {
		return []byte(rec.Header.Get(messages.HeaderPage))
	}
	return rec.Data
}

// ext returns the file extension for a crawl whose stream was created at created. Archive files are
// collected with those of other crawls and must have unique names. So their extensions begin with
// eight characters that identify the crawl and the stream.
func (f *fileLayout) ext(format, crawl string, created time.Time) string {
	if !f.archive {
		return format
	}
	sum := sha256.Sum256([]byte(created.UTC().Format(time.RFC3339Nano) + " " + crawl))
	return strings.ToLower(base32.StdEncoding.EncodeToString(sum[:5])) + "." + format
}
