package crawlspec

import (
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
)

// everyRender is the render section of everyKey.
func everyRender() *Render {
	r := &Render{
		Mode: RenderAuto,
		Modes: []RenderRule{
			{Match: Strings{"/app/*"}, Mode: RenderAlways}, {Match: Strings{"/print/*", "*.xml"}, Mode: RenderNever},
		},
		Until: UntilLoad,
		Actions: []RenderAction{
			{Wait: &RenderWait{Until: UntilIdle, Selector: "#done", Expression: "window.ready", Time: Duration(500 * time.Millisecond)}},
			{Click: "button.more", Times: 5}, {Click: "summary", All: true, Timeout: Duration(2 * time.Second)},
			{Type: "#q", Text: "rivers"}, {Press: "Enter"}, {Scroll: 20, In: ".list"}, {Script: "await b()"}, {Screenshot: true},
		},
		PressLinks: 20,
		InitScript: "window.a = 1",
		Storage:    StorageCrawl,
		Login: &RenderLogin{
			URL: "https://shop.example/login", Script: "send(secrets.word)", Secrets: map[string]string{"word": "{secret:WORD}"},
			Wait: RenderWait{Until: UntilLoad, Selector: "#hello"}, When: "!window.user",
		},
		Viewport: RenderViewport{Width: 390, Height: 844}, Language: "pt-BR",
		Block:   RenderBlock{Types: Strings{"image", "websocket"}, URLs: Strings{"*/ads/*"}},
		Capture: Strings{"/api/*", "*.json"}, Screenshot: true, PDF: true,
		Print:   RenderPrint{Format: "a4", Landscape: true, Background: true, Scale: 0.5, Margin: 0},
		Timeout: Duration(time.Minute), MaxRequests: 50, MaxBytes: 10 << 20,
	}
	r.compile()
	return r
}

// The example with every key sets each key of render to a value other than its default.
func TestEveryKeyOfRenderIsInTheExample(t *testing.T) {
	has, none := reflect.ValueOf(*everyRender()), reflect.ValueOf(DefaultRender())
	for i := range has.NumField() {
		if has.Type().Field(i).IsExported() && reflect.DeepEqual(has.Field(i).Interface(), none.Field(i).Interface()) {
			t.Errorf("the example says of %s what the default is", has.Type().Field(i).Name)
		}
	}
}

// A mode alone, or some of the keys, leaves all others at their defaults, in YAML and in JSON.
func TestWhatRenderLeavesOutHasItsDefault(t *testing.T) {
	for _, mode := range []RenderMode{RenderNever, RenderAuto, RenderAlways} {
		want := DefaultRender()
		want.Mode = mode
		for _, text := range []string{"render: " + string(mode), "render: {mode: " + string(mode) + "}"} {
			s, err := parseSpec([]byte(text))
			if err != nil || !reflect.DeepEqual(s.Render, &want) {
				t.Fatalf("%s: %+v, %v", text, s, err)
			}
			comesBack(t, s)
		}
		s, err := Decode([]byte(`{"v":1,"render":"` + string(mode) + `"}`))
		if err != nil || !reflect.DeepEqual(s.Render, &want) {
			t.Fatalf("%s in JSON: %+v, %v", mode, s, err)
		}
	}
	want := DefaultRender()
	want.Actions, want.Block.URLs, want.Viewport.Width = []RenderAction{{Wait: &RenderWait{Selector: "#done"}}}, Strings{"*/ads/*"}, 390
	want.compile()
	s, err := parseSpec([]byte("render: {actions: [{wait: '#done'}], block: {urls: '*/ads/*'}, viewport: {width: 390}}"))
	if err != nil || !reflect.DeepEqual(s.Render, &want) {
		t.Fatalf("%+v, %v", s, err)
	}
	comesBack(t, s)
}

