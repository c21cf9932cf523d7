package gateway

import (
	"fmt"
	"strings"

	"github.com/pathwise-net/pathwise/lab"
	"github.com/pathwise-net/pathwise/stat"
)

// ReportSchema names the JSON layout of a Report.
const ReportSchema = "pathwise.gateway/1"

// Report is what a gateway has done since it opened, in the words of a lab's truth.
type Report struct {
	Schema     string            `json:"schema"`
	Seconds    float64           `json:"seconds"`
	Interfaces [2]string         `json:"interfaces"`
	Seed       uint64            `json:"seed"`
	Shapes     [2]string         `json:"shapes"`        // forward and reverse, as a lab file would say it; "" is a plain wire
	Links      [2]lab.LinkTruth  `json:"links"`         // forward and reverse: IP packets, each segment of a super-packet
	Passed     [2]uint64         `json:"passed_frames"` // beside the link: ARP and the like, and neighbour discovery
	Emulator   lab.EmulatorTruth `json:"emulator"`      // what it refused is counted as delivered in Links
}

// lateness is how late the packets of one way left.
type lateness struct {
	times stat.Histogram
	over  uint64 // lab.LateBound
}

func (l *lateness) add(ns int64) {
	l.times.Record(ns)
	if ns > int64(lab.LateBound) {
		l.over++
	}
}

// From so many packets later than lab.LateBound, and from such a share of all, the gateway is held to be what limited a
// test: a virtual machine has the odd hiccup.
const (
	lateCount = 10
	lateShare = 0.01
)

// judge says whether the gateway kept up.
func judge(late *[2]lateness, overflowed, refused uint64) lab.EmulatorTruth {
	var all stat.Histogram
	all.Merge(&late[0].times)
	all.Merge(&late[1].times)
	e := lab.EmulatorTruth{Refused: refused, Overflowed: overflowed, LateP99: lab.QuantileSeconds(&all, 0.99)}
	if all.Count() > 0 {
		e.LateShare = float64(late[0].over+late[1].over) / float64(all.Count())
	}
	var why []string
	if overflowed > 0 {
		why = append(why, fmt.Sprintf("it did not read %d packets in time", overflowed))
	}
	if refused > 0 {
		why = append(why, fmt.Sprintf("the interfaces did not take %d packets", refused))
	}
	if late[0].over+late[1].over >= lateCount && e.LateShare > lateShare {
		why = append(why, fmt.Sprintf("%.1f %% of packets left more than %v late", 100*e.LateShare, lab.LateBound))
	}
	e.Bottleneck, e.Why = len(why) > 0, strings.Join(why, "; ")
	return e
}
