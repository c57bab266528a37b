// Package retention removes messages that all consumers have read and that exceed the history
// budget, page bodies that all consumers have read, and the messages and keys of deleted crawls.
//
// It removes nothing that a consumer has not read. A consumer whose server does not answer counts
// as one that has read nothing. Several Janitors at a time do no harm.
package retention
