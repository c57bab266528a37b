{{/*
The streams and consumers whose lag scales a stage (pkg/messages), as JSON:
{"of": [{stream, consumer, stage}, …]}. A fetcher with --chain also parses.
*/}}
{{- define "seine.lag" -}}
{{- $parser := dict "stream" "PAGES" "consumer" "parser" "stage" "parser" -}}
{{- if eq .workload.component "parser" -}}
{{- dict "of" (list $parser) | toJson -}}
{{- else if eq .workload.component "renderer" -}}
{{- dict "of" (list (dict "stream" "FETCH" "consumer" "renderer" "stage" "renderer")) | toJson -}}
{{- else -}}
{{- $fetcher := dict "stream" "FETCH" "consumer" "fetcher" "stage" "fetcher" -}}
{{- dict "of" (ternary (list $fetcher $parser) (list $fetcher) (eq (toString .workload.values.options.chain) "true")) | toJson -}}
{{- end -}}
{{- end }}

{{/* Scaling speed: up at once, down after a window without need. */}}
{{- define "seine.scalingBehavior" -}}
scaleUp:
  stabilizationWindowSeconds: 0
  policies: [{type: Percent, value: 100, periodSeconds: 30}, {type: Pods, value: 2, periodSeconds: 30}]
scaleDown:
  stabilizationWindowSeconds: {{ .Values.autoscaling.scaleDownSeconds }}
  policies: [{type: Percent, value: 50, periodSeconds: 60}]
{{- end }}

{{/* The monitoring port of the server; for the subchart that of the headless service, since the other service lacks it. */}}
{{- define "seine.natsMonitoring" -}}
{{- if .Values.natsServer.monitoring -}}
{{- .Values.natsServer.monitoring -}}
{{- else -}}
{{- $port := dig "config" "monitor" "port" 8222 .Values.nats -}}
{{- $service := default (printf "%s-headless" (include "seine.natsName" .)) (dig "headlessService" "name" "" .Values.nats) -}}
{{- printf "%s.%s.svc.cluster.local:%d" $service .Release.Namespace (int $port) -}}
{{- end -}}
{{- end }}
