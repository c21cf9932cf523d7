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
	if line := narrowedText(r.Samples.Hops); line != "" {
		fmt.Fprintln(w, line)
	}
	if back, known := r.Get(measure.ReversePathMTU); known {
		more := ""
		if back >= bytes {
			more = " or more"
		}
		fmt.Fprintf(w, "way back: %.0f bytes%s\n", back, more)
		if line := backNarrowsLine(r); line != "" {
			fmt.Fprintln(w, line)
		}
	}
}

// narrowedText says which hop takes no larger packets, by hops as mtuNarrowing returns them; "" where there are none.
func narrowedText(hops []measure.Hop) string {
	if len(hops) == 0 {
		return ""
	}
	return narrowingText("larger packets", narrowingOf(hops, 0), "", "where hops answer nothing")
}
