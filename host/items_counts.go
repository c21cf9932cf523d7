package host

import "fmt"

// Counters of a link, by their names in /sys/class/net/NAME/statistics.
var (
	damages = []string{"rx_crc_errors", "rx_frame_errors", "rx_length_errors", "rx_errors", "tx_carrier_errors", "tx_aborted_errors", "tx_window_errors",
		"tx_heartbeat_errors", "tx_errors", "collisions"}
	drops = []string{"rx_dropped", "tx_dropped", "rx_missed_errors", "rx_over_errors", "rx_fifo_errors", "tx_fifo_errors"}
)

func errorCounts(f *Facts, l Link, _ Need) []seen { return f.counts(l, damages, Problem) }
func dropCounts(f *Facts, l Link, _ Need) []seen  { return f.counts(l, drops, Warning) }

// seldom is a share of packets that no transfer notices: a loss in a million.
const seldom = 1e-6

// counts are the counters that are not at zero. One that moves is bad; one that stands is if it has counted more than seldom since the
// start.
func (f *Facts) counts(l Link, names []string, moves Status) []seen {
	packets := f.Counters["link."+l.Name+".rx_packets"].Last + f.Counters["link."+l.Name+".tx_packets"].Last
	var all []seen
	known := false
	for _, name := range names {
		c, there := f.Counters["link."+l.Name+"."+name]
		known = known || there
		if c.Last == 0 {
			continue
		}
		s := f.counted(l.Name+" "+name, c)
		share := float64(c.Last) / float64(max(packets, 1))
		switch {
		case c.Moved() > 0:
			s.status, s.why = moves, "It is counting now."
		case share > seldom:
			s.status, s.why = Warning, fmt.Sprintf("It stands now, but has counted %.2g of all packets.", share)
		default:
			continue
		}
		s.command = "ethtool -S " + l.Name + " says which; try another cable or port"
		all = append(all, s)
	}
	if len(all) == 0 && known {
		return []seen{{value: "none that matter", needed: "none more"}}
	}
	return all
}
