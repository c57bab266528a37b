// Package partition provides what the owner of a partition needs: the lease that makes it the only
// owner, the messages of a stream in order, and the snapshots from which another owner continues.
//
//   - Leases: each partition has one owner at a time. A lease that was not renewed in time may go to another process. Epochs only grow, so a later owner has a higher one.
//   - OrderedReader: each message of a stream once and in order, from where the owner's state ends, whatever the server believes was acknowledged.
//   - Snapshots: the newest complete snapshot of each partition, which neither a crash during a save nor an owner that was frozen can replace by an older one; and the binding, which says whose store has the live state.
package partition
