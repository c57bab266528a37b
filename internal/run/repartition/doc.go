// Package repartition changes the number of partitions of a cluster that has begun with
// another, while no stage runs.
//
// It consumes the newest snapshots of the frontiers, and what URLS and RESULTS hold since; it
// emits snapshots of the new partitions, a layout with another number, and the budgets of
// crawls by the new partitions. Each URL goes to the partition that its registrable domain
// has among the new ones, with all that is known of it: see state.Repartitioning. URLS and
// RESULTS are empty afterwards, since all that they had is in the snapshots; what is in PAGES
// and RECORDS stays under the subjects that it has.
//
// There are three steps, and a key of the bucket seine_meta says how far they have come:
//
//  1. copy: the layout says that the number is being changed, so no stage begins to work. The
//     state of the old partitions is made in a store of its own, as another frontier would make
//     it; that of the new ones is made of it in a second store, compared with it, and put into
//     the object store beside the old snapshots. Nothing of the cluster is changed. Whatever
//     ends the process here, it begins again, or Abandon gives it up.
//  2. The key is written with the objects of the new snapshots: one write, which decides.
//  3. switch: the snapshots are made the newest, those of partitions that are no more are
//     removed, the budgets replaced, URLS and RESULTS purged, and last the layout written.
//     Each of these may be done again, so that whoever comes after a kill goes on, from any
//     machine: it needs nothing of the stores.
//
// Meanwhile it has the leases of all partitions, old and new, as a frontier: so no frontier
// works, of whatever build, and no second process of this kind. Partitions are bound to a store
// that there is none of, so whoever takes one over begins with its snapshot.
//
// Guarantees: afterwards all that frontiers know of URLs, hosts and crawls is what it was, no
// URL is fetched again and no record written twice because of it: writers look for a record in
// the partitions too that its page may have been in before (see package writer).
package repartition
