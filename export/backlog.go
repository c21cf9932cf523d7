package export

import (
	"maps"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/pathwise-net/pathwise/archive"
	"github.com/pathwise-net/pathwise/measure"
)

// RemoteWriter sends every Result to one receiver of Prometheus remote write, each value at the time at which its
// measurement began. Its methods may be called at once from many goroutines; Run once at a time.
//
// The archive holds all that is to be sent. On disk a RemoteWriter keeps only a list of the slots of time of which something is not
// sent, so that neither an outage of the receiver, however long, nor a restart loses anything or fills a disk. A slot is
//
//	          Observe                       sent
//	(sent) ------------> held in memory ------------> (sent)
//	   ^                       | memory is full, or a restart
//	   |                       v
//	   +--- read from the archive and sent --- behind <--- Resend
//
// While any slot is behind, new Results are too, so that what is old goes first. Sending is at least once: after a
// restart some seconds are sent again, which receivers take as the same samples.
type RemoteWriter struct {
	o       RemoteOptions
	archive archive.Archive
	client  *http.Client
	wake    chan struct{} // holds one token when there may be something to send
	desc    remoteDescs

	mu     sync.Mutex
	queue  []parcel
	queued int          // samples in queue
	held   map[slot]int // parcels of the queue or on their way, and the slot that is being read
	behind spans
	onDisk spans // what the file says
	counts RemoteStats
}

// Observe takes Results to send. It is called when they are in the archive and before that is acknowledged to anybody;
// when it returns nil, they will be sent. After an error nothing is lost by observing the same Results again.
func (w *RemoteWriter) Observe(results []*measure.Result) error {
	parcels := make([]parcel, len(results))
	for i, r := range results {
		parcels[i] = pack(r)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	known := true
	for _, p := range parcels {
		known = known && w.onDisk.has(p.slot)
		w.hold(p)
	}
	w.rouse()
	if known {
		return nil
	}
	return w.save()
}

// Resend sends again what the archive has of [from, to): to a new receiver, or to one that lost it. New Results wait
// until that is done.
func (w *RemoteWriter) Resend(from, to time.Time) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.spill()
	w.behind = w.behind.add(spanOf(from, to))
	w.rouse()
	return w.save()
}

// hold puts a parcel into the queue. If older slots are behind, its slot is noted as behind, too, to be read from the archive.
func (w *RemoteWriter) hold(p parcel) {
	if w.queued+p.samples > w.o.Memory {
		w.spill()
		w.behind = w.behind.add(span{p.slot, p.slot + 1})
	}
	if len(w.behind) > 0 {
		w.behind = w.behind.add(span{p.slot, p.slot + 1})
		return
	}
	w.queue = append(w.queue, p)
	w.queued += p.samples
	w.held[p.slot]++
}

// spill empties the queue and notes its slots as behind: they will be read from the archive.
func (w *RemoteWriter) spill() {
	for _, p := range w.queue {
		w.behind = w.behind.add(span{p.slot, p.slot + 1})
		w.release(p.slot)
	}
	w.queue, w.queued = nil, 0
}

// release counts one parcel less of a slot.
func (w *RemoteWriter) release(s slot) {
	if w.held[s]--; w.held[s] <= 0 {
		delete(w.held, s)
	}
}

// unsent is the set of slots of which something is not sent.
func (w *RemoteWriter) unsent() spans {
	all := slices.Clone(w.behind)
	for _, s := range slices.Sorted(maps.Keys(w.held)) {
		all = all.add(span{s, s + 1})
	}
	return all
}

// keepSlots is how many of the newest slots stay in the file although they are sent. More Results of them are about to come, and for
// each the file would have to be written again.
const keepSlots = 6

// save writes the file, with the last slots that it has.
func (w *RemoteWriter) save() error {
	all := w.unsent()
	now := slotOf(w.o.Now())
	for s := now - keepSlots; s <= now; s++ {
		if w.onDisk.has(s) {
			all = all.add(span{s, s + 1})
		}
	}
	return w.write(all)
}

func (w *RemoteWriter) write(all spans) error {
	if err := writeUnsent(w.o.UnsentFile, all); err != nil {
		return err
	}
	w.onDisk = all
	return nil
}

// rouse tells Run that there is something to send.
func (w *RemoteWriter) rouse() {
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// next takes what is to be sent next: a slot to read from the archive, or parcels of the queue, the oldest first;
// nothing if all is sent. What was taken is held until done, or doneReading, is called with it.
func (w *RemoteWriter) next() (batch []parcel, old slot, reading bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.behind) > 0 {
		old, w.behind = w.behind.takeFirst()
		w.held[old]++
		return nil, old, true
	}
	batch, w.queue = cut(w.queue, w.o.Batch)
	for _, p := range batch {
		w.queued -= p.samples
	}
	return batch, 0, false
}

// cut splits off as many parcels as make a request of about so many samples: at least one, if there is one.
func cut(all []parcel, samples int) (batch, rest []parcel) {
	n := 0
	for i, p := range all {
		if n += p.samples; n > samples && i > 0 {
			return all[:i:i], all[i:]
		}
	}
	return all, nil
}

// full says whether there is enough to send, so that waiting for more would only delay it.
func (w *RemoteWriter) full() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.behind) > 0 || w.queued >= w.o.Batch
}

// done takes parcels that next returned out of the count of what is unsent. If again, their sending failed, and their slots are
// noted to be read from the archive and sent.
func (w *RemoteWriter) done(batch []parcel, again bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, p := range batch {
		w.settle(p.slot, again)
	}
}

// doneReading does for a slot that next returned what done does for parcels. If again, the slot was not sent whole, and is noted to be
// read and sent once more.
func (w *RemoteWriter) doneReading(s slot, again bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.settle(s, again)
}

// settle releases a slot, and notes it as behind if it has to be sent again.
func (w *RemoteWriter) settle(s slot, again bool) {
	w.release(s)
	if again {
		w.spill()
		w.behind = w.behind.add(span{s, s + 1})
	}
}
