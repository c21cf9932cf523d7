package iperf3

import (
	"fmt"
	"strings"
)

// output is what a client that asks for the server's output is told, in words as iperf3 prints them: a line for each interval and stream, and one for the whole.
func (s *serverTest) output(r Results) string {
	var b strings.Builder
	fmt.Fprintf(&b, "pathwise respond, test of %s\n", s.ctl.conn.RemoteAddr())
	for _, i := range s.t.monitor.intervals {
		who := "all"
		if i.Stream > 0 {
			who = fmt.Sprint(streamID(i.Stream - 1))
		}
		fmt.Fprintf(&b, "[%3s] %6.2f-%-6.2f sec  %12d bytes  %14.0f bit/s  %s", who, i.StartSeconds, i.EndSeconds, i.Bytes, i.BitsPerSecond, role(i.Sender))
		if bool(s.params.UDP) && !i.Sender {
			fmt.Fprintf(&b, "  lost %d of %d, jitter %.6f s", i.Lost, i.Packets, i.Jitter)
		}
		if i.Omitted {
			b.WriteString("  (omitted)")
		}
		b.WriteString("\n")
	}
	for n, one := range r.Streams {
		fmt.Fprintf(&b, "[%3d] %6.2f-%-6.2f sec  %12d bytes  in all  %s\n", one.ID, 0., one.EndTime-one.StartTime, one.Bytes, role(s.t.streams[n].sender))
	}
	return b.String()
}

func role(sender bool) string {
	if sender {
		return "sender"
	}
	return "receiver"
}
