package owamp

import (
	"time"

	"github.com/pathwise-net/pathwise/proto/control"
	"github.com/pathwise-net/pathwise/proto/endpoint"
)

const (
	// SecuredModes are those that take a secret.
	SecuredModes = control.Authenticated | control.Encrypted
	// Modes are those that OWAMP has; the mixed one is of TWAMP alone.
	Modes = control.Open | SecuredModes

	defaultMemory = 64 << 20
)

// admit says whether a session is within the limits of a client.
func admit(l endpoint.Limits, t Terms, id control.SID, m control.Mode) control.Accept {
	if t.Packets > l.Packets || t.Timeout > l.Longest {
		return control.Never
	}
	most := l.MostPackets(control.PacketBytes(m, t.Padding))
	if most < 1 {
		return control.Never
	}
	schedule := NewSchedule(id, t.Slots)
	var last time.Duration
	backlog, drain := 0.0, float64(most)/float64(time.Second) // packets of a bucket that so many a second leave
	for range t.Packets {
		due := schedule.Next()
		backlog = max(0, backlog-float64(due-last)*drain) + 1
		last = due
		if backlog > float64(most) || due > l.Longest-t.Timeout || due < 0 {
			return control.Never
		}
	}
	return control.OK
}
