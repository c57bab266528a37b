package process

import (
	"runtime"

	"github.com/prometheus/client_golang/prometheus"

	"seine/internal/base/version"
)

// buildInfo returns a metric that names the build of the process.
func buildInfo() prometheus.Collector {
	return prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "seine_build_info", Help: "Always 1; the labels name the build.",
		ConstLabels: prometheus.Labels{"version": version.String(), "goversion": runtime.Version()},
	}, func() float64 { return 1 })
}
