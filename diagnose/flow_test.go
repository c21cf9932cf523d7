package diagnose

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pathwise-net/pathwise/measure"
)

// flow is a program's connection over 10 ms and 100 Mbit/s, in the terms in which a test wants to vary it. Shares are of the time.
type flow struct {
	receives      bool    // this end does
	rate          float64 // bit/s
	rwnd, sndbuf  float64 // shares
	windows       []float64
	scale         float64 // of the receiver's window
	notSent       float64 // bytes
	buffered      float64 // share of the send buffer, of 256 KiB
	filled        float64 // share of the congestion window
	pace, cap     float64 // bit/s; cap 0: none
	unread, room  float64 // bytes at the receiver
	sendFixed     bool
	busy, blocked float64 // shares, of the program's busiest thread
	program       string
	answers       float64 // a second, that the other end sends
	own           *path   // what transfers of the diagnosis show; nil: none was made
}

// writes is a connection that nothing holds, with change made.
func writes(change func(*flow)) flow {
	own := with(fullPath)
	f := flow{rate: 10e6, windows: []float64{3e6}, scale: 10, buffered: .9, filled: .9, notSent: 60e3, pace: 20e6, program: "copy", own: &own}
	change(&f)
	return f
}

func reads(change func(*flow)) flow {
	return writes(func(f *flow) { f.receives, f.room = true, 3e6; change(f) })
}

func (f flow) results() (all []*measure.Result) {
	r := measure.NewResult("sockets", testStart.Add(-time.Second))
	r.Source.Name, r.Source.Address, r.Target.Name, r.Target.Address = "bob", "10.0.0.1", "carol", "10.0.0.2"
	c := measure.Connection{Local: "10.0.0.1:40000", Remote: "10.0.0.2:5001", Process: 7, SendBufferFixed: &f.sendFixed}
	p := measure.Process{ID: 7, Name: f.program}
	for i := range 31 {
		at := float64(i) / 10
		v := map[string]float64{"bytes_acked": 0, "bytes_received": 0, "min_rtt_seconds": .01, "rtt_seconds": .0101}
		v["data_segs_in"], v["data_segs_out"] = f.answers*at, 1000*at
		if f.receives {
			v["bytes_received"], v["unread_bytes"], v["rcv_wnd_bytes"], v["rcv_mss_bytes"] = f.rate/8*at, f.unread, f.room, 1448
		} else {
			v["bytes_acked"], v["snd_mss_bytes"] = f.rate/8*at, 1448
			v["rwnd_limited_seconds"], v["sndbuf_limited_seconds"] = f.rwnd*at, f.sndbuf*at
			v["snd_wnd_bytes"], v["send_wscale"], v["notsent_bytes"] = f.windows[i%len(f.windows)], f.scale, f.notSent
			v["send_buffer_bytes"], v["send_queued_bytes"] = 256<<10, f.buffered*(256<<10)
			v["unacked_packets"], v["snd_cwnd_packets"], v["pacing_rate_bits_per_second"] = 100*f.filled, 100, f.pace
			if f.cap > 0 {
				v["max_pacing_rate_bits_per_second"] = f.cap
			}
		}
		c.Readings = append(c.Readings, measure.Reading{ElapsedSeconds: at, Values: v})
		p.Readings = append(p.Readings, measure.Reading{ElapsedSeconds: at, Values: map[string]float64{"cpu_seconds": f.busy * at,
			"busiest_seconds": f.busy * at, "disk_seconds": 0, "blocked_seconds": f.blocked * at}})
	}
	r.Samples.Connections, r.Samples.Processes = []measure.Connection{c}, []measure.Process{p}
	all = append(all, r)
	if f.own != nil {
		all = append(all, f.own.results()...)
	}
	return all
}

// idleProgram is one that leaves room in its send buffer.
func idleProgram(f *flow) { f.notSent, f.buffered, f.filled = 0, .1, .2 }

func slowReader(f *flow) { f.rwnd, f.windows = .95, []float64{15e3, 10e3, 12e3, 14e3} }

