// Package stages contains what all stages of the pipeline share: the path from a stream through a
// handler to other streams, and the infrastructure of a process. A custom stage is a Handler given
// to a Runner.
//
// The rules of the pipeline are implemented here, once:
//
//   - JetStream acknowledges the outputs before the input is acknowledged (Runner).
//   - A full stream refuses a message; the publisher waits, keeps its in-flight messages alive and pulls
//     no more (Publisher, Runner).
//   - The error and the number of deliveries decide whether a failed message is retried later or goes to
//     DEAD (message_retry.go, dead_letters.go).
//   - Consumed history stays for replay, within a budget (package retention).
//   - A page may go from the fetcher to the parser in memory, and is stored all the same (Chain).
//   - A partition has one owner at a time, which reads it in order and from where its state ends
//     (package partition).
//   - The first signal drains, the second cuts (internal/run/process).
package stages
