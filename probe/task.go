// Package probe makes measurements: one parameter struct a method, whose Do sends real packets and returns one
// measure.Result.
//
// It plans what to send, sends it, and reduces what came back to metrics. It schedules nothing across measurements,
// stores nothing, prints nothing and draws no conclusions; that is for packages schedule, archive, cmd/pathwise and
// diagnose. What is sent when, and what the answers add up to, are pure functions; only the files that end in _linux.go
// touch sockets.
//
// Loss is data: a target that never answers gives a Result with a loss ratio of 1 and no error. Failing to send is an
// error. When ctx ends, Do returns what was measured so far and the error.
package probe

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"math"
	"net/netip"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/pathwise-net/pathwise/document"
	"github.com/pathwise-net/pathwise/host"
	"github.com/pathwise-net/pathwise/input"
	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/model"
	"github.com/pathwise-net/pathwise/sock"
)

// Options are what the host that does a Task adds to it. The zero value serves every Task but those that run a program.
type Options struct {
	// Responder is what the target opened for this run; nil: the Task's own port, and no secret.
	Responder *measure.Responder
	// Allow is asked before a program is started, with its path and arguments, and refuses by an error. nil: none may run.
	Allow func(argv []string) error
	// Before is called on the thread that starts a program and nothing else, and may change how it starts; nil: none.
	Before func(*exec.Cmd) error
	// Started is called as soon as a program runs, with the number of its process, which leads a group of its own; nil: nobody
	// wants to know.
	Started func(pid int)

	// Start is when the run was planned to begin; zero: at once. Runs of a continuous measurement keep to it to the millisecond.
	Start time.Time
	// Host is what the mesh calls this host; "": it is of none.
	Host string
	// Attended says that somebody waits for the outcome and can end it: what keeps a run to its place in a plan is left out.
	Attended bool
	// Audit reads what the host that is the target is set to, where this is another one; nil: this host is read.
	Audit func(ctx context.Context, ask host.Ask) (*host.Report, error)
	// FarPort watches the far end of connections that are tried to a port; nil: nobody does.
	FarPort FarPort
	// TripsKnown says that round trips of the path without load are known: a throughput test does not wait for some before it begins,
	// and one by UDP takes none.
	TripsKnown bool
	// Source is what a throughput test sends, until it ends; nil: bytes of no meaning.
	Source io.Reader
	// Files are those that a throughput test reads and writes; the zero value: none.
	Files Files

	// What a run shows on its way, each as it happens. A kind calls only what suits it; nil: nobody watches.
	Interval func(measure.Interval)
	Trial    func(measure.Trial)     // of a search
	Reading  func(measure.TCPSample) // of this end's TCP_INFO, many a second
	Echo     func(measure.Echo)
	Hop      func(measure.Hop)
	Rounds   func(measure.RoundsSample) // of a trace, so far
	Window   func(measure.WindowSample) // of a ping with windows; each packet is an Echo, too
	Line     func(string)
	Finished func(*measure.Result) // of a measurement that goes on: each Result but the last, which Do returns
	// Say gets each of them as a line for people.
	Say func(line string)
}

// watch returns what a kind calls for each thing that happens on the way, such as an echo. It passes the thing to as, and the line
// that describes it to say; either may be nil. Where both are, so is what is returned.
func watch[T any](as func(T), say func(string), line func(T) string) func(T) {
	if as == nil && say == nil {
		return nil
	}
	return func(v T) {
		if as != nil {
			as(v)
		}
		if say != nil {
			say(line(v))
		}
	}
}

// New returns what does a Task on this host. The error is the Task's: its BadInput is true.
func New(task measure.Task, o Options) (measure.Prober, error) {
	m, err := readTask(task, o)
	if err != nil {
		return nil, err
	}
	m.equip(o)
	return m, m.Validate()
}

// Validate says what is wrong with a Task's kind or parameters, in one line that begins with the parameter's name. It
// asks nothing of this host, so that a mesh can be checked anywhere. The target may be left out.
func Validate(task measure.Task) error {
	_, err := readTask(withTarget(task), Options{})
	return err
}

// Demand reckons what a Task asks of the path and of both ends.
//
// A test is exclusive if it may send faster than LightRate in a direction: without a rate it takes all that the path
// has. So TCP without a rate is exclusive, and UDP or TCP at 1 Mbit/s or less is not. A ping is, if it takes more than that of
// the link's time, headers and all. The packet trains of capacity
// are, though they last for milliseconds: other traffic between their packets spoils what they measure, and they fill
// the queue before the narrowest link. A program is, since nobody knows what it sends; a mesh file can say otherwise.
//
// Bytes are 0 where they are not known: of a test without a rate or an amount, and of a program, whose duration is not
// known either.
func Demand(task measure.Task) (measure.Demand, error) {
	m, err := readTask(withTarget(task), Options{})
	if err != nil {
		return measure.Demand{}, err
	}
	d := m.demand()
	d.ResultBytes = m.resultBytes()
	return d, nil
}

