package bucket

import (
	"seine/internal/output"
)

// OpenMerge implements output.Merger. It takes no lock: like every entry, the entry of a merge has
// a slot, so only one process commits a merge of the same messages. The merged entries keep their
// slots, so a frozen owner cannot commit them again.
func (s *Sink) OpenMerge(p int) (output.Partition, []output.Ref, error) {
	refs, err := s.ListAll(p)
	return &partition{sink: s, loose: make(map[string]output.Name)}, refs, err
}

// Remove implements output.Merger.
func (s *Sink) Remove(path string) error { return s.client.remove(s.prefix + path) }

var _ output.Merger = (*Sink)(nil)
