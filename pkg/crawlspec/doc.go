// Package crawlspec is what a crawl is to do, as people write it and as every stage obeys it:
// where it begins and how far it goes, how politely and with what access it asks, what is
// extracted and followed, when it runs again and when somebody is told.
//
// A Spec is stored as JSON in the bucket messages.BucketCrawls, and written by people in
// YAML, which package specfile reads; docs/reference/spec.md describes it for them. Decode and Validate
// refuse what no stage could obey, each with the key and what would be right. A spec that
// they return is valid: nobody looks at it again. It is shared by all who read it, and never
// changed in place.
package crawlspec
