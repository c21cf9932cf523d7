package probe

import (
	"context"
	"fmt"
	"io"
	"maps"
	"net/netip"
	"strings"

	"github.com/pathwise-net/pathwise/input"
	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/proto/iperf3"
	"github.com/pathwise-net/pathwise/quantity"
	"github.com/pathwise-net/pathwise/sock"
)

// Group is a multicast group that a transfer by UDP goes to, of which the target is a receiver. The zero value: it goes to the target.
type Group struct {
	Address   string
	Receivers string // besides the target: hosts, with ports where they have others, with commas or spaces between
	TTL       int    // 0: 1, so that no router forwards it
}

// receivers are those besides the target.
func (g Group) receivers() []string {
	return strings.FieldsFunc(g.Receivers, func(r rune) bool { return r == ',' || r == ' ' })
}

// checkGroup refuses what has no group, or what a group has not.
func (p *Throughput) checkGroup() error {
	g, c := p.Group, &p.Config
	switch {
	case g.Address == "" && g.Receivers != "":
		return &input.Error{Field: "receivers", Value: g.Receivers, Remedy: "they are of a multicast group: name it by group"}
	case g.Address == "" && g.TTL > 0:
		return &input.Error{Field: "ttl", Value: fmt.Sprint(g.TTL), Remedy: "it is of datagrams to a multicast group: name it by group"}
	case g.Address == "":
		return nil
	case c.Proto == iperf3.TCP || c.Source != nil || p.Search != "" || p.Sweep.Over != "" || p.Beside != "" || p.Narrow > 0 || p.Files != (Files{}):
		return &input.Error{Field: "group", Value: g.Address, Remedy: "it is of one test by udp: leave out proto, search, sweep, beside, narrow, input and files"}
	}
	if group, err := netip.ParseAddr(g.Address); err != nil || !group.IsMulticast() {
		return &input.Error{Field: "group", Value: g.Address, Remedy: "give the address of a multicast group, such as 239.255.86.4 or ff15::5864"}
	}
	for _, receiver := range g.receivers() {
		if host, _, err := sock.SplitHostPort(receiver); err != nil || checkTarget(host, p.Family) != nil {
			return &input.Error{Field: "receivers", Value: receiver, Remedy: "give hosts, or hosts with ports, with commas between"}
		}
	}
	return nil
}

// groupConfig is the configuration of a transfer to a group.
func (p *Throughput) groupConfig() iperf3.Config {
	c := p.Config
	c.Proto, c.Group, c.Hops = iperf3.UDP, p.Group.Address, p.Group.TTL
	return c
}

// multicast makes a transfer to a group. Its metrics are of what the target counted; what all receivers did is in its samples.
func (p *Throughput) multicast(ctx context.Context) (*measure.Result, error) {
	r := p.newResult()
	config := p.groupConfig()
	var err error
	if config.Auth, err = p.Login.read(); err != nil {
		r.Fail(err)
		return r, err
	}
	if p.OnInterval != nil {
		config.OnInterval = func(i iperf3.IntervalReport) { p.OnInterval(interval(i)) }
	}
	port := p.Port
	setDefault(&port, iperf3.DefaultPort)
	addrs := []string{sock.JoinHostPort(p.Target, port)}
	for _, receiver := range p.Group.receivers() {
		host, own, _ := sock.SplitHostPort(receiver) // checked
		setDefault(&own, port)
		addrs = append(addrs, sock.JoinHostPort(host, own))
	}
	watch := startWatch()
	all, err := (&iperf3.GroupClient{Addrs: addrs, Family: p.Family, Config: config}).Run(ctx)
	watch.stop(r)
	first := all[0]
	maps.Copy(r.Parameters, p.parameters(first.Report))
	r.Parameters["ttl"] = float64(max(1, p.Group.TTL))
	r.TargetClock = peerClock(first.Report)
	fillThroughput(r, first.Report, &config)
	hosts := append([]string{p.Target}, p.Group.receivers()...)
	for i, one := range all {
		s := groupReceiver(hosts[i], one)
		r.Samples.Receivers = append(r.Samples.Receivers, s)
		if s.Failure != "" && i > 0 {
			r.Note(fmt.Sprintf("%s did not tell what it counted: %s", s.Host, s.Failure))
		}
	}
	noteDeaf(r, r.Samples.Receivers, max(1, p.Group.TTL))
	if err == nil && first.Err != nil {
		err = fmt.Errorf("%s port %d: %w", p.Target, port, first.Err)
	}
	r.Fail(err)
	return r, err
}

