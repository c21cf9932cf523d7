package lab

import (
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/pathwise-net/pathwise/lab/packet"
)

// shapeSettings are what a random link may have, by key; each goes with every other, but for duplex and pause, which add their rate.
var shapeSettings = []string{
	"rate: 10mbit", "rate: 1.544mbit", "rate: 1gbit", "trace: {opportunities: [1, 2, 5, 9]}",
	"overhead: none", "overhead: atm", "overhead: 18B",
	"delay: 3ms", "delay: 100us", "jitter: 1ms", "jitter: {spread: 2ms, distribution: pareto, correlation: 25%}",
	"jitter: {table: [0ms, 1ms, 9ms], overtake: true}", "drift: {amplitude: 5ms, period: 90m}", "creep: {by: 10ms, over: 5m}",
	"loss: 1%", "loss: {gilbert: {ratio: 1%, burst: 5}}", "loss: {every: 100}", "loss: [0.1%, {larger_than: 1400B, ratio: 50%}]",
	"duplicate: 1%", "reorder: 2%", "reorder: {gap: 5, by: 3ms}", "corrupt: 0.5%", "corrupt: {ratio: 1%, hidden: true}",
	"queue: 50p", "queue: 64kB", "queue: 20ms", "queue: {limit: 90p, drop: head}", "queue: {codel: {}, ecn: true}",
	"queue: {red: {min: 5p, max: 30p, probability: 10%, weight: 0.01}}",
	"queue: {classes: [{name: p, dscp: EF, priority: 1}, {name: d, default: true, weight: 2}]}",
	"police: {rate: 5mbit, burst: 20kB}", "shaper: {rate: 8mbit, burst: 10kB}",
	"mtu: 1400B", "mtu: {size: 1300B, excess: drop}", "outage: {mttf: 60s, mttr: 1s}", "down: false",
	"rules: [{match: {port: 5201}, delay: 9ms}]", "duplex: half", "pause: {every: 80ms, for: 30ms}",
}

var routerSettings = []string{"", "hidden: true", "silent: true", "icmp: filtered", "icmp: {rate: 10/s}", "strip: [sack, timestamps]",
	"mss: 1360", "dscp: CS1", "ecn: bleach", "balance: flow", "balance: packet", "randomize_sequence: true",
	"mpls: [17, 18]", "interfaces: true", "mpls: [17], mpls_class: 5, interfaces: [incoming, outgoing, next-hop]", "quote: 8",
	"mpls: [3], mpls_ttl: 250, spoil: extensions", "quoted_ttl: 2, copies: 2", "from: 192.0.2.1", "refuse: host", "zero_ttl: true"}

// randomFile writes a valid lab file: a tree of hosts and routers, some links doubled, with random settings.
func randomFile(r *rand.Rand) string {
	hosts, routers := 1+r.IntN(5), r.IntN(5)
	var b strings.Builder
	fmt.Fprintf(&b, "seed: %d\nhosts:\n", r.IntN(1000))
	for h := range hosts {
		fmt.Fprintf(&b, "  h%d: {}\n", h)
	}
	if routers > 0 {
		b.WriteString("routers:\n")
	}
	for i := range routers {
		fmt.Fprintf(&b, "  r%d: {%s}\n", i, routerSettings[r.IntN(len(routerSettings))])
	}
	var links [][2]string
	for i := 1; i < routers; i++ {
		links = append(links, [2]string{fmt.Sprint("r", i), fmt.Sprint("r", r.IntN(i))})
	}
	for h := range hosts {
		switch {
		case routers > 0:
			links = append(links, [2]string{fmt.Sprint("h", h), fmt.Sprint("r", r.IntN(routers))})
		case h > 0:
			links = append(links, [2]string{fmt.Sprint("h", h), fmt.Sprint("h", r.IntN(h))})
		}
	}
	if len(links) > 0 && r.IntN(3) == 0 {
		links = append(links, links[r.IntN(len(links))])
	}
	if len(links) > 0 {
		b.WriteString("links:\n")
	}
	for _, l := range links {
		fmt.Fprintf(&b, "  - {between: [%s, %s]%s}\n", l[0], l[1], randomShape(r))
	}
	if len(links) > 0 && r.IntN(2) == 0 {
		l := links[r.IntN(len(links))]
		fmt.Fprintf(&b, "timeline:\n  - {at: %dms, between: [%s, %s], loss: 1%%, forward: {delay: 2ms}}\n", r.IntN(5000), l[0], l[1])
		fmt.Fprintf(&b, "traffic:\n  - {from: %s, to: %s, kind: poisson, rate: 100kbit, size: 500B}\n", l[0], l[1])
	}
	return b.String()
}

func randomShape(r *rand.Rand) string {
	chosen := map[string]string{}
	for range r.IntN(6) {
		s := shapeSettings[r.IntN(len(shapeSettings))]
		key, _, _ := strings.Cut(s, ":")
		chosen[key] = s
	}
	if chosen["duplex"] != "" { // Ethernet's own, with a rate both ways and nothing beside
		return ", duplex: half, rate: 10mbit"
	}
	if chosen["pause"] != "" { // which needs a rate and Ethernet
		for _, key := range []string{"trace", "overhead", "rules"} {
			delete(chosen, key)
		}
		chosen["rate"] = "rate: 10mbit"
	}
	if chosen["trace"] != "" {
		delete(chosen, "rate")
		delete(chosen, "shaper")
	}
	text := ""
	for _, s := range shapeSettings { // in a fixed order
		if key, _, _ := strings.Cut(s, ":"); chosen[key] == s {
			text += ", " + s
		}
	}
	return text
}

