package iperf3

import (
	"fmt"
	"maps"

	"github.com/pathwise-net/pathwise/sock"
)

// The extra JSON keys, all under "pathwise", which stock iperf3 ignores.

// Software and its version name this end to a Pathwise peer.
const (
	softwareName    = "pathwise"
	softwareVersion = "1"
)

// ParamsExtra is what a Pathwise client adds to its parameters. Its presence asks for a Hello.
type ParamsExtra struct {
	Software    string       `json:"software"`
	Version     string       `json:"version"`
	Packs       bool         `json:"packs,omitempty"`                // the client reads packed results: see pack
	SampleEvery float64      `json:"sample_every_seconds,omitempty"` // cadence of TCP_INFO samples; 0: none
	Train       *Train       `json:"train,omitempty"`
	EventLoop   bool         `json:"event_loop,omitempty"`   // see Config
	NoOffload   bool         `json:"no_offload,omitempty"`   // see Config
	ReverseRate number       `json:"reverse_rate,omitempty"` // bit/s of each stream from the server; 0: as those to it
	Search      *SearchExtra `json:"search,omitempty"`       // see Config
	Group       *GroupExtra  `json:"group,omitempty"`        // see Config
	// File is what the server reads what it sends from, or writes what comes into; nil: memory. See Hello.File.
	File *FileExtra `json:"file,omitempty"`
}

// Train asks the sender of a UDP test for packet trains instead of a paced stream: Trains times Packets datagrams of
// Size bytes back to back, with Gap seconds from the start of one train to the start of the next.
type Train struct {
	Packets int     `json:"packets"`
	Size    int     `json:"size"`            // bytes of UDP payload
	Small   int     `json:"small,omitempty"` // of every second datagram; 0: all are of Size
	Trains  int     `json:"trains"`
	Gap     float64 `json:"gap_seconds"`
	// Steps, if there are any, are the trains, which differ. Packets is then their sum, Trains is 1, and Gap the longest time between
	// two datagrams: see StepTrain. A server that knows no steps sends one train of all datagrams: see Hello.
	Steps []Step `json:"steps,omitempty"`
}

// Step is one train of several that differ: back to back, or a stream of datagrams at a rate.
type Step struct {
	Packets int     `json:"packets"`
	Spacing float64 `json:"spacing_seconds,omitempty"` // from one datagram to the next; 0: back to back
	Rest    float64 `json:"rest_seconds,omitempty"`    // after the last one
}

// StepTrain is a Train of steps, with datagrams of size bytes of payload.
func StepTrain(size int, steps []Step) Train {
	t := Train{Size: size, Trains: 1, Steps: steps}
	for _, s := range steps {
		t.Packets += s.Packets
		t.Gap = max(t.Gap, s.Spacing+s.Rest)
	}
	return t
}

// seconds is how long it takes to send the trains.
func (t *Train) seconds() float64 {
	if len(t.Steps) == 0 {
		return float64(t.Trains) * t.Gap
	}
	sum := 0.0
	for _, s := range t.Steps {
		sum += float64(max(0, s.Packets-1))*s.Spacing + s.Rest
	}
	return sum
}

// maxArrivals bounds the datagrams of all trains together, and so the arrivals in the results (some 30 bytes each).
const maxArrivals = 20_000

// Trains are sent as fast as the socket takes them, past the limit on rates, so what they are is bounded: a jumbo frame
// each, and 0.13 s of a gigabit in all.
const (
	maxTrainSize  = 9000
	maxTrainBytes = 16 << 20
	maxSteps      = 1000 // pairs of 20 s
)

// bytes are those of a train's datagrams, of which those of even numbers may be small.
func (t *Train) bytes() int {
	if t.Small == 0 {
		return t.Packets * t.Size
	}
	return (t.Packets-t.Packets/2)*t.Size + t.Packets/2*t.Small
}

