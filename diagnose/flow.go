package diagnose

import (
	"math"
	"slices"

	"github.com/pathwise-net/pathwise/measure"
)

// OfConnection is of one connection that a program has, as the kernel of this end saw it while the program ran. Facts of it that ways have, too,
// have the same names.
const OfConnection Kind = "connection"

// Facts about a program's connection that ways do not have.
const (
	Flows        Name = "connections" // that the program has with the other host
	WindowUsual  Name = "usual_window"
	WindowLeast  Name = "least_window"
	WindowMost   Name = "expressible_window" // that the receiver's window scale can say
	NotSent      Name = "not_sent"
	PacingCap    Name = "pacing_cap"
	PacingRate   Name = "pacing_rate"
	WindowFilled Name = "congestion_window_used"
	Unread       Name = "unread"
	UnreadShare  Name = "unread_share" // of the room that the receiver has for data
	OwnerCPU     Name = "program_processor"
	OwnerBusiest Name = "program_busiest_thread"
	OwnerBlocked Name = "program_disk_wait"
	Encrypts     Name = "program_encrypts" // all that the connection carries
	CipherRate   Name = "cipher_rate"
	OwnGoodput   Name = "own_goodput"      // of a transfer of this diagnosis the same way
	OwnWindow    Name = "own_window_share" // that the window held that transfer
)

// flowDefinitions are of the facts about programs' connections.
var flowDefinitions = []definition{
	{Name: Flows, Metric: "connections_count", Unit: "connections", Means: "connections of the program with the other host; this one moved most"},
	{Name: WindowUsual, Metric: "snd_wnd_bytes", Unit: "bytes", Means: "the usual window that the receiver offered"},
	{Name: WindowLeast, Metric: "snd_wnd_bytes", Unit: "bytes", Means: "the smallest window that the receiver offered meanwhile"},
	{Name: WindowMost, Metric: "window_scale_bytes", Unit: "bytes", Means: "the largest window that the receiver can offer, by the scale that it chose"},
	{Name: NotSent, Metric: "notsent_bytes", Unit: "bytes", Means: "that the program wrote, and that TCP had not sent yet, as a rule"},
	{Name: PacingCap, Metric: "max_pacing_rate_bits_per_second", Unit: "bit/s", Means: "the cap on the rate that the program, or the system, set"},
	{Name: PacingRate, Metric: "pacing_rate_bits_per_second", Unit: "bit/s", Means: "the rate at which the kernel lets packets go"},
	{Name: WindowFilled, Metric: "cwnd_used_ratio", Unit: "ratio", Means: "share of the congestion window that is under way, as a rule"},
	{Name: Unread, Metric: "unread_bytes", Unit: "bytes", Means: "that arrived, and that the program had not read yet, as a rule"},
	{Name: UnreadShare, Metric: "unread_ratio", Unit: "ratio", Means: "share of the room for data that is taken by what the program has not read"},
	{Name: OwnerCPU, Metric: "program_cpu_ratio", Unit: "ratio", Means: "processor time of the program at this end, of one processor"},
	{Name: OwnerBusiest, Metric: "program_thread_ratio", Unit: "ratio",
		Means: "share of the time in which its busiest thread was on a processor, or ready and waiting for one"},
	{Name: OwnerBlocked, Metric: "program_disk_ratio", Unit: "ratio",
		Means: "share of the time in which a thread of the program at this end was in a wait that nothing interrupts, as that for a disk"},
	{Name: Encrypts, Metric: "program_encrypts_count", Means: "the program encrypts all that the connection carries"},
	{Name: CipherRate, Metric: string(measure.HostCipher), Unit: "bit/s", Means: "what one processor of this host encrypts, by the faster of two ciphers"},
	{Name: OwnGoodput, Metric: "throughput_bits_per_second", Unit: "bit/s", Means: "what a transfer of this diagnosis reached the same way"},
	{Name: OwnWindow, Metric: "rwnd_limited_ratio", Unit: "ratio", Means: "share of its time that the receiver's window held that transfer"},
}

const (
	watchTakes    = 3.0  // seconds: what programs do in turns repeats several times in it, even over satellites
	watchInterval = 0.05 // seconds: the states of a connection last as long as a round trip
)

// WithProgram returns a plan that begins with a look at the connections that a program has, with a port at either end: what is measured
// later would disturb it.
func WithProgram(plan []Step, port int) []Step {
	if port == 0 {
		return plan
	}
	return append([]Step{{Name: "program", Kind: string(ofSockets), Why: "what the program's connections do", Seconds: watchTakes,
		Parameters: map[string]any{"port": float64(port), "duration": watchTakes, "interval": watchInterval}}}, plan...)
}

// Seen reports whether a connection of the program that a diagnosis is about was seen.
func Seen(results []*measure.Result) bool { return gather(results).flow != nil }

