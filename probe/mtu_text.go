package probe

import (
	"fmt"
	"io"

	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/sock"
)

// What ended the hops that a packet passed which is too large for the path.
const (
	mtuRefused = string(sock.TooBig)
	mtuSilence = "no answer"
)

// mtuText writes what people want to know of a path's MTU.
func mtuText(w io.Writer, r *measure.Result) {
	bytes, found := r.Get(measure.PathMTU)
	if !found {
		return
	}
	fmt.Fprintf(w, "%s (%s): path MTU %.0f bytes\n", r.Target.Name, r.Target.Address, bytes)
	if line := narrowingText(r.Samples.Hops); line != "" {
		fmt.Fprintln(w, line)
	}
	if back, known := r.Get(measure.ReversePathMTU); known {
		more := ""
		if back >= bytes {
			more = " or more"
		}
		fmt.Fprintf(w, "way back: %.0f bytes%s\n", back, more)
	}
}

// narrowingText says which hop takes no larger packets, by hops as mtuNarrowing returns them; "" where there are none.
func narrowingText(hops []measure.Hop) string {
	if len(hops) == 0 {
		return ""
	}
	end := len(hops) - 1
	last := end
	for last >= 0 && len(hops[last].Addresses) == 0 {
		last--
	}
	const silently = "and nobody says why: a black hole"
	switch {
	case last < 0:
		return "larger packets vanish at an unknown hop, " + silently
	case hops[end].Reply == mtuRefused:
		return fmt.Sprintf("larger packets are refused by hop %d (%s)", hops[last].TTL, hops[last].Addresses[0])
	case hops[last].TTL == 0:
		return "larger packets vanish on the link that this host is on, " + silently
	case last < end:
		return fmt.Sprintf("larger packets vanish behind hop %d (%s) or beyond, where hops answer nothing, %s", hops[last].TTL, hops[last].Addresses[0], silently)
	}
	return fmt.Sprintf("larger packets vanish behind hop %d (%s), %s", hops[last].TTL, hops[last].Addresses[0], silently)
}
