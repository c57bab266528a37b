package samplesites

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Parameters of the sports site and its API.
const (
	SportsKey       = "demo-key"  // required in the X-Api-Key header
	SportsSeason    = "2025"      // the only season
	SportsBusy      = 20          // the first request for every 20th game's box score gets a 503
	SportsWait      = "1"         // Retry-After of that 503, in seconds
	sportsTeams     = 6           // each team plays every other twice
	sportsWeeks     = 10          // teams/2 games a week
	sportsLast      = sportsWeeks // the last week is not played yet
	sportsPlayers   = 5           // per team
	sportsPlayCount = 12          // per game
)

// game is a game of the season.
type game struct {
	ID         string    `json:"gameId"`
	Week       int       `json:"week"`
	Date       time.Time `json:"gameTimeUTC"`
	Home       string    `json:"homeTeam"`
	Away       string    `json:"awayTeam"`
	Status     string    `json:"gameStatus"` // final, postponed or scheduled
	scores     [2]int
	players    [2][]player
	plays      []play
	attendance int
}

type player struct {
	ID      int    `json:"personId"`
	Name    string `json:"name"`
	Points  int    `json:"points"`
	Minutes string `json:"minutes"` // ISO 8601 duration: PT31M05S
}

type play struct {
	Number int    `json:"actionNumber"`
	Period int    `json:"period"`
	Clock  string `json:"clock"`
	Team   string `json:"teamTricode"`
	Player int    `json:"personId"`
	Type   string `json:"actionType"`
	Score  [2]int `json:"-"`
}

func newSports(seed uint64) *SampleSite {
	s := &SampleSite{Seeds: []string{"/seasons/" + SportsSeason + "/schedule"}, pages: map[string]page{}}
	t := templates("sports")
	p := newProse(seed, "sports")
	teams := sportsTable(p)
	games := sportsGames(p, teams)
	var weeks []int
	for w := range sportsWeeks {
		weeks = append(weeks, w+1)
	}
	s.html(s.Seeds[0], t, "schedule", map[string]any{"Season": SportsSeason, "Weeks": weeks, "State": mustJS(map[string]any{"props": map[string]any{"season": SportsSeason, "weeks": len(weeks)}})})
	s.html("/", t, "home", SportsSeason)
	s.html("/seasons/"+SportsSeason+"/standings", t, "standings", map[string]any{"Season": SportsSeason, "Rows": sportsStandings(teams, games)})
	s.pages["/api/v2/schedule"] = page{typeJSON, func(r request) []byte { return sportsWeek(r, games) }}
	for _, g := range games {
		if g.Status != "final" {
			continue
		}
		s.json("/api/v2/games/"+g.ID+"/boxscore", g.boxScore())
		s.json("/api/v2/games/"+g.ID+"/plays", g.playByPlay())
	}
	s.text("/robots.txt", typeText, "User-agent: *\nAllow: /\n")
	gate := &sportsGate{tried: map[string]bool{}, busy: map[string]bool{}}
	for i, g := range games {
		gate.busy["/api/v2/games/"+g.ID+"/boxscore"] = i%SportsBusy == SportsBusy-1
	}
	s.guard = gate.answer
	s.truth = func(base string) Truth { return sportsTruth(base, teams, games) }
	return s
}

// json adds a JSON page, on one line as APIs send it.
func (s *SampleSite) json(path string, v any) {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // built-in structs
	}
	s.pages[path] = page{typeJSON, func(request) []byte { return b }}
}

// sportsGate guards the API.
type sportsGate struct {
	busy map[string]bool // paths that are refused once

	mu    sync.Mutex
	tried map[string]bool
}

// answer refuses requests without a key or a locale, and the first request of busy paths.
func (g *sportsGate) answer(w http.ResponseWriter, r *http.Request) bool {
	if !strings.HasPrefix(r.URL.Path, "/api/") {
		return false
	}
	refuse := func(status int, why string) bool {
		w.Header().Set("Content-Type", typeJSON)
		w.WriteHeader(status)
		fmt.Fprintf(w, `{"message":%q}`, why)
		return true
	}
	switch {
	case r.Header.Get("X-Api-Key") != SportsKey:
		return refuse(http.StatusUnauthorized, "X-Api-Key is missing or wrong")
	case r.URL.Query().Get("locale") == "":
		return refuse(http.StatusBadRequest, "locale is missing")
	case g.first(r.URL.Path):
		w.Header().Set("Retry-After", SportsWait)
		return refuse(http.StatusServiceUnavailable, "try again later")
	}
	return false
}

