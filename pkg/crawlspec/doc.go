// Package crawlspec is what a crawl is to do, as people write it and as every stage obeys it:
// where it begins and how far it goes, how politely and with what access it requests, what is
// extracted and followed, when it runs again and when it alerts.
//
// A Spec is stored as JSON in the bucket messages.BucketCrawls, and written by people in
// YAML, which package specfile reads; docs/reference/spec.md describes it for them. Decode and Validate
// refuse what no stage could obey; the errors name the key and what would be right. A spec that
// they return is valid, and is not checked again. It is shared by its readers, and never
// changed in place.
package crawlspec
