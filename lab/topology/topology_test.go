package topology

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"net/netip"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pathwise-net/pathwise/document"
	"github.com/pathwise-net/pathwise/lab"
	"github.com/pathwise-net/pathwise/lab/packet"
)

func TestMain(m *testing.M) {
	lab.RunEngineIfAsked() // the labs of these tests are this test binary again
	os.Exit(m.Run())
}

// documented is a line of the table that each file has in its comments.
type documented struct {
	At       time.Duration
	From, To string
	Least    float64 // ms
	Most     float64
	Hops     int
}

var line = regexp.MustCompile(`(?m)^#   (?:at (\S+) )?(\S+) > (\S+) +([0-9.]+)(?: - ([0-9.]+))? ms +(\d+) hops?$`)

// table reads what a file says of its round trips. A figure stands for what rounds to it at its last digit, a range for
// itself.
func table(t *testing.T, text string) []documented {
	t.Helper()
	var all []documented
	for _, m := range line.FindAllStringSubmatch(text, -1) {
		d := documented{From: m[2], To: m[3]}
		if m[1] != "" {
			at, err := time.ParseDuration(m[1])
			if err != nil {
				t.Fatal(err)
			}
			d.At = at
		}
		d.Least, _ = strconv.ParseFloat(m[4], 64)
		d.Hops, _ = strconv.Atoi(m[6])
		if m[5] != "" {
			d.Most, _ = strconv.ParseFloat(m[5], 64)
			all = append(all, d)
			continue
		}
		_, decimals, _ := strings.Cut(m[4], ".")
		half := 0.5 * math.Pow10(-len(decimals))
		d.Least, d.Most = d.Least-half, d.Least+half
		all = append(all, d)
	}
	if strings.Count(text, "hops\n")+strings.Count(text, "hop\n") != len(all) || len(all) == 0 {
		t.Fatalf("%d lines of the table were read; some are not in its form", len(all))
	}
	return all
}

// ring is a Network in virtual time whose hosts answer echo requests at once, as kernels do.
type ring struct {
	t    *testing.T
	plan *lab.Plan
	*lab.Network
	came []arrival
}

type arrival struct {
	iface, direction int
	due              int64
	p                *packet.Packet
}

