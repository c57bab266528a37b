package writer

import (
	"fmt"
	"path"

	"seine/internal/output"
	"seine/internal/output/format"
)

// finishIndex writes the index of a finished file. The file's name is known only now: a sink may
// choose another name than planned.
func (s *fileSet) finishIndex(x format.Indexer, g output.Group, of output.File) (output.File, error) {
	c, err := s.log.Create(s.name, g, s.form.ext(x.IndexExt(), g.Crawl, s.created))
	if err != nil {
		return output.File{}, err
	}
	defer c.Abandon()
	if err := x.WriteIndex(c, path.Base(of.Path)); err != nil {
		return output.File{}, fmt.Errorf("write index of %s: %w", of.Path, err)
	}
	f, err := c.Finish()
	f.IndexOf, f.RawBytes = of.Path, f.Bytes
	return f, err
}
