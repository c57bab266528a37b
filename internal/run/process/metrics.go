package process

import (
	"runtime"

	"github.com/prometheus/client_golang/prometheus"

	"seine/internal/base/version"
)

// buildInfo says of a process which build it is.
func buildInfo() prometheus.Collector {
	return prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "seine_build_info", Help: "Which build this is; always 1.",
		ConstLabels: prometheus.Labels{"version": version.String(), "goversion": runtime.Version()},
	}, func() float64 { return 1 })
}
