package replays

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
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

// read reads all replays of the directory, by their ids. One that cannot be read is set aside, so that the others run.
func (s *Service) read() (map[string]*task, error) {
	names, err := filepath.Glob(filepath.Join(s.dir, "*"+suffix))
	if err != nil {
		return nil, fmt.Errorf("list replays: %w", err)
	}
	all := make(map[string]*task)
	for _, name := range names {
		var f file
		id := strings.TrimSuffix(filepath.Base(name), suffix)
		text, err := os.ReadFile(name)
		if err == nil {
			err = jsontext.Unmarshal(text, &f)
		}
		if err != nil || f.V != fileVersion || f.ID != id {
			aside := !s.Off && atomicfile.SetAside(name) == nil
			s.log.Error("a replay cannot be read: begin it again, then delete its files", "file", name, "set_aside", aside, "error", err)
			continue
		}
		all[id] = newTask(f.Job)
	}
	return all, nil
}

// removeOrphans removes what replays have left that were forgotten while the server was killed.
func (s *Service) removeOrphans(all map[string]*task) {
	entries, _ := os.ReadDir(s.dir) // read reports what is wrong with it
	for _, e := range entries {
		_, aside := os.Stat(s.fileOf(e.Name()) + atomicfile.Aside)
		if e.IsDir() && all[e.Name()] == nil && aside != nil {
			_ = os.RemoveAll(s.stateOf(e.Name()))
		}
	}
}

// mostFailed is how many failed replays keep their streams, of up to 4.3 GiB each, so that they can be resumed.
const mostFailed = 2

// dropStates removes those of the older failed replays. It is called with the lock.
func (s *Service) dropStates() {
	var failed []*task
	for _, j := range s.all {
		if r := j.job.Load(); r.Error != "" && !r.Dropped {
			failed = append(failed, j)
		}
	}
	slices.SortFunc(failed, func(a, b *task) int { return b.job.Load().Ended.Compare(a.job.Load().Ended) })
	for _, j := range failed[min(mostFailed, len(failed)):] {
		r := *j.job.Load()
		r.Dropped = true
		err := os.RemoveAll(s.stateOf(r.ID))
		if err == nil {
			err = s.save(&r)
		}
		if err != nil {
			s.log.Warn("cannot remove the streams of a failed replay", "replay", r.ID, "error", err)
			continue
		}
		j.job.Store(&r)
	}
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
