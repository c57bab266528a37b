{{/* Configuration of the processes. */}}

{{/* A value in the form of a flag: numbers without an exponent. */}}
{{- define "seine.plain" -}}
{{- if and (kindIs "float64" .) (eq (floor .) (float64 .)) -}}
{{- int64 . -}}
{{- else -}}
{{- . -}}
{{- end -}}
{{- end }}

{{/* The environment of a container: (dict "root" . "workload" …). */}}
{{- define "seine.environment" -}}
{{- $root := .root -}}
{{- $w := .workload -}}
{{- include "seine.natsEnvironment" . }}
{{- if eq $w.component "serve" }}
- {name: SEINE_LISTEN, value: {{ ternary "127.0.0.1:8077" ":8077" (eq $w.values.access "local") | quote }}}
- {name: SEINE_METRICS, value: ":9400"}
- {name: SEINE_TOKENS, value: {{ ternary "" "/state/tokens.json" (eq $w.values.access "local") | quote }}}
{{- else }}
- {name: SEINE_NATS_WAIT, value: {{ printf "%ds" (int $root.Values.natsWaitSeconds) }}}
- {name: SEINE_LISTEN, value: ":9400"}
- {name: SEINE_DRAIN, value: {{ printf "%ds" (int $root.Values.drainSeconds) }}}
{{- with $root.Values.trace.url }}
- {name: SEINE_TRACE, value: {{ . | quote }}}
- {name: SEINE_TRACE_RATIO, value: {{ $root.Values.trace.ratio | quote }}}
{{- end }}
{{- end }}
- {name: SEINE_LOG_LEVEL, value: {{ $root.Values.logLevel }}}
- {name: SEINE_LOG_FORMAT, value: {{ $root.Values.logFormat }}}
{{- if has $w.component (list "frontier" "writer" "serve") }}
- {name: SEINE_STATE, value: /state}
{{- end }}
{{- if eq $w.component "writer" }}
- {name: SEINE_NAME, value: {{ $w.writer }}}
- {name: SEINE_FROM, value: {{ $w.values.from }}}
- {name: SEINE_OUT, value: {{ default "/out" $w.values.out | quote }}}
{{- end }}
{{- if $w.values.siteSecrets }}
- {name: SEINE_SECRETS, value: /etc/seine/secrets}
{{- end }}
{{- range $flag := keys (default dict $w.values.options) | sortAlpha }}
{{- $value := get $w.values.options $flag }}
{{- if not (kindIs "slice" $value) }}
- {name: SEINE_{{ $flag | upper | replace "-" "_" }}, value: {{ include "seine.plain" $value | quote }}}
{{- end }}
{{- end }}
{{- range $name := keys (default dict $w.values.env) | sortAlpha }}
- {name: {{ $name }}, value: {{ get $w.values.env $name | quote }}}
{{- end }}
{{- range $name := keys (default dict $w.values.secretEnv) | sortAlpha }}
{{- with get $w.values.secretEnv $name }}
- name: {{ $name }}
  valueFrom: {secretKeyRef: {name: {{ .secret }}, key: {{ .key | quote }}}}
{{- end }}
{{- end }}
{{- end }}

{{/* Options with lists become flags, one for each value. */}}
{{- define "seine.listFlags" -}}
{{- range $flag := keys (default dict .options) | sortAlpha }}
{{- $value := get $.options $flag }}
{{- if kindIs "slice" $value }}
{{- range $value }}
- {{ printf "--%s=%v" $flag . | quote }}
{{- end }}
{{- end }}
{{- end }}
{{- end }}

{{- define "seine.natsURL" -}}
{{- if .Values.natsServer.url -}}
{{- .Values.natsServer.url -}}
{{- else -}}
{{- $port := dig "config" "nats" "port" 4222 .Values.nats -}}
{{- $tls := dig "config" "nats" "tls" "enabled" false .Values.nats -}}
{{- printf "%s://%s:%d" (ternary "tls" "nats" $tls) (include "seine.natsName" .) (int $port) -}}
{{- end -}}
{{- end }}

{{/* URL and credentials of the server. */}}
{{- define "seine.natsEnvironment" -}}
{{- $server := .root.Values.natsServer -}}
{{- if eq $server.login "users" }}
- {name: SEINE_NATS_CONTEXT, value: /etc/seine/nats/context.json}
{{- else }}
- {name: SEINE_NATS_URL, value: {{ include "seine.natsURL" .root | quote }}}
{{- if eq $server.login "creds" }}
- {name: SEINE_NATS_CREDS, value: /etc/seine/nats/nats.creds}
{{- else if eq $server.login "nkey" }}
- {name: SEINE_NATS_NKEY, value: /etc/seine/nats/user.nk}
{{- else if eq $server.login "password" }}
- name: SEINE_NATS_USER
  valueFrom: {secretKeyRef: {name: {{ include "seine.natsSecret" . }}, key: user}}
- {name: SEINE_NATS_PASSWORD_FILE, value: /etc/seine/nats/password}
{{- else if eq $server.login "token" }}
- {name: SEINE_NATS_TOKEN_FILE, value: /etc/seine/nats/token}
{{- end }}
{{- if $server.tls.ca }}
- {name: SEINE_NATS_CA, value: /etc/seine/nats/ca.pem}
{{- end }}
{{- if $server.tls.certificate }}
- {name: SEINE_NATS_CERT, value: /etc/seine/nats/cert.pem}
- {name: SEINE_NATS_KEY, value: /etc/seine/nats/key.pem}
{{- end }}
{{- if $server.ownInboxes }}
- {name: SEINE_NATS_INBOX_PREFIX, value: _INBOX_{{ .workload.role }}}
{{- end }}
{{- end }}
{{- end }}

{{/* Whether a Secret is mounted at /etc/seine/nats: "true", or nothing. */}}
{{- define "seine.natsSecretUsed" -}}
{{- $server := .Values.natsServer -}}
{{- if or (ne $server.login "none") $server.tls.ca $server.tls.certificate -}}true{{- end -}}
{{- end }}

{{/* The Secret with the credentials of a workload. */}}
{{- define "seine.natsSecret" -}}
{{- $server := .root.Values.natsServer -}}
{{- default (printf "%s%s" $server.secretPrefix .workload.role) $server.sharedSecret -}}
{{- end }}
