// Package partition is what the owner of a partition works with: the lease by which it is the
// one owner, the messages of a stream in order, and the snapshots by which another continues.
//
//   - Leases: each partition has one owner at a time. A lease that was not renewed in time is
//     another's; its epoch only grows, so the later owner has the higher one.
//   - OrderedReader: each message of a stream once and in order, from where the state of the
//     owner ends, whatever the server believes was acknowledged.
//   - Snapshots: the newest whole one of each partition, which neither a crash in the middle
//     of a save nor an owner that was frozen can replace by an older one; and the binding,
//     which says whose store has the live state.
package partition
