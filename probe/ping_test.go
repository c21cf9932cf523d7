package probe

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/sock"
)

var (
	_ measure.Prober = Ping{}
	_ measure.Prober = Trace{}
)

// blamesCaller says whether the CLI would call err a wrong call.
func blamesCaller(err error) bool {
	var bad interface{ BadInput() bool }
	return errors.As(err, &bad) && bad.BadInput()
}

func TestPingValidate(t *testing.T) {
	tests := []struct {
		ping Ping
		want string
	}{
		{Ping{Target: "a"}, ""},
		{Ping{Target: "a", Count: 1, Interval: time.Millisecond, Size: 65507, TTL: 255, DSCP: 63, Family: sock.IPv6}, ""},
		{Ping{}, `target "": give a host name or an address`},
		{Ping{Target: "a", Family: "5"}, `family "5": give ipv4 or ipv6`},
		{Ping{Target: "a", Count: -1}, `count "-1": give a number from 0 to 10000000`},
		{Ping{Target: "a", Interval: 9 * time.Microsecond}, `interval "9µs": give a time from 10µs to 1h0m0s`},
		{Ping{Target: "a", Interval: -1}, `interval "-1ns": give a time from 10µs to 1h0m0s`},
		{Ping{Target: "a", Proto: "tcp", Method: "syn", Interval: 999 * time.Microsecond}, `interval "999µs": a SYN takes room at the target; give at least 1ms`},
		{Ping{Target: "a", Interval: 10 * time.Microsecond}, ""},
		{Ping{Target: "a", Interval: 10 * time.Microsecond, Size: 11}, `size "11": give at least 12, by which the requests are told apart`},
		{Ping{Target: "a", Proto: "udp", Size: 11, Port: 7}, `size "11": give at least 12, by which the requests are told apart`},
		{Ping{Target: "a", Proto: "stamp", Size: 43}, `size "43": give at least 44, by which the requests are told apart`},
		{Ping{Target: "a", Size: 65508}, `size "65508": give a number from 0 to 65507`},
		{Ping{Target: "a", Timeout: time.Hour}, `timeout "1h0m0s": give a time from 1ms to 1m0s`},
		{Ping{Target: "a", TTL: 256}, `TTL "256": give a number from 0 to 255`},
		{Ping{Target: "a", DSCP: 64}, `DSCP "64": give a number from 0 to 63`},
		{Ping{Target: "a", Proto: "sctp"}, `proto "sctp": give icmp, udp, stamp or tcp`},
		{Ping{Target: "a", Window: "32", Proto: "stamp", Size: 1400}, ""},
		{Ping{Target: "a", Window: "0"}, `window "0": give a number of packets such as 32, or 1..32, up to 4096`},
		{Ping{Target: "a", Window: "8", Count: 3}, `count "3": a window sends as answers come; leave one of the two out`},
		{Ping{Target: "a", Window: "8", Proto: "tcp"}, `window "8": a window is of packets with a payload; ask for proto icmp, udp or stamp`},
		{Ping{Target: "a", Proto: "tcp", Method: "ack"}, `method "ack": give connect or syn`},
		{Ping{Target: "a", Method: "syn"}, `method "syn": only proto tcp has methods; leave it out, or ask for proto tcp`},
		{Ping{Target: "a", Port: 80}, `port "80": ICMP has no ports; leave it out, or ask for proto tcp`},
		{Ping{Target: "a", Proto: "tcp", Method: "syn", Size: 56}, `size "56": a SYN has no payload; leave it out, or ask for proto icmp`},
		{Ping{Target: "a", Proto: "tcp", DontFragment: true}, `df "true": a SYN is too small to be cut; leave it out, or ask for proto icmp`},
		{Ping{Target: "a", Proto: "tcp", Method: "syn", Interval: time.Millisecond}, ""},
		{Ping{Target: "a", Proto: "tcp", Interval: 3 * time.Millisecond, Timeout: 1500 * time.Millisecond}, ""},
		{Ping{Target: "a", Proto: "tcp", Interval: 2 * time.Millisecond, Timeout: time.Millisecond},
			`interval "2ms": each connection keeps a port for a minute; give at least 3ms, or ask for method syn`},
		{Ping{Target: "a", Proto: "tcp", Interval: 3 * time.Millisecond}, `interval "3ms": with a timeout of 2s, more than 500 connections ` +
			`may be under way; give at least 4ms, or a timeout of at most 1.5s`},
	}
	for _, test := range tests {
		err := test.ping.Validate()
		if got := text(err); got != test.want || err != nil && !blamesCaller(err) {
			t.Errorf("%+v: %q (bad input: %v), want %q", test.ping, got, blamesCaller(err), test.want)
		}
	}
}

