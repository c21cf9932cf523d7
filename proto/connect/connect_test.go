package connect

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pathwise-net/pathwise/measure"
)

const (
	bob    = "10.0.0.1"
	router = "10.0.1.1"
	carol  = "10.0.2.2"
)

// nearOf is what bob saw: outcome, then packets as in packetsOf. A "-" in place of them: he may not watch.
func nearOf(outcome, packets string, more ...func(*measure.PortNear)) measure.PortNear {
	a := measure.PortAttempt{Local: bob + ":40000", Outcome: outcome, Seconds: 0.002}
	a.Outcome, a.Reason, _ = strings.Cut(outcome, ", ")
	a.Reason, a.From, _ = strings.Cut(a.Reason, " by ")
	near := measure.PortNear{Target: carol + ":22", Address: bob, Attempts: []measure.PortAttempt{a}, Watched: packets != "-"}
	if near.Watched {
		near.Packets = packetsOf(packets)
	}
	for _, change := range more {
		change(&near)
	}
	return near
}

// packetsOf reads packets such as ">SYN" and "<SYN-ACK", out and in, of eth0; "=RST" came over lo.
func packetsOf(text string) (all []measure.PortPacket) {
	for _, word := range strings.Fields(text) {
		p := measure.PortPacket{Interface: "eth0", Out: word[0] == '>', Kind: word[1:], Near: bob + ":40000", From: carol, TTL: 62, Hops: 3}
		if word[0] == '=' {
			p.Interface, p.Hops = "lo", 1
		}
		all = append(all, p)
	}
	return all
}

// farOf is what carol saw, packets as in nearOf, and her listeners.
func farOf(packets string, listeners ...measure.PortListener) *measure.PortFar {
	far := &measure.PortFar{Address: carol, Listeners: listeners, Watched: packets != "-"}
	if far.Watched {
		far.Packets = packetsOf(packets)
	}
	return far
}

var (
	here      = measure.PortListener{Address: "0.0.0.0:22", Program: "sshd", Covers: true, Most: 128}
	full      = measure.PortListener{Address: "0.0.0.0:22", Program: "sshd", Covers: true, Waiting: 129, Most: 128}
	elsewhere = measure.PortListener{Address: "127.0.0.1:22", Program: "sshd", Most: 128}
)

