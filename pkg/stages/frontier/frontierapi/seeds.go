package frontierapi

import (
	"fmt"
	"hash/fnv"

	"seine/internal/base/weburl"
	"seine/pkg/crawlspec"
	"seine/pkg/messages"
)

// SeedList are the seeds of a spec.
type SeedList struct {
	Fingerprint uint64 // identifies the list; 0 for an empty one
	URLs        []messages.Candidate
}

// ListSeeds returns the seeds of a spec in canonical, normalized form.
func ListSeeds(spec *crawlspec.Spec, normalize *weburl.Normalizer) (SeedList, error) {
	var l SeedList
	for i := range spec.Seeds {
		url, err := weburl.CanonicalizeRoute(spec.Seeds[i].Address())
		if err != nil {
			return l, fmt.Errorf("seeds: number %d: %w", i+1, err)
		}
		l.URLs = append(l.URLs, messages.Candidate{
			URL: normalize.Normalize(url), Priority: spec.Seeds[i].Priority, Metadata: spec.Seeds[i].Metadata, Inherit: spec.Seeds[i].Inherit,
			Sitemap: spec.Seeds[i].Sitemap != "",
		})
	}
	if len(l.URLs) == 0 {
		return l, nil
	}
	h := fnv.New64a()
	_, _ = h.Write(messages.Encode(l.URLs))
	l.Fingerprint = max(h.Sum64(), 1)
	return l, nil
}

// seedsFed reports whether all partitions have added the seeds of a spec to its crawl.
func seedsFed(spec *crawlspec.Spec, parts []PartitionStatus) bool {
	if len(spec.Seeds) == 0 {
		return true
	}
	l, err := ListSeeds(spec, weburl.NewNormalizer(spec.NormalizeOptions()))
	for i := range l.URLs {
		if err == nil && parts[messages.Partition(l.URLs[i].URL, len(parts))].Seeds != l.Fingerprint {
			return false
		}
	}
	return err == nil
}
