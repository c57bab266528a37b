package crawlspec

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"seine/pkg/messages"
)

// Encode and Decode are inverse.
func TestAnySpecComesBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := Default()
		s.Include = rapid.SliceOfN(rapid.StringMatching(`[a-z*/.]{1,9}`), 1, 3).Draw(t, "include")
		s.MaxDepth = rapid.Ptr(rapid.IntRange(0, messages.MaxDepth), true).Draw(t, "max_depth")
		s.MaxPages = anyCount.Draw(t, "max_pages")
		s.Delay = Duration(rapid.Int64Range(0, int64(24*time.Hour)).Draw(t, "delay"))
		s.MaxBody = Bytes(rapid.Int64Range(1, 1<<30).Draw(t, "max_body"))
		s.AllowPrivate = rapid.Bool().Draw(t, "allow_private")
		s.MaxBytes = Bytes(anyCount.Draw(t, "max_bytes"))
		s.MaxDuration = Duration(rapid.Int64Min(0).Draw(t, "max_duration"))
		s.Keep = rapid.OneOf(rapid.Just(Duration(0)), rapid.Map(rapid.Int64Min(int64(MinKeep)), func(n int64) Duration { return Duration(n) })).Draw(t, "keep")
		s.State = rapid.SampledFrom([]RunState{Running, Paused, Cancelled}).Draw(t, "state")
		s.DelayFactor = rapid.Float64Range(0, 1000).Draw(t, "delay_factor")
		s.Jitter = rapid.Float64Range(0, 1).Draw(t, "jitter")
		s.Rate = genRate.Draw(t, "rate")
		s.Sources = rapid.SliceOfN(rapid.Custom(genSource), 1, 3).Draw(t, "sources")
		s.Render = rapid.Ptr(rapid.Custom(genRender), true).Draw(t, "render")
		comesBackFromStore(t, &s)
	})
}

var anyCount = rapid.Int64Range(0, 1<<40)

var genRate = rapid.Map(rapid.Int64Range(0, int64(24*time.Hour)), func(n int64) Rate { return Rate(n) })

func genSource(t *rapid.T) HostRule {
	delay := rapid.Map(rapid.Int64Range(0, int64(24*time.Hour)), func(n int64) Duration { return Duration(n) })
	most := rapid.Map(rapid.Int64Range(int64(time.Second), int64(24*time.Hour)), func(n int64) Duration { return Duration(n) })
	return HostRule{
		Hosts: rapid.SliceOfN(rapid.StringMatching(`(\*\.)?[a-z]{1,9}\.test`), 1, 3).Draw(t, "hosts"),
		State: rapid.Ptr(rapid.SampledFrom([]RunState{Running, Paused, Cancelled}), true).Draw(t, "state"),
		Delay: rapid.Ptr(delay, true).Draw(t, "delay"), MaxDelay: rapid.Ptr(most, true).Draw(t, "max_delay"),
		DelayFactor: rapid.Ptr(rapid.Float64Range(0, 1000), true).Draw(t, "delay_factor"),
		Jitter:      rapid.Ptr(rapid.Float64Range(0, 1), true).Draw(t, "jitter"), Rate: rapid.Ptr(genRate, true).Draw(t, "rate"),
		PerHost:         rapid.Ptr(rapid.IntRange(1, 1024), true).Draw(t, "per_host"),
		TimeZone:        rapid.Ptr(rapid.SampledFrom([]string{"", "UTC", "Asia/Tokyo"}), true).Draw(t, "time_zone"),
		MaxPagesPerHost: rapid.Ptr(anyCount, true).Draw(t, "max_pages_per_host"),
	}
}

func genRender(t *rapid.T) Render {
	mode := rapid.SampledFrom([]RenderMode{RenderNever, RenderAuto, RenderAlways})
	r := DefaultRender()
	r.Mode = mode.Draw(t, "mode")
	r.Modes = []RenderRule{{Match: rapid.SliceOfN(rapid.StringMatching(`[a-z*/.]{1,9}`), 1, 3).Draw(t, "match"), Mode: mode.Draw(t, "mode of a rule")}}
	r.Block.Types = rapid.SliceOfNDistinct(rapid.SampledFrom(BlockTypes), 0, len(BlockTypes), rapid.ID).Draw(t, "types")
	r.Until = RenderUntil(rapid.SampledFrom(renderUntils).Draw(t, "until"))
	r.Actions = []RenderAction{
		{Wait: &RenderWait{
			Expression: rapid.StringMatching(`[a-z(){} ]{0,20}`).Draw(t, "expression"),
			Time:       Duration(rapid.Int64Range(1, int64(29*time.Second)).Draw(t, "time")),
		}},
		{Scroll: rapid.IntRange(1, MaxScroll).Draw(t, "scroll")},
	}
	r.MaxRequests = rapid.IntRange(0, 2000).Draw(t, "max_requests")
	r.PDF = rapid.Bool().Draw(t, "pdf")
	r.Print.Landscape = rapid.Bool().Draw(t, "landscape")
	r.Storage = rapid.SampledFrom([]RenderStorage{StoragePage, StorageCrawl}).Draw(t, "storage")
	r.Login = rapid.Ptr(rapid.Custom(genLogin), true).Draw(t, "login")
	r.compile()
	return r
}

func genLogin(t *rapid.T) RenderLogin {
	return RenderLogin{
		URL: "https://a.test/" + rapid.StringMatching(`[a-z/?]{0,9}`).Draw(t, "url"), Script: rapid.StringMatching(`[a-z(){} ]{0,9}x`).Draw(t, "script"),
		When: rapid.StringMatching(`[a-z(){} ]{0,9}`).Draw(t, "when"), Wait: RenderWait{Until: UntilDOM},
	}
}