func (t *Train) check() error {
	switch {
	case t.Packets < 1 || t.Packets > maxArrivals:
		return badConfig("train packets", t.Packets, fmt.Sprintf("must be 1 to %d", maxArrivals))
	case t.Trains < 1 || t.Trains > maxArrivals/t.Packets:
		return badConfig("trains", t.Trains, fmt.Sprintf("must be 1 to %d with %d packets each", maxArrivals/t.Packets, t.Packets))
	case t.Size < minUDPLength || t.Size > maxTrainSize:
		return badConfig("train size", t.Size, fmt.Sprintf("must be %d to %d bytes", minUDPLength, maxTrainSize))
	case t.Small != 0 && (t.Small < minUDPLength || t.Small > t.Size):
		return badConfig("train small size", t.Small, fmt.Sprintf("must be %d to %d bytes, the size of the others", minUDPLength, t.Size))
	case t.Packets*t.Trains*t.Size > maxTrainBytes:
		return badConfig("train bytes", t.Packets*t.Trains*t.Size, fmt.Sprintf("must be at most %d in all", maxTrainBytes))
	case !(t.Gap >= 0 && t.Gap <= 10): // 10 s: longer than any queue takes to empty
		return badConfig("train gap", t.Gap, "must be 0 to 10 seconds")
	case len(t.Steps) > 0:
		return t.checkSteps()
	}
	return nil
}

func (t *Train) checkSteps() error {
	whole := StepTrain(t.Size, t.Steps)
	if t.Packets != whole.Packets || t.Trains != 1 || t.Small != 0 || t.Gap != whole.Gap || len(t.Steps) > maxSteps {
		return badConfig("train steps", len(t.Steps), fmt.Sprintf("must be at most %d, of one size, and those of the train", maxSteps))
	}
	for _, s := range t.Steps {
		if s.Packets < 1 || !(s.Spacing >= 0) || !(s.Rest >= 0) { // both at most the gap, but for NaN
			return badConfig("train step", fmt.Sprint(s), "must be of one packet or more, with no times below 0")
		}
	}
	return nil
}

// ResultsExtra is what a Pathwise end adds to its results.
type ResultsExtra struct {
	Software string            `json:"software"`
	Version  string            `json:"version"`
	Settings *sock.TCPSettings `json:"settings,omitempty"`
	Path     *PathRecord       `json:"path,omitempty"`
	Streams  []StreamExtra     `json:"streams,omitempty"`
	Samples  *SampleTable      `json:"samples,omitempty"`
	Arrivals []wireArrival     `json:"arrivals,omitempty"` // of trains
	Notes    []string          `json:"notes,omitempty"`
	Counts   sock.Counts       `json:"counts,omitempty"` // what this end's kernel counted during the data, of troubleCounts
	// ClockStep, of a server, is by how much its wall clock was set since its Hello, in seconds: see sock.Wall.
	ClockStep float64 `json:"clock_step_seconds,omitempty"`
}

