package archive

import (
	"context"
	"runtime"
	"sync"

	"github.com/pathwise-net/pathwise/measure"
)

// request is one call's Results on their way to a commit.
type request struct {
	filings []filing
	parts   []part
	done    chan error // has room for the answer
}

// part is what is to be one block: filings[from:to] of its request, which are of one tool and day.
type part struct {
	from, to int
	packed   []byte // nil: the rules keep no Results
	samples  bool
}

// mostTogether is how many Results of one call are committed at once.
const mostTogether = 4096

// Put implements Archive.
func (k *keeper) Put(ctx context.Context, results []*measure.Result) error {
	if err := k.enter(); err != nil {
		return err
	}
	defer k.leave()
	filings, err := k.encode(results)
	if err != nil {
		return err
	}
	var waiting []*request
	for len(filings) > 0 {
		n := min(len(filings), mostTogether)
		q := k.newRequest(filings[:n])
		filings = filings[n:]
		select {
		case k.requests <- q:
			k.counts.queued.Add(int64(n))
			waiting = append(waiting, q)
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	for _, q := range waiting {
		select {
		case err := <-q.done:
			if err != nil {
				return err
			}
		case <-ctx.Done():
			return ctx.Err() // it may still be committed; when it comes again, that is known
		}
	}
	return nil
}

// encode makes Results ready, on all processors when there are many.
func (k *keeper) encode(results []*measure.Result) ([]filing, error) {
	const worthwhile = 512 // a goroutine costs less than a hundredth of these
	filings := make([]filing, len(results))
	workers := max(1, min(runtime.GOMAXPROCS(0), len(results)/worthwhile))
	errs := make([]error, workers)
	var group sync.WaitGroup
	for w := range workers {
		group.Go(func() {
			errs[w] = k.safely("encode results", func() (err error) {
				var names sorter
				for i := len(results) * w / workers; i < len(results)*(w+1)/workers && err == nil; i++ {
					filings[i], err = k.newFiling(results[i], &names)
				}
				return err
			})
		})
	}
	group.Wait()
	for _, err := range errs {
		if err != nil {
			return nil, err
		}
	}
	return filings, nil
}

// newRequest sorts filings into blocks and packs them.
func (k *keeper) newRequest(filings []filing) *request {
	q := &request{filings: together(filings), done: make(chan error, 1)}
	for from := 0; from < len(q.filings); {
		to, size := from, 0
		for to < len(q.filings) && q.filings[to].sameBlock(&q.filings[from]) && (to == from ||
			size+len(q.filings[to].line) < blockBytes) {
			size += len(q.filings[to].line) + 1
			to++
		}
		q.parts = append(q.parts, k.newPart(q.filings, from, to))
		from = to
	}
	return q
}

func (k *keeper) newPart(filings []filing, from, to int) part {
	p := part{from: from, to: to}
	if k.keeps(filings[from].stream.tool).Results == Never {
		return p
	}
	buffer, _ := k.packer.buffers.Get().(*[]byte)
	if buffer == nil {
		buffer = new([]byte)
	}
	lines := (*buffer)[:0]
	for i := range filings[from:to] {
		f := &filings[from+i]
		lines = append(append(lines, f.line...), '\n')
		p.samples = p.samples || f.samples
	}
	p.packed = k.packer.pack(lines)
	*buffer = lines
	k.packer.buffers.Put(buffer)
	return p
}

// sameBlock tells whether two filings may stand in one block.
func (f *filing) sameBlock(other *filing) bool {
	return f.stream.tool == other.stream.tool && f.time/day == other.time/day
}

// together brings filings that may share a block next to each other, and keeps their order otherwise.
func together(filings []filing) []filing {
	apart := false
	for i := 1; i < len(filings) && !apart; i++ {
		apart = !filings[i].sameBlock(&filings[i-1])
	}
	if !apart {
		return filings
	}
	type kind struct {
		tool string
		day  int64
	}
	var order []kind
	sorted := map[kind][]filing{}
	for _, f := range filings {
		key := kind{f.stream.tool, f.time / day}
		if sorted[key] == nil {
			order = append(order, key)
		}
		sorted[key] = append(sorted[key], f)
	}
	out := make([]filing, 0, len(filings))
	for _, key := range order {
		out = append(out, sorted[key]...)
	}
	return out
}
