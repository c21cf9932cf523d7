package probe

import (
	"errors"
	"os"
	"time"

	"github.com/pathwise-net/pathwise/sock"
)

// pace is the schedule of the packets.
func (r *owdRun) pace() pace {
	p := pace{interval: r.Interval, gap: func() time.Duration { return r.Interval }}
	if r.Poisson {
		p.gap = func() time.Duration { return time.Duration(r.Rand.ExpFloat64() * float64(r.Interval)) }
	}
	return p
}

// send sends the next packet. Once anything was answered, one of a continuous measurement that cannot be sent is lost, as where a line is down.
func (r *owdRun) send(late time.Duration) error {
	index := r.next()
	if n := len(r.marks); n > 0 {
		if err := r.mark(r.marks[classOf(index, n)]); err != nil {
			return err
		}
	}
	end := &r.ends[len(r.ends)-1]
	id, before, err := r.socket.Send(end.packets.packet(index-end.first, time.Now()), end.to)
	if !r.last && index == 0 && isUnreachable(err) {
		return &unreachableError{err.Error()}
	}
	packet := owdPacket{id: id, sent: sock.Stamp{User: before}, late: late}
	switch {
	case err == nil:
	case !r.Continuous, r.heard.IsZero(), errors.Is(err, os.ErrDeadlineExceeded):
		return err
	default:
		packet.unsent, packet.why = true, err.Error()
	}
	r.sent = append(r.sent, packet)
	return nil
}

// next is the index of the packet to come.
func (r *owdRun) next() int { return r.first + len(r.sent) }

// at is a packet that is kept.
func (r *owdRun) at(index int) *owdPacket { return &r.sent[index-r.first] }

// stamped notes when a packet left by the kernel, mostly the last one.
func (r *owdRun) stamped(e sock.Sent) {
	for i := len(r.sent) - 1; i >= 0; i-- {
		p := &r.sent[i]
		if p.unsent {
			continue
		}
		if ahead := int32(e.ID - r.drift - p.id); ahead > 0 {
			r.drift += uint32(ahead) // of one that it could not send the kernel may have used the ID up
		}
		if p.id == e.ID-r.drift {
			p.sent.Kernel = e.Kernel
			return
		}
	}
}
