package replays

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"seine/internal/base/atomicfile"
)

// file is the stored form of a replay.
type file struct {
	V int `json:"v"`
	Job
}

const fileVersion = 1

func (s *Service) fileOf(id string) string  { return filepath.Join(s.dir, id+atomicfile.JSON) }
func (s *Service) stateOf(id string) string { return filepath.Join(s.dir, id) }

// read reads all replays of the directory, by ID.
func (s *Service) read() (map[string]*task, error) {
	files, err := atomicfile.ReadAllJSON(s.dir, !s.Off, s.log, func(id string, f *file) bool { return f.V == fileVersion && f.ID == id })
	if err != nil {
		return nil, fmt.Errorf("list replays: %w", err)
	}
	all := make(map[string]*task)
	for _, f := range files {
		all[f.ID] = &task{Job: f.Job}
	}
	return all, nil
}

// removeOrphans removes the streams of replays without a file: the server was killed while it
// removed them. It keeps those of damaged or unreadable files.
func (s *Service) removeOrphans() {
	entries, _ := os.ReadDir(s.dir) // read reports errors
	for _, e := range entries {
		ofReplay := func(o os.DirEntry) bool { return strings.HasPrefix(o.Name(), e.Name()+atomicfile.JSON) }
		if e.IsDir() && !slices.ContainsFunc(entries, ofReplay) {
			_ = os.RemoveAll(s.stateOf(e.Name()))
		}
	}
}

// mostFailed is the number of failed replays that keep their streams for a resume. Each takes up to
// 2 GiB.
const mostFailed = 2

// dropStates removes the streams of older failed replays. The caller holds the lock.
func (s *Service) dropStates() {
	var failed []*task
	for _, j := range s.all {
		if j.Error != "" && !j.Dropped {
			failed = append(failed, j)
		}
	}
	slices.SortFunc(failed, func(a, b *task) int { return b.Ended.Compare(a.Ended) })
	for _, j := range failed[min(mostFailed, len(failed)):] {
		r := j.Job
		r.Dropped = true
		err := os.RemoveAll(s.stateOf(r.ID))
		if err == nil {
			err = s.save(&r)
		}
		if err != nil {
			s.log.Warn("cannot remove the streams of a failed replay", "replay", r.ID, "error", err)
			continue
		}
		j.Job = r
	}
}

// save stores a replay.
func (s *Service) save(r *Job) error {
	if err := atomicfile.WriteJSON(s.fileOf(r.ID), file{fileVersion, *r}); err != nil {
		return fmt.Errorf("store replay %s: %w", r.ID, err)
	}
	return nil
}

// forget removes a replay. Its output stays.
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