// An empty list of types blocks none, and is stored as an empty list.
func TestNoTypeIsBlocked(t *testing.T) {
	s, err := parseSpec([]byte("render: {mode: always, block: {types: []}}"))
	if err != nil || s.Render.Block.Types == nil || len(s.Render.Block.Types) > 0 {
		t.Fatalf("%+v, %v", s, err)
	}
	comesBack(t, s)
}

// A spec without render is stored without the key, as builds without rendering stored it.
func TestSpecWithoutRenderDoesNotMentionIt(t *testing.T) {
	s := Default()
	if text := string(s.Encode()); strings.Contains(text, "render") {
		t.Error(text)
	}
}

func TestModeOfAURL(t *testing.T) {
	none := Default()
	if none.MayRender() || none.Renders("https://a.example/") != RenderNever {
		t.Error("a spec without render renders")
	}
	read := Default()
	read.Render = everyRender()
	written := Default()
	written.Render = &Render{Mode: RenderAuto, Modes: []RenderRule{
		{Match: Strings{"/app/*"}, Mode: RenderAlways}, {Match: Strings{"/print/*", "*.xml"}, Mode: RenderNever},
	}}
	for url, want := range map[string]RenderMode{
		"https://a.example/":              RenderAuto,
		"https://a.example/app/x":         RenderAlways,
		"https://a.example/app/x.xml":     RenderAlways, // the first rule applies
		"https://a.example/print/1":       RenderNever,
		"https://a.example/sitemap-2.xml": RenderNever,
	} {
		for name, s := range map[string]*Spec{"read": &read, "written in Go": &written} {
			if got := s.Renders(url); got != want || !s.MayRender() {
				t.Errorf("%s, %s: %s, want %s", name, url, got, want)
			}
		}
	}
}

func TestPagesMayBeRenderedByARuleAlone(t *testing.T) {
	for text, want := range map[string]bool{
		"render: never": false, "render: auto": true, "render: always": true,
		`render: {modes: [{match: "/a/*", mode: never}]}`:                              false,
		`render: {modes: [{match: "/a/*", mode: never}, {match: "/b/*", mode: auto}]}`: true,
	} {
		if s, err := parseSpec([]byte(text)); err != nil || s.MayRender() != want {
			t.Errorf("%s: %+v, %v", text, s, err)
		}
	}
}

// SetRender changes only its own spec, not others that share its Render.
func TestSetRender(t *testing.T) {
	shared := Default()
	shared.Render = everyRender()
	s := shared
	s.SetRender(RenderAlways)
	want := everyRender()
	want.Mode = RenderAlways
	if !reflect.DeepEqual(s.Render, want) || shared.Render.Mode != RenderAuto {
		t.Errorf("%+v, shared %+v", s.Render, shared.Render)
	}
	if s.SetRender(RenderNever); s.MayRender() || s.Renders("https://a.example/app/x") != RenderNever {
		t.Errorf("never: %+v", s.Render)
	}
	s = Default()
	if s.SetRender(RenderAuto); s.Validate() != nil || s.Renders("https://a.example/") != RenderAuto {
		t.Errorf("auto: %+v", s.Render)
	}
}

