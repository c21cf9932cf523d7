// Package measure holds the nouns that every part of Pathwise speaks: the Task that is asked for, the Result that
// comes back, the Metric names in it, the Clock behind it, and the Finding drawn from it.
//
// It holds data and the rules that keep data well formed. It measures nothing, opens nothing and decides nothing:
// package probe turns Tasks into Results, package diagnose turns Results into Findings.
//
// All numbers are in SI base units (seconds, bit/s, bytes, ratios 0..1) and field names end in their unit.
package measure

import (
	"cmp"
	"context"
	"time"

	"github.com/oklog/ulid/v2"
)

// Status says how much of what was asked for was measured. Loss is data, not a failure: a ping without one reply is
// StatusOK with a loss ratio of 1; a ping that could not send is StatusFailed.
type Status string

const (
	StatusOK      Status = "ok"
	StatusPartial Status = "partial" // measured something, then failed or was interrupted; Error says why
	StatusFailed  Status = "failed"  // measured nothing
)

// Endpoint is one end of a measured path: the name it was asked for by, and the address that was measured.
type Endpoint struct {
	Name    string `json:"name"`
	Address string `json:"address"`
}

// NameOrAddress is what lists and series call the end: its address where it has no name.
func (e Endpoint) NameOrAddress() string { return cmp.Or(e.Name, e.Address) }

// Result is one finished measurement: who measured what, from where to where, when, with which parameters, what came
// out, and the samples behind it.
type Result struct {
	Schema          string             `json:"schema"`
	ID              string             `json:"id"` // ULID: sorts by time of creation
	Kind            string             `json:"kind"`
	Test            string             `json:"test,omitempty"` // of the mesh, when it planned the run
	Tool            string             `json:"tool,omitempty"` // of the mesh: a kind with parameters, under a name
	Role            Role               `json:"role,omitempty"` // of the mesh: why it was made
	Status          Status             `json:"status"`
	Error           *string            `json:"error"`
	Source          Endpoint           `json:"source"`
	Target          Endpoint           `json:"target"`
	Way             Way                `json:"way,omitempty"`     // that the data went; source and target are who asked and who was asked
	Subject         *Subject           `json:"subject,omitempty"` // what it is of beside them; nil: nothing
	Started         time.Time          `json:"started"`
	DurationSeconds float64            `json:"duration_seconds"`
	Parameters      map[string]any     `json:"parameters"`
	Metrics         map[Metric]float64 `json:"metrics"` // an absent metric was not measured; zero is a value
	// Distributions are of the samples behind metrics, under the names that Definition.Merge gives them. nil: none is known.
	Distributions map[Metric]Distribution `json:"distributions,omitempty"`
	Clock         Clock                   `json:"clock"`
	TargetClock   *Clock                  `json:"target_clock"` // the far end's; nil: nothing is known of it
	Samples       Samples                 `json:"samples"`
	Notes         []string                `json:"notes"`
}

// NewResult starts a Result of the given kind at the given time, with every map and slice ready for use.
func NewResult(kind string, started time.Time) *Result {
	return &Result{
		Schema:     ResultSchema,
		ID:         ulid.Make().String(),
		Kind:       kind,
		Status:     StatusOK,
		Started:    started.UTC(),
		Parameters: map[string]any{},
		Metrics:    map[Metric]float64{},
		Notes:      []string{},
	}
}

// Fail records that the measurement ended early because of err: partial when any metric came out, failed when none
// did. A nil err leaves the Result as it is.
func (r *Result) Fail(err error) {
	if err == nil {
		return
	}
	text := err.Error()
	r.Error = &text
	r.Status = StatusPartial
	if len(r.Metrics) == 0 {
		r.Status = StatusFailed
	}
}

// Note appends a remark for people: something that limits what the numbers mean.
func (r *Result) Note(text string) { r.Notes = append(r.Notes, text) }

// Get returns the metric and whether it was measured.
func (r *Result) Get(m Metric) (float64, bool) {
	v, ok := r.Metrics[m]
	return v, ok
}

// Number returns a parameter, and whether it is a number. A Result that was not read from JSON may have Go's integers.
func (r *Result) Number(parameter string) (value float64, is bool) {
	switch v := r.Parameters[parameter].(type) {
	case float64:
		return v, true
	case int:
		return float64(v), true
	case int64:
		return float64(v), true
	}
	return 0, false
}

// Moved is how many bytes of payload a transfer moved, both ways, and whether the Result says so. Of the two ends' counts of
// the same bytes the larger one counts: what was lost was sent.
func (r *Result) Moved() (bytes float64, known bool) {
	for _, counts := range [][2]Metric{{SentBytes, ReceivedBytes}, {ReverseSentBytes, ReverseReceivedBytes}} {
		sent, one := r.Get(counts[0])
		received, two := r.Get(counts[1])
		bytes += max(sent, received)
		known = known || one || two
	}
	return bytes, known
}

// Task is one measurement to be made: a kind, a target and the parameters of that kind.
//
// Each kind of probe has a typed parameter struct of its own in package probe; a Task is what crosses a wire or
// stands in a file, so its parameters are what JSON can hold.
type Task struct {
	Kind       string         `json:"kind"`
	Target     string         `json:"target"`
	Parameters map[string]any `json:"parameters,omitempty"`
}

