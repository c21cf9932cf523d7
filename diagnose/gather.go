package diagnose

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/model"
)

// gathering is what Results say, by subject.
type gathering struct {
	ways     map[string]*Subject // by direction: both
	path     *Subject            // where nothing was moved either way; else nil
	exchange *Subject            // transactions; nil: none were made
	lost     float64             // seconds of a transfer in which a silent connection was lost; 0: none was
	flow     *Subject            // the connection of a program; nil: none was looked for, or seen
	hosts    []*Subject          // in the order in which Results name them
	clocks   *Subject            // of both ends; nil: nothing tells of them

	family string                              // of addresses, of the first ping; "": not told
	loads  map[*measure.Result]*measure.Result // transfers beside which one-way delays were measured: see loadsOf
}

// readers take from a Result of each kind the facts that it holds. Results of other kinds hold none.
var readers = map[string]func(*gathering, *measure.Result){
	"ping": readPing, "capacity": readCapacity, "throughput": readThroughput, "fetch": readThroughput, "host": readHost, "transact": readExchange,
	"sockets": readSockets, "audit": readAudit, "owd": readOneWay, "trace": readTrace,
	"mtu": readMTU, "flows": readFlows,
}

// gather reads Results in the order in which they were made, so that the newest that says something counts, and then derives
// what several say together.
func gather(results []*measure.Result) *gathering {
	g := &gathering{ways: map[string]*Subject{}}
	for _, direction := range directions {
		g.ways[direction] = &Subject{Kind: OfWay, Name: direction}
	}
	inOrder := slices.Clone(results)
	slices.SortStableFunc(inOrder, func(a, b *measure.Result) int { return a.Started.Compare(b.Started) })
	g.loads = loadsOf(inOrder)
	for _, r := range inOrder {
		if read := readers[r.Kind]; read != nil {
			read(g, r)
		}
		readClocks(g, r)
		if sort := sortOf(r); sort != ofTransfer && sort != ofExchange {
			g.each(r, func(s *Subject) { s.readBrought(sort, r) })
		}
	}
	for _, direction := range directions {
		derive(g.ways[direction])
	}
	deriveUplink(g.ways[measure.Forward], g.ways[measure.Reverse])
	deriveUplink(g.ways[measure.Reverse], g.ways[measure.Forward])
	deriveBack(g.ways[measure.Forward], g.ways[measure.Reverse])
	deriveBack(g.ways[measure.Reverse], g.ways[measure.Forward])
	deriveOneWay(g.ways[measure.Forward], g.ways[measure.Reverse])
	deriveOneWay(g.ways[measure.Reverse], g.ways[measure.Forward])
	g.deriveExchange()
	g.deriveFlow()
	g.deriveClocks()
	if !g.measured() {
		g.path = pathOf(g.ways[measure.Forward], inOrder)
	}
	return g
}

// measured reports whether a transfer says something about a way.
func (g *gathering) measured() bool {
	return g.ways[measure.Forward].Known(Stuck) || g.ways[measure.Reverse].Known(Stuck)
}

// failed says of each way why its transfer told nothing, where one was tried and the other way's told something.
func (g *gathering) failed() (notes []string) {
	for _, direction := range directions {
		if s := g.ways[direction]; g.measured() && !s.Known(Stuck) && s.failed != "" {
			notes = append(notes, fmt.Sprintf("%s: nothing is known of this way, whose transfer failed: %s", direction, s.failed))
		}
	}
	return notes
}

// pathOf is a path over which nothing was moved, with what answered on it, and why the first test failed.
func pathOf(forward *Subject, results []*measure.Result) *Subject {
	s := &Subject{Kind: OfPath, facts: forward.facts, hops: forward.hops, route: forward.route}
	for _, r := range results {
		if r.Error != nil && measure.WayOf(r.Kind, r.Parameters) != "" {
			s.Sender, s.Receiver, s.Target, s.failed = r.Source.NameOrAddress(), r.Target.Name, r.Target.Name, *r.Error
			break
		}
	}
	return s
}

// subjects are all that facts are known about: the connection of a program, ways on which data was moved, or the path, transactions, which
// come before these where somebody told of a program's, hosts, and the clocks of both ends.
func (g *gathering) subjects() (all []*Subject) {
	if g.flow != nil {
		all = append(all, g.flow)
	}
	asked := g.exchange != nil && g.exchange.asked
	if asked {
		all = append(all, g.exchange)
	}
	for _, direction := range directions {
		if s := g.ways[direction]; s.Known(Stuck) {
			all = append(all, s)
		}
	}
	if g.exchange != nil && !asked {
		all = append(all, g.exchange)
	}
	if g.path != nil {
		all = append(all, g.path)
	}
	all = append(all, g.hosts...)
	if g.clocks != nil {
		all = append(all, g.clocks)
	}
	return all
}

// directions are the ways of a path, in the order in which they are told.
var directions = []string{measure.Forward, measure.Reverse}

// each calls a function for the ways that the data of a Result went; both, where it has no way of its own.
func (g *gathering) each(r *measure.Result, do func(*Subject)) {
	way := measure.WayOf(r.Kind, r.Parameters)
	for _, direction := range directions {
		if way == measure.Way(direction) || way == measure.Both || way == "" {
			do(g.ways[direction])
		}
	}
}

