package host

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/netip"
	"os"
	"path/filepath"
	"time"

	"github.com/pathwise-net/pathwise/document"
	"github.com/pathwise-net/pathwise/durable"
	"github.com/pathwise-net/pathwise/quantity"
)

// Reference is what this host moved, memory to memory, to and from a near host that is sound: its own ceiling, which no path lets it
// exceed.
type Reference struct {
	Schema      string         `json:"schema"`
	Made        time.Time      `json:"made"`
	Self        Identity       `json:"host"`
	Peer        string         `json:"peer"` // as it was called
	PeerAddress netip.Addr     `json:"peer_address,omitzero"`
	RTT         float64        `json:"rtt_seconds"`
	Runs        []ReferenceRun `json:"runs"`
}

// ReferenceSchema names the document that a Reference is.
const ReferenceSchema = "pathwise.reference/1"

// Identity is what a host's ceiling hangs on.
type Identity struct {
	Name       string  `json:"name"`
	Kernel     string  `json:"kernel"` // release
	Processors int     `json:"processors"`
	Interface  string  `json:"interface"`                  // that data goes out by
	Hardware   string  `json:"hardware_address,omitempty"` // of the interface
	MTU        int     `json:"mtu_bytes"`
	LinkRate   float64 `json:"link_bits_per_second,omitempty"` // 0: the interface does not say
}

// ReferenceRun is one transfer of a Reference.
type ReferenceRun struct {
	Sends   bool    `json:"sends"` // this host does; else it receives
	Streams int     `json:"streams"`
	Rate    float64 `json:"throughput_bits_per_second"`
	CPU     float64 `json:"cpu_ratio"`         // processor time of the program here, of one processor
	Packets float64 `json:"cpu_packets_ratio"` // use of the processor here that handled most packets
	PeerCPU float64 `json:"peer_cpu_ratio"`    // processor time of the program at the near host, of one processor
	RTT     float64 `json:"rtt_min_seconds"`
	Resent  float64 `json:"retransmits_ratio"`
	Window  float64 `json:"rwnd_limited_ratio"` // share of the time that the receiver's window held the sender

	// Limit says what else than this host may have been the limit, so that the rate is not its ceiling; "": it is.
	Limit string `json:"limited_by,omitempty"`
}

const (
	// nearTrip in seconds is the round trip up to which a host is near: across a campus. Then no window that any system has by default
	// holds 10 Gbit/s, of which 1.25 MB are under way.
	nearTrip = 1e-3
	// cleanShare is the share of packets up to which what was sent again costs a near path nothing that shows: one in ten thousand.
	cleanShare = 1e-4
	// linkFull is the share of a link's speed from which on it is full: of full packets 0.94 is payload, of jumbo frames 0.99.
	linkFull = 0.9
	// hostBusy is the share of a processor from which on it is the limit. A thread that waits for the other end now and then is not.
	hostBusy = 0.8
)

// Judge says of each run whether it is this host's ceiling.
func (r *Reference) Judge() {
	for i := range r.Runs {
		r.Runs[i].Limit = r.Runs[i].limit(r.Self)
	}
}

// Busy is the share of a processor that this host was busy, with the program or with packets, whichever was more.
func (run *ReferenceRun) Busy() float64 { return max(min(run.CPU, 1), run.Packets) }

// limit is what else than this host may have held a run; "": nothing did.
func (run *ReferenceRun) limit(self Identity) string {
	percent := func(ratio float64) string { return fmt.Sprintf("%.0f %%", 100*ratio) }
	here := run.Busy()
	switch {
	case run.Rate <= 0:
		return "nothing was moved"
	case run.RTT > nearTrip:
		return fmt.Sprintf("a round trip of %s is not near: the path may be the limit", quantity.FormatSeconds(run.RTT))
	case run.Resent > cleanShare:
		return fmt.Sprintf("the path lost packets: %s of them were sent again", quantity.FormatRatio(run.Resent))
	case self.LinkRate > 0 && run.Rate >= linkFull*self.LinkRate:
		return fmt.Sprintf("the link of %s was full: this host may do more", quantity.FormatRate(self.LinkRate))
	case run.PeerCPU >= hostBusy && run.PeerCPU > run.CPU:
		return fmt.Sprintf("the near host was the busier one, with %s of a processor against %s here", percent(run.PeerCPU), percent(run.CPU))
	case run.Sends && run.Window >= 0.5 && here < hostBusy:
		return fmt.Sprintf("the near host's window held it %s of the time", percent(run.Window))
	case here < hostBusy:
		return fmt.Sprintf("no processor here was busier than %s: the near host or the path may be the limit", percent(here))
	}
	return ""
}

