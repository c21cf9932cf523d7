package workload

import (
	"slices"
	"time"

	"github.com/pathwise-net/pathwise/stat"
)

// A transaction on the wire: a request, which says how long it is and how long the answer shall be, and the answer.
//
//	 0               4               8                        request
//	+---------------+---------------+------ - - - -----+
//	| request bytes | answer bytes  | zeroes           |     integers in network byte order
//	+---------------+---------------+------ - - - -----+
const headerBytes = 8

// largestMessage bounds what a stranger's header can make a reply keep.
const largestMessage = 1 << 24

// Transactions is what a request saw, or what a reply served.
type Transactions struct {
	Role           string  `json:"role"`
	Transactions   int     `json:"transactions"`
	Seconds        float64 `json:"seconds"`         // all of them, connecting included
	ConnectSeconds float64 `json:"connect_seconds"` // the longest
	Min            float64 `json:"transaction_min_seconds"`
	Median         float64 `json:"transaction_median_seconds"`
	P95            float64 `json:"transaction_p95_seconds"`
	Max            float64 `json:"transaction_max_seconds"`
	Error          string  `json:"error,omitempty"`
}

// sum fills in how long the transactions took.
func (t *Transactions) sum(began time.Time, times []float64) {
	t.Transactions, t.Seconds = len(times), time.Since(began).Seconds()
	if len(times) == 0 {
		return
	}
	slices.Sort(times)
	t.Min, t.Median, t.P95, t.Max = times[0], stat.Median(times), stat.Quantile(times, 0.95), times[len(times)-1]
}
