{{/* Parts of every pod: (dict "root" . "workload" … "volumes" (list …) "mounts" (list …) "args" (list …)). */}}

{{- define "seine.image" -}}
{{- $image := .root.Values.image -}}
{{- $tag := default (default .root.Chart.AppVersion $image.tag) .workload.values.imageTag -}}
{{- $name := printf "%s/%s:%s" $image.repository .workload.component $tag -}}
{{- with .workload.values.imageDigest }}{{ $name = printf "%s@%s" $name . }}{{ end -}}
{{- if $image.registry -}}{{ $image.registry }}/{{ end -}}{{- $name -}}
{{- end }}

{{/*
The level restricted of Pod Security Admission. Without OnRootMismatch, kubelet would make files of volumes readable by the group at each start, and serve
refuses a token file that others can read.
*/}}
{{- define "seine.podSecurity" -}}
{{- $profile := dict "type" "RuntimeDefault" -}}
{{- if eq .component "renderer" -}}
{{- $profile = dict "type" "Localhost" "localhostProfile" .values.seccompProfile -}}
{{- end -}}
{{- toYaml (merge (deepCopy .values.podSecurityContext) (dict "seccompProfile" $profile)) -}}
{{- end }}

{{/* A probe: (list PATH PERIOD TIMEOUT FAILURES FIELDS), with the fields of the values. */}}
{{- define "seine.probe" -}}
{{- toYaml (mergeOverwrite (dict "httpGet" (dict "path" (index . 0) "port" "metrics") "periodSeconds" (index . 1) "timeoutSeconds" (index . 2) "failureThreshold" (index . 3)) (index . 4)) -}}
{{- end }}

{{- define "seine.probes" -}}
{{- $values := .workload.values -}}
# The process listens only once NATS responds; after natsWaitSeconds without, it exits.
startupProbe: {{- include "seine.probe" (list "/healthz" 5 3 (add (div (int .root.Values.natsWaitSeconds) 5) 12) $values.startupProbe) | nindent 2 }}
# Only a hung process is restarted. One that is not ready keeps reconnecting.
livenessProbe: {{- include "seine.probe" (list "/healthz" 20 5 6 $values.livenessProbe) | nindent 2 }}
readinessProbe: {{- include "seine.probe" (list "/readyz" 10 5 3 $values.readinessProbe) | nindent 2 }}
{{- end }}

{{/* Soft by default, so that one node can run everything. */}}
{{- define "seine.spread" -}}
{{- $spread := .workload.values.topologySpreadConstraints -}}
{{- if not $spread -}}
{{- range list "kubernetes.io/hostname" "topology.kubernetes.io/zone" -}}
{{- $spread = append $spread (dict "maxSkew" 1 "topologyKey" . "whenUnsatisfiable" "ScheduleAnyway") -}}
{{- end -}}
{{- end -}}
{{- range $spread }}
{{- $own := dict "labelSelector" (dict "matchLabels" (include "seine.workloadSelector" $ | fromYaml)) }}
- {{ toYaml (merge (deepCopy .) $own) | nindent 2 | trim }}
{{- end }}
{{- end }}

{{/* Nothing that depends on the chart or another stage's image: a pod is replaced only for its own changes. */}}
{{- define "seine.podMetadata" -}}
labels:
  {{- include "seine.workloadSelector" . | nindent 2 }}
  app.kubernetes.io/part-of: seine
  {{- with .root.Values.labels }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
  {{- with .workload.values.podLabels }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- if or .workload.values.podAnnotations .root.Values.monitoring.scrapeAnnotations }}
annotations:
  {{- if .root.Values.monitoring.scrapeAnnotations }}
  prometheus.io/scrape: "true"
  prometheus.io/port: "9400"
  {{- end }}
  {{- with .workload.values.podAnnotations }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- end }}
{{- end }}

{{- define "seine.volumes" -}}
{{- $w := .workload -}}
{{- if include "seine.natsSecretUsed" .root }}
- name: nats-login
  secret: {secretName: {{ include "seine.natsSecret" . }}, defaultMode: 0440}
{{- end }}
{{- if and (eq $w.component "frontier") (include "seine.operatorMounted" .root) }}
- name: operator
  secret: {secretName: {{ .root.Values.natsServer.secretPrefix }}operator, defaultMode: 0440}
{{- end }}
{{- with $w.values.siteSecrets }}
- name: site-secrets
  secret: {secretName: {{ . }}, defaultMode: 0440}
{{- end }}
{{- range concat (default list .volumes) $w.values.extraVolumes }}
- {{ toYaml . | nindent 2 | trim }}
{{- end }}
{{- end }}

