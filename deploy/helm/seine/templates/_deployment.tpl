{{/* The Deployment of a stateless stage: (list . "fetcher" (dict "volumes" … "mounts" …)). */}}
{{- define "seine.deployments" -}}
{{- $root := index . 0 -}}
{{- $component := index . 1 -}}
{{- $more := index . 2 -}}
{{- range (include "seine.workloadsOf" (list $root $component) | fromJson).all }}
{{- $of := mergeOverwrite (dict "root" $root "workload" .) $more }}
apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ .name }}
  namespace: {{ $root.Release.Namespace }}
  labels: {{- include "seine.workloadLabels" $of | nindent 4 }}
spec:
  {{- if eq $root.Values.autoscaling.mode "none" }}
  replicas: {{ .values.replicas }}
  {{- end }}
  revisionHistoryLimit: 3
  strategy:
    type: RollingUpdate
    rollingUpdate: {maxSurge: 1, maxUnavailable: 0}
  selector:
    matchLabels: {{- include "seine.workloadSelector" $of | nindent 6 }}
  template:
    metadata: {{- include "seine.podMetadata" $of | trim | nindent 6 }}
    spec: {{- include "seine.podSpec" $of | nindent 6 }}
{{- end }}
{{- end }}
