package traffic

import (
	"time"

	"github.com/pathwise-net/pathwise/input"
)

// Load is what a script asks of hosts and path.
type Load struct {
	Flows   []FlowLoad
	Packets int
	Bytes   int64 // of UDP payload
	// Peak and ReversePeak are the most in any second that go one way and the other, in bit/s with the headers of UDP and IPv6, which are
	// the larger ones.
	Peak, ReversePeak float64
}

// FlowLoad is a flow's part.
type FlowLoad struct {
	Packets int
	Bytes   int64
}

// headers are those of UDP (RFC 768) and of IPv6 (RFC 8200), in bytes.
const headers = 8 + 40

// Load adds a script up. Its error, of package input, says that there are more than MostPackets.
func (s *Script) Load() (Load, error) {
	l := Load{Flows: make([]FlowLoad, len(s.Flows))}
	err := l.add(s, false, &l.Peak)
	if err == nil {
		err = l.add(s, true, &l.ReversePeak)
	}
	if err != nil {
		return Load{}, err
	}
	return l, nil
}

// add adds up the flows of one way.
//
// The peak slides over the plan: what is due in the second that ends with a packet lies between tail and that packet.
//
//	tail, a second ago |•  •• •   •  •| the packet
func (l *Load) add(s *Script, reverse bool, peak *float64) error {
	var most, window int64
	ahead, behind := NewPlan(s, reverse), NewPlan(s, reverse)
	tail, any := behind.Next()
	for p, ok := ahead.Next(); ok; p, ok = ahead.Next() {
		if l.Packets++; l.Packets > MostPackets {
			return input.Errorf("script: more than %d packets: end flows sooner, or send fewer", MostPackets)
		}
		f := &l.Flows[p.Flow]
		f.Packets, f.Bytes, l.Bytes = f.Packets+1, f.Bytes+int64(p.Bytes), l.Bytes+int64(p.Bytes)
		window += int64(p.Bytes + headers)
		for any && tail.Due <= p.Due-time.Second {
			window -= int64(tail.Bytes + headers)
			tail, any = behind.Next()
		}
		most = max(most, window)
	}
	*peak = float64(most) * 8
	return nil
}