func TestWhatRenderMustNotSay(t *testing.T) {
	for text, want := range map[string]string{
		"sometimes":                                                       `render.mode: "sometimes": must be one of never, auto, always`,
		"{modes: [{match: x}]}":                                           `render.modes[0].mode: "": must be one of`,
		"{modes: [{mode: auto}]}":                                         "render.modes[0].match: is missing",
		"{modes: [{match: 're:('}]}":                                      "render.modes[0].match: pattern",
		"{modes: [{match: [x, '']}]}":                                     "render.modes[0].match[1]: a pattern is empty",
		"{until: networkidle}":                                            `render.until: "networkidle": must be one of dom, load, idle`,
		"{actions: [{wait: {until: networkidle}}]}":                       `render.actions[0].wait.until: "networkidle": must be one of dom, load, idle`,
		"{actions: [{wait: {time: -1s}}]}":                                "render.actions[0].wait.time: -1s: must be from 0s",
		"{actions: [{wait: {time: 30s}}]}":                                "render.actions[0].wait.time: 30s: must be from 0s to less than",
		"{actions: [{wait: {expression: '{secret:A}'}}]}":                 "render.actions[0].wait.expression: secrets are for requests only",
		"{actions: [{wait: {}}]}":                                         "render.actions[0].wait: must have one of until, selector, expression and time",
		"{actions: [{}]}":                                                 "render.actions[0]: must have one of wait, click,",
		"{actions: [{all: true}]}":                                        "render.actions[0]: must have one of wait, click,",
		"{actions: [{scroll: 1}, {click: a, press: Enter}]}":              "render.actions[1]: must have one of wait, click,",
		"{actions: [{scroll: -1}]}":                                       "render.actions[0].scroll: -1: must be from 1 to 200",
		"{actions: [{scroll: 201}]}":                                      "render.actions[0].scroll: 201",
		"{actions: [{click: a, times: 201}]}":                             "render.actions[0].times: 201: must be from 1 to 200",
		"{actions: [{click: a, all: true, times: 2}]}":                    "render.actions[0].times: must not be beside all",
		"{actions: [{click: a, in: b}]}":                                  "render.actions[0].in: is only for scroll",
		"{actions: [{scroll: 2, all: true}]}":                             "render.actions[0].all: is only for click",
		"{actions: [{press: Enter, times: 2}]}":                           "render.actions[0].times: is only for click",
		"{actions: [{click: a, text: b}]}":                                "render.actions[0].text: is only for type",
		"{actions: [{type: a}]}":                                          "render.actions[0].text: is missing",
		"{actions: [{type: a, text: '{secret:A}'}]}":                      "render.actions[0].text: secrets are for requests only",
		"{actions: [{press: F13}]}":                                       `render.actions[0].press: "F13": must be one of Enter, Tab,`,
		"{actions: [{click: a, timeout: 31s}]}":                           "render.actions[0].timeout: 31s: must be from 0s to the timeout of rendering, which is 30s",
		"{actions: [" + strings.Repeat("{scroll: 1},", 51) + "]}":         "render.actions: 51 actions: at most 50",
		"{actions: [{script: '" + strings.Repeat("x", 256<<10+1) + "'}]}": "render.actions[0].script: has 262145 bytes: at most 262144",
		"{init_script: 'x = \"{secret:A}\"'}":                             "render.init_script: secrets are for requests only",
		"{storage: tab}":                                                  `render.storage: "tab": must be one of page, crawl`,
		"{login: {script: f()}}":                                          "render.login.url: is missing",
		"{login: {url: /login, script: f()}}":                             "render.login.url: ",
		"{login: {url: 'https://a.example/{secret:A}', script: f()}}":     "render.login.url: secrets are for requests only",
		"{login: {url: 'https://a.example/', script: ' '}}":               "render.login.script: is missing",
		"{login: {script: 'f(\"{secret:A}\")'}}":                          "render.login.script: secrets are for requests only",
		"{login: {when: '\"{secret:A}\"'}}":                               "render.login.when: secrets are for requests only",
		"{login: {wait: {until: never}}}":                                 `render.login.wait.until: "never": must be one of`,
		"{login: {wait: {time: 1m}}}":                                     "render.login.wait.time: 1m0s: must be",
		"{login: {secrets: {a: plain}}}":                                  `render.login.secrets.a: write the name of a secret`,
		"{login: {secrets: {a: 'x{secret:A}'}}}":                          `render.login.secrets.a: write the name of a secret`,
		"{viewport: {width: 100}}":                                        "render.viewport.width: 100: must be from 200 to 4096",
		"{viewport: {height: 5000}}":                                      "render.viewport.height: 5000",
		"{language: english}":                                             `render.language: "english": must be the tag of a language`,
		"{block: {types: [picture]}}":                                     `render.block.types[0]: "picture": must be one of`,
		"{block: {types: [image, image]}}":                                `render.block.types[1]: "image" is listed twice`,
		"{block: {urls: 're:('}}":                                         "render.block.urls: pattern",
		"{capture: ['re:(']}":                                             "render.capture: pattern",
		"{print: {format: a9}}":                                           `render.print.format: "a9": must be one of a3, a4,`,
		"{print: {scale: 3}}":                                             "render.print.scale: 3: must be from 0.1 to 2",
		"{print: {margin: -1}}":                                           "render.print.margin: -1: must be from 0 to 10",
		"{press_links: 201}":                                              "render.press_links: 201: must be from 0 to 200",
		"{timeout: 500ms}":                                                "render.timeout: 500ms: must be from 1s to 5m",
		"{timeout: 6m}":                                                   "render.timeout: 6m",
		"{max_requests: -1}":                                              "render.max_requests: -1: must be from 0 to 2000",
		"{max_requests: 2001}":                                            "render.max_requests: 2001",
		"{max_bytes: 0}":                                                  "render.max_bytes: 0B: must be from 1B to 1GiB",
		"{max_bytes: 2GiB}":                                               "render.max_bytes: 2GiB",
	} {
		_, err := parseSpec([]byte("render: " + text))
		if err == nil || !slices.ContainsFunc(FieldErrors(err), func(e *FieldError) bool { return strings.HasPrefix(e.Error(), want) }) {
			t.Errorf("%.80s: %v, want %s", text, err, want)
		}
	}
}

