package tracing

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
)

// Options configure tracing. The variables of the OpenTelemetry specification apply if a flag is
// not set.
type Options struct {
	Trace      string   `group:"observability" help:"Send traces to the OTLP/HTTP receiver at this URL, such as http://127.0.0.1:4318; off disables them. OTEL_EXPORTER_OTLP_ENDPOINT sets it too." placeholder:"URL"`
	TraceRatio *float64 `group:"observability" help:"Fraction of visits to trace, from 0 to 1 (default 1). OTEL_TRACES_SAMPLER_ARG sets it too." placeholder:"RATIO"`
}

// Variables of the OpenTelemetry specification that this package reads. The exporter reads others:
// headers, certificates, timeouts, compression.
const (
	envEndpoint       = "OTEL_EXPORTER_OTLP_ENDPOINT"
	envTracesEndpoint = "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"
	envProtocol       = "OTEL_EXPORTER_OTLP_PROTOCOL"
	envTracesProtocol = "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL"
	envSampler        = "OTEL_TRACES_SAMPLER"
	envSamplerArg     = "OTEL_TRACES_SAMPLER_ARG"
	envExporter       = "OTEL_TRACES_EXPORTER"
	envDisabled       = "OTEL_SDK_DISABLED"
	envQueue          = "OTEL_BSP_MAX_QUEUE_SIZE"
)

// protocol is the only supported protocol of OTLP.
const protocol = "http/protobuf"

// defaultQueue is the number of spans that may wait for export, about 2 KiB each.
const defaultQueue = 4096

// off is the value of --trace that overrides the environment.
const off = "off"

// Validate implements process.Config.
func (o *Options) Validate() error {
	if _, err := o.ratio(); err != nil {
		return err
	}
	_, err := o.endpoint()
	return err
}

// endpoint returns the URL of the receiver, nil if tracing is off.
func (o *Options) endpoint() (*url.URL, error) {
	name, text := "--trace", o.Trace
	if text == "" {
		if strings.EqualFold(os.Getenv(envDisabled), "true") || os.Getenv(envExporter) == "none" {
			return nil, nil
		}
		name, text = envTracesEndpoint, os.Getenv(envTracesEndpoint)
		if text == "" {
			name, text = envEndpoint, os.Getenv(envEndpoint)
		}
	}
	if text == "" || text == off {
		return nil, nil
	}
	if p := cmp.Or(os.Getenv(envTracesProtocol), os.Getenv(envProtocol), protocol); p != protocol {
		return nil, fmt.Errorf("%s %q: only %s is spoken, usually at port 4318", envProtocol, p, protocol)
	}
	u, err := url.Parse(text)
	switch {
	case err != nil:
		return nil, fmt.Errorf("%s: not a URL: give one such as http://127.0.0.1:4318", name)
	case u.User != nil:
		return nil, fmt.Errorf("%s: the URL has a user or a password: put them into OTEL_EXPORTER_OTLP_HEADERS, as in Authorization=Basic%%20…", name)
	case u.Scheme != "http" && u.Scheme != "https", u.Host == "":
		return nil, fmt.Errorf("%s %q: must be a URL such as http://127.0.0.1:4318", name, text)
	}
	if name == envTracesEndpoint {
		return u, nil // used unchanged
	}
	if !strings.HasSuffix(u.Path, tracesPath) {
		u.Path = strings.TrimSuffix(u.Path, "/") + tracesPath
	}
	return u, nil
}

// tracesPath is the path for traces at a receiver.
const tracesPath = "/v1/traces"

// ratio returns the share of visits to trace.
func (o *Options) ratio() (float64, error) {
	name, r := "--trace-ratio", 1.0
	if o.TraceRatio != nil {
		r = *o.TraceRatio
	} else {
		sampler := strings.TrimPrefix(os.Getenv(envSampler), "parentbased_")
		switch sampler {
		case "always_off":
			return 0, nil
		case "always_on":
			return 1, nil
		case "", "traceidratio":
		default:
			return 0, fmt.Errorf("%s %q: must be always_on, always_off or traceidratio", envSampler, sampler)
		}
		if text := os.Getenv(envSamplerArg); text != "" {
			var err error
			if r, err = strconv.ParseFloat(text, 64); err != nil {
				return 0, fmt.Errorf("%s %q: must be a number from 0 to 1", envSamplerArg, text)
			}
			name = envSamplerArg
		}
	}
	if !(r >= 0 && r <= 1) {
		return 0, fmt.Errorf("%s %v: must be from 0 to 1", name, r)
	}
	return r, nil
}

// Open returns a Tracer for the process of a service, nil if tracing is off.
func (o *Options) Open(ctx context.Context, service, version, instance string, log *slog.Logger) (*Tracer, error) {
	to, err := o.endpoint()
	if to == nil || err != nil {
		return nil, err
	}
	ratio, err := o.ratio()
	if err != nil {
		return nil, err
	}
	room, err := queue()
	if err != nil {
		return nil, err
	}
	exporter, err := otlptracehttp.New(ctx, otlptracehttp.WithEndpointURL(to.String()), otlptracehttp.WithRetry(otlptracehttp.RetryConfig{
		Enabled: true, InitialInterval: 500 * time.Millisecond, MaxInterval: 2 * time.Second, MaxElapsedTime: 5 * time.Second,
	}))
	if err != nil {
		return nil, fmt.Errorf("export traces to %s: %w", to, err)
	}
	about, err := resource.New(ctx, resource.WithTelemetrySDK(), resource.WithAttributes(
		attribute.String("service.name", service), attribute.String("service.version", version),
		attribute.String("service.instance.id", instance),
	), resource.WithFromEnv())
	if err != nil {
		return nil, errors.Join(fmt.Errorf("OTEL_RESOURCE_ATTRIBUTES: %w", err), exporter.Shutdown(ctx))
	}
	log.Info("traces are exported", "to", to.String(), "ratio", ratio)
	return newTracer(exporter, ratio, room, about, log), nil
}

func queue() (int, error) {
	text := os.Getenv(envQueue)
	if text == "" {
		return defaultQueue, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		return 0, fmt.Errorf("%s %q: must be a number from 1", envQueue, text)
	}
	return n, nil
}

func newTracer(e sdktrace.SpanExporter, ratio float64, room int, about *resource.Resource, log *slog.Logger) *Tracer {
	t := &Tracer{gate: newGate(e, room, log), all: ratio >= 1, bound: uint64(ratio * (1 << 63))}
	t.provider = sdktrace.NewTracerProvider(
		sdktrace.WithSpanProcessor(t.gate), sdktrace.WithIDGenerator(ids{}), sdktrace.WithResource(about),
		sdktrace.WithSampler(sdktrace.ParentBased(sdktrace.AlwaysSample())), // Dispatch has sampled
	)
	t.tracer = t.provider.Tracer(scope)
	return t
}

// closeTime bounds the wait for the last spans. It is shorter if the receiver is unavailable.
const closeTime = 3 * time.Second

// Close exports the remaining spans, within a bounded time.
func (t *Tracer) Close() {
	if t == nil {
		return
	}
	wait := closeTime
	if t.gate.broken.Load() {
		wait = closeTime / 10
	}
	ctx, cancel := context.WithTimeout(context.Background(), wait)
	defer cancel()
	if err := t.provider.Shutdown(ctx); err != nil {
		left := t.gate.inside.Load()
		spansFailed.Add(float64(left))
		t.gate.log.Warn("the last traces were not exported", "spans", left, "error", err)
	}
}
