package check

import (
	"math/rand/v2"
	"net/netip"
	"slices"
	"testing"

	core "k8s.io/api/core/v1"
	networking "k8s.io/api/networking/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"seine/internal/fetch/netguard"
)

// isolated reports whether policies isolate pods with such labels in a direction, and egress is all that they may send.
func isolated(all []object, pod labels.Set, direction networking.PolicyType) (is bool, in []networking.NetworkPolicyIngressRule, out []networking.NetworkPolicyEgressRule) {
	for _, p := range of[*networking.NetworkPolicy](all) {
		sel, err := meta.LabelSelectorAsSelector(&p.Spec.PodSelector)
		if err != nil || !sel.Matches(pod) || !slices.Contains(p.Spec.PolicyTypes, direction) {
			continue
		}
		is = true
		in, out = append(in, p.Spec.Ingress...), append(out, p.Spec.Egress...)
	}
	return is, in, out
}

// reaches reports whether a pod may send to an address outside of the cluster, as NetworkPolicy defines it: a rule without
// peers is for everybody, and a block counts without what it excepts.
func reaches(all []object, pod labels.Set, addr netip.Addr, port int32) bool {
	is, _, rules := isolated(all, pod, networking.PolicyTypeEgress)
	if !is {
		return true
	}
	return slices.ContainsFunc(rules, func(r networking.NetworkPolicyEgressRule) bool {
		if len(r.Ports) > 0 && !slices.ContainsFunc(r.Ports, func(p networking.NetworkPolicyPort) bool {
			return *p.Protocol == core.ProtocolTCP && (p.Port == nil || p.Port.IntVal == port)
		}) {
			return false
		}
		return len(r.To) == 0 || slices.ContainsFunc(r.To, func(p networking.NetworkPolicyPeer) bool { return p.IPBlock != nil && inBlock(p.IPBlock, addr) })
	})
}

func inBlock(b *networking.IPBlock, addr netip.Addr) bool {
	return netip.MustParsePrefix(b.CIDR).Contains(addr) && !slices.ContainsFunc(b.Except, func(e string) bool { return netip.MustParsePrefix(e).Contains(addr) })
}

// Who may send where, on the ports of the Web: fetchers and renderers to the public Internet, all others nowhere.
func TestWhoReachesTheWorld(t *testing.T) {
	all := rendered(t, `{renderer: {enabled: true}, serve: {enabled: true}, writers: {archive: {from: pages}}}`)
	for addr, public := range map[string]bool{
		"8.8.8.8": true, "93.184.215.14": true, "2606:4700::1111": true, "2a00:1450:4001:80f::200e": true,
		"10.1.2.3": false, "172.16.0.1": false, "172.31.255.255": false, "192.168.1.1": false, "127.0.0.1": false, "0.0.0.0": false,
		"169.254.169.254": false, "169.254.20.10": false, "168.63.129.16": false, "100.64.0.1": false, "100.127.255.255": false, "224.0.0.1": false, "255.255.255.255": false,
		"::1": false, "::": false, "fd00::1": false, "fc00::1": false, "fe80::1": false, "fd00:ec2::254": false, "ff02::1": false, "::ffff:10.0.0.1": false,
		"64:ff9b::a00:1": false, "2002:a00:1::1": false, "2001:db8::1": false, "2001::1": false, "fec0::1": false,
	} {
		for _, w := range workloads(all) {
			world := w.component() == "fetcher" || w.component() == "renderer"
			for _, port := range []int32{80, 443, 8080} {
				if got := reaches(all, w.pod.Labels, netip.MustParseAddr(addr), port); got != (public && world) {
					t.Errorf("%s reaches %s at port %d: %v", &w, addr, port, got)
				}
			}
		}
	}
}

// The policy and the guard of the fetcher agree on what is public, at the edges of every block of the policy and at random.
// They differ in what carries an IPv4 address (6to4, NAT64), which the policy keeps out as a whole.
func TestPolicyAgreesWithTheGuard(t *testing.T) {
	all := rendered(t, `{}`)
	fetcher := labels.Set(nil)
	for _, w := range workloads(all) {
		if w.component() == "fetcher" {
			fetcher = w.pod.Labels
		}
	}
	var addrs []netip.Addr
	for _, p := range of[*networking.NetworkPolicy](all) {
		for _, r := range p.Spec.Egress {
			for _, to := range r.To {
				if to.IPBlock != nil {
					for _, cidr := range append(to.IPBlock.Except, to.IPBlock.CIDR) {
						addrs = append(addrs, edges(netip.MustParsePrefix(cidr))...)
					}
				}
			}
		}
	}
	random := rand.New(rand.NewPCG(1, 2))
	for range 20_000 {
		var b [16]byte
		for i := range b {
			b[i] = byte(random.Uint32())
		}
		addrs = append(addrs, netip.AddrFrom4([4]byte(b[:4])), netip.AddrFrom16(b))
		b[0] = 0x20 | b[0]&0x1f
		addrs = append(addrs, netip.AddrFrom16(b))
	}
	guard := netguard.New(nil, false)
	carriers := []netip.Prefix{netip.MustParsePrefix("2002::/16"), netip.MustParsePrefix("64:ff9b::/96"), netip.MustParsePrefix("::ffff:0:0/96")}
	for _, a := range addrs {
		lets := guard.Check(a) == nil
		if slices.ContainsFunc(carriers, func(p netip.Prefix) bool { return p.Contains(a) }) {
			lets = false
		}
		if got := reaches(all, fetcher, a, 443); got != lets {
			t.Errorf("the policy lets through %s: %v, the guard: %v", a, got, lets)
		}
	}
	if len(addrs) < 60_000 {
		t.Errorf("only %d addresses were tried", len(addrs))
	}
}

