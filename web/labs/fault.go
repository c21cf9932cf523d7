package labs

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/pathwise-net/pathwise/input"
	"github.com/pathwise-net/pathwise/lab/faults"
	"github.com/pathwise-net/pathwise/lab/link"
	"github.com/pathwise-net/pathwise/lab/scenario"
)

// Fault is a change of a link that has a name: what goes wrong on real paths.
type Fault struct {
	Name     string   `json:"name"`
	Title    string   `json:"title"`
	Text     string   `json:"text" doc:"What it does, in a sentence"`
	Settings []string `json:"settings"`
	Whole    bool     `json:"whole,omitempty" doc:"It is of the link, both ways"`
	Seconds  float64  `json:"for_seconds,omitempty" doc:"After which it ends by itself, if nothing else is said"`
}

// offered is the catalogue: a fault without settings does what the case of that name in package lab/faults first does to a link.
var offered = []Fault{
	{Name: "random-loss", Title: "Random loss", Text: "Of 100 packets 1 is lost, whatever the load. TCP slows down for each."},
	{Name: "burst-loss", Title: "Loss in bursts",
		Text: "About 1.5 % of packets are lost, many in a row: good and bad times follow each other (Gilbert-Elliott)."},
	{Name: "transaction-loss", Title: "Heavy loss", Text: "Of 20 packets 1 is lost: short exchanges stall now and then for a second."},
	{Name: "heat", Title: "Failing when hot", Text: "For 200 ms of each 2 s half of the packets are lost."},
	{Name: "bad-cable", Title: "Bad cable", Text: "Of 100 packets 1 comes with a bit turned; its receiver throws it away."},
	{Name: "wan-bit-errors", Title: "Bit errors",
		Text: "Of packets above 1000 bytes 5 % are lost, of small ones 0.2 %: ping sees little, transfers crawl."},
	{Name: "duplex-mismatch", Title: "Duplex mismatch",
		Text: "One end is set to full duplex, the other to half: late collisions, and the busier the worse. Needs a rate.", Whole: true},
	{Name: "half-duplex", Title: "Half duplex", Text: "A hub: one end sends at a time. Needs a rate.", Whole: true},
	{Name: "bufferbloat", Title: "Bufferbloat",
		Text: "2.5 MB may wait for the wire: nothing is lost, and everyone waits. Shows only under load, and with a rate."},
	{Name: "shallow-buffer", Title: "Shallow buffer",
		Text: "Ten packets may wait for the wire: bursts are cut off. Shows only under load, and with a rate."},
	{Name: "delay-variation", Title: "Jitter",
		Text: "The delay varies by 15 ms (standard deviation), and packets overtake each other: bad for voice."},
	{Name: "reordering-harmful", Title: "Reordering", Text: "Of 50 packets 1 comes 60 ms late, behind others: TCP takes it for lost."},
	{Name: "reordering-benign", Title: "Mild reordering", Text: "Of 50 packets 1 comes 3 ms late, which modern TCP bears."},
	{Name: "duplicates", Title: "Duplicates", Text: "Of 20 packets 1 comes twice.", Settings: []string{"duplicate=5%"}},
	{Name: "detour", Title: "Detour", Text: "The delay is 100 ms, as after a failover to the long way round.",
		Settings: []string{"delay=100ms"}},
	{Name: "policer", Title: "Policer", Text: "What is above 10 Mbit/s is dropped at once; nothing waits."},
	{Name: "traffic-shaper", Title: "Shaper", Text: "What is above 10 Mbit/s is held back, in a queue of 100 kB."},
	{Name: "small-mtu", Title: "Small MTU", Text: "Packets above 1400 bytes do not fit: the router before the link says so.",
		Settings: []string{"mtu=1400B"}},
	{Name: "pmtu-blackhole", Title: "MTU black hole", Text: "Packets above 1300 bytes vanish without a word: connections open, and hang."},
	{Name: "flapping", Title: "Flapping", Text: "The link fails every 20 s or so, for 2 s.",
		Settings: []string{"outage={mttf: 20s, mttr: 2s}"}},
	{Name: "outage", Title: "Cut", Text: "The link carries nothing, and comes back by itself.", Seconds: 5},
}

// Faults returns the faults by name, in the order in which a page offers them.
func Faults() []Fault { return slices.Clone(catalogue()) }

var catalogue = sync.OnceValue(func() []Fault {
	all := slices.Clone(offered)
	for i := range all {
		if f := &all[i]; f.Settings == nil {
			f.Settings = fromCase(f.Name)
		}
	}
	return all
})

// fromCase returns what a case of package lab/faults first does to a link. The cases are in this binary, so that only a mistake
// in them, or in the names above, can fail; the tests find both.
func fromCase(name string) []string {
	text, err := faults.Read(name)
	if err != nil {
		panic(err)
	}
	c, err := scenario.Parse(name+".yaml", text)
	if err != nil {
		panic(err)
	}
	for _, step := range c.Steps {
		if step.Set == nil || step.Set.Between == nil {
			continue
		}
		shape := step.Set.Shape
		for _, one := range []*link.Shape{step.Set.Forward, step.Set.Reverse} {
			shape = shape.Over(one)
		}
		settings := []string{}
		for key, value := range shape.Settings() {
			settings = append(settings, key+"="+value)
		}
		slices.Sort(settings)
		return settings
	}
	panic(fmt.Sprintf("fault %s: its case changes no link", name))
}

func faultNamed(name string) (*Fault, error) {
	var names []string
	for _, f := range catalogue() {
		if f.Name == name {
			return &f, nil
		}
		names = append(names, f.Name)
	}
	return nil, input.Errorf("fault: %q: want one of %s", name, strings.Join(names, ", "))
}
