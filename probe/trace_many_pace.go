package probe

import (
	"net/netip"
	"time"
)

// hopPace keeps what is believed to be one router from being asked too often by several traces at once. It is pure: times come in.
//
// Of a packet it is known which router it will ask where that has answered the same trace at the same TTL before. Of others it is believed that the routers of all
// targets at a TTL are one, as they are near this host:
//
//	who is asked         counts as
//	known                a packet to that router
//	not known            a packet to whoever is at that TTL; and, once a router answers it, to that router, which waits for longer then
//
// So a router at one TTL is asked no oftener than the rate says, but for what is on its way before the first answer.
type hopPace struct {
	gap  time.Duration         // between two packets to one router
	free map[hopName]time.Time // from when on the next may leave
}

// hopName is a router, by its address, or whoever is at a TTL.
type hopName struct {
	ttl     int // 0 of a router that is known
	address netip.Addr
}

// hopsKept is how many names are kept before those are forgotten that may be asked again anyway.
const hopsKept = 4096

func newHopPace(rate float64) *hopPace {
	return &hopPace{gap: time.Duration(float64(time.Second) / rate), free: map[hopName]time.Time{}}
}

// may says whether a packet may leave now.
func (h *hopPace) may(n hopName, now time.Time) bool { return !now.Before(h.free[n]) }

// take counts a packet.
func (h *hopPace) take(n hopName, now time.Time) {
	if len(h.free) >= hopsKept {
		for name, from := range h.free {
			if !now.Before(from) {
				delete(h.free, name)
			}
		}
	}
	from := h.free[n]
	if late := now.Sub(from); late > h.gap { // a short delay of this host's is made up for
		from = now
	}
	h.free[n] = from.Add(h.gap)
}