func newRing(t *testing.T, text string) *ring {
	t.Helper()
	spec, err := lab.ParseSpec("topology.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	r := &ring{t: t, plan: lab.NewPlan(spec)}
	r.Network, err = lab.NewNetwork(r.plan, func(iface, direction int, due int64, p *packet.Packet) {
		r.came = append(r.came, arrival{iface, direction, due, p})
	})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// Offsets of the little that an echo is made of (RFC 791, RFC 792).
const (
	echoBytes  = 84 // `ping`'s default: 20 of IPv4, 8 of ICMP, 56 of payload
	ipTTL      = 8
	ipProtocol = 9
	ipChecksum = 10
	icmpType   = 20
)

func echo(p []byte, from, to netip.Addr, ttl byte, id uint16) {
	clear(p)
	p[0], p[ipTTL], p[ipProtocol], p[icmpType] = 0x45, ttl, packet.ProtocolICMP, 8
	binary.BigEndian.PutUint16(p[2:], uint16(len(p)))
	source, target := from.As4(), to.As4()
	copy(p[12:], source[:])
	copy(p[16:], target[:])
	binary.BigEndian.PutUint16(p[24:], id)
	binary.BigEndian.PutUint16(p[ipChecksum:], checksum(p[:20]))
	binary.BigEndian.PutUint16(p[22:], checksum(p[20:]))
}

func checksum(b []byte) uint16 {
	sum := uint32(0)
	for i := 0; i < len(b); i += 2 {
		sum += uint32(binary.BigEndian.Uint16(b[i:]))
	}
	for sum > 0xffff {
		sum = sum>>16 + sum&0xffff
	}
	return ^uint16(sum)
}

// ping sends an echo from a host and returns what came back: the round trip, and whether it was the target's reply.
func (r *ring) ping(at int64, from, to string, ttl byte, id uint16) (trip time.Duration, reached, answered bool) {
	r.t.Helper()
	source, known := r.plan.NodeByName(from)
	target, alsoKnown := r.plan.NodeByName(to)
	if !known || !alsoKnown {
		r.t.Fatalf("%s > %s: no such nodes", from, to)
	}
	out := r.plan.Nodes[source].Interfaces[0]
	p := r.Pool.Get(echoBytes)
	echo(p.Data, r.plan.Address(source), r.plan.Address(target), ttl, id)
	r.Advance(at)
	r.came = nil
	r.Inject(at, out, p)
	for {
		due, any := r.Due()
		if !any || due > at+int64(3*time.Second) {
			return 0, false, false
		}
		r.Advance(due)
		for _, a := range r.came {
			if a.iface == out {
				trip, reached = time.Duration(a.due-at), a.p.Data[icmpType] == 0
				r.Handed(a.p, a.direction, a.due, a.due, false)
				return trip, reached, true
			}
			answer := r.Pool.Clone(a.p)
			packet.EchoReply(answer.Data)
			r.Handed(a.p, a.direction, a.due, a.due, false)
			r.Inject(a.due, a.iface, answer)
		}
		r.came = nil
	}
}

// trace returns at which hop a target answers.
func (r *ring) trace(at int64, from, to string) int {
	for ttl := byte(1); ttl < 64; ttl++ {
		if _, reached, _ := r.ping(at, from, to, ttl, uint16(ttl)); reached {
			return int(ttl)
		}
	}
	return 0
}

// What each file's table says is what an echo finds in virtual time, to the last digit that the table gives. Several
// are sent, since jitter and loss are part of some; each must be within, and one must come back.
func TestTablesAreTrue(t *testing.T) {
	const echoes = 5
	for _, e := range List() {
		t.Run(e.Name, func(t *testing.T) {
			text, err := Read(e.Name)
			if err != nil {
				t.Fatal(err)
			}
			for _, d := range table(t, string(text)) {
				r := newRing(t, string(text))
				start, came := int64(d.At), 0
				for i := range echoes {
					at := start + int64(i)*int64(20*time.Millisecond)
					trip, reached, _ := r.ping(at, d.From, d.To, 64, uint16(i))
					if !reached {
						continue
					}
					came++
					if ms := trip.Seconds() * 1000; ms < d.Least || ms > d.Most {
						t.Errorf("%s > %s at %v: %.4f ms, the table says %v to %v", d.From, d.To, d.At, ms, d.Least, d.Most)
					}
				}
				if came == 0 {
					t.Errorf("%s > %s at %v: no echo came back", d.From, d.To, d.At)
				}
				at := start + int64(time.Second)
				if hops := r.trace(at, d.From, d.To); hops != d.Hops {
					t.Errorf("%s > %s at %v: %d hops, the table says %d", d.From, d.To, d.At, hops, d.Hops)
				}
			}
		})
	}
}

// The report's own figures, apart from the file that was made from them: whole milliseconds.
func TestGridNMFigures(t *testing.T) {
	text, err := Read("gridnm-2002")
	if err != nil {
		t.Fatal(err)
	}
	detour := int64(90 * time.Second)
	for _, c := range []struct {
		from, to string
		at       int64
		want     float64
	}{
		{"ucl", "manchester", 0, 5}, {"ucl", "nikhef", 0, 10}, {"ucl", "cern", 0, 25}, {"dl", "ucl", 0, 10},
		{"dl", "leed-scr", 0, 10}, {"ral", "bristol", 0, 5}, {"bristol", "ucl", 0, 6},
		{"ucl", "manchester", detour, 6}, {"manchester", "ucl", detour, 6}, {"ucl", "dl", detour, 11},
		{"dl", "ucl", detour, 11}, {"ral", "ucl", detour, 12}, {"ucl", "ral", detour, 12},
	} {
		r := newRing(t, string(text))
		trip, reached, _ := r.ping(c.at, c.from, c.to, 64, 1)
		if ms := math.Round(trip.Seconds() * 1000); !reached || ms != c.want {
			t.Errorf("%s > %s at %v: %v ms, the report says %v", c.from, c.to, time.Duration(c.at), ms, c.want)
		}
	}
}

// A trace from RAL to UCL on the detour passes the routers that the report's table 7 lists, in its order.
func TestGridNMDetourPassesBristol(t *testing.T) {
	text, err := Read("gridnm-2002")
	if err != nil {
		t.Fatal(err)
	}
	r := newRing(t, string(text))
	var got []string
	for ttl := byte(1); ttl <= 13; ttl++ {
		got = append(got, r.hop(int64(90*time.Second), "ral", "ucl", ttl))
	}
	want := []string{"ral-254", "fw1-ral", "ral-gw", "ral-bar", "read-scr", "bris-scr", "cosh-scr", "lond-scr",
		"london-bar1", "ulcc-gsr", "ucl-gw", "ucl-core", "ucl-hep"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("routers (-table 7 +file):\n%s", diff)
	}
}

// hop returns who answers a packet that dies after so many hops.
func (r *ring) hop(at int64, from, to string, ttl byte) string {
	source, _ := r.plan.NodeByName(from)
	target, _ := r.plan.NodeByName(to)
	out := r.plan.Nodes[source].Interfaces[0]
	p := r.Pool.Get(echoBytes)
	echo(p.Data, r.plan.Address(source), r.plan.Address(target), ttl, uint16(ttl))
	r.Advance(at)
	r.came = nil
	r.Inject(at, out, p)
	r.Advance(at + int64(time.Second))
	if len(r.came) != 1 || r.came[0].iface != out {
		return fmt.Sprintf("%d answers", len(r.came))
	}
	who := packet.Source(r.came[0].p.Data)
	for _, i := range r.plan.Interfaces {
		if i.Address == who {
			return r.plan.Nodes[i.Node].Name
		}
	}
	return who.String()
}

// Flows from one leaf to another take both spines.
func TestDatacentreBalances(t *testing.T) {
	text, err := Read("datacentre")
	if err != nil {
		t.Fatal(err)
	}
	r := newRing(t, string(text))
	used := map[string]int{}
	for id := range uint16(200) {
		source, _ := r.plan.NodeByName("a1")
		target, _ := r.plan.NodeByName("c1")
		out := r.plan.Nodes[source].Interfaces[0]
		p := r.Pool.Get(echoBytes)
		echo(p.Data, r.plan.Address(source), r.plan.Address(target), 2, id)
		at := int64(id) * int64(time.Millisecond)
		r.Advance(at)
		r.came = nil
		r.Inject(at, out, p)
		r.Advance(at + int64(time.Millisecond))
		if len(r.came) == 1 {
			used[packet.Source(r.came[0].p.Data).String()]++
		}
	}
	if len(used) != 2 {
		t.Fatalf("routers at hop 2: %v, want both spines", used)
	}
	for who, n := range used { // 200 flows, each spine with an even chance: 60 to 140 is beyond 5 standard deviations
		if n < 60 || n > 140 {
			t.Errorf("%s took %d of 200 flows", who, n)
		}
	}
}

func TestListAndRead(t *testing.T) {
	entries := List()
	var got []string
	for _, e := range entries {
		got = append(got, e.Name)
		if e.Title == "" || strings.HasPrefix(e.Title, "#") || len(e.Title) > 100 {
			t.Errorf("%s: title %q", e.Name, e.Title)
		}
	}
	want := []string{"datacentre", "dumbbell", "geostationary", "gridnm-2002", "home-dsl", "low-orbit", "mobile",
		"oc12-coast-to-coast", "star", "transatlantic-10g", "two-hosts", "wireless"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("names (-want +got):\n%s", diff)
	}
	var bad *document.Error
	if _, err := Read("../topology"); !errors.As(err, &bad) || !strings.Contains(err.Error(), "two-hosts") {
		t.Errorf("a name that is none: %v", err)
	}
}