// A Prober makes one kind of measurement. Do returns what was measured even when it fails or ctx ends: the Result is
// never nil, and the error, when not nil, is also recorded in it.
type Prober interface {
	Do(ctx context.Context) (*Result, error)
}

// Clock says what the clock behind the timestamps is worth. Round trips need one clock and so ignore it; one-way
// delays are no better than ErrorSeconds.
type Clock struct {
	Synchronized bool     `json:"synchronized"`
	ErrorSeconds *float64 `json:"error_seconds"`          // the most that it may be off; nil: nothing is known
	StepSeconds  float64  `json:"step_seconds,omitempty"` // by how much it was set during the measurement, forward above 0; 0: no step was seen
	// AheadSeconds, of a far end's clock, are the least and the most that it showed more than the near end's: what came back between question
	// and answer allows no more and no less. nil: nobody compared them.
	AheadSeconds *[2]float64 `json:"ahead_seconds,omitempty"`
}

// NewClock is a clock of which is known whether something disciplines it and, if so, the most that it may be off.
func NewClock(bound time.Duration, synchronized bool) Clock {
	c := Clock{Synchronized: synchronized}
	if synchronized {
		off := bound.Seconds()
		c.ErrorSeconds = &off
	}
	return c
}

// HostSample is what a host's parts did over an interval: what the metrics of the host are sums of.
type HostSample struct {
	CPUs       []CPUSample       `json:"cpus,omitempty"`
	Disks      []DiskSample      `json:"disks,omitempty"`
	Interfaces []InterfaceSample `json:"interfaces,omitempty"`
}

// CPUSample is one core's time, as shares of the interval.
type CPUSample struct {
	CPU     int     `json:"cpu"`
	Busy    float64 `json:"busy_ratio"`
	SoftIRQ float64 `json:"softirq_ratio"`
	IOWait  float64 `json:"iowait_ratio"`
	Steal   float64 `json:"steal_ratio"`
}

// DiskSample is what one disk did in the interval.
type DiskSample struct {
	Name  string  `json:"name"`
	Read  float64 `json:"read_bytes_per_second"`
	Write float64 `json:"write_bytes_per_second"`
	Busy  float64 `json:"busy_ratio"`
}

// InterfaceSample is one network interface's. Errors and drops are of the interval.
type InterfaceSample struct {
	Name          string  `json:"name"`
	Adapter       bool    `json:"adapter"` // hardware, or what a hypervisor shows as such: counted in the metrics
	Received      float64 `json:"received_bits_per_second"`
	Sent          float64 `json:"sent_bits_per_second"`
	ReceiveErrors float64 `json:"receive_errors_packets"`
	ReceiveDrops  float64 `json:"receive_drops_packets"`
	SendErrors    float64 `json:"send_errors_packets"`
	SendDrops     float64 `json:"send_drops_packets"`
	LinkRate      float64 `json:"link_bits_per_second,omitempty"` // 0: it does not say
}

// TCPEnd is what one end of a stream was set to: what bears on how fast TCP can go and does not change during a test.
// A nil or zero field is not known.
type TCPEnd struct {
	End                string       `json:"end"`       // "sender" or "receiver" of the data
	Direction          string       `json:"direction"` // as in Interval
	Stream             int          `json:"stream"`
	Host               string       `json:"host"`
	CongestionControl  string       `json:"congestion_control,omitempty"`
	MSSBytes           int          `json:"mss_bytes,omitempty"`
	SendBufferBytes    int          `json:"send_buffer_bytes,omitempty"`    // SO_SNDBUF when the test ended
	ReceiveBufferBytes int          `json:"receive_buffer_bytes,omitempty"` // SO_RCVBUF when the test ended
	BuffersFixed       bool         `json:"buffers_fixed"`                  // the application set them; the kernel does not tune
	Settings           *TCPSettings `json:"settings,omitempty"`
	// Counts are what the host's kernel counted of trouble while the data went, for all of its programs, under the kernel's own
	// names, such as Tcp.InCsumErrors: see sock.Counts. What did not happen is not there.
	Counts map[string]uint64 `json:"counts,omitempty"`
}

// TCPSettings are the kernel's settings of a host that the diagnosis uses; see sock.TCPSettings.
type TCPSettings struct {
	RmemBytes         *[3]int `json:"tcp_rmem_bytes,omitempty"` // least, first, most
	WmemBytes         *[3]int `json:"tcp_wmem_bytes,omitempty"`
	WindowScaling     *int    `json:"tcp_window_scaling,omitempty"`
	SACK              *int    `json:"tcp_sack,omitempty"`
	Timestamps        *int    `json:"tcp_timestamps,omitempty"`
	ECN               *int    `json:"tcp_ecn,omitempty"`
	CongestionControl *string `json:"tcp_congestion_control,omitempty"`
}

// Find returns the given end of the first stream in a direction, nil if nothing is known of it.
func (s *Samples) Find(direction, end string) *TCPEnd {
	for i := range s.Ends {
		if e := &s.Ends[i]; e.Direction == direction && e.End == end {
			return e
		}
	}
	return nil
}
