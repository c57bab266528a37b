// Package stages is what every stage of the pipeline shares: the way from a
// stream through a handler to other streams, and what a process needs around
// it. A custom stage is a Handler given to a Runner.
//
// The rules are kept here, once:
//
//   - Outputs are acknowledged by JetStream before the input is (Runner).
//   - A full stream refuses a message; the publisher waits, keeps what it
//     holds alive, and pulls no more (Publisher, Runner).
//   - The error and the number of deliveries decide what becomes of a message that
//     failed: again later, or DEAD (message_retry.go, dead_letters.go).
//   - Consumed history stays for replay, inside a budget (package retention).
//   - A page may go from the fetcher to the parser in memory, and is stored all the
//     same (Chain).
//   - A partition has one owner at a time, which reads it in order and from where
//     its state ends (package partition).
//   - The first signal drains, the second cuts (internal/run/process).
package stages
