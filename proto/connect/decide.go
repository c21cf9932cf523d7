package connect

import (
	"fmt"

	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/quantity"
	"github.com/pathwise-net/pathwise/sock"
)

// askFar is what tells most where one end alone cannot know.
const askFar = "which it is the far end can see: give --ssh"

// askRoot is what tells what an end without the right to watch its interfaces cannot.
const askRoot = "watching the interfaces there takes root: log in as root"

func (j *judge) decide() {
	switch j.attempt.Outcome {
	case measure.PortOpen:
		j.opened()
	case measure.PortRefused:
		j.refused()
	case measure.PortUnreachable:
		j.unreachable()
	case measure.PortForbidden:
		j.found(NearRejects, "this host does not let this program connect to %s: %s", j.to, j.attempt.Reason)
	default:
		j.silent()
	}
}

func (j *judge) found(finding, says string, args ...any) {
	j.finding, j.says = finding, fmt.Sprintf(says, args...)
}

// host is what the host that the port belongs to is called.
func (j *judge) host() string {
	if j.near.Itself {
		return "this host"
	}
	return "the far host"
}

func (j *judge) opened() {
	a := j.attempt
	took := a.Seconds
	if a.RTTSeconds != nil {
		took = *a.RTTSeconds
	}
	switch {
	case a.Then != "":
		j.found(Closes, "%s is open, but whoever answers there has the connection %s at once", j.to, a.Then)
		j.unknown = "why it does so its own log would tell: rules of who may connect, a proxy whose server is away, a wrong protocol"
	case a.Banner != "":
		j.found(Open, "%s is open: it answers after %s, and says %q", j.to, quantity.FormatSeconds(took), a.Banner)
	default:
		j.found(Open, "%s is open: it answers after %s", j.to, quantity.FormatSeconds(took))
	}
	if j.far != nil && j.far.Watched && !j.arrived {
		j.unknown = "no SYN of this host came to the far host: something on the way answers in its name, or address translation hides who asks"
	}
}

// refused judges an RST. It is the target's own, its firewall's, or from somebody on the way who writes the target's address into it.
func (j *judge) refused() {
	switch {
	case j.own != nil:
		j.found(NearRejects, "the firewall of this host refuses connections to %s: the RST never was on the path", j.to)
	case j.far == nil:
		j.refusedAlone()
	case j.far.Watched && (!j.arrived || j.sent == nil || j.sent.Kind != measure.PacketRST):
		j.found(Between, "something on the way refuses connections to %s in the far host's name, which sent no RST", j.to)
	case j.onward != nil:
		j.found(FarForwards, "the far host hands connections to %s on by %s, and they are refused there", j.to, j.onward.Interface)
	case j.covering() == nil && len(j.far.Listeners) > 0:
		j.elsewhere()
	case j.covering() == nil:
		j.found(Nothing, "nothing listens on %s", j.to)
	case j.far.Watched:
		j.found(FarRejects, "the firewall of %s refuses connections to %s, although %s listens there", j.host(), j.to, called(j.covering()))
	default:
		j.found(FarRejects, "a firewall refuses connections to %s, although %s listens there: that of %s, or one on the way", j.to, called(j.covering()), j.host())
		j.unknown = askRoot
	}
}

func (j *judge) refusedAlone() {
	if j.back != nil && j.near.EchoHops > 0 && j.back.Hops < j.near.EchoHops {
		j.found(Between, "something on the way refuses connections to %s in the target's name: by its TTL the RST comes over %s, and echoes of the target over %s",
			j.to, quantity.FormatCount(j.back.Hops, "hop"), quantity.FormatCount(j.near.EchoHops, "hop"))
		return
	}
	j.found(Refused, "%s is refused: nothing listens there, or a firewall says so", j.to)
	j.unknown = askFar
}

func (j *judge) elsewhere() {
	l := &j.far.Listeners[0]
	j.found(OtherAddress, "on %s %s listens on %s only, and not on the address of %s", j.host(), called(l), l.Address, j.to)
}

// unreachable judges an ICMP error, by who sent it.
func (j *judge) unreachable() {
	a, target := j.attempt, j.target.Addr().WithZone("").String()
	noWay := a.Reason == string(sock.HostUnreachable) || a.Reason == string(sock.NetUnreachable)
	switch {
	case j.near.SilentHop != "" && (a.From == "" || a.From == j.near.Address):
		j.noNeighbour()
	case a.From == "" && noWay:
		j.found(NoWay, "there is no way to %s: %s", j.to, a.Reason)
		j.unknown = "this kernel does not tell who said so; pathwise trace may"
	case a.From == "":
		j.found(Router, "connections to %s are refused: %s", j.to, a.Reason)
		j.unknown = "this kernel does not tell who said so; pathwise trace may"
	case a.From == target: // a kernel without a firewall refuses TCP by RST
		j.found(FarRejects, "the firewall of %s refuses connections to %s: %s", j.host(), j.to, a.Reason)
	case a.From == j.near.Address:
		j.found(NearRejects, "the firewall of this host refuses connections to %s: %s", j.to, a.Reason)
	case noWay:
		j.found(NoWay, "the router %s has no way to %s: %s", a.From, j.to, a.Reason)
	default:
		j.found(Router, "the router %s refuses connections to %s: %s", a.From, j.to, a.Reason)
	}
}

