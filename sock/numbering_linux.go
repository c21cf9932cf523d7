package sock

import (
	"errors"
	"sync"

	"golang.org/x/sys/unix"
)

// numbering tells which packets the kernel's stamps are of. The kernel numbers packets as it makes them, so that one which its packet filter or the queue
// before a link refuses has a number, although it was not sent:
//
//	Send      0  1  fails  fails  2
//	kernel    0  1  2      3      4
//
// What fails before the packet is made, such as for want of a route, has none. Any goroutine may use it.
type numbering struct {
	mu      sync.Mutex
	made    uint32 // packets that the kernel has numbered
	refused uint32 // of them, those that were not sent
	runs    []refusal
	forgot  bool // there were runs before these
}

// refusal is a run of packets in a row that were refused.
type refusal struct{ first, count uint32 }

// mostRefusals is how many runs are kept: stamps are read soon, so that those of packets before the oldest run are not to come any more.
const mostRefusals = 256

// hasNumber says whether a call that failed used a number up: EPERM is of the packet filter, ENOBUFS of a queue that is full.
func hasNumber(failed error) bool {
	return errors.Is(failed, unix.EPERM) || errors.Is(failed, unix.ENOBUFS)
}

// sent counts a packet that was sent, and returns how many were before it.
func (n *numbering) sent() uint32 {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.made++
	return n.made - 1 - n.refused
}

// refuse counts a packet that was refused.
func (n *numbering) refuse() {
	n.mu.Lock()
	defer n.mu.Unlock()
	if last := len(n.runs) - 1; last >= 0 && n.runs[last].first+n.runs[last].count == n.made {
		n.runs[last].count++
	} else {
		n.runs = append(n.runs, refusal{n.made, 1})
	}
	n.made, n.refused = n.made+1, n.refused+1
	if len(n.runs) > mostRefusals {
		n.runs, n.forgot = append(n.runs[:0], n.runs[1:]...), true
	}
}

// of is how many packets were sent before the one with a number of the kernel's; false: that one was refused, or is of long ago.
func (n *numbering) of(number uint32) (id uint32, sent bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	refused := n.refused
	for i := len(n.runs) - 1; i >= 0; i-- {
		run := n.runs[i]
		if into := int32(number - run.first); into >= int32(run.count) {
			return number - refused, true
		} else if into >= 0 {
			return 0, false
		}
		refused -= run.count
	}
	return number, !n.forgot
}
