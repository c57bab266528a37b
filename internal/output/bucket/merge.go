package bucket

import (
	"seine/internal/output"
)

// OpenMerge implements output.Merger. There is no lock. The entry of a merge has a slot as every other entry has, so of
// those who merge the same messages one alone commits, and its files are its own. The entries that it stands for stay
// in their slots: an owner that was frozen finds them taken, however late.
func (s *Sink) OpenMerge(p int) (output.Partition, []output.Ref, error) {
	refs, err := s.ListAll(p)
	return &partition{sink: s, loose: make(map[string]output.Name)}, refs, err
}

// Remove implements output.Merger.
func (s *Sink) Remove(path string) error { return s.client.remove(s.prefix + path) }

var _ output.Merger = (*Sink)(nil)