func text(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// Poisson intervals have the mean asked for, a standard deviation equal to it, and are those of the seed.
func TestPingGaps(t *testing.T) {
	const n, mean = 100_000, 10 * time.Millisecond
	draw := func(p Ping) (average, deviation float64) {
		p.Rand = rand.New(rand.NewPCG(1, 2))
		next := p.gaps()
		var sum, squares float64
		for range n {
			gap := next().Seconds() / mean.Seconds()
			sum, squares = sum+gap, squares+gap*gap
		}
		average = sum / n
		return average, math.Sqrt(squares/n - average*average)
	}
	for name, c := range map[string]struct {
		Ping
		deviation float64
	}{
		"periodic": {Ping{Interval: mean}, 0},
		"poisson":  {Ping{Interval: mean, Poisson: true}, 1},
	} {
		average, deviation := draw(c.Ping)
		if math.Abs(average-1) > 0.02 || math.Abs(deviation-c.deviation) > 0.02 { // 6 and 4 standard errors
			t.Errorf("%s: mean %v, standard deviation %v of the mean asked for; want 1 and %v", name, average, deviation, c.deviation)
		}
		if again, _ := draw(c.Ping); again != average {
			t.Errorf("%s: the same seed gives other intervals", name)
		}
	}
}

func TestSequenceIndex(t *testing.T) {
	tests := []struct {
		sequence uint16
		sent     int
		want     int
		ok       bool
	}{
		{1, 1, 0, true}, {3, 5, 2, true}, {5, 5, 4, true},
		{6, 5, 0, false}, {0, 5, 0, false}, {1, 0, 0, false}, // not sent yet
		{0, 65536, 65535, true}, {1, 65537, 65536, true}, {2, 65537, 1, true}, // come round
		{65535, 65537, 65534, true}, {9, 200_000, 196_608 + 8, true},
	}
	for _, test := range tests {
		got, ok := sequenceIndex(test.sequence, test.sent)
		if ok != test.ok || ok && got != test.want {
			t.Errorf("sequence %d of %d sent: %d, %v; want %d, %v", test.sequence, test.sent, got, ok, test.want, test.ok)
		}
	}
}

// Who said an error is told only where it is known.
func TestEchoLine(t *testing.T) {
	for want, e := range map[string]measure.Echo{
		"    3  host unreachable, said 192.0.2.9": {Seq: 3, Error: "host unreachable", From: "192.0.2.9"},
		"    3  no route to host":                 {Seq: 3, Error: "no route to host"},
		"    3  lost":                             {Seq: 3},
		"    3  1.00 ms":                          {Seq: 3, RTTSeconds: new(0.001), From: "192.0.2.9"},
	} {
		if got := EchoLine(e); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestReduceEchoes(t *testing.T) {
	answered := func(rtt float64) measure.Echo { return measure.Echo{RTTSeconds: &rtt} }
	left := func(ttl int) measure.Echo { return measure.Echo{RTTSeconds: new(1.), TTL: ttl} }
	lost := measure.Echo{}
	refused := measure.Echo{From: "192.0.2.1", Error: "host unreachable"}
	twice := answered(3)
	twice.Duplicates = 2
	tests := []struct {
		name     string
		echoes   []measure.Echo
		arrivals []uint64
		want     map[measure.Metric]float64
	}{
		{"none sent", nil, nil, map[measure.Metric]float64{}},
		{"all lost", []measure.Echo{lost, refused}, nil, withLoss("xx", map[measure.Metric]float64{measure.DuplicatePackets: 0})},
		{"a bit of everything", []measure.Echo{answered(1), lost, twice, refused, lost, answered(2), answered(6), answered(3)},
			[]uint64{1, 6, 3, 7, 8}, withLoss(".x.xx...", map[measure.Metric]float64{
				measure.DuplicatePackets: 2, measure.ReorderedPackets: 1, measure.ReorderingRatio: 0.2,
				measure.RTTMin: 1, measure.RTTMean: 3, measure.RTTMedian: 3, measure.RTTP95: 6, measure.RTTP99: 6,
				measure.RTTMax: 6, measure.RTTStddev: math.Sqrt(14. / 4)})},
	}
	for hops, ttls := range map[float64][]int{1: {64, 64, 64}, 5: {64, 60, 60, 60, 61}, 7: {122}, 11: {245}, 0: {0, 256, -1}} {
		var echoes []measure.Echo
		for _, ttl := range ttls {
			echoes = append(echoes, left(ttl))
		}
		if got := reduceEchoes(echoes, nil)[measure.ReverseHopCount]; got != hops {
			t.Errorf("times to live %v: %v hops back, want %v", ttls, got, hops)
		}
	}
	for _, test := range tests {
		if diff := cmp.Diff(test.want, reduceEchoes(test.echoes, test.arrivals)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.name, diff)
		}
	}
}

func TestEchoPacket(t *testing.T) {
	e := echo{ident: 0xabcd, sequence: 1, payload: []byte{1, 2, 3}}
	tests := []struct {
		ipv6, reply bool
		want        []byte // checksums by hand, RFC 1071
	}{
		{false, false, []byte{8, 0, 0x48, 0x2f, 0xab, 0xcd, 0, 1, 1, 2, 3}},
		{false, true, []byte{0, 0, 0x50, 0x2f, 0xab, 0xcd, 0, 1, 1, 2, 3}},
		{true, false, []byte{128, 0, 0, 0, 0xab, 0xcd, 0, 1, 1, 2, 3}},
		{true, true, []byte{129, 0, 0, 0, 0xab, 0xcd, 0, 1, 1, 2, 3}},
	}
	for _, test := range tests {
		e.reply = test.reply
		packet := e.marshal(test.ipv6)
		if diff := cmp.Diff(test.want, packet); diff != "" {
			t.Errorf("IPv6 %v, reply %v (-want +got):\n%s", test.ipv6, test.reply, diff)
		}
		got, ok := parseEcho(packet, test.ipv6)
		if diff := cmp.Diff(e, got, cmp.AllowUnexported(echo{})); diff != "" || !ok {
			t.Errorf("IPv6 %v, reply %v, ok %v (-want +got):\n%s", test.ipv6, test.reply, ok, diff)
		}
	}
	for _, broken := range [][]byte{nil, make([]byte, 7), {11, 0, 0, 0, 0, 0, 0, 0}, {8, 1, 0, 0, 0, 0, 0, 0}} {
		if _, ok := parseEcho(broken, false); ok {
			t.Errorf("% x: taken for an echo", broken)
		}
	}
}

func FuzzParseEcho(f *testing.F) {
	f.Add([]byte{8, 0, 0, 0, 1, 2, 3, 4, 5}, false)
	f.Add([]byte{129, 0, 0, 0, 1, 2, 3, 4, 5}, true)
	f.Fuzz(func(t *testing.T, packet []byte, ipv6 bool) {
		e, ok := parseEcho(packet, ipv6)
		if !ok {
			return
		}
		again, ok := parseEcho(e.marshal(ipv6), ipv6)
		if diff := cmp.Diff(e, again, cmp.AllowUnexported(echo{})); diff != "" || !ok {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
}
