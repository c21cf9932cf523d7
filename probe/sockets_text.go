package probe

import (
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/quantity"
)

// socketsText writes a line for each connection.
func socketsText(w io.Writer, r *measure.Result) {
	if len(r.Samples.Connections) == 0 {
		fmt.Fprintln(w, "no such connection")
		return
	}
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	defer table.Flush()
	fmt.Fprintln(table, "local\tremote\tsent\treceived\tunsent\tunread\tround trip\theld by\tprogram")
	for i := range r.Samples.Connections {
		c := &r.Samples.Connections[i]
		last, program := measure.Last(c.Readings), "-"
		for _, p := range r.Samples.Processes {
			if p.ID == c.Process {
				share, _ := measure.Share(p.Readings, "cpu_seconds")
				program = fmt.Sprintf("%s %d, processor %.0f %%", p.Name, p.ID, 100*share)
			}
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", c.Local, c.Remote,
			quantity.FormatRate(measure.Rate(c.Readings, "bytes_acked")), quantity.FormatRate(measure.Rate(c.Readings, "bytes_received")),
			quantity.FormatSize(int64(last["unsent_bytes"])), quantity.FormatSize(int64(last["unread_bytes"])),
			quantity.FormatSeconds(last["rtt_seconds"]), heldBy(c), program)
	}
}

// heldBy is what kept a connection from sending for most of the time, by the kernel's account, with that share.
func heldBy(c *measure.Connection) string {
	window, _ := measure.Share(c.Readings, "rwnd_limited_seconds")
	buffer, _ := measure.Share(c.Readings, "sndbuf_limited_seconds")
	last := measure.Last(c.Readings)
	switch {
	case window > buffer && window >= heldLeast:
		return fmt.Sprintf("window %.0f %%", 100*window)
	case buffer >= heldLeast:
		return fmt.Sprintf("send buffer %.0f %%", 100*buffer)
	case last["max_pacing_rate_bits_per_second"] > 0 && last["notsent_bytes"] > 0:
		return "pacing " + quantity.FormatRate(last["max_pacing_rate_bits_per_second"])
	}
	return "-"
}

// heldLeast is the share of the time from which on a limit is named: the kernel's clock ticks book up to a twentieth by chance.
const heldLeast = 0.05
