package check

import (
	"fmt"

	"sigs.k8s.io/yaml"
)

// Cases are values that people give, each for something that the chart can do.
var Cases = map[string]string{
	"defaults": `{}`,
	"keda": `
autoscaling: {mode: keda}
renderer: {enabled: true, autoscaling: {min: 0}}`,
	"hpa": `
autoscaling: {mode: hpa}
renderer: {enabled: true}`,
	"hpa-lag": `
autoscaling: {mode: hpa, hpa: {metric: lag}}`,
	"chain": `
autoscaling: {mode: keda}
parser: {enabled: false}
fetcher: {options: {chain: true, parser-max-links: 5000}}`,
	"everything": `
labels: {team: search}
image: {registry: registry.example.org/team, tag: 0.1.0-rc1, pullSecrets: [{name: registry-login}]}
trace: {url: "http://tempo.monitoring:4318"}
frontier: {replicas: 3, imageTag: 0.1.0-rc2, siteSecrets: hooks, options: {partitions: 64, replicas: 3, hosts: 2000000}, egress: {world: true}}
fetcher: {replicas: 3, siteSecrets: sites, options: {resolver: ["10.0.0.53:53", "10.0.1.53:53"], accept: [text/html, application/pdf]}, nodeSelector: {pool: spot}, tolerations: [{key: spot, operator: Exists}]}
renderer: {enabled: true}
writer: {state: {storageClass: fast}}
writers:
  archive: {from: pages, options: {format: warc.gz, chunk-bytes: 1GiB}, files: {size: 500Gi, storageClass: slow}}
  requests: {from: results, resources: {limits: {memory: 2Gi}}}
serve:
  enabled: true
  access: tokens
  siteSecrets: sites
  options: {read-only: true, rate: 50}
  egress: {world: true}
  ingress: {enabled: true, className: nginx, hosts: [crawls.example.org], tlsSecret: crawls-tls}
monitoring:
  scrapeAnnotations: true
  podMonitor: {enabled: true, labels: {release: prometheus}}
  rules: {enabled: true, labels: {release: prometheus}}
  dashboard: {enabled: true, namespace: monitoring}
networkPolicy:
  except: {ipv4: [203.10.0.0/16], ipv6: ["2a02:1234::/32"]}
  natsFrom: [{podSelector: {matchLabels: {app: feeder}}}]
  extraEgress: [{to: [{namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: monitoring}}}], ports: [{protocol: TCP, port: 4318}]}]`,
	"users": `
natsServer: {login: users, account: SEINE}
autoscaling: {mode: keda}
renderer: {enabled: true}
writers: {archive: {from: pages}}
serve: {enabled: true, role: viewer}`,
	"existing-server": `
nats: {enabled: false}
natsServer:
  url: tls://nats.example.org:4222
  login: creds
  sharedSecret: crawler
  tls: {ca: true, certificate: true}
  ownInboxes: true
  peers: [{ipBlock: {cidr: 198.51.100.0/24}}]
  monitoring: nats.example.org:8222
autoscaling: {mode: keda}`,
	"password": `
nats: {enabled: false}
natsServer: {url: "nats://nats.example.org:4222", login: password}`,
	"s3": `
writers:
  default:
    out: s3://pages/crawls
    replicas: 3
    egress: {world: true}
    options: {s3-endpoint: "https://s3.example.org", s3-path-style: true}
    secretEnv:
      AWS_ACCESS_KEY_ID: {secret: s3, key: id}
      AWS_SECRET_ACCESS_KEY: {secret: s3, key: secret}`,
	"postgres": `
writers:
  default:
    out: postgres://seine@postgres/crawls
    egress: {extra: [{to: [{podSelector: {matchLabels: {app: postgres}}}], ports: [{protocol: TCP, port: 5432}]}]}
    secretEnv: {PGPASSWORD: {secret: postgres, key: password}}`,
	"shared-files": `
writers: {default: {replicas: 3, files: {existingClaim: crawls}}}
serve: {enabled: true, filesClaim: crawls}`,
	"broker-metrics": `
monitoring: {rules: {enabled: true, docsURL: "https://git.example.org/seine/docs/"}}
nats: {promExporter: {enabled: true, podMonitor: {enabled: true}}}`,
	"no-default-writer": `
writers: {default: {enabled: false}, requests: {from: results}}
networkPolicy: {enabled: false}`,
}

// ParseValues reads a file of values.
func ParseValues(text string) (Values, error) {
	v := Values{}
	if err := yaml.UnmarshalStrict([]byte(text), &v); err != nil {
		return nil, fmt.Errorf("read values: %w", err)
	}
	return v, nil
}