// The limits of render allow their bounds.
func TestWhatRenderMaySay(t *testing.T) {
	for _, text := range []string{
		"{actions: [{scroll: 200}, {click: a, times: 200}, {script: '" + strings.Repeat("x", 256<<10) + "', timeout: 30s}]}", "{viewport: {width: 200, height: 4096}}", "{language: zh-Hans-CN}",
		"{timeout: 1s}", "{timeout: 5m}", "{max_requests: 0}", "{max_requests: 2000}", "{max_bytes: 1B}", "{max_bytes: 1GiB}",
		"{actions: [{wait: {until: dom, time: 29s}}]}", "{init_script: '" + strings.Repeat("x", 256<<10) + "'}", "{}",
	} {
		if _, err := parseSpec([]byte("render: " + text)); err != nil {
			t.Errorf("%.80s: %v", text, err)
		}
	}
}

// A login keeps the pages' storage, and lists the secrets that a fetcher needs.
func TestLogin(t *testing.T) {
	s, err := parseSpec([]byte("render: {mode: always, login: {url: 'https://Shop.example/login?to=/', script: f(), secrets: {b: '{secret:B}', a: '{secret:A}'}}}"))
	if err != nil {
		t.Fatal(err)
	}
	l := s.Render.Login
	if s.Render.Storage != StoragePage || !s.Render.KeepsStorage() {
		t.Errorf("%+v", s.Render)
	}
	if names := s.Secrets(); !slices.Equal(names, []string{"A", "B"}) || l.SecretsTo() != "https://shop.example" {
		t.Errorf("%v to %s", names, l.SecretsTo())
	}
	for url, want := range map[string]bool{
		"https://shop.example/login": true, "https://shop.example/login?next=%2Fa": true,
		"https://shop.example/login/help": false, "http://shop.example/login": false, "https://other.example/login": false,
	} {
		if l.Leads(url) != want {
			t.Errorf("%s is the login: %v", url, !want)
		}
	}
	comesBack(t, s)
	r := DefaultRender()
	if r.KeepsStorage() || r.Login.SecretsTo() != "" {
		t.Error("the default has a login")
	}
}

func BenchmarkModeOfAURL(b *testing.B) {
	none, some := Default(), Default()
	some.Render = everyRender()
	for name, s := range map[string]*Spec{"without render": &none, "three patterns": &some} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				s.Renders("https://shop.example/products/12345?color=red")
			}
		})
	}
}
