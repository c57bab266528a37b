package figures

import (
	"bytes"
	"encoding/gob"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"seine/internal/base/atomicfile"
)

// stored is the content of the file.
type stored struct {
	V      int
	Whole  *series
	Crawls map[string]*series
}

// storedVersion is the version of the format. Other versions are ignored, because a day of figures
// is not worth a migration.
const storedVersion = 1

// Store writes the file atomically.
func (s *Sampler) Store() {
	var text bytes.Buffer
	s.mu.Lock()
	err := gob.NewEncoder(&text).Encode(stored{storedVersion, s.whole, s.crawls})
	s.stored = time.Now()
	s.mu.Unlock()
	if err == nil {
		err = atomicfile.Write(s.file, text.Bytes())
	}
	if err != nil {
		s.log.Warn("cannot store the figures of the charts", "file", s.file, "error", err)
	}
}

// load reads the file. Without a valid one, charts start empty.
func (s *Sampler) load() {
	have, err := readStored(s.file)
	if errors.Is(err, fs.ErrNotExist) {
		return
	}
	if err != nil {
		s.log.Warn("cannot read the figures of the charts, which start empty", "file", s.file, "error", err)
		return
	}
	s.whole = have.Whole
	if have.Crawls != nil {
		s.crawls = have.Crawls
	}
}

func readStored(name string) (*stored, error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	var have stored
	if err := gob.NewDecoder(bytes.NewReader(text)).Decode(&have); err != nil {
		return nil, fmt.Errorf("decode: %w", err)
	}
	if have.V != storedVersion || have.Whole == nil {
		return nil, fmt.Errorf("it is of version %d, this build reads %d", have.V, storedVersion)
	}
	return &have, nil
}
