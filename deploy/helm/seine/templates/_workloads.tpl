{{/*
The workloads of the values, as JSON: {"all": [{name, component, role, kind, values, writer}, …]}.
Templates with an object for each workload range over it.
*/}}
{{- define "seine.workloads" -}}
{{- $root := . -}}
{{- $full := include "seine.fullname" . -}}
{{- $all := list (dict "component" "frontier" "kind" "StatefulSet" "values" .Values.frontier) -}}
{{- $all = append $all (dict "component" "fetcher" "kind" "Deployment" "values" .Values.fetcher) -}}
{{- if .Values.renderer.enabled -}}
{{- $all = append $all (dict "component" "renderer" "kind" "Deployment" "values" .Values.renderer) -}}
{{- end -}}
{{- if .Values.parser.enabled -}}
{{- $all = append $all (dict "component" "parser" "kind" "Deployment" "values" .Values.parser) -}}
{{- end -}}
{{- range $name := keys .Values.writers | sortAlpha -}}
{{- $writer := mergeOverwrite (deepCopy $root.Values.writer) (default dict (get $root.Values.writers $name)) -}}
{{- if $writer.enabled -}}
{{- $all = append $all (dict "component" "writer" "kind" "StatefulSet" "values" $writer "writer" $name) -}}
{{- end -}}
{{- end -}}
{{- if .Values.serve.enabled -}}
{{- $all = append $all (dict "component" "serve" "kind" "StatefulSet" "values" .Values.serve) -}}
{{- end -}}
{{- range $all -}}
{{- $_ := set . "values" (mergeOverwrite (deepCopy $root.Values.common) .values) -}}
{{- $role := .component -}}
{{- if and .writer (ne .writer "default") -}}
{{- $role = printf "writer-%s" .writer -}}
{{- else if eq .component "serve" -}}
{{- $role = .values.role -}}
{{- end -}}
{{- $_ := set . "role" $role -}}
{{- $_ := set . "name" (printf "%s-%s" $full (ternary .role .component (eq .component "writer"))) -}}
{{- end -}}
{{- dict "all" $all | toJson -}}
{{- end }}

{{/* The workloads of one component, as JSON: (list . "writer"). */}}
{{- define "seine.workloadsOf" -}}
{{- $component := index . 1 -}}
{{- $found := list -}}
{{- range (include "seine.workloads" (index . 0) | fromJson).all -}}
{{- if eq .component $component -}}
{{- $found = append $found . -}}
{{- end -}}
{{- end -}}
{{- dict "all" $found | toJson -}}
{{- end }}
