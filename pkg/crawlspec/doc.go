// Package crawlspec defines what a crawl does: where it begins and how far it goes, how politely
// and with what access it requests, what it extracts and follows, when it runs again and when it
// raises alerts.
//
// A Spec is stored as JSON in the bucket messages.BucketCrawls. Users write it in YAML, which
// package specfile reads; docs/reference/spec.md describes it for them. Decode and Validate refuse
// specs that no stage could obey; the errors name the key and its valid values. A spec that they
// return is valid, and needs no further checks. It is shared by its readers, and never changed in
// place.
package crawlspec
