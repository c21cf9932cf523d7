package chance

import "math/rand/v2"

// flowTable remembers the state of the flows seen last, in bounded memory: 4,096 flows in 1,024 rows of 4. A flow has
// one row, by its number; where that is full, the flow of the row that was silent longest is forgotten, and is a new
// one if it comes back. Each flow draws from a generator of its own, so what happens to one does not depend on the
// others.
type flowTable struct {
	rows   [1 << rowBits][4]flowState
	secret [2]uint64 // from the link's seed
}

// rowBits makes the table 256 kB: more flows at once than a lab on one machine has, and small beside its buffers.
const rowBits = 10

type flowState struct {
	flow   uint64
	seen   int64 // when its last packet came
	used   bool
	spell  spell
	random rand.PCG
}

func newFlowTable(r *rand.Rand) *flowTable {
	return &flowTable{secret: [2]uint64{r.Uint64(), r.Uint64()}}
}

// find returns the state of a flow; known is false if it has just been made, with its generator but no spell.
func (t *flowTable) find(flow uint64, now int64) (f *flowState, known bool) {
	const golden = 0x9E3779B97F4A7C15 // 2^64 divided by the golden ratio: spreads flow numbers that lie close (Knuth, 6.4)
	row := &t.rows[flow*golden>>(64-rowBits)]
	oldest := &row[0]
	for i := range row {
		f := &row[i]
		if f.used && f.flow == flow {
			f.seen = now
			return f, true
		}
		if oldest.used && (!f.used || f.seen < oldest.seen) {
			oldest = f
		}
	}
	*oldest = flowState{flow: flow, seen: now, used: true}
	oldest.random.Seed(t.secret[0]^flow, t.secret[1])
	return oldest, false
}