// StreamExtra is what an end knows of one stream beyond iperf3's own figures. Zero buffers were not read.
type StreamExtra struct {
	Stream        int    `json:"stream"` // index from 1, the same at both ends
	Sender        bool   `json:"sender"`
	Congestion    string `json:"congestion,omitempty"`
	MSS           int    `json:"mss_bytes,omitempty"`
	SendBuffer    int    `json:"send_buffer_bytes,omitempty"` // SO_SNDBUF at the end
	ReceiveBuffer int    `json:"receive_buffer_bytes,omitempty"`
	LossRuns      int64  `json:"loss_runs,omitempty"` // in which the lost datagrams were, one after another; 0: none were, or not told
	Reordered     int64  `json:"reordered_packets,omitempty"`
	Duplicates    int64  `json:"duplicate_packets,omitempty"`
	// Marks are the datagrams that arrived by their mark, in a test that asked for one.
	Marks []MarkCount `json:"marks,omitempty"`
	// Of datagrams: how many this end's host lost and not the path, as it could not send them or its socket's buffer was full; how many at most were
	// handed over to be cut apart (sender) or came merged (receiver); how many came in fragments, and of how many bytes the largest was.
	HostLost      int64 `json:"host_lost_packets,omitempty"`
	Together      int   `json:"together_packets,omitempty"`
	Fragmented    int64 `json:"fragmented_packets,omitempty"`
	FragmentBytes int   `json:"fragment_bytes,omitempty"`
	PathMTU       int   `json:"path_mtu_bytes,omitempty"` // of a sender: the largest packet that its kernel sends there whole, at the end
	// IPDV and PDV are 95th percentiles in seconds of how much the delay of datagrams differed from that of the one before, and was above the least;
	// 0: not known.
	IPDV float64 `json:"ipdv_p95_seconds,omitempty"`
	PDV  float64 `json:"pdv_p95_seconds,omitempty"`
	// SubIntervals are those of the receiver of a search, in their order, from the start of the data.
	SubIntervals []SubInterval `json:"sub_intervals,omitempty"`
	// Discards says that this end receives and had the kernel drop the payload uncopied (MSG_TRUNC): what it counts has
	// arrived, and the processor time that a program needs to take it over is not in its CPU figures.
	Discards bool `json:"discards,omitempty"`
	// FileWait is for how long, in seconds, this end's connection waited for its file to be read, or to be written; nil: it had none.
	FileWait *float64 `json:"file_wait_seconds,omitempty"`
}

// MarkCount is how many datagrams arrived with a differentiated services code point.
type MarkCount struct {
	DSCP    int   `json:"dscp"`
	Packets int64 `json:"packets"`
}

// PathRecord is what the kernel remembered of the peer before the test (tcp_metrics), and what became of it.
type PathRecord struct {
	Memory    *PathMemory `json:"memory,omitempty"` // nil: nothing
	Forgotten bool        `json:"forgotten"`
	Error     string      `json:"error,omitempty"` // why it could not be read or forgotten
}

// PathMemory is sock.Memory as it crosses the wire. Zero: not remembered.
type PathMemory struct {
	SSThreshPackets   int     `json:"ssthresh_packets,omitempty"`
	CwndPackets       int     `json:"cwnd_packets,omitempty"`
	ReorderingPackets int     `json:"reordering_packets,omitempty"`
	RTTSeconds        float64 `json:"rtt_seconds,omitempty"`
	RTTVarSeconds     float64 `json:"rttvar_seconds,omitempty"`
	AgeSeconds        float64 `json:"age_seconds,omitempty"`
}

func (e *ResultsExtra) check() error {
	values := 0
	if e.Samples != nil {
		values = len(e.Samples.Rows) * (2 + len(e.Samples.Names))
	}
	// Twice the cap: rows are thinned by powers of two and streams end unevenly.
	if values > 2*maxSampleValues || len(e.Arrivals) > 2*maxArrivals || len(e.Notes) > maxExtraNotes || len(e.Streams) > 2*maxStreams {
		return &ProtocolError{What: "results with too many samples"}
	}
	for _, s := range e.Streams {
		if s.HostLost < 0 || s.Together < 0 || s.Fragmented < 0 || s.FragmentBytes < 0 || s.PathMTU < 0 || !(s.IPDV >= 0 && s.IPDV <= longest) ||
			!(s.PDV >= 0 && s.PDV <= longest) || s.FileWait != nil && !(*s.FileWait >= 0 && *s.FileWait <= maxTime) {
			return &ProtocolError{What: "results of datagrams that cannot be"}
		}
		if !possible(s.SubIntervals) {
			return &ProtocolError{What: "results of sub-intervals that cannot be"}
		}
		for i, m := range s.Marks {
			if m.DSCP < 0 || m.DSCP > 63 || m.Packets < 0 || i > 63 {
				return &ProtocolError{What: "results with marks that cannot be"}
			}
		}
	}
	maps.DeleteFunc(e.Counts, untold)
	e.Software, e.Version = oneLine(e.Software), oneLine(e.Version)
	for i := range e.Notes {
		e.Notes[i] = oneLine(e.Notes[i])
	}
	return nil
}