func (j *judge) noNeighbour() {
	j.found(NextHopSilent, "connections to %s wait in this host: its next hop, %s, does not tell its link address", j.to, j.near.SilentHop)
}

// silent judges that nothing came. What each end saw of SYN and answer tells between which two places they went missing.
func (j *judge) silent() {
	switch {
	case j.near.Itself && j.far != nil:
		j.silentFar()
	case j.near.SilentHop != "" && !j.left:
		j.noNeighbour()
	case j.near.Watched && !j.left:
		j.found(NearDrops, "the firewall of this host drops connections to %s: no SYN left by any interface", j.to)
	case j.back != nil:
		j.found(NearDropsBack, "the firewall of this host drops the answers of %s: %s came to %s, and no further", j.to, j.back.Kind, j.back.Interface)
	case j.far == nil:
		j.found(NoAnswer, "%s does not answer: the SYN or its answer is dropped", j.to)
		where := "on the way there, by the firewall of the far host, or on the way back"
		if !j.near.Watched {
			where = "by the firewall of this host, " + where
		}
		j.unknown = where + "; " + askFar
	case !j.far.Watched:
		j.silentBlind()
	case !j.arrived:
		j.found(DroppedThere, "connections to %s are dropped on the way there: no SYN comes to the far host", j.to)
		j.orNear()
	case j.sent != nil:
		j.found(DroppedBack, "the answers of %s are dropped on the way back: the far host sends %s, and none comes here", j.to, j.sent.Kind)
		j.orNear()
	default:
		j.silentFar()
	}
}

// orNear notes that this host may be to blame, where its interfaces could not be watched.
func (j *judge) orNear() {
	if !j.near.Watched {
		j.unknown = "whether the firewall of this host drops them itself is not known: run this as root"
	}
}

// silentFar judges that a SYN came to the far host, and no answer left it.
func (j *judge) silentFar() {
	l := j.covering()
	switch {
	case j.queueFull():
		j.found(QueueFull, "the accept queue of %s is full: %s listens there, and takes no connections from it", j.to, called(l))
	case j.onward != nil:
		j.found(FarForwards, "the far host hands connections to %s on by %s, and nothing answers there", j.to, j.onward.Interface)
	case j.far.HalfOpen > 0:
		j.found(FarDrops, "the firewall of %s drops the answers of %s: its kernel answers, and nothing leaves by any interface", j.host(), j.to)
	case j.far.Counts[countReversePath] > 0:
		j.found(FarReversePath, "the kernel of %s drops connections to %s, since its answers would leave by another interface (net.ipv4.conf.*.rp_filter)", j.host(), j.to)
	case l != nil:
		j.found(FarDrops, "the firewall of %s drops connections to %s, where %s listens", j.host(), j.to, called(l))
	default:
		j.found(FarDrops, "the firewall of %s drops connections to %s: its kernel would refuse them, since nothing listens there", j.host(), j.to)
		if len(j.far.Listeners) > 0 {
			j.says += " but on " + j.far.Listeners[0].Address
		}
	}
}

// silentBlind judges silence where the far end may not watch its interfaces.
func (j *judge) silentBlind() {
	l := j.covering()
	switch {
	case j.queueFull():
		j.silentFar()
	case j.far.HalfOpen > 0:
		j.found(DroppedBack, "the answers of %s are dropped: the kernel of the far host answers, and nothing comes here", j.to)
		j.unknown = "by the firewall of the far host, or on the way back; " + askRoot
	case l != nil:
		j.found(NoAnswer, "%s does not answer, although %s listens there: the SYN is dropped before the far host's kernel sees it", j.to, called(l))
		j.unknown = "on the way there, or by the firewall of the far host; " + askRoot
	default:
		j.found(NoAnswer, "%s does not answer, and nothing listens there: the SYN is dropped before the far host's kernel sees it, or its RST later", j.to)
		j.unknown = "on the way, or by the firewall of the far host; " + askRoot
	}
}

// called is what a listener is called.
func called(l *measure.PortListener) string {
	if l.Program == "" {
		return "a program"
	}
	return l.Program
}