// What each end saw leads to one finding. What is not known is said where an end could not see, and only there.
func TestJudge(t *testing.T) {
	hops := func(n *measure.PortNear) { n.EchoHops = 5 }
	asFar := func(n *measure.PortNear) { n.EchoHops = 3 }
	onLink := func(n *measure.PortNear) { n.Target = "[fe80::2%eth0]:22" }
	silentHop := func(n *measure.PortNear) { n.SilentHop = router }
	itself := func(n *measure.PortNear) { n.Itself, n.Target, n.Address = true, bob+":22", bob }
	then := func(n *measure.PortNear) { n.Attempts[0].Then = "closed" }
	half := func(f *measure.PortFar) *measure.PortFar { f.HalfOpen = 1; return f }
	counted := func(f *measure.PortFar, name string) *measure.PortFar {
		f.Counts = map[string]uint64{name: 3}
		return f
	}
	for name, c := range map[string]struct {
		near    measure.PortNear
		far     *measure.PortFar
		want    string
		says    string // a part of the sentence
		unknown string // a part of what is not known; "": nothing is
	}{
		"open":                              {nearOf("open", ">SYN <SYN-ACK"), nil, Open, "answers after 2.00 ms", ""},
		"open, without privilege":           {nearOf("open", "-"), nil, Open, "is open", ""},
		"open, seen at both ends":           {nearOf("open", ">SYN <SYN-ACK"), farOf("<SYN >SYN-ACK", here), Open, "is open", ""},
		"open by a stranger":                {nearOf("open", ">SYN <SYN-ACK"), farOf("", here), Open, "is open", "in its name"},
		"closed at once":                    {nearOf("open", ">SYN <SYN-ACK", then), nil, Closes, "closed at once", "its own log"},
		"refused":                           {nearOf("refused", ">SYN <RST"), nil, Refused, "nothing listens there, or", "--ssh"},
		"refused, as far as echo":           {nearOf("refused", ">SYN <RST", asFar), nil, Refused, "", "--ssh"},
		"refused from nearer":               {nearOf("refused", ">SYN <RST", hops), nil, Between, "3 hops, and echoes of the target over 5", ""},
		"refused over lo":                   {nearOf("refused", "=RST"), nil, NearRejects, "never was on the path", ""},
		"nobody listens":                    {nearOf("refused", ">SYN <RST"), farOf("<SYN >RST"), Nothing, "nothing listens on carol:22", ""},
		"nobody listens, unseen":            {nearOf("refused", "-"), farOf("-"), Nothing, "", ""},
		"on loopback alone":                 {nearOf("refused", ">SYN <RST"), farOf("<SYN >RST", elsewhere), OtherAddress, "127.0.0.1:22 only", ""},
		"far RST though it hears":           {nearOf("refused", ">SYN <RST"), farOf("<SYN >RST", here), FarRejects, "although sshd", ""},
		"the same, unseen":                  {nearOf("refused", ">SYN <RST"), farOf("-", here), FarRejects, "or one on the way", "as root"},
		"RST before the far host":           {nearOf("refused", ">SYN <RST"), farOf("", here), Between, "in the far host's name", ""},
		"RST before its answer":             {nearOf("refused", ">SYN <RST"), farOf("<SYN >SYN-ACK", here), Between, "", ""},
		"by a router":                       {nearOf("unreachable, administratively prohibited by "+router, ">SYN"), nil, Router, "router " + router, ""},
		"no way":                            {nearOf("unreachable, host unreachable by "+router, ">SYN"), nil, NoWay, "router " + router, ""},
		"by the target":                     {nearOf("unreachable, port unreachable by "+carol, ">SYN"), nil, FarRejects, "firewall of the far host", ""},
		"by a target on the link":           {nearOf("unreachable, port unreachable by fe80::2", ">SYN", onLink), nil, FarRejects, "firewall of the far host", ""},
		"by this host":                      {nearOf("unreachable, administratively prohibited by "+bob, ""), nil, NearRejects, "of this host", ""},
		"by an old kernel":                  {nearOf("unreachable, host unreachable", "-"), nil, NoWay, "", "trace"},
		"a neighbour gives up":              {nearOf("unreachable, host unreachable by "+bob, "", silentHop), nil, NextHopSilent, router, ""},
		"a neighbour is silent":             {nearOf("silent", "", silentHop), nil, NextHopSilent, router, ""},
		"not allowed":                       {nearOf("forbidden, operation not permitted", ""), nil, NearRejects, "not permitted", ""},
		"silent, nothing left":              {nearOf("silent", ""), nil, NearDrops, "no SYN left", ""},
		"silent, answer came":               {nearOf("silent", ">SYN <SYN-ACK"), nil, NearDropsBack, "SYN-ACK came to eth0", ""},
		"silent":                            {nearOf("silent", ">SYN"), nil, NoAnswer, "", "on the way there, by the firewall of the far host, or on the way back"},
		"silent, unseen":                    {nearOf("silent", "-"), nil, NoAnswer, "", "by the firewall of this host, on the way there"},
		"lost ahead":                        {nearOf("silent", ">SYN"), farOf("", here), DroppedThere, "no SYN comes", ""},
		"lost ahead, unseen here":           {nearOf("silent", "-"), farOf("", here), DroppedThere, "", "run this as root"},
		"lost back":                         {nearOf("silent", ">SYN"), farOf("<SYN >SYN-ACK", here), DroppedBack, "sends SYN-ACK", ""},
		"RST lost back":                     {nearOf("silent", ">SYN"), farOf("<SYN >RST"), DroppedBack, "sends RST", ""},
		"far firewall":                      {nearOf("silent", ">SYN"), farOf("<SYN", here), FarDrops, "where sshd listens", ""},
		"far firewall, nobody":              {nearOf("silent", ">SYN"), farOf("<SYN"), FarDrops, "would refuse", ""},
		"far firewall, elsewhere":           {nearOf("silent", ">SYN"), farOf("<SYN", elsewhere), FarDrops, "but on 127.0.0.1:22", ""},
		"far firewall, outward":             {nearOf("silent", ">SYN"), half(farOf("<SYN", here)), FarDrops, "drops the answers", ""},
		"far host hands on":                 {nearOf("silent", ">SYN"), farOf("<SYN >SYN"), FarForwards, "on by eth0, and nothing answers", ""},
		"far host hands on, and is refused": {nearOf("refused", ">SYN <RST"), farOf("<SYN >SYN <RST >RST"), FarForwards, "refused there", ""},
		"far reverse path":                  {nearOf("silent", ">SYN"), counted(farOf("<SYN", here), countReversePath), FarReversePath, "rp_filter", ""},
		"full queue":                        {nearOf("silent", ">SYN"), farOf("<SYN", full), QueueFull, "sshd", ""},
		"full queue, unseen":                {nearOf("silent", ">SYN"), farOf("-", full), QueueFull, "", ""},
		"another's queue":                   {nearOf("silent", ">SYN"), counted(farOf("<SYN", here), countOverflows), FarDrops, "", ""},
		"half open, unseen":                 {nearOf("silent", ">SYN"), half(farOf("-", here)), DroppedBack, "", "as root"},
		"silent, far unseen":                {nearOf("silent", ">SYN"), farOf("-", here), NoAnswer, "although sshd", "as root"},
		"silent, nobody, unseen":            {nearOf("silent", ">SYN"), farOf("-"), NoAnswer, "nothing listens", "as root"},
		"this host's own firewall":          {nearOf("silent", "=SYN", itself), farOf("=SYN", here), FarDrops, "firewall of this host", ""},
	} {
		got := Judge("carol:22", c.near, c.far)
		if got.Finding != c.want || !strings.Contains(got.Says, c.says) || !strings.Contains(got.Unknown, c.unknown) || c.unknown == "" && got.Unknown != "" {
			t.Errorf("%s: %s: %s; not known: %s\nwant %s: %s; not known: %s", name, got.Finding, got.Says, got.Unknown, c.want, c.says, c.unknown)
		}
	}
}

