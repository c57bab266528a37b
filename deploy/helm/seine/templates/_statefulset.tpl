{{/*
A StatefulSet with a volume for each pod: (dict "root" . "workload" … "claims" (dict NAME CLAIM) "volumes" … "mounts" … "args" …).
Pods start and stop in parallel: partitions are leased, not bound to a pod.
*/}}
{{- define "seine.statefulSet" -}}
apiVersion: apps/v1
kind: StatefulSet
metadata:
  name: {{ .workload.name }}
  namespace: {{ .root.Release.Namespace }}
  labels: {{- include "seine.workloadLabels" . | nindent 4 }}
spec:
  replicas: {{ default 1 .workload.values.replicas }}
  serviceName: {{ .workload.name }}
  podManagementPolicy: Parallel
  revisionHistoryLimit: 3
  # helm uninstall keeps the claims, and so the crawl.
  persistentVolumeClaimRetentionPolicy: {whenDeleted: Retain, whenScaled: Retain}
  selector:
    matchLabels: {{- include "seine.workloadSelector" . | nindent 6 }}
  template:
    metadata: {{- include "seine.podMetadata" . | trim | nindent 6 }}
    spec: {{- include "seine.podSpec" . | nindent 6 }}
  volumeClaimTemplates:
    {{- range $name := keys .claims | sortAlpha }}
    - {{ include "seine.claimTemplate" (dict "root" $.root "name" $name "claim" (get $.claims $name)) | nindent 6 | trim }}
    {{- end }}
{{- end }}

{{/* The service for the DNS names of the pods of a StatefulSet. */}}
{{- define "seine.headlessService" -}}
apiVersion: v1
kind: Service
metadata:
  name: {{ .workload.name }}
  namespace: {{ .root.Release.Namespace }}
  labels: {{- include "seine.workloadLabels" . | nindent 4 }}
spec:
  clusterIP: None
  publishNotReadyAddresses: true
  selector: {{- include "seine.workloadSelector" . | nindent 4 }}
  ports:
    - {name: metrics, port: 9400, targetPort: metrics}
{{- end }}
