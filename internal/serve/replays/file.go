package replays

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"seine/internal/base/atomicfile"
	"seine/internal/base/jsontext"
)

// suffix is that of the file of a replay.
const suffix = ".json"

// file is a replay as it is stored.
type file struct {
	V int `json:"v"`
	Job
}

const fileVersion = 1

func (s *Service) fileOf(id string) string  { return filepath.Join(s.dir, id+suffix) }
func (s *Service) stateOf(id string) string { return filepath.Join(s.dir, id) }

// read reads all replays of the directory, by their ids.
func (s *Service) read() (map[string]*task, error) {
	names, err := filepath.Glob(filepath.Join(s.dir, "*"+suffix))
	if err != nil {
		return nil, fmt.Errorf("list replays: %w", err)
	}
	all := make(map[string]*task)
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			return nil, fmt.Errorf("read replay: %w", err)
		}
		var f file
		id := strings.TrimSuffix(filepath.Base(name), suffix)
		if err := jsontext.Unmarshal(text, &f); err != nil || f.V != fileVersion || f.ID != id {
			return nil, fmt.Errorf("%s is no replay that this build can read: remove it, and begin that again", name)
		}
		all[id] = newTask(f.Job)
	}
	return all, nil
}

// save stores a replay.
func (s *Service) save(r *Job) error {
	text, err := json.Marshal(file{fileVersion, *r})
	if err == nil {
		err = atomicfile.Write(s.fileOf(r.ID), text)
	}
	if err != nil {
		return fmt.Errorf("store replay %s: %w", r.ID, err)
	}
	return nil
}

// forget removes all that is kept of a replay. Its output stays.
func (s *Service) forget(id string) error {
	err := os.Remove(s.fileOf(id))
	if err == nil {
		err = os.RemoveAll(s.stateOf(id))
	}
	if err != nil {
		return fmt.Errorf("forget replay %s: %w", id, err)
	}
	return nil
}