func (g *sportsGate) first(path string) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	first := g.busy[path] && !g.tried[path]
	g.tried[path] = true
	return first
}

// team is a team of the league.
type team struct {
	Code, City string
	players    []player
}

func sportsTable(p prose) []team {
	cities := []string{"Avon", "Bristol", "Calais", "Dover", "Évian", "Fécamp"}
	var teams []team
	for i, city := range cities[:sportsTeams] {
		t := team{Code: strings.ToUpper(slug(city)[:3]), City: city}
		for n := range sportsPlayers {
			t.players = append(t.players, player{ID: 20000 + i*100 + n, Name: p.person()})
		}
		teams = append(teams, t)
	}
	return teams
}

// sportsGames pairs every team with every other, at home and away, by the circle method: one team
// keeps its place and the others rotate.
func sportsGames(p prose, teams []team) []*game {
	var games []*game
	n := len(teams)
	for week := 1; week <= sportsWeeks; week++ {
		for i := range n / 2 {
			turn := func(k int) team {
				if k == 0 {
					return teams[0]
				}
				return teams[1+(k-1+week)%(n-1)]
			}
			home, away := turn(i), turn(n-1-i)
			if week > n-1 {
				home, away = away, home
			}
			g := &game{
				ID: fmt.Sprintf("00225%05d", len(games)+1), Week: week, Home: home.Code, Away: away.Code, Status: "final",
				Date: time.Date(2025, 10, 1+7*week, 17+i, 30*p.IntN(2), 0, 0, time.UTC), attendance: 3000 + p.IntN(15000),
			}
			if g.play(p, home, away); week == sportsLast {
				g.Status = "scheduled"
			} else if len(games)%13 == 12 {
				g.Status = "postponed"
			}
			games = append(games, g)
		}
	}
	return games
}

// play simulates the game. The plays add up to the box score.
func (g *game) play(p prose, home, away team) {
	sides := [2]team{home, away}
	for i, t := range sides {
		g.players[i] = append(g.players[i], t.players...)
		for k := range g.players[i] {
			g.players[i][k].Minutes = fmt.Sprintf("PT%dM%02dS", 5+p.IntN(35), p.IntN(60))
		}
	}
	for n := range sportsPlayCount {
		side, k := p.IntN(2), p.IntN(sportsPlayers)
		points := p.IntN(4)
		g.scores[side] += points
		g.players[side][k].Points += points
		g.plays = append(g.plays, play{
			Number: n + 1, Period: 1 + n*4/sportsPlayCount, Clock: fmt.Sprintf("PT%02dM%02d.00S", 11-n%3*4, p.IntN(60)),
			Team: sides[side].Code, Player: g.players[side][k].ID, Type: []string{"miss", "freethrow", "2pt", "3pt"}[points], Score: g.scores,
		})
	}
}

func (g *game) boxScore() any {
	side := func(i int, code string) map[string]any {
		return map[string]any{"teamTricode": code, "score": g.scores[i], "players": g.players[i]}
	}
	return map[string]any{
		"meta": map[string]any{"version": 2, "request": "/api/v2/games/" + g.ID + "/boxscore"},
		"game": map[string]any{
			"gameId": g.ID, "season": SportsSeason, "gameTimeUTC": g.Date, "attendance": g.attendance, "gameStatus": g.Status,
			"homeTeam": side(0, g.Home), "awayTeam": side(1, g.Away), "officials": []any{},
		},
	}
}

func (g *game) playByPlay() any {
	actions := []any{}
	for _, a := range g.plays {
		actions = append(actions, map[string]any{
			"actionNumber": a.Number, "period": a.Period, "clock": a.Clock, "teamTricode": a.Team, "personId": a.Player,
			"actionType": a.Type, "scoreHome": strconv.Itoa(a.Score[0]), "scoreAway": strconv.Itoa(a.Score[1]),
		})
	}
	return map[string]any{"meta": map[string]any{"version": 2}, "game": map[string]any{"gameId": g.ID, "season": SportsSeason, "actions": actions}}
}

// sportsWeek returns the games of a week.
func sportsWeek(r request, all []*game) []byte {
	games := []*game{}
	for _, g := range all {
		if r.query.Get("season") == SportsSeason && r.query.Get("week") == strconv.Itoa(g.Week) {
			games = append(games, g)
		}
	}
	b, err := json.Marshal(map[string]any{"season": r.query.Get("season"), "games": games})
	if err != nil {
		panic(err) // built-in structs
	}
	return b
}