// mutate spoils a file, or at least tries to.
func mutate(r *rand.Rand, text string) string {
	b := []byte(text)
	for range 1 + r.IntN(3) {
		at := r.IntN(len(b))
		switch r.IntN(6) {
		case 0:
			b[at] = byte(32 + r.IntN(95))
		case 1:
			b = append(b[:at], b[min(len(b), at+1+r.IntN(8)):]...)
		case 2:
			b = append(b[:at], append([]byte(strconv.Itoa(r.IntN(1_000_000))), b[at:]...)...)
		case 3:
			b = append(b[:at], append([]byte{"-%{}[]:,'\"\n#&*!|>"[r.IntN(17)]}, b[at:]...)...)
		case 4:
			b = b[:at+1]
		case 5:
			end := min(len(b), at+1+r.IntN(20))
			b = append(b, b[at:end]...)
		}
		if len(b) == 0 {
			return ":"
		}
	}
	return string(b)
}

// A random valid file is read, and carries packets in virtual time without losing count of any.
func TestRandomFilesInVirtualTime(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 1))
	files := make([]string, 1000)
	for i := range files {
		files[i] = randomFile(r)
	}
	const parts = 2 // a processor each
	for part := range parts {
		t.Run(fmt.Sprint(part), func(t *testing.T) {
			t.Parallel()
			for i := part; i < len(files); i += parts {
				spec, err := ParseSpec("random.yaml", []byte(files[i]))
				if err != nil {
					t.Fatalf("file %d: %v\n%s", i, err, files[i])
				}
				if first, second := carry(t, spec, files[i]), carry(t, spec, files[i]); first != second {
					t.Fatalf("file %d: two runs of one seed differ:\n%s", i, files[i])
				}
			}
		})
	}
}

// carry sends packets between the hosts of a lab and returns a hash of all that came out and all that was counted.
func carry(t *testing.T, spec *Spec, text string) uint64 {
	sum := fnv.New64a()
	var n *Network
	n, err := NewNetwork(NewPlan(spec), func(iface, dir int, due int64, p *packet.Packet) {
		fmt.Fprint(sum, iface, due, p.Number)
		sum.Write(p.Data)
		n.Handed(p, dir, due, due, false)
	})
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	ids := n.plan.HostInterfaces()
	r := rand.New(rand.NewPCG(9, 9))
	v := &virtual{Network: n}
	for k := range 60 {
		if len(ids) < 2 {
			break
		}
		from, to := n.plan.Interfaces[ids[r.IntN(len(ids))]], n.plan.Interfaces[ids[r.IntN(len(ids))]]
		src, dst := from.Address, to.Address
		if r.IntN(2) == 0 {
			src, dst = from.Address6, to.Address6
		}
		at := int64(k) * 700_000
		n.Advance(at)
		n.Inject(at, from.Leaves, v.udp(src.String(), dst.String(), byte(1+r.IntN(8)), 60+r.IntN(1440), k))
	}
	n.Advance(1e10)
	truth := n.Truth()
	for _, l := range truth.Links {
		dropped := uint64(0)
		for cause, c := range l.Dropped {
			if cause != "mtu" { // counted before the link
				dropped += c
			}
		}
		if l.Packets+l.Duplicated < l.Delivered+dropped {
			t.Errorf("%v %s: %+v\n%s", l.Between, l.Direction, l, text)
		}
	}
	if err := json.NewEncoder(sum).Encode([]any{truth, n.Book.Totals()}); err != nil {
		t.Fatal(err)
	}
	return sum.Sum64()
}

// A spoilt file is either still valid or refused with one line that says where.
func TestMutatedFiles(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 8))
	refused := 0
	for range 4000 {
		text := mutate(r, randomFile(r))
		_, err := ParseSpec("random.yaml", []byte(text))
		if err == nil {
			continue
		}
		refused++
		var bad *SpecError
		if !errors.As(err, &bad) || bad.Line < 1 || bad.Column < 1 || strings.Contains(bad.Problem, "\n") || bad.Problem == "" {
			t.Errorf("%v\n%s", err, text)
		}
	}
	if refused < 1000 {
		t.Errorf("only %d of 4000 spoilt files were refused; want 1000 to look at", refused)
	}
	t.Logf("%d refused", refused)
}

// Random files stand up for real and come down, and leave nothing: 50 here, PATHWISE_LAB_FILES of them when asked.
func TestRandomFilesForReal(t *testing.T) {
	files := 50
	if text := os.Getenv("PATHWISE_LAB_FILES"); text != "" {
		var err error
		if files, err = strconv.Atoi(text); err != nil {
			t.Fatalf("PATHWISE_LAB_FILES: %v", err)
		}
	}
	before := networkNamespaces(t)
	r := rand.New(rand.NewPCG(11, 4))
	for i := range files {
		text := randomFile(r)
		l, err := Start(t.Context(), mustParse(t, text), Options{})
		if err != nil {
			t.Fatalf("file %d: %v\n%s", i, err, text)
		}
		if err := l.Close(); err != nil {
			t.Fatalf("file %d: close: %v", i, err)
		}
		awaitExit(t, l.Status.PID)
	}
	if after := networkNamespaces(t); after > before {
		t.Errorf("%d network namespaces with processes before, %d after", before, after)
	}
}

// networkNamespaces counts those that any thread of this program lives in, in whatever process: labs of others may come and
// go meanwhile.
func networkNamespaces(t *testing.T) int {
	t.Helper()
	self, err := os.Readlink("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob("/proc/[0-9]*/task/[0-9]*/ns/net")
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, f := range files {
		program, err1 := os.Readlink(filepath.Join(filepath.Dir(filepath.Dir(f)), "exe"))
		name, err2 := os.Readlink(f)
		if err1 == nil && err2 == nil && program == self { // the thread may have ended in between
			seen[name] = true
		}
	}
	return len(seen)
}