// withTarget lets a Task be checked before it has a target.
func withTarget(task measure.Task) measure.Task {
	task.Target = cmp.Or(task.Target, "target")
	return task
}

func readTask(task measure.Task, o Options) (method, error) {
	if k, known := KindOf(task.Kind); known {
		return k.read(task, o)
	}
	var names []string
	for _, k := range catalogue() {
		names = append(names, k.Name)
	}
	return nil, &input.Error{Field: "probe", Value: task.Kind,
		Remedy: "there is no such kind" + meant(task.Kind, names, "give one of")}
}

// unknown is the error for a parameter that a kind does not have.
func (k *Kind) unknown(name string, v any) error {
	var names []string
	for _, p := range k.Parameters {
		if p.Flag == name {
			return &input.Error{Field: name, Value: fmt.Sprint(v),
				Remedy: k.Name + " has no such parameter; in a task it is " + p.Name}
		}
		names = append(names, p.Name)
	}
	return &input.Error{Field: name, Value: fmt.Sprint(v),
		Remedy: k.Name + " has no such parameter" + meant(name, names, "it has")}
}

// meant is a hint at the name that was probably meant, or where none is near, at all names.
func meant(written string, names []string, list string) string {
	written = strings.NewReplacer("_", "-", " ", "-").Replace(strings.ToLower(written))
	for _, name := range names { // interval-seconds means interval
		if written == name || len(name) > 2 && strings.HasPrefix(written, name+"-") {
			return "; did you mean " + name + "?"
		}
	}
	if hint := document.Meant(written, names); hint != "" {
		return hint
	}
	return "; " + list + " " + strings.Join(names, ", ")
}

// newResult starts the Result of a measurement that this host makes of a target, now.
func newResult(kind, target string) *measure.Result {
	r := measure.NewResult(kind, time.Now())
	r.Source.Name, _ = os.Hostname() // a host without a name still has its address
	r.Target.Name = target
	r.Clock = measure.NewClock(sock.ClockQuality())
	return r
}

// measured makes a measurement, and returns its Result with how long it took and what went wrong.
func measured(ctx context.Context, kind, target string, do func(context.Context, *measure.Result) error) (*measure.Result, error) {
	r, watch := newResult(kind, target), startWatch()
	err := do(ctx, r)
	watch.stop(r)
	r.Fail(err)
	return r, err
}

// LightRate in bit/s is what a test may send in a direction and still share the path with others: the rate that iperf3
// gives a UDP test which asks for none, as one that any shared link can bear. It is of payload, but for pings, most of
// which are headers, of the link's time.
const LightRate = 1e6

const (
	mtu         = 1500 // of Ethernet, which paths across networks have as a rule
	shortest    = 84   // bytes that the shortest frame of Ethernet takes on the link
	icmpHeader  = 8
	udpHeader   = 8
	ackEvery    = 2                // segments that Linux acknowledges at once, at least (RFC 1122, 4.2.3.2)
	defaultUDP  = 1460             // bytes of a datagram where the path's MSS is not known, as iperf3 has it
	iperf3Setup = time.Second      // six round trips of 150 ms: a test's two connections, its parameters, its results
	capacityFor = 5 * time.Second  // both sets of trains where the path has 10 Mbit/s, which takes longest
	transferFor = 10 * time.Second // where none is asked for, as iperf3 has it
)

// wire is how many bytes of a link's time an IP packet with that much after its IP header takes, in fragments if it
// must be.
func wire(target string, family sock.Family, afterIP float64) float64 {
	ip := float64(model.IPv4Header)
	if a, err := netip.ParseAddr(target); err == nil {
		ip = float64(ipHeader(a))
	} else if family == sock.IPv6 {
		ip = model.IPv6Header
	}
	packets := math.Max(1, math.Ceil(afterIP/(mtu-ip)))
	return math.Max(shortest, afterIP+packets*(ip+model.EthernetFraming))
}

// ipHeader is the size in bytes of the header of packets to an address.
func ipHeader(to netip.Addr) int {
	if sock.FamilyOf(to) == sock.IPv6 {
		return model.IPv6Header
	}
	return model.IPv4Header
}
