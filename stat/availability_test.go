package stat

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// passagesOf are packets sent one after another from 10 s on; an x is lost.
func passagesOf(fates string, every float64) (all []Passage) {
	for i, lost := range fate(fates) {
		p := Passage{Sent: 10 + float64(i)*every}
		p.Arrived = p.Sent + 0.02
		if lost {
			p.Arrived = Lost
		}
		all = append(all, p)
	}
	return all
}

func TestAvailability(t *testing.T) {
	pause := append(passagesOf("..xxx", 1), Passage{Sent: 100, Arrived: 100.1}, Passage{Sent: 101, Arrived: 101.1})
	for _, c := range []struct {
		name     string
		passages []Passage
		until    float64
		rule     OutageRule
		want     Availability
		ratio    float64
		longest  float64
	}{
		{"always up", passagesOf("....", 1), 14, OutageRule{}, Availability{Known: 4}, 1, 0},
		{"always down", passagesOf("xxxx", 1), 14, OutageRule{}, Availability{4, 4, []Outage{{10, 14, 4, true}}}, 0, 4},
		{"two losses are no outage", passagesOf("..xx..xx", 1), 18, OutageRule{}, Availability{Known: 8}, 1, 0},
		{"three are, from the first on", passagesOf("..xxx.....", 1), 20, OutageRule{}, Availability{10, 3, []Outage{{12, 15, 3, false}}}, 0.7, 3},
		{"as the picture has it", passagesOf("..x.xxxx..xx", 1), 22, OutageRule{}, Availability{12, 4, []Outage{{14, 18, 4, false}}}, 8. / 12, 4},
		{"the longer of two", passagesOf("xxx.xxxxx.", 0.5), 15, OutageRule{},
			Availability{5, 4, []Outage{{10, 11.5, 3, false}, {12, 14.5, 5, false}}}, 0.2, 2.5},
		{"too short for an outage", passagesOf("..xxxxxxxxx..", 0.02), 10.26, OutageRule{}, Availability{Known: 0.26}, 1, 0},
		{"unless it may be short", passagesOf("..xxxxxxxxx..", 0.02), 10.26, OutageRule{Shortest: -1},
			Availability{0.26, 0.18, []Outage{{10.04, 10.22, 9, false}}}, 8. / 26, 0.18},
		{"each loss", passagesOf(".x.x", 1), 14, OutageRule{Losses: 1}, Availability{4, 2, []Outage{{11, 12, 1, false}, {13, 14, 1, true}}}, 0.5, 1},
		{"a pause of the test is not known", pause, 102, OutageRule{Stands: 2}, Availability{8, 4, []Outage{{12, 16, 3, true}}}, 0.5, 4},
		{"losses before a pause and after it are apart", append(passagesOf("xx", 1), Passage{100, Lost}, Passage{101, Lost}), 102, OutageRule{Stands: 2},
			Availability{Known: 5}, 1, 0},
		{"nor is what follows the last packet", passagesOf("..", 1), 100, OutageRule{Stands: 2}, Availability{Known: 3}, 1, 0},
		{"one packet that stands for no time", passagesOf(".", 1), 10, OutageRule{}, Availability{}, 1, 0},
	} {
		got, ok := AvailabilityOf(c.passages, c.until, c.rule)
		if diff := cmp.Diff(c.want, got, cmpopts.EquateApprox(0, 1e-9)); diff != "" || !ok {
			t.Errorf("%s: ok %v (-want +got):\n%s", c.name, ok, diff)
		}
		if math.Abs(got.Ratio()-c.ratio) > 1e-9 || math.Abs(got.Longest()-c.longest) > 1e-9 {
			t.Errorf("%s: %v available, longest outage %v s; want %v, %v", c.name, got.Ratio(), got.Longest(), c.ratio, c.longest)
		}
	}
	if _, ok := AvailabilityOf(nil, 10, OutageRule{}); ok {
		t.Error("of no packets there is an availability")
	}
}
