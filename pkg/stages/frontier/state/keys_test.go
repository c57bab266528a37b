package state

import (
	"encoding/binary"

	"seine/pkg/stages/frontier/table"
)

// Keys as the store of a partition has them, for tests that look at it or damage it.

func (s *Partition) urlKey(id urlID) []byte      { return urlTable.At(s.partition, id) }
func (s *Partition) hostKey(name string) []byte  { return hostTable.At(s.partition, name) }
func (s *Partition) crawlKey(name string) []byte { return crawlTable.At(s.partition, name) }
func (s *Partition) failedKey(id urlID) []byte   { return s.besideURL(kindFailed, id) }
func (s *Partition) inFlightKey(id urlID) []byte { return s.besideURL(kindInFlight, id) }
func (s *Partition) awakeKey(crawl string) []byte {
	return append(table.Prefix(s.partition, kindAwake), crawl...)
}

func (s *Partition) besideURL(kind byte, id urlID) []byte {
	return urlTable.Key(table.Prefix(s.partition, kind), id)
}

func (s *Partition) retryKey(due int64, id urlID) []byte {
	return urlTable.Key(binary.BigEndian.AppendUint64(table.Prefix(s.partition, kindRetry), uint64(due)), id)
}

func (s *Partition) parkedKey(crawl, host string) []byte {
	return append(table.Name(table.Prefix(s.partition, kindParked), crawl), host...)
}

func (s *Partition) dueKey(due int64, host string) []byte {
	return append(binary.BigEndian.AppendUint64(table.Prefix(s.partition, kindDue), uint64(due)), host...)
}

func (s *Partition) lineKey(domain string, due int64, host string) []byte {
	return append(binary.BigEndian.AppendUint64(s.linePrefix(domain), uint64(due)), host...)
}
