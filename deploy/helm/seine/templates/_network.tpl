{{/* Rules of network policies. */}}

{{- define "seine.egressDNS" -}}
- to: {{- toYaml .Values.networkPolicy.dns | nindent 4 }}
  ports:
    - {protocol: UDP, port: 53}
    - {protocol: TCP, port: 53}
{{- end }}

{{/* The subchart's pods, or the peers of the existing server, or only its ports if no peers are set. */}}
{{- define "seine.egressNATS" -}}
- ports:
    {{- range .Values.natsServer.ports }}
    - {protocol: TCP, port: {{ . }}}
    {{- end }}
  {{- if .Values.nats.enabled }}
  to:
    - podSelector:
        matchLabels: {{- include "seine.natsSelector" . | nindent 10 }}
  {{- else if .Values.natsServer.peers }}
  to: {{- toYaml .Values.natsServer.peers | nindent 4 }}
  {{- end }}
{{- end }}

{{/*
The public Internet, by TCP: the addresses that internal/fetch/netguard allows. For IPv6 these are 2000::/3, which excludes ::1, fc00::/7,
fe80::/10 and NAT64. 168.63.129.16 is an address of Azure for its own machines.
*/}}
{{- define "seine.egressWorld" -}}
- to:
    - ipBlock:
        cidr: 0.0.0.0/0
        except:
          - 0.0.0.0/8
          - 10.0.0.0/8
          - 100.64.0.0/10
          - 127.0.0.0/8
          - 168.63.129.16/32
          - 169.254.0.0/16
          - 172.16.0.0/12
          - 192.0.0.0/24
          - 192.0.2.0/24
          - 192.31.196.0/24
          - 192.52.193.0/24
          - 192.88.99.0/24
          - 192.168.0.0/16
          - 192.175.48.0/24
          - 198.18.0.0/15
          - 198.51.100.0/24
          - 203.0.113.0/24
          - 224.0.0.0/4
          - 240.0.0.0/4
          {{- range .Values.networkPolicy.except.ipv4 }}
          - {{ . }}
          {{- end }}
    - ipBlock:
        cidr: 2000::/3
        except:
          - 2001::/23
          - 2001:db8::/32
          - 2002::/16
          - 2620:4f:8000::/48
          - 3fff::/20
          {{- range .Values.networkPolicy.except.ipv6 }}
          - {{ . }}
          {{- end }}
  ports:
    - {protocol: TCP}
{{- end }}

{{- define "seine.ingressMetrics" -}}
{{- with .Values.networkPolicy.metricsFrom }}
- from: {{- toYaml . | nindent 4 }}
  ports:
    - {protocol: TCP, port: metrics}
{{- end }}
{{- end }}
