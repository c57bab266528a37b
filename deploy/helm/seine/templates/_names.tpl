{{/* Names and labels. */}}

{{- define "seine.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 40 | trimSuffix "-" -}}
{{- end }}

{{- define "seine.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 40 | trimSuffix "-" -}}
{{- else if contains (include "seine.name" .) .Release.Name -}}
{{- .Release.Name | trunc 40 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name (include "seine.name" .) | trunc 40 | trimSuffix "-" -}}
{{- end -}}
{{- end }}

{{/* Selector of every pod of the release, including the subchart. */}}
{{- define "seine.releaseSelector" -}}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{/* Selector of every pod of Seine itself. */}}
{{- define "seine.selector" -}}
app.kubernetes.io/name: {{ include "seine.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "seine.labels" -}}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{ include "seine.selector" . }}
app.kubernetes.io/version: {{ default .Chart.AppVersion .Values.image.tag | quote }}
app.kubernetes.io/part-of: seine
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- with .Values.labels }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{/* Selector of the pods of one workload: (dict "root" . "workload" …). */}}
{{- define "seine.workloadSelector" -}}
{{ include "seine.selector" .root }}
app.kubernetes.io/component: {{ .workload.component }}
{{- with .workload.writer }}
seine-writer: {{ . }}
{{- end }}
{{- end }}

{{- define "seine.workloadLabels" -}}
{{ include "seine.labels" .root }}
app.kubernetes.io/component: {{ .workload.component }}
{{- with .workload.writer }}
seine-writer: {{ . }}
{{- end }}
{{- end }}

{{/* The name of the subchart's server. */}}
{{- define "seine.natsName" -}}
{{- $nats := .Values.nats -}}
{{- $name := default "nats" $nats.nameOverride -}}
{{- if $nats.fullnameOverride -}}
{{- $nats.fullnameOverride -}}
{{- else if contains $name .Release.Name -}}
{{- .Release.Name -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name $name -}}
{{- end -}}
{{- end }}

{{/* Selector of the pods of the subchart. */}}
{{- define "seine.natsSelector" -}}
app.kubernetes.io/name: {{ default "nats" .Values.nats.nameOverride }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}