// edges are the first and the last address of a block, and those beside it.
func edges(p netip.Prefix) []netip.Addr {
	first := p.Masked().Addr()
	bytes := first.AsSlice()
	for bit := p.Bits(); bit < len(bytes)*8; bit++ {
		bytes[bit/8] |= 1 << (7 - bit%8)
	}
	last, _ := netip.AddrFromSlice(bytes)
	return slices.DeleteFunc([]netip.Addr{first, last, first.Prev(), last.Next()}, func(a netip.Addr) bool { return !a.IsValid() })
}

// Blocks that the values add are kept out, too, and rules that they add let through.
func TestValuesNarrowAndWidenEgress(t *testing.T) {
	all := rendered(t, Cases["everything"])
	for _, w := range workloads(all) {
		if w.component() != "fetcher" {
			continue
		}
		for addr, want := range map[string]bool{"203.10.4.5": false, "2a02:1234::5": false, "203.11.4.5": true, "2a02:1235::5": true} {
			if got := reaches(all, w.pod.Labels, netip.MustParseAddr(addr), 443); got != want {
				t.Errorf("a fetcher reaches %s: %v", addr, got)
			}
		}
	}
	all = rendered(t, `fetcher: {egress: {extra: [{to: [{ipBlock: {cidr: 10.20.0.0/16}}], ports: [{protocol: TCP, port: 80}]}]}}`)
	for _, w := range workloads(all) {
		fetches := w.component() == "fetcher"
		if got := reaches(all, w.pod.Labels, netip.MustParseAddr("10.20.1.1"), 80); got != fetches {
			t.Errorf("%s reaches the intranet: %v", &w, got)
		}
		if reaches(all, w.pod.Labels, netip.MustParseAddr("10.21.1.1"), 80) {
			t.Errorf("%s reaches beside the intranet", &w)
		}
	}
}

// peers are the labels of pods, in this namespace, that a rule lets in or out.
func lets(peers []networking.NetworkPolicyPeer, pod labels.Set) bool {
	return slices.ContainsFunc(peers, func(p networking.NetworkPolicyPeer) bool {
		if p.PodSelector == nil || p.NamespaceSelector != nil {
			return false
		}
		sel, err := meta.LabelSelectorAsSelector(p.PodSelector)
		return err == nil && sel.Matches(pod)
	})
}

// broker are the labels of the subchart's pods.
var broker = labels.Set{"app.kubernetes.io/name": "nats", "app.kubernetes.io/instance": Release, "app.kubernetes.io/component": "nats"}

// All are isolated in both directions; stages reach NATS, which lets them in by its port alone; none reaches another.
func TestOnlyNATSIsReachedInside(t *testing.T) {
	all := rendered(t, Cases["keda"])
	for _, pod := range append(podLabels(all), broker) {
		for _, direction := range []networking.PolicyType{networking.PolicyTypeIngress, networking.PolicyTypeEgress} {
			if is, _, _ := isolated(all, pod, direction); !is {
				t.Errorf("%v is not isolated (%s)", pod, direction)
			}
		}
	}
	_, into, _ := isolated(all, broker, networking.PolicyTypeIngress)
	for _, pod := range podLabels(all) {
		_, _, out := isolated(all, pod, networking.PolicyTypeEgress)
		var sent, taken []int32
		for _, r := range out {
			if lets(r.To, broker) {
				sent = append(sent, r.Ports[0].Port.IntVal)
			}
			for _, other := range podLabels(all) {
				if lets(r.To, other) || len(r.To) == 0 {
					t.Errorf("%v reaches %v", pod, other)
				}
			}
		}
		for _, r := range into {
			if lets(r.From, pod) {
				taken = append(taken, r.Ports[0].Port.IntVal)
			}
		}
		if !slices.Equal(sent, []int32{4222}) || !slices.Equal(taken, []int32{4222}) {
			t.Errorf("%v sends to NATS at %v, which takes it at %v", pod, sent, taken)
		}
	}
}

func podLabels(all []object) (found []labels.Set) {
	for _, w := range workloads(all) {
		found = append(found, w.pod.Labels)
	}
	return found
}

// Only KEDA and readers of metrics may reach the monitoring port of NATS, which has no authentication.
func TestWhoReadsTheMonitoringPort(t *testing.T) {
	for text, want := range map[string][]string{`{}`: {"monitoring"}, Cases["keda"]: {"monitoring", "keda"}} {
		_, into, _ := isolated(rendered(t, text), broker, networking.PolicyTypeIngress)
		var from []string
		for _, r := range into {
			for _, p := range r.From {
				if p.NamespaceSelector != nil {
					from = append(from, p.NamespaceSelector.MatchLabels["kubernetes.io/metadata.name"])
					if r.Ports[0].Port.IntVal != 8222 || len(r.Ports) != 1 {
						t.Errorf("%s reaches the ports %v", from, r.Ports)
					}
				}
			}
		}
		if !slices.Equal(from, want) {
			t.Errorf("it is read from %v, want %v", from, want)
		}
	}
}