// Ceiling returns the run of one stream that this host sent, or received, if it tells its ceiling.
func (r *Reference) Ceiling(sends bool) (ReferenceRun, bool) {
	for _, run := range r.Runs {
		if run.Sends == sends && run.Streams == 1 && run.Limit == "" {
			return run, true
		}
	}
	return ReferenceRun{}, false
}

// Tells reports whether any run is this host's ceiling: else the Reference says nothing.
func (r *Reference) Tells() bool {
	for _, run := range r.Runs {
		if run.Limit == "" {
			return true
		}
	}
	return false
}

// oldestReference is how old a Reference may be: updates of the kernel's and the adapter's parts come within a quarter of a year.
const oldestReference = 90 * 24 * time.Hour

// Stale says why a Reference is none of the host as it is now; "": it is.
func (r *Reference) Stale(now time.Time, self Identity) string {
	was := r.Self
	switch age := now.Sub(r.Made); {
	case age > oldestReference:
		return fmt.Sprintf("it is %.0f days old", age.Hours()/24)
	case age < -time.Hour:
		return "it is of a time to come: the clock has changed"
	case was.Name != self.Name:
		return fmt.Sprintf("it is of the host %s", was.Name)
	case was.Kernel != self.Kernel:
		return fmt.Sprintf("it was made with the kernel %s, and %s runs now", was.Kernel, self.Kernel)
	case was.Processors != self.Processors:
		return fmt.Sprintf("it was made with %d processors, and there are %d now", was.Processors, self.Processors)
	case was.Interface != self.Interface || was.Hardware != self.Hardware:
		return fmt.Sprintf("it is of the interface %s, and data goes out by %s", named(was), named(self))
	case was.MTU != self.MTU:
		return fmt.Sprintf("%s had an MTU of %d bytes, and has %d now", was.Interface, was.MTU, self.MTU)
	case was.LinkRate != self.LinkRate:
		return fmt.Sprintf("%s had a speed of %s, and has %s now", was.Interface, speed(was.LinkRate), speed(self.LinkRate))
	}
	return ""
}

func named(i Identity) string {
	if i.Hardware == "" {
		return i.Interface
	}
	return i.Interface + " (" + i.Hardware + ")"
}

func speed(rate float64) string {
	if rate == 0 {
		return "none that is known"
	}
	return quantity.FormatRate(rate)
}

// ReferencePath is the file of this user's Reference: below XDG_STATE_HOME, or ~/.local/state where that is not set to a whole path.
func ReferencePath() (string, error) {
	folder := os.Getenv("XDG_STATE_HOME")
	if !filepath.IsAbs(folder) { // which the specification says is to be ignored
		home, err := os.UserHomeDir()
		if err != nil {
			return "", fmt.Errorf("find the folder for this user's state: %w", err)
		}
		folder = filepath.Join(home, ".local", "state")
	}
	return filepath.Join(folder, "pathwise", "reference.json"), nil
}

// mostReference is more than any Reference is long.
const mostReference = 64 << 10

// ReadReference reads a Reference; nil where there is none.
func ReadReference(path string) (*Reference, error) {
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read reference: %w", err)
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, mostReference+1))
	var r Reference
	if err == nil {
		err = document.JSON(text, mostReference, &r)
	}
	if err == nil && r.Schema != ReferenceSchema {
		err = fmt.Errorf("schema %q: want %s", r.Schema, ReferenceSchema)
	}
	if err != nil {
		return nil, fmt.Errorf("read reference %s: %w", path, err)
	}
	return &r, nil
}

// Write keeps a Reference in a file, in place of the one before.
func (r *Reference) Write(path string) error {
	text, err := json.MarshalIndent(r, "", "  ")
	if err == nil {
		err = os.MkdirAll(filepath.Dir(path), 0o700)
	}
	if err == nil {
		err = durable.Write(path, append(text, '\n'))
	}
	if err != nil {
		return fmt.Errorf("keep reference: %w", err)
	}
	return nil
}