{{- define "seine.mounts" -}}
{{- $w := .workload -}}
{{- if include "seine.natsSecretUsed" .root }}
- {name: nats-login, mountPath: /etc/seine/nats, readOnly: true}
{{- end }}
{{- if and (eq $w.component "frontier") (include "seine.operatorMounted" .root) }}
- {name: operator, mountPath: /etc/seine/operator, readOnly: true}
{{- end }}
{{- if $w.values.siteSecrets }}
- {name: site-secrets, mountPath: /etc/seine/secrets, readOnly: true}
{{- end }}
{{- range concat (default list .mounts) $w.values.extraVolumeMounts }}
- {{ toYaml . | nindent 2 | trim }}
{{- end }}
{{- end }}

{{/* Whether the frontier's pod also has the operator's credentials, for kubectl exec. */}}
{{- define "seine.operatorMounted" -}}
{{- if and (eq .Values.natsServer.login "users") .Values.frontier.operator -}}true{{- end -}}
{{- end }}

{{/* The account of a workload: the configured one, or its own. */}}
{{- define "seine.serviceAccount" -}}
{{- $account := .values.serviceAccount -}}
{{- default (ternary .name "default" $account.create) $account.name -}}
{{- end }}

{{- define "seine.podSpec" -}}
{{- $root := .root -}}
{{- $w := .workload -}}
serviceAccountName: {{ include "seine.serviceAccount" $w }}
automountServiceAccountToken: false
# Otherwise services named seine-… set variables SEINE_…, which the stages read as options.
enableServiceLinks: false
# Time to drain, then to commit and release leases.
terminationGracePeriodSeconds: {{ add (int $root.Values.drainSeconds) 25 }}
{{- if eq $w.component "renderer" }}
# The pause container reaps orphaned browser processes.
shareProcessNamespace: true
{{- end }}
securityContext: {{- include "seine.podSecurity" $w | nindent 2 }}
{{- with $root.Values.image.pullSecrets }}
imagePullSecrets: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with $w.values.priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
{{- with $w.values.nodeSelector }}
nodeSelector: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with $w.values.tolerations }}
tolerations: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with $w.values.affinity }}
affinity: {{- toYaml . | nindent 2 }}
{{- end }}
topologySpreadConstraints: {{- include "seine.spread" . | trim | nindent 2 }}
containers:
  - name: {{ $w.component }}
    image: {{ include "seine.image" . | quote }}
    imagePullPolicy: {{ $root.Values.image.pullPolicy }}
    securityContext: {{- toYaml $w.values.securityContext | nindent 6 }}
    {{- $args := concat (default list .args) (include "seine.listFlags" $w.values | fromYamlArray) }}
    {{- with $args }}
    args: {{- toYaml . | nindent 6 }}
    {{- end }}
    env: {{- include "seine.environment" . | trim | nindent 6 }}
    {{- with $w.values.envFrom }}
    envFrom: {{- toYaml . | nindent 6 }}
    {{- end }}
    ports:
      - {name: metrics, containerPort: 9400}
      {{- if eq $w.component "serve" }}
      - {name: http, containerPort: 8077}
      {{- end }}
    {{- include "seine.probes" . | nindent 4 }}
    resources: {{- toYaml $w.values.resources | nindent 6 }}
    {{- with include "seine.mounts" . | trim }}
    volumeMounts: {{- . | nindent 6 }}
    {{- end }}
{{- with include "seine.volumes" . | trim }}
volumes: {{- . | nindent 2 }}
{{- end }}
{{- end }}

{{/* A claim of a StatefulSet: (dict "root" . "name" "state" "claim" .Values.frontier.state). */}}
{{- define "seine.claimTemplate" -}}
apiVersion: v1
kind: PersistentVolumeClaim
metadata:
  name: {{ .name }}
  labels: {{- include "seine.selector" .root | nindent 4 }}
spec:
  accessModes: [{{ default "ReadWriteOnce" .claim.accessMode }}]
  {{- with .claim.storageClass }}
  storageClassName: {{ . }}
  {{- end }}
  resources: {requests: {storage: {{ .claim.size }}}}
{{- end }}
