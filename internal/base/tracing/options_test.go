package tracing

import (
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
)

func counter(t *testing.T, outcome string) float64 {
	t.Helper()
	all, err := prometheus.DefaultGatherer.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, family := range all {
		for _, m := range family.GetMetric() {
			if family.GetName() == "seine_trace_spans_total" && m.GetLabel()[0].GetValue() == outcome {
				return m.GetCounter().GetValue()
			}
		}
	}
	t.Fatalf("there is no figure of spans that were %s", outcome)
	return 0
}

// A flag takes precedence over the variables of OpenTelemetry, which apply without it.
func TestOptions(t *testing.T) {
	half := 0.5
	for name, c := range map[string]struct {
		options Options
		env     map[string]string
		to      string
		ratio   float64
	}{
		"nothing":         {to: "", ratio: 1},
		"flag":            {options: Options{Trace: "http://127.0.0.1:4318", TraceRatio: &half}, to: "http://127.0.0.1:4318/v1/traces", ratio: 0.5},
		"flag with path":  {options: Options{Trace: "https://otel.example/in/v1/traces"}, to: "https://otel.example/in/v1/traces", ratio: 1},
		"variable":        {env: map[string]string{envEndpoint: "http://a:4318/x", envSamplerArg: "0.25"}, to: "http://a:4318/x/v1/traces", ratio: 0.25},
		"more precise":    {env: map[string]string{envEndpoint: "http://a:1", envTracesEndpoint: "http://b:2/t"}, to: "http://b:2/t", ratio: 1},
		"flag first":      {options: Options{Trace: "http://c:3", TraceRatio: &half}, env: map[string]string{envEndpoint: "http://a:1", envSamplerArg: "1"}, to: "http://c:3/v1/traces", ratio: 0.5},
		"off":             {options: Options{Trace: "off"}, env: map[string]string{envEndpoint: "http://a:1"}, to: "", ratio: 1},
		"disabled":        {env: map[string]string{envEndpoint: "http://a:1", envDisabled: "true"}, to: "", ratio: 1},
		"other exporter":  {env: map[string]string{envEndpoint: "http://a:1", envExporter: "none"}, to: "", ratio: 1},
		"sampler of none": {env: map[string]string{envEndpoint: "http://a:1", envSampler: "parentbased_always_off"}, to: "http://a:1/v1/traces", ratio: 0},
	} {
		t.Run(name, func(t *testing.T) {
			setenv(t, c.env)
			u, err := c.options.endpoint()
			to := ""
			if u != nil {
				to = u.String()
			}
			ratio, rerr := c.options.ratio()
			if err != nil || rerr != nil || to != c.to || ratio != c.ratio {
				t.Errorf("to %q with ratio %v (%v, %v), want %q with %v", to, ratio, err, rerr, c.to, c.ratio)
			}
		})
	}
}

func setenv(t *testing.T, env map[string]string) {
	t.Helper()
	for _, name := range []string{envEndpoint, envTracesEndpoint, envProtocol, envTracesProtocol, envSampler, envSamplerArg, envExporter, envDisabled, envQueue} {
		t.Setenv(name, env[name])
	}
}

func TestOptionsThatCannotBe(t *testing.T) {
	two := 2.0
	for want, c := range map[string]struct {
		options Options
		env     map[string]string
	}{
		"must be a URL such as":        {options: Options{Trace: "localhost:4318"}},
		"--trace: not a URL":           {options: Options{Trace: "http://a b:secret"}},
		"OTEL_EXPORTER_OTLP_HEADERS":   {options: Options{Trace: "http://me:secret@a:4318"}},
		"only http/protobuf is":        {env: map[string]string{envEndpoint: "http://a:4317", envProtocol: "grpc"}},
		"--trace-ratio 2: must be":     {options: Options{TraceRatio: &two}},
		envSamplerArg + ` "much"`:      {env: map[string]string{envSamplerArg: "much"}},
		envSampler + ` "jaeger_remote`: {env: map[string]string{envSampler: "jaeger_remote"}},
	} {
		t.Run(want, func(t *testing.T) {
			setenv(t, c.env)
			err := c.options.Validate()
			if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "secret") {
				t.Errorf("says %v, want %q", err, want)
			}
		})
	}
}
