package state

import (
	"encoding/binary"

	"seine/internal/frontier/table"
)

// Keys in the store of a partition, for tests that read or damage it.

func (p *Partition) urlKey(id urlID) []byte      { return urlTable.At(p.partition, id) }
func (p *Partition) hostKey(name string) []byte  { return hostTable.At(p.partition, name) }
func (p *Partition) crawlKey(name string) []byte { return crawlTable.At(p.partition, name) }
func (p *Partition) failedKey(id urlID) []byte   { return p.besideURL(kindFailed, id) }
func (p *Partition) inFlightKey(id urlID) []byte { return p.besideURL(kindInFlight, id) }
func (p *Partition) awakeKey(crawl string) []byte {
	return append(table.Prefix(p.partition, kindAwake), crawl...)
}

func (p *Partition) besideURL(kind byte, id urlID) []byte {
	return urlTable.Key(table.Prefix(p.partition, kind), id)
}

func (p *Partition) retryKey(due int64, id urlID) []byte {
	return urlTable.Key(binary.BigEndian.AppendUint64(table.Prefix(p.partition, kindRetry), uint64(due)), id)
}

func (p *Partition) dueKey(due int64, host string) []byte {
	return append(binary.BigEndian.AppendUint64(table.Prefix(p.partition, kindDue), uint64(due)), host...)
}

func (p *Partition) lineKey(domain string, due int64, host string) []byte {
	return append(binary.BigEndian.AppendUint64(p.schedule.linePrefix(domain), uint64(due)), host...)
}
