package api

import (
	"context"
	"net/http"
	"slices"

	"seine/internal/run/replay"
	"seine/internal/serve/caller"
	"seine/internal/serve/replays"
	"seine/pkg/stages"
)

// replayOperations are the operations on replays.
type replayOperations struct{ *API }

func (r replayOperations) registerReplays() {
	register(r.API, operation{
		method: http.MethodPost, path: "/crawls/{crawl}/replays", id: "create-replay", tag: "replays", scope: caller.Write, status: http.StatusAccepted, body: 4 << 20, errors: []int{404, 409},
		summary: "Parse stored pages again, or write stored records again", about: "Parses pages or writes records that the streams hold, without requests; the crawl may run. Replays run in the background, one at a time, and resume after a restart of the server: GET …/replays/{replay} returns the progress.",
	}, r.createReplay)
	register(r.API, operation{
		method: http.MethodPost, path: "/crawls/{crawl}/replays/check", id: "check-replay", tag: "replays", scope: caller.Read, harmless: true, body: 4 << 20, errors: []int{404},
		summary: "Preview of a replay", about: "How many messages the replay would read, and the age of the oldest; nothing is started.",
	}, r.checkReplay)
	register(r.API, operation{
		method: http.MethodGet, path: "/crawls/{crawl}/replays", id: "list-replays", tag: "replays", scope: caller.Read, errors: []int{409},
		summary: "Replays of a crawl", about: "Newest first, each with its status.",
	}, r.listReplays)
	register(r.API, operation{
		method: http.MethodGet, path: "/crawls/{crawl}/replays/{replay}", id: "get-replay", tag: "replays", scope: caller.Read, errors: []int{404, 409},
		summary: "Status of a replay", about: "Its state and progress, its counts at the end, and the error if it failed.",
	}, r.getReplay)
	register(r.API, operation{
		method: http.MethodPost, path: "/crawls/{crawl}/replays/{replay}/resume", id: "resume-replay", tag: "replays", scope: caller.Write, status: http.StatusAccepted, errors: []int{404, 409},
		summary: "Resume a failed replay", about: "It continues where it failed. Fix the cause first.",
	}, r.resumeReplay)
	register(r.API, operation{
		method: http.MethodDelete, path: "/crawls/{crawl}/replays/{replay}", id: "delete-replay", tag: "replays", scope: caller.Write, errors: []int{404, 409},
		summary: "Stop and remove a replay", about: "Its output stays.",
	}, r.deleteReplay)
}

// NewReplay is a replay to create.
type NewReplay struct {
	replays.Request
	Spec raw `json:"spec,omitempty" doc:"What pages are parsed by: a string of YAML, or an object; the spec that the crawl has without it."`
}

type newReplayInput struct {
	CrawlPath
	Body NewReplay
}

// asked returns the requested replay.
func (in *newReplayInput) asked(ctx context.Context) replays.Job {
	who := caller.Of(ctx)
	return replays.Job{Crawl: in.Crawl, Request: in.Body.Request, Spec: string(specText(in.Body.Spec)), By: who.Name}
}

func (r replayOperations) createReplay(ctx context.Context, in *newReplayInput) (*created[replays.Replay], error) {
	if _, err := r.checkReplay(ctx, in); err != nil {
		return nil, err
	}
	st, err := r.Replays.Begin(in.asked(ctx))
	if err != nil {
		return nil, err
	}
	return &created[replays.Replay]{r.PathPrefix + Base + "/crawls/" + in.Crawl + "/replays/" + st.ID, st}, nil
}

func (r replayOperations) checkReplay(ctx context.Context, in *newReplayInput) (*body[*replay.Preview], error) {
	return ask(ctx, r.lookAtCrawl(in.Crawl), func(ctx context.Context, bus *stages.Bus) (*replay.Preview, error) {
		return r.Replays.Look(ctx, bus, in.asked(ctx))
	})
}

func (r replayOperations) listReplays(_ context.Context, in *struct {
	CrawlPath
	PageInput
}) (*body[page[replays.Replay]], error) {
	p := page[replays.Replay]{Items: []replays.Replay{}}
	all, err := r.Replays.List(in.Crawl)
	if i := slices.IndexFunc(all, func(s replays.Replay) bool { return in.Cursor == "" || s.ID < in.Cursor }); i >= 0 {
		all = all[i:]
	} else {
		all = nil
	}
	if len(all) > in.Limit {
		all = all[:in.Limit]
		p.Next = all[in.Limit-1].ID
	}
	for _, s := range all {
		s.Spec = "" // specs may be long
		p.Items = append(p.Items, s)
	}
	return answerOf(p, err)
}

type replayPath struct {
	CrawlPath
	ID string `path:"replay" maxLength:"64" doc:"The id of the replay."`
}

func (r replayOperations) getReplay(ctx context.Context, in *replayPath) (*body[replays.Replay], error) {
	st, err := r.Replays.Get(in.Crawl, in.ID)
	if c := caller.Of(ctx); !c.May(caller.Write) {
		st.Spec = "" // it may contain a webhook
	}
	return answerOf(st, err)
}

func (r replayOperations) resumeReplay(_ context.Context, in *replayPath) (*body[replays.Replay], error) {
	return answerOf(r.Replays.Resume(in.Crawl, in.ID))
}

func (r replayOperations) deleteReplay(_ context.Context, in *replayPath) (*struct{}, error) {
	return nil, r.Replays.Remove(in.Crawl, in.ID)
}
