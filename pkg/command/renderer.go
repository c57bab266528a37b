package command

import (
	"cmp"
	"context"

	"seine/internal/render"
	"seine/internal/run/process"
	"seine/pkg/messages"
	"seine/pkg/stages"
	"seine/pkg/stages/fetcher"
)

// Renderer runs the renderer stage as a command, with the options of the process, and returns its exit code.
func Renderer() int {
	var o rendererOptions
	return process.Main(messages.StageRenderer, "Seine's renderer: a fetcher that renders pages in a browser.\n\n  renderer --nats nats://127.0.0.1:4222 --browser-tabs 4",
		&o, &o.Common, o.run)
}

type rendererOptions struct {
	process.Common
	fetcher.Config
	Browser render.Config `embed:""`
}

// Validate returns an error for the first invalid flag.
func (o *rendererOptions) Validate() error {
	return cmp.Or(o.Config.Validate(), o.Browser.Validate())
}

func (o *rendererOptions) run(ctx context.Context, env process.Env) error {
	if err := o.Browser.Check(); err != nil {
		return err
	}
	browser := render.New(o.Browser, env.Bus.Log)
	defer browser.Close()
	return work(ctx, env, func(specs *stages.Specs) (worker, error) {
		f, err := fetcher.New(o.Config, env.Bus, specs)
		if err == nil {
			f.Render(browser, true)
		}
		return f, err
	})
}