// Of several connections the one that tells most decides: an answer before silence.
func TestJudgeMixed(t *testing.T) {
	near := nearOf("silent", ">SYN >SYN <RST")
	near.Attempts = append(near.Attempts, nearOf("refused", "").Attempts...)
	if got := Judge("carol:22", near, nil); got.Finding != Refused {
		t.Errorf("silent, then refused: %s", got.Finding)
	}
	near.Attempts = append(near.Attempts, nearOf("open", "").Attempts...)
	if got := Judge("carol:22", near, nil); got.Finding != Open {
		t.Errorf("silent, refused, then open: %s", got.Finding)
	}
}

// Packets of other programs do not count, unless address translation gave ours another port.
func TestJudgeOthers(t *testing.T) {
	far := farOf("<SYN >SYN-ACK", here)
	far.Packets = append(far.Packets, measure.PortPacket{Interface: "eth0", Kind: measure.PacketSYN, Near: bob + ":50000"})
	near := nearOf("silent", ">SYN")
	near.Attempts[0].Local = bob + ":50000"
	if got := Judge("carol:22", near, far); got.Finding != FarDrops || len(got.Far.Packets) != 1 || len(far.Packets) != 3 {
		t.Errorf("beside another program: %s, %d packets", got.Finding, len(got.Far.Packets))
	}
	near.Attempts[0].Local = "192.168.1.2:40000"
	if got := Judge("carol:22", near, far); got.Finding != DroppedBack || len(got.Far.Packets) != 3 {
		t.Errorf("behind address translation: %s, %d packets", got.Finding, len(got.Far.Packets))
	}
}

// The evidence says what each end saw, and what it could not see.
func TestEvidence(t *testing.T) {
	far := farOf("<SYN <SYN >SYN-ACK >SYN-ACK", here, elsewhere)
	far.Foreign, far.Itself, far.HalfOpen, far.Counts = true, measure.PortOpen, 2, map[string]uint64{countOverflows: 3}
	near := nearOf("silent", ">SYN >SYN")
	near.Attempts = append(near.Attempts, nearOf("unreachable, host unreachable by "+router, "").Attempts...)
	want := []string{
		"here: 2 connections from 10.0.0.1: 1 silent, 1 unreachable (host unreachable, said 10.0.1.1)",
		"here: 2 SYN out at eth0",
		"there: 2 SYN in at eth0, 2 SYN-ACK out at eth0",
		"there: no interface has 10.0.2.2: it is translated on the way, or another host's",
		"there: sshd listens on 0.0.0.0:22, where 0 of 129 connections wait; sshd listens on 127.0.0.1:22, where 0 of 129 connections wait",
		"there: a connection from the host to itself is open",
		"there: the kernel answered 2 connections of the near end, and heard no more of them",
		"there: the kernel counted 3 more of TcpExt.ListenOverflows, of all programs",
	}
	if diff := cmp.Diff(want, Judge("carol:22", near, far).Evidence); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	want = []string{
		"here: 1 connection from 10.0.0.1: refused",
		"here: what left and came is not known: that takes CAP_NET_RAW, as root has",
		"there: what came and left is not known: that takes CAP_NET_RAW, as root has",
		"there: nothing listens on the port",
	}
	if diff := cmp.Diff(want, Judge("carol:22", nearOf("refused", "-"), farOf("-")).Evidence); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
