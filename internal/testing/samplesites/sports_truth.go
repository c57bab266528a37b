package samplesites

import (
	"slices"
	"strconv"
	"time"
)

// standing is a team's row in the table.
type standing struct {
	Code, City   string
	Won, Lost    int
	For, Against int
}

// Games returns the number of games the team has played.
func (s standing) Games() int { return s.Won + s.Lost }

// Share returns the share of games that the team has won, in the format of the site: .583.
func (s standing) Share() string {
	if s.Games() == 0 {
		return "-"
	}
	if s.Lost == 0 {
		return "1.000"
	}
	return "." + strconv.Itoa(1000 + s.Won*1000/s.Games())[1:]
}

func sportsStandings(teams []team, games []*game) []standing {
	table := make([]standing, len(teams))
	place := map[string]*standing{}
	for i, t := range teams {
		table[i] = standing{Code: t.Code, City: t.City}
		place[t.Code] = &table[i]
	}
	for _, g := range games {
		if g.Status != "final" {
			continue
		}
		home, away := place[g.Home], place[g.Away]
		home.For, home.Against = home.For+g.scores[0], home.Against+g.scores[1]
		away.For, away.Against = away.For+g.scores[1], away.Against+g.scores[0]
		if g.scores[0] >= g.scores[1] { // in this league the home team wins a draw
			home.Won, away.Lost = home.Won+1, away.Lost+1
		} else {
			away.Won, home.Lost = away.Won+1, home.Lost+1
		}
	}
	slices.SortStableFunc(table, func(a, b standing) int { return b.Won - a.Won })
	return table
}

func sportsTruth(base string, teams []team, games []*game) Truth {
	var t Truth
	for i, s := range sportsStandings(teams, games) {
		share, _ := strconv.ParseFloat("0"+s.Share(), 64)
		if s.Lost == 0 {
			share = 1
		}
		t.Records = append(t.Records, Record{
			"kind": "standing", "url": base + "/seasons/" + SportsSeason + "/standings", "key": SportsSeason + "/" + s.Code,
			"season": SportsSeason, "place": float64(i + 1), "team": s.Code, "city": s.City, "won": float64(s.Won), "lost": float64(s.Lost),
			"share": share, "scored": float64(s.For), "conceded": float64(s.Against),
		})
	}
	for _, g := range games {
		if g.Status == "final" {
			t.Records = append(t.Records, g.boxRecord(base), g.playsRecord(base))
		}
	}
	return t
}

func (g *game) boxRecord(base string) Record {
	players := []any{}
	for i, code := range []string{g.Home, g.Away} {
		for _, p := range g.players[i] {
			players = append(players, map[string]any{
				"id": float64(p.ID), "team": code, "name": p.Name, "points": float64(p.Points), "minutes": p.Minutes,
			})
		}
	}
	return Record{
		"kind": "box_score", "url": base + "/api/v2/games/" + g.ID + "/boxscore", "key": SportsSeason + "/" + g.ID,
		"season": SportsSeason, "id": g.ID, "date": g.Date.Format(time.RFC3339), "attendance": float64(g.attendance),
		"home": g.Home, "away": g.Away, "home_score": float64(g.scores[0]), "away_score": float64(g.scores[1]), "players": players,
	}
}

func (g *game) playsRecord(base string) Record {
	plays := []any{}
	for _, a := range g.plays {
		plays = append(plays, map[string]any{
			"number": float64(a.Number), "period": float64(a.Period), "clock": a.Clock, "team": a.Team, "player": float64(a.Player), "type": a.Type,
			"home_score": float64(a.Score[0]), "away_score": float64(a.Score[1]),
		})
	}
	return Record{
		"kind": "plays", "url": base + "/api/v2/games/" + g.ID + "/plays", "key": SportsSeason + "/" + g.ID,
		"season": SportsSeason, "id": g.ID, "plays": plays,
	}
}