// readSockets takes the connection of a program that moved most, or that holds most where none moved anything.
func readSockets(g *gathering, r *measure.Result) {
	if len(r.Samples.Connections) == 0 || len(r.Samples.Connections[0].Readings) == 0 {
		return
	}
	c := &r.Samples.Connections[0]
	s := &Subject{Kind: OfConnection, Name: c.Local + " > " + c.Remote, way: measure.Forward, Target: r.Target.Name,
		Sender: r.Source.NameOrAddress(), Receiver: r.Target.Name, Address: r.Target.Address}
	sent, received := measure.Rate(c.Readings, "bytes_acked"), measure.Rate(c.Readings, "bytes_received")
	last := measure.Last(c.Readings)
	if received > sent || sent == 0 && received == 0 && last["unread_bytes"] > last["unsent_bytes"] {
		s.Name, s.way = c.Remote+" > "+c.Local, measure.Reverse
		s.Sender, s.Receiver, s.Address = s.Receiver, s.Sender, r.Source.Address
	}
	s.set(Flows, exactly(float64(len(r.Samples.Connections)), r))
	s.set(Steady, exactly(max(sent, received), r))
	s.setPositive(EmptyRoundTrip, last["min_rtt_seconds"], r)
	s.setPositive(RoundTrip, usual(c.Readings, func(v map[string]float64) float64 { return v["rtt_seconds"] }), r)
	if s.way == measure.Forward {
		s.readSending(c, r)
	} else {
		s.readReceiving(c, r)
	}
	s.readTurns(c, r)
	s.readOwner(c, r)
	g.flow = s
}

// readSending takes what the kernel of the sending end says.
func (s *Subject) readSending(c *measure.Connection, r *measure.Result) {
	last := measure.Last(c.Readings)
	s.congestion = c.CongestionControl
	s.setPositive(MSS, last["snd_mss_bytes"], r)
	for n, value := range map[Name]string{ReceiveWindowShare: "rwnd_limited_seconds", SendBufferShare: "sndbuf_limited_seconds"} {
		if share, told := measure.Share(c.Readings, value); told {
			s.set(n, exactly(share, r))
		}
	}
	for n, value := range map[Name]string{WindowUsual: "snd_wnd_bytes", NotSent: "notsent_bytes"} {
		if _, told := last[value]; told {
			s.set(n, exactly(usual(c.Readings, func(v map[string]float64) float64 { return v[value] }), r))
		}
	}
	if scale, told := last["send_wscale"]; told {
		s.set(WindowMost, exactly(unscaledWindow*math.Exp2(min(max(scale, 0), mostScale)), r))
	}
	window, least, room, marked := 0.0, math.Inf(1), 0.0, 0.0
	for _, one := range c.Readings {
		window, least = max(window, one.Values["snd_wnd_bytes"]), min(least, one.Values["snd_wnd_bytes"])
		room += yes(waitsForProgram(c, one.Values), r).Value
		marked += one.Values["delivery_rate_app_limited"]
	}
	s.setPositive(ReceiveWindow, window, r)
	if _, told := last["snd_wnd_bytes"]; told {
		s.set(WindowLeast, exactly(least, r))
	}
	s.set(RoomShare, exactly(room/float64(len(c.Readings)), r))
	s.set(AppLimitedShare, exactly(marked/float64(len(c.Readings)), r))
	s.setPositive(PacingCap, last["max_pacing_rate_bits_per_second"], r)
	s.setPositive(PacingRate, last["pacing_rate_bits_per_second"], r)
	s.set(WindowFilled, exactly(usual(c.Readings, func(v map[string]float64) float64 { return v["unacked_packets"] / max(1, v["snd_cwnd_packets"]) }), r))
	if _, told := last["total_retrans_packets"]; told {
		again, _ := measure.Growth(c.Readings, "total_retrans_packets")
		segments, _ := measure.Growth(c.Readings, "data_segs_out")
		s.set(Segments, exactly(segments, r))
		s.set(Retransmits, exactly(again, r))
	}
	if c.SendBufferFixed != nil {
		s.set(SendBufferFixed, yes(*c.SendBufferFixed, r))
		if *c.SendBufferFixed { // else the kernel may tune it further, and its size limits nothing
			s.setPositive(SendBuffer, last["send_buffer_bytes"], r)
			s.set(SendBufferShare, exactly(max(s.Value(SendBufferShare), bufferFull(c)), r))
		}
	}
}

// mostScale is the largest shift of a window (RFC 7323 section 2.3).
const mostScale = 14

// bufferFull is the share of readings in which all that fits the send buffer is under way. The kernel books only event-driven programs to it.
func bufferFull(c *measure.Connection) float64 {
	full := 0.0
	for _, one := range c.Readings {
		v := one.Values
		room, told := measure.TCPSample{Values: v}.HasRoom()
		if told && !room && v["notsent_bytes"] <= v["snd_mss_bytes"] && v["unacked_packets"] <= cwndLeft*v["snd_cwnd_packets"] {
			full++
		}
	}
	return full / float64(len(c.Readings))
}