// flows are programs' connections, and what is found of each; "": nothing.
var flows = map[string]struct {
	flow flow
	want string
}{
	"nothing holds it":                       {writes(func(*flow) {}), ""},
	"a slow reader":                          {writes(slowReader), "receiver-application-slow"},
	"a slow reader, and no transfer":         {writes(func(f *flow) { slowReader(f); f.windows[1], f.own = 200e3, nil }), "receiver-application-slow"},
	"a flat window, and no transfer":         {writes(func(f *flow) { slowReader(f); f.own = nil }), ""},
	"a window that is not closed for long":   {writes(func(f *flow) { slowReader(f); f.rwnd = .3 }), ""},
	"a reader that reads nothing":            {writes(func(f *flow) { slowReader(f); f.rate, f.windows = 0, []float64{0, 65e3, 0} }), "receiver-application-slow"},
	"a fixed receive buffer":                 {writes(func(f *flow) { f.rwnd, f.windows, f.scale, f.rate = .95, []float64{39e3}, 0, 30e6 }), "receive-buffer-fixed"},
	"a receive buffer fixed when open":       {writes(func(f *flow) { f.rwnd, f.windows, f.rate = .95, []float64{39e3}, 30e6 }), "receive-buffer-fixed"},
	"a slow reader of even pace":             {writes(func(f *flow) { f.rwnd, f.windows, f.rate = .95, []float64{39e3, 36e3}, 30e6 }), "receiver-application-slow"},
	"the receiver's settings":                {writes(func(f *flow) { slowReader(f); held := with(smallWindow); f.own = &held }), ""},
	"unread, seen at the receiver":           {reads(func(f *flow) { f.unread, f.room = 60e3, 2e3 }), "receiver-application-slow"},
	"nothing unread":                         {reads(func(*flow) {}), ""},
	"unread, and the reader works":           {reads(func(f *flow) { f.unread, f.room, f.busy = 60e3, 2e3, .97 }), "host-cpu-limited"},
	"unread, and the reader waits for disks": {reads(func(f *flow) { f.unread, f.room, f.blocked = 60e3, 2e3, .8 }), "disk-limited"},
	"a reader that works and keeps up":       {reads(func(f *flow) { f.busy = .97 }), ""},
	"a writer that makes little":             {writes(idleProgram), "application-limited"},
	"a writer that makes nothing":            {writes(func(f *flow) { idleProgram(f); f.rate = 0 }), ""},
	"a writer that works":                    {writes(func(f *flow) { idleProgram(f); f.busy = .97 }), "host-cpu-limited"},
	"a writer that works, and the path full": {writes(func(f *flow) { f.busy = .97 }), ""},
	"a writer that waits for disks":          {writes(func(f *flow) { idleProgram(f); f.blocked = .8 }), "disk-limited"},
	"ssh that works":                         {writes(func(f *flow) { idleProgram(f); f.busy, f.program = .97, "ssh" }), "crypto-limited"},
	"sshd that works, and is not read from":  {reads(func(f *flow) { f.unread, f.room, f.busy, f.program = 60e3, 2e3, .97, "sshd-session" }), "crypto-limited"},
	"ssh that waits for its source":          {writes(func(f *flow) { idleProgram(f); f.busy, f.program = .2, "ssh" }), "application-limited"},
	"ssh that waits for its disk":            {writes(func(f *flow) { idleProgram(f); f.blocked, f.program = .8, "ssh" }), "disk-limited"},
	"ssh that works, and the path full":      {writes(func(f *flow) { f.busy, f.program = .97, "ssh" }), ""},
	"a cap":                                  {writes(func(f *flow) { f.cap, f.pace, f.filled = 10e6, 10e6, .5 }), "pacing-limited"},
	"a cap far above":                        {writes(func(f *flow) { f.cap, f.pace, f.filled = 40e6, 40e6, .5 }), ""},
	"a cap, and nothing to send":             {writes(func(f *flow) { idleProgram(f); f.cap, f.pace = 10e6, 10e6 }), "application-limited"},
	"a cap that is not reached":              {writes(func(f *flow) { f.cap, f.pace, f.filled = 12e6, 9e6, .9 }), ""},
	"turns":                                  {writes(func(f *flow) { idleProgram(f); f.answers = 95 }), "chatty-application"},
	"answers now and then":                   {writes(func(f *flow) { idleProgram(f); f.answers = 9 }), "application-limited"},
	"data both ways":                         {writes(func(f *flow) { idleProgram(f); f.answers = 900 }), "application-limited"},
	"turns of a program that works":          {writes(func(f *flow) { idleProgram(f); f.answers, f.busy = 95, .97 }), "host-cpu-limited"},
	"answers to a program that is held":      {writes(func(f *flow) { f.answers = 95 }), ""},
	"a fixed send buffer":                    {writes(func(f *flow) { f.sndbuf, f.sendFixed, f.rate = .6, true, 100e6 }), "send-buffer-fixed"},
}

