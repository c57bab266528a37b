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

// stored is what is in the file.
type stored struct {
	V      int
	Whole  *series
	Crawls map[string]*series
}

// storedVersion is that of the form of the file. Of another one nothing is read: the figures of a day are
// not worth a migration.
const storedVersion = 1

// Store writes the file in place of the one that is there.
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

// load reads the file. Without a whole one, charts begin now.
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