// waitsForProgram reports whether the program could have given TCP more at a reading. A buffer that the kernel tunes grows with what is under
// way, so that it is no limit while TCP has nothing to send, however much of it that takes.
func waitsForProgram(c *measure.Connection, v map[string]float64) bool {
	tuned := c.SendBufferFixed != nil && !*c.SendBufferFixed
	idle := v["notsent_bytes"] <= v["snd_mss_bytes"] && v["delivery_rate_app_limited"] != 0 && v["unacked_packets"] <= cwndLeft*v["snd_cwnd_packets"]
	return tuned && idle || hasRoom(measure.TCPSample{Values: v})
}

// readReceiving takes what the kernel of the receiving end says.
func (s *Subject) readReceiving(c *measure.Connection, r *measure.Result) {
	last := measure.Last(c.Readings)
	s.setPositive(MSS, last["rcv_mss_bytes"], r)
	s.set(Unread, exactly(usual(c.Readings, func(v map[string]float64) float64 { return v["unread_bytes"] }), r))
	if _, told := last["rcv_wnd_bytes"]; told {
		s.set(UnreadShare, exactly(usual(c.Readings, func(v map[string]float64) float64 {
			return v["unread_bytes"] / max(1, v["unread_bytes"]+v["rcv_wnd_bytes"])
		}), r))
	}
	if c.ReceiveBufferFixed != nil {
		s.set(ReceiveBufferFixed, yes(*c.ReceiveBufferFixed, r))
	}
}

// readOwner takes what the program of this end did.
func (s *Subject) readOwner(c *measure.Connection, r *measure.Result) {
	i := slices.IndexFunc(r.Samples.Processes, func(p measure.Process) bool { return p.ID == c.Process })
	if i < 0 || c.Process == 0 {
		return
	}
	p := r.Samples.Processes[i]
	s.program = p.Name
	s.set(Encrypts, yes(p.Encrypts(), r))
	s.setPositive(CipherRate, r.Metrics[measure.HostCipher], r)
	for n, value := range map[Name]string{OwnerCPU: "cpu_seconds", OwnerBusiest: "busiest_seconds"} {
		if share, told := measure.Share(p.Readings, value); told {
			s.set(n, exactly(share, r))
		}
	}
	counted, told := measure.Share(p.Readings, "disk_seconds")
	stood, _ := measure.Share(p.Readings, "blocked_seconds")
	if told {
		s.set(OwnerBlocked, exactly(min(1, max(counted, stood)), r))
	}
}

// usual is the median over readings.
func usual(all []measure.Reading, of func(map[string]float64) float64) float64 {
	values := make([]float64, len(all))
	for i, r := range all {
		values[i] = of(r.Values)
	}
	return median(values)
}

// deriveFlow gives a program's connection what transfers of this diagnosis say of the way that its data goes.
func (g *gathering) deriveFlow() {
	s := g.flow
	if s == nil {
		return
	}
	way := g.ways[string(s.way)]
	for n, own := range map[Name]Name{Capacity: Capacity, PayloadCapacity: PayloadCapacity, OwnGoodput: Steady, OwnWindow: ReceiveWindowShare,
		ReceiveBufferMax: ReceiveBufferMax, SendBufferMax: SendBufferMax} {
		if way.Known(own) {
			s.set(n, way.Fact(own))
		}
	}
	s.doubt = way.doubt
	if s.Known(EmptyRoundTrip) {
		s.set(InFlight, exactly(s.Value(Steady)*s.Value(EmptyRoundTrip)/8, nil))
	}
	// A transfer of this diagnosis is held as well where the kernel's own limit is small. Else a receiver that chose so small a scale cannot
	// offer more, for its program set the buffer before the connection opened; and one that offers the same at all times has a program that
	// set it later: the window of a program that reads slowly comes and goes.
	if s.Known(WindowMost) && s.Known(OwnWindow) {
		small := s.Value(WindowMost) <= mostAllowed*s.Value(WindowUsual)
		s.set(ReceiveBufferFixed, yes((small || flatWindow(s)) && s.Value(OwnWindow) < binding, nil))
	}
}

// flatWindow reports whether the receiver offered the same window at all times, and all of it was under way each round trip.
func flatWindow(s *Subject) bool {
	return s.Value(WindowLeast) >= flat*s.Value(ReceiveWindow) && windowHolds(s) && wholeWindows(s)
}

// flat is the share of the largest window that the smallest has where the program reads all at once: recorded ones, 1. Of programs that read
// slowly, however evenly, it has 0.1 to 0.75.
const flat = 0.95
