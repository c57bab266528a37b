package config

import (
	"errors"
	"testing"
)

func TestReword(t *testing.T) {
	t.Parallel()
	for said, want := range map[string]string{
		`unknown flag --rate, did you mean one of "--path", "--data", "--nats", "--trace"?`: `unknown flag --rate: use --delay`,
		`unknown flag --concurrency`:                                        `unknown flag --concurrency: use --per-host with --delay 0s`,
		`unknown flag --output`:                                             `unknown flag --output: use --out`,
		`unknown flag --pth, did you mean one of "--path", "--out"?`:        `unknown flag --pth, did you mean "--path"?`,
		`unknown flag --abcd, did you mean one of "--path", "--out"?`:       `unknown flag --abcd`,
		`unknown flag --max-pags, did you mean "--max-pages"?`:              `unknown flag --max-pags, did you mean "--max-pages"?`,
		`unknown flag --max, did you mean one of "--max-pages", "--max-a"?`: `unknown flag --max, did you mean one of "--max-pages", "--max-a"?`,
		`unexpected argument stop, did you mean "top"?`:                     `unexpected argument stop: use ` + meant["stop"],
		`unexpected argument statu, did you mean "status"?`:                 `unexpected argument statu, did you mean "status"?`,
		`unexpected argument crwl, did you mean "crawl"?`:                   `unexpected argument crwl, did you mean "crawl"?`,
		`unexpected argument nothing`:                                       `unexpected argument nothing`,
		`--max-pages: expected a valid 64 bit int but got "ten"`:            `--max-pages: must be a number, such as 500, and not "ten"`,
		`--render: expected string value but got "EOL" (<EOL>)`:             `--render: needs a value`,
		`something else`: `something else`,
	} {
		if got := reword(errors.New(said)).Error(); got != want {
			t.Errorf("%s:\n%s, want\n%s", said, got, want)
		}
	}
}
