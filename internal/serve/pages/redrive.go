package pages

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"

	"seine/internal/base/humanize"
	"seine/internal/ops/deadletters"
	"seine/internal/serve/api"
	"seine/pkg/stages"
)

// redrive handles POST /dead/redrive: it redrives the letters listed on a page.
func (lp letterPages) redrive(r *http.Request) (to, said string, err error) {
	return lp.eachLetter(r, "redrive", "given to their stages again")
}

// drop handles POST /dead/drop: it removes the letters listed on a page.
func (lp letterPages) drop(r *http.Request) (to, said string, err error) {
	return lp.eachLetter(r, "drop", "dropped")
}

// eachLetter applies a verb to the letters of a filter, or to one letter, and reports their number.
// It excludes letters that arrived after the page was rendered.
func (lp letterPages) eachLetter(r *http.Request, verb, word string) (to, said string, err error) {
	seqs, err := lp.lettersOf(r)
	var done api.LettersDone
	if err == nil {
		err = lp.carryOutJSON(r, http.MethodPost, "/dead-letters/"+verb, api.LetterChoice{Seqs: seqs}, &done)
	}
	said = humanize.Plural(done.Done, "dead letter") + " " + word + "."
	if n := len(seqs) - done.Done; n > 0 && len(done.Failed) > 0 {
		said += fmt.Sprintf(" %s not: %s.", humanize.Count(int64(n)), done.Failed[0])
	}
	return r.FormValue("back"), said, err
}

var errNoLetters = errors.New("name a dead letter, or the newest of those that are meant (before)")

// lettersOf returns the letter that a form names, or those that its page counted.
func (lp letterPages) lettersOf(r *http.Request) (seqs []uint64, err error) {
	if text := r.FormValue("seq"); text != "" {
		seq, err := strconv.ParseUint(text, 10, 64)
		if err != nil {
			return nil, badInput{fmt.Errorf("dead letter %q: must be a number", text)}
		}
		return []uint64{seq}, nil
	}
	f, before, err := deadFilter(r)
	if err == nil && before == 0 {
		err = badInput{errNoLetters}
	}
	if err != nil {
		return nil, err
	}
	err = lp.Cluster.Look(r.Context(), func(ctx context.Context, bus *stages.Bus) error {
		part, err := deadletters.Before(ctx, bus, f, before, deadMost)
		for _, l := range part.Letters {
			seqs = append(seqs, l.Seq)
		}
		return err
	})
	if err == nil && len(seqs) == 0 {
		err = notThere{errors.New("none of these dead letters exists any more")}
	}
	return seqs, err
}