// readPing takes of small packets the round trip of the empty path, and of others whether they come through.
func readPing(g *gathering, r *measure.Result) {
	if g.readOtherFamily(r) {
		return
	}
	g.each(r, func(s *Subject) {
		s.setLeast(EmptyRoundTrip, r.Metrics[measure.RTTMin], r)
		sent, answered := r.Metrics[measure.SentPackets], r.Metrics[measure.ReceivedPackets]
		if r.Parameters["df"] == true {
			readSize(s, r, sent, answered)
			return
		}
		if (sortOf(r) == ofOpening || marked(r)) && s.Known(Answers) { // what answers SYNs, or marked echoes, is told apart from what answers echoes
			return
		}
		if size, _ := r.Number("size"); size == largeEchoSize {
			s.setPositive(LargeEcho, r.Metrics[measure.RTTMin], r)
			return
		}
		if _, full := fullEchoes(measure.SentPackets)(s, r); full || sent == 0 && r.Error != nil { // a ping that was not sent tells nothing
			return
		}
		s.set(Pings, exactly(sent, r))
		s.set(Answers, exactly(answered, r))
		s.setPositive(IdleRoundTrip, r.Metrics[measure.RTTMedian], r)
	})
}

// readThroughput takes a transfer by TCP, or what a paced probe by UDP lost. Of a way that was measured alone, a transfer both ways at
// once tells nothing, nor does one beside which one-way delays were measured.
func readThroughput(g *gathering, r *measure.Result) {
	g.each(r, func(s *Subject) {
		switch sort := sortOf(r); {
		case sort == ofPaced:
			readPaced(s, r)
		case sort == ofMarked || sort == ofBrisk: // what rules bring reads it
		case sort == ofTransfer && s.Known(Stuck) && g.isLoad(r):
		case sort == ofTransfer && s.otherControl(r):
			s.setPositive(OtherGoodput, r.Metrics[measure.Throughput], r)
		case sort == ofTransfer || !s.Known(Stuck): // of a file, too, where nothing else was moved
			readTransfer(s, r)
			if s.failed = ""; r.Error != nil {
				s.failed = *r.Error
			}
			g.lost = max(g.lost, lostSilent(s, r))
		}
	})
}

// sort says what a Result is, where its kind alone does not.
type sort string

const (
	ofPing     sort = "ping"
	ofOpening  sort = "opening" // pings by TCP
	ofTrace    sort = "trace"
	ofMTU      sort = "mtu"
	ofSYNs     sort = "syns"     // a trace that tells what is changed on the way
	ofTransfer sort = "transfer" // by TCP, one way
	ofMany     sort = "many"     // by TCP, one way, over several connections at once
	ofBothWays sort = "both"     // by TCP, both ways at once
	ofPaced    sort = "paced"    // by UDP
	ofMarked   sort = "marked"   // by UDP, with a mark: what becomes of that, and no loss of unmarked packets
	ofBrisk    sort = "brisk"    // the same, fast
	// ofColliding is by UDP, both ways at once: it says nothing of what one way loses alone.
	ofColliding sort = "colliding"
	ofExchange  sort = "transact"
	ofTrains    sort = "capacity"
	// ofOtherFlow is of large transactions, which tell how fast another flow than the transfer is.
	ofOtherFlow sort = "other flow"
	ofSockets   sort = "sockets"
	ofAudit     sort = "audit"
)

func sortOf(r *measure.Result) sort {
	switch {
	case r.Kind == "ping" && (r.Parameters["proto"] == "tcp" || r.Parameters["proto"] == "syn"):
		return ofOpening
	case r.Kind == "transact":
		if size, _ := flowSize(r); size > 0 {
			return ofOtherFlow
		}
		return ofExchange
	case r.Kind == "trace" && r.Parameters["middlebox"] == true:
		return ofSYNs
	case r.Kind == "fetch":
		return ofTransfer
	case r.Kind != "throughput":
		return sort(r.Kind)
	case r.Parameters["proto"] == "udp" && marked(r):
		if rate, _ := r.Number("rate"); rate > markedRate {
			return ofBrisk
		}
		return ofMarked
	case r.Parameters["proto"] == "udp" && measure.WayOf(r.Kind, r.Parameters) == measure.Both:
		return ofColliding
	case r.Parameters["proto"] == "udp":
		return ofPaced
	case measure.WayOf(r.Kind, r.Parameters) == measure.Both:
		return ofBothWays
	}
	if streams, told := r.Number("parallel"); told && streams > 1 {
		return ofMany
	}
	return moves(r)
}

// marked reports whether packets were sent with a differentiated services code point.
func marked(r *measure.Result) bool {
	dscp, told := r.Number("dscp")
	return told && dscp > 0
}

// udpProbe is what a probe by UDP sent and lost, in packets, at a rate in bit/s.
type udpProbe struct {
	sent, lost, rate float64
	result           *measure.Result
}

// readPaced takes what a probe by UDP lost. What that means is known only with what the path carries: see derivePaced.
func readPaced(s *Subject, r *measure.Result) {
	if sent := r.Metrics[measure.SentPackets]; sent > 0 {
		s.udp = append(s.udp, udpProbe{sent, r.Metrics[measure.LostPackets], r.Metrics[measure.SentRate], r})
	}
}

// readHost takes what a host measured of itself, each metric under its own name.
func readHost(g *gathering, r *measure.Result) {
	s := g.host(r)
	for metric, value := range r.Metrics {
		s.set(Name(metric), exactly(value, r))
	}
}

// host is the subject of the host that made a Result.
func (g *gathering) host(r *measure.Result) *Subject {
	name := r.Source.NameOrAddress()
	i := slices.IndexFunc(g.hosts, func(h *Subject) bool { return h.Name == name })
	if i < 0 {
		i = len(g.hosts)
		g.hosts = append(g.hosts, &Subject{Kind: OfHost, Name: name})
	}
	return g.hosts[i]
}

// ipHeader is the size of an IP header towards an address.
func ipHeader(address string) float64 {
	if strings.Contains(address, ":") {
		return model.IPv6Header
	}
	return model.IPv4Header
}
