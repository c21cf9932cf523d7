package dispersion

import (
	"math"

	"github.com/pathwise-net/pathwise/model"
)

// Standard is a rate that links are made with, in bit/s on the wire.
type Standard struct {
	Name          string
	BitsPerSecond float64
	Ethernet      bool // packets on it have Ethernet's framing
}

// standards are ITU-T G.703 (E1, E3), ANSI T1.102 (T1, T3), T1.105 (OC), IEEE 802.3 and ISDN.
var standards = []Standard{
	{"ISDN, one channel", 64e3, false}, {"ISDN, two channels", 128e3, false}, {"T1", 1.544e6, false}, {"E1", 2.048e6, false}, {"Ethernet", 10e6, true},
	{"E3", 34.368e6, false}, {"T3", 44.736e6, false}, {"OC-1", 51.84e6, false}, {"Fast Ethernet", 100e6, true}, {"OC-3", 155.52e6, false},
	{"OC-12", 622.08e6, false}, {"Gigabit Ethernet", 1e9, true}, {"2.5GBASE-T", 2.5e9, true}, {"5GBASE-T", 5e9, true}, {"10 Gigabit Ethernet", 10e9, true},
}

// nearStandard is how far from a standard rate, as a share, a capacity may be that is called near.
const nearStandard = 0.03

// Nearest is the standard rate that is nearest to a capacity of the IP layer, by packets of size bytes, in ratio; near is false where that is not within 3 %. What lines
// other than Ethernet add to a packet is not reckoned with, as it depends on their encapsulation.
func Nearest(capacity float64, size int) (nearest Standard, near bool) {
	least := math.Inf(1)
	for _, s := range standards {
		carries := s.BitsPerSecond
		if s.Ethernet {
			carries *= float64(size) / float64(size+model.EthernetFraming)
		}
		if off := math.Abs(math.Log(capacity / carries)); off < least {
			nearest, least = s, off
		}
	}
	return nearest, least <= nearStandard
}