// Each cause is told by the connection of the program, and from what looks like it: the verdict is that of the program, whatever the path does.
func TestFlows(t *testing.T) {
	for name, c := range flows {
		d := Diagnose(c.flow.results())
		checkFindings(t, d)
		got := ""
		for _, one := range d.Considered {
			if one.Subject.Kind == OfConnection && one.Outcome == Holds {
				got += one.ID
			}
		}
		if got != c.want || c.want != "" && d.Verdict != c.want {
			t.Errorf("%s: %q, verdict %s, want %q", name, got, d.Verdict, c.want)
		}
	}
}

// A rule about connections reads no fact but those that it says it does.
func TestRulesOfFlowsSayWhatTheyRead(t *testing.T) {
	for name, c := range flows {
		s := gather(c.flow.results()).flow
		for i := range rules {
			r := &rules[i]
			declared := slices.Concat(r.Needs, r.Reads)
			if !r.about(OfConnection) || slices.ContainsFunc(r.Needs, func(n Name) bool { return !s.Known(n) }) {
				continue
			}
			s.heard = func(n Name) {
				if !slices.Contains(declared, n) {
					t.Errorf("%s: %s reads %s and does not say so", name, r.ID, n)
				}
			}
			r.Look(s)
			s.heard = nil
		}
	}
}

// What the cure brings is what a transfer of the diagnosis reached; without one, nothing is promised.
func TestFlowPrediction(t *testing.T) {
	capped := writes(func(f *flow) { f.cap, f.pace, f.filled = 10e6, 10e6, .5 })
	d := Diagnose(capped.results())
	p := d.Findings[0].Predicted
	if want := d.AchievedBitsPerSecond; p == nil || p.BitsPerSecond < .99*want || p.BitsPerSecond > 1.01*want {
		t.Errorf("predicted %+v, want %v", p, want)
	}
	if where := d.Findings[0].Where; where != "sender bob" {
		t.Errorf("where: %s", where)
	}
	capped.own = nil
	d = Diagnose(capped.results())
	if d.Verdict != "pacing-limited" || d.Findings[0].Predicted != nil || !Seen(d.Results) {
		t.Errorf("verdict %s, predicted %+v", d.Verdict, d.Findings[0].Predicted)
	}
}

// A look at connections comes before all that would disturb them, and finds nothing to say where there are none.
func TestWithProgram(t *testing.T) {
	plan := Plan(8*time.Second, measure.Forward)
	if diff := cmp.Diff(plan, WithProgram(plan, 0)); diff != "" {
		t.Error(diff)
	}
	longer := WithProgram(plan, 5001)
	if longer[0].Kind != "sockets" || longer[0].Parameters["port"] != 5001.0 || len(longer) != len(plan)+1 {
		t.Errorf("plan %+v", longer)
	}
	r := measure.NewResult("sockets", testStart)
	if Seen([]*measure.Result{r}) {
		t.Error("a connection was seen where there is none")
	}
	without := hundred().results()
	if diff := cmp.Diff(Diagnose(without).Findings, Diagnose(append(without, r)).Findings); diff != "" {
		t.Error(diff)
	}
}
