// Package retention removes what no one needs any more: messages that all consumers have
// read and that the budget of history does not keep, bodies of pages that all have read, and
// what streams and buckets have of crawls that were deleted.
//
// Nothing is removed that a consumer has not read, known or not: one whose server does not
// answer counts as one that has read nothing. Several Janitors at a time do no harm.
package retention
