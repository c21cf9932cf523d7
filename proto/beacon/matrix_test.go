package beacon

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// The matrix of me, who hears bob, who hears eve and me; eve is not heard here.
func TestMatrix(t *testing.T) {
	final := func(of ID, name string, f Figures) Block {
		return Block{Member: of, Name: name, Known: f.To, Done: true, Final: true, Figures: f}
	}
	r := newRoster(me, origin)
	for i := range uint32(10) {
		if i != 4 {
			r.hear(probe(i), heard(time.Duration(i)*100*time.Millisecond+12500*time.Microsecond))
		}
	}
	r.hear(says(2*time.Second, ReceiverReport{Sent: 10, Done: true, Blocks: []Block{
		final(me, "me", Figures{To: 20, Received: 19, LossRun: 1, Reordered: 2, Duplicates: 3, Hops: 4, HopsMost: 4, Delay: Delay{1e6, 2e6, 3e6},
			Variation: Variation{PDV: 1500e3}}),
		{Member: eve, Name: "eve", Known: 8, Figures: Figures{To: 7, Received: 7, Hops: 1, HopsMost: 1, Delay: Delay{5e6, 5e6, 5e6}}},
	}}), heard(2*time.Second))
	got := r.matrix(Member{ID: me, Name: "me", Sent: 20, Done: true}, r.blocks(after(4*time.Second), 0, false))
	var lines []string
	for _, q := range Quantities {
		lines = append(append(lines, q.String()), got.Table(q)...)
	}
	want := `
loss, %
from \ to                 1     2  3
1 me       here               5.0  -
2 bob      10.0.0.2    10.0        -
3 eve      -         100.0~  0.0~
delay, median, ms
from \ to                1      2  3
1 me       here              2.00  -
2 bob      10.0.0.2  12.50         -
3 eve      -             -  5.00~
delay variation, p95 of PDV, ms
from \ to               1      2  3
1 me       here             1.50  -
2 bob      10.0.0.2  0.00         -
3 eve      -            -  0.00~
reordered, probes
from \ to            1   2  3
1 me       here          2  -
2 bob      10.0.0.2  0      -
3 eve      -         -  0~
duplicates, probes
from \ to            1   2  3
1 me       here          3  -
2 bob      10.0.0.2  0      -
3 eve      -         -  0~
hops
from \ to            1   2  3
1 me       here          4  -
2 bob      10.0.0.2  4      -
3 eve      -         -  1~
`
	if diff := cmp.Diff(strings.TrimPrefix(want, "\n"), strings.Join(lines, "\n")+"\n"); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got.Complete || len(got.Pairs) != 6 || !got.Members[0].Self {
		t.Errorf("%+v", got)
	}
}