// groupReceiver is what a receiver counted.
func groupReceiver(host string, one iperf3.Received) measure.GroupReceiver {
	s := measure.GroupReceiver{Host: host}
	if remote := one.Report.Remote; remote.IsValid() {
		s.Address = remote.Addr().String()
	}
	if peer := one.Report.Peer; peer != nil && peer.Group != nil {
		s.Interface = peer.Group.Interface
	}
	if one.Err != nil {
		s.Failure = one.Err.Error()
		return s
	}
	total := one.Report.Total(measure.Forward)
	if !total.HaveReceived {
		return s
	}
	f := datagramFates(total)
	s.SentPackets, s.LostPackets, s.LossRatio = f.sent, f.lost, f.metrics()[measure.LossRatio]
	s.BitsPerSecond, s.ReorderedPackets, s.DuplicatePackets = total.Goodput(), total.Reordered, total.Duplicates
	s.DroppedPackets, s.JitterSeconds, s.PDVSeconds = total.Ends[1].HostLost, total.Jitter, total.Ends[1].PDV
	return s
}

// noteDeaf says what may be why nothing came to some receivers.
func noteDeaf(r *measure.Result, receivers []measure.GroupReceiver, ttl int) {
	var deaf []string
	for _, one := range receivers {
		if one.SentPackets > 0 && one.LostPackets == one.SentPackets {
			deaf = append(deaf, one.Host)
		}
	}
	if len(deaf) == 0 {
		return
	}
	links := "1 link"
	if ttl > 1 {
		links = fmt.Sprintf("%d links", ttl)
	}
	r.Note(fmt.Sprintf("nothing came to %s: datagrams to the group pass %s (ttl), routers forward them where they route multicast, and firewalls may drop them",
		strings.Join(deaf, ", "), links))
}

// groupText writes what each receiver counted.
func groupText(w io.Writer, r *measure.Result) {
	fmt.Fprintf(w, "%-22s %14s  %10s  %8s  %8s  %s\n", "receiver", "came", "lost", "late", "twice", "delay varied (95 %)")
	for _, one := range r.Samples.Receivers {
		if one.Failure != "" {
			fmt.Fprintf(w, "%-22s %s\n", one.Host, one.Failure)
			continue
		}
		fmt.Fprintf(w, "%-22s %14s  %10s  %8d  %8d  %s\n", one.Host, quantity.FormatRate(one.BitsPerSecond), quantity.FormatRatio(one.LossRatio), one.ReorderedPackets,
			one.DuplicatePackets, quantity.FormatSeconds(one.PDVSeconds))
	}
	metricLine(w, r)("sent", measure.SentBytes, asSize)
}

// groupFields are the parameters of a transfer to a group.
func groupFields() []field[Throughput] {
	return []field[Throughput]{
		{Name: "group", Outward: true, Default: "none", Meaning: "send to this multicast group by udp, once for all receivers: the target and receivers, where Pathwise has joined it",
			binding: word(func(p *Throughput) *string { return &p.Group.Address })},
		{Name: "receivers", Outward: true, Default: "the target alone", Meaning: "of a group: hosts that receive besides the target, with commas between",
			binding: word(func(p *Throughput) *string { return &p.Group.Receivers })},
		{Name: "ttl", Outward: true, Default: "1", Meaning: "of datagrams to a group: how many links they may pass; 1 keeps them from being routed",
			binding: whole(func(p *Throughput) *int { return &p.Group.TTL }, 1, 255)},
	}
}
