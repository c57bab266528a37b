package check

import (
	"maps"
	"slices"
	"strings"
	"testing"
)

// What is wrong in the values is refused, by its name and with what would be right.
func TestWrongValuesAreRefused(t *testing.T) {
	for text, says := range map[string][]string{
		// The schema.
		`fetchr: {replicas: 3}`:                                       {"fetchr"},
		`fetcher: {replica: 3}`:                                       {"/fetcher", "replica"},
		`fetcher: {replicas: many}`:                                   {"/fetcher/replicas", "integer"},
		`fetcher: {options: {wokers: 3}}`:                             {"/fetcher/options", "wokers"},
		`parser: {options: {max-header: 1MiB}}`:                       {"/parser/options", "max-header"},
		`fetcher: {options: {nats: "nats://x"}}`:                      {"/fetcher/options", "nats"},
		`fetcher: {options: {workers: [1, 2]}}`:                       {"/fetcher/options/workers", "array"},
		`frontier: {state: {size: 10G}}`:                              {"/frontier/state/size"},
		`autoscaling: {mode: auto}`:                                   {"/autoscaling/mode", "keda"},
		`logLevel: verbose`:                                           {"/logLevel", "debug"},
		`natsServer: {login: nkeys}`:                                  {"/natsServer/login", "nkey"},
		`natsServer: {url: nats.example.org}`:                         {"/natsServer/url"},
		`writers: {default: {out: "/data"}}`:                          {"/writers/default/out"},
		`writers: {Archive: {from: pages}}`:                           {"propertyName", "Archive"},
		`writers: {export: {from: pages}}`:                            {"propertyName", "export"},
		`writers: {default: {from: robots}}`:                          {"/writers/default/from", "results"},
		`serve: {ingress: {hosts: ["https://crawls.example.org"]}}`:   {"/serve/ingress/hosts"},
		`networkPolicy: {except: {ipv4: [10.0.0.1]}}`:                 {"/networkPolicy/except/ipv4"},
		`writers: {default: {secretEnv: {PGPASSWORD: {secret: pg}}}}`: {"/writers/default/secretEnv/PGPASSWORD", "key"},
		`drainSeconds: 0`:                                             {"/drainSeconds"},
		`renderer: {seccompProfile: /etc/profile.json}`:               {"/renderer/seccompProfile"},
		// Combinations.
		`nats: {enabled: false}`:                                                               {"natsServer.url: name a server"},
		`natsServer: {url: "nats://n:4222"}`:                                                   {"nats.enabled=false"},
		`natsServer: {login: users, sharedSecret: all}`:                                        {"natsServer.sharedSecret"},
		`frontier: {replicas: 17}`:                                                             {"frontier.replicas 17", "partition"},
		`parser: {enabled: false}`:                                                             {"fetcher.options.chain=true"},
		`writers: {default: {replicas: 2}}`:                                                    {"writers.default.replicas 2", "existingClaim"},
		`writers: {default: {out: "s3://b/p"}}`:                                                {"writers.default.egress.world=true"},
		`{autoscaling: {mode: keda}, fetcher: {autoscaling: {max: 20}}}`:                       {"fetcher.autoscaling", "20 pods", "1024", "fetch-messages"},
		`{autoscaling: {mode: keda}, fetcher: {options: {workers: 200}}}`:                      {"fetcher.autoscaling.lag 128", "the 250 messages"},
		`{autoscaling: {mode: keda}, fetcher: {autoscaling: {min: 4, max: 3}}}`:                {"min 4 is more than max 3"},
		`{autoscaling: {mode: hpa}, fetcher: {autoscaling: {min: 0}}}`:                         {"autoscaling.mode=keda"},
		`{autoscaling: {mode: keda}, nats: {enabled: false}, natsServer: {url: "nats://n"}}`:   {"natsServer.monitoring"},
		`serve: {enabled: true, ingress: {enabled: true, hosts: [a.example], tlsSecret: a}}`:   {"serve.access=tokens"},
		`serve: {enabled: true, access: tokens, ingress: {enabled: true, hosts: [a.example]}}`: {"tlsSecret"},
	} {
		_, err := Render(values(t, text), "")
		if err == nil {
			t.Errorf("taken: %s", text)
			continue
		}
		for _, s := range says {
			if !strings.Contains(strings.ReplaceAll(err.Error(), ".options", "/options"), s) && !strings.Contains(err.Error(), s) {
				t.Errorf("%s: the error has no %q: %v", text, s, err)
			}
		}
	}
}

// As many fetchers as FETCH has requests for are taken, and what is given is enough.
func TestLargerValuesAreTaken(t *testing.T) {
	for _, text := range slices.Concat([]string{
		`{autoscaling: {mode: keda}, fetcher: {autoscaling: {max: 20}}, frontier: {options: {fetch-messages: 4096}}}`,
		`{frontier: {replicas: 64, options: {partitions: 64}}}`,
		`{nats: {config: {cluster: {enabled: true}}}}`,
	}, slices.Collect(maps.Values(Cases))) {
		if _, err := Render(values(t, text), ""); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
}
