// Package window says what the figures of a windowed ping mean: the rate, the loss and the delay of a path while more and more packets are kept in
// flight. It is pure: echoes or samples in, a shape and its sentence out. Package probe sends the packets.
//
//	figures.go   the echoes of one window to its figures
//	outline.go   the figures of all windows to the few that tell shapes apart: rates and delays
//	burst.go     what became of the packets that opened each window
//	loss.go      how losses grow
//	window.go    those to a shape
//	sentence.go  what a shape says, for people
//
// The shapes are those that the tutorial on high performance data transfer (2006) shows of Mathis's mping, and the two of token buckets. The numbers in
// these files were found by plays of each shape in the lab (testdata/plays.jsonl): they are right of most, and where a shape is not clear it is Unknown.
package window

import "github.com/pathwise-net/pathwise/measure"

// Shape is what the rate, the loss and the delay of growing windows look like.
type Shape string

const (
	Rising  Shape = "no limit reached" // the rate grows with the window to its end
	Normal  Shape = "normal"           // the rate stops to grow, and the delay begins to
	NoQueue Shape = "no queue"         // of what comes faster than the narrowest link only the first few packets pass
	Shaper  Shape = "shaper"           // as normal, after a burst at a higher rate
	Policer Shape = "policer"          // a burst passes at a higher rate; then what is above a rate is lost, and nothing waits
	Lossy   Shape = "constant loss"    // some are lost, however few are in flight
	Duplex  Shape = "duplex fault"     // bursts pass one way, and many are lost when both ways are busy
	SlowEnd Shape = "slow end"         // the rate stops to grow, and nothing waits or is lost
	Busy    Shape = "busy host"        // this host did not keep the packets in flight
	Local   Shape = "no path"          // the target is this host itself: see OfSelf
	TooFew  Shape = "too few windows"
	Unknown Shape = "unknown"
)

// Reading is what a shape says. What a shape says nothing of is zero.
type Reading struct {
	Shape         Shape
	BitsPerSecond float64 // capacity at the IP layer
	BurstBits     float64 // bit/s at which bursts came back
	Knee          int     // packets in flight that fill the path
	Queue         int     // packets that waited, at most
	Full          bool    // the queue was: packets were lost at its end
	LossRatio     float64 // lost of the windows with the most packets in flight; of those with the fewest if it is constant
}

const (
	// fewestWindows tell a shape: of fewer, plays of a fault of duplex passed for anything.
	fewestWindows = 8
	// roomLeast is how many packets a queue holds that is one: a port that stores and forwards holds some.
	roomLeast = 4
	// roomShare of what the empty path holds is room enough for a burst of TCP to wait.
	roomShare = 0.25
	// waitShare of the packets beyond what the path holds wait where there is a queue that is not full; others are on their way back.
	waitShare = 0.4
	// kneeRoom is how much further than the knee windows must go to tell that the rate has stopped to grow.
	kneeRoom = 1.3
	// bucketRatio is how much faster bursts come back than everything where there is a token bucket, a fault of duplex, or a rate that losses hold down.
	// One link alone brought 1.0 to 1.2 in all plays.
	bucketRatio = 1.35
	// heldRatio is how much faster they come than everything where something held the rate down, but no bucket.
	heldRatio = 1.1
)

// Read says what the shape of a path's windows means. They are in the order of their numbers; bits is the size of a packet at the IP layer.
func Read(steps []measure.WindowSample, bits float64) Reading {
	if len(steps) < fewestWindows {
		return Reading{Shape: TooFew}
	}
	o := outlineOf(steps, bits)
	r := Reading{Shape: o.shape()}
	switch r.Shape {
	case Normal, Shaper:
		r.BitsPerSecond, r.Knee, r.Queue, r.Full = o.plateau, o.knee, whole(o.queued), o.loses
	case Policer, Duplex:
		r.BurstBits, r.LossRatio = o.burst, o.heavy
	case NoQueue:
		r.Queue, r.LossRatio = whole(o.wait*o.burst/bits), o.heavy
	case Lossy:
		r.LossRatio = o.light
	}
	switch {
	case r.Shape == Shaper:
		r.BurstBits = o.burst
	case r.Shape == Policer && o.even():
		r.BitsPerSecond = o.plateau
	case r.Shape == NoQueue && 2*o.fast >= o.windows, r.Shape == Normal && (!o.even() || o.burst > heldRatio*o.plateau):
		r.BitsPerSecond = o.burst // losses, and packets sent late, leave less of the plateau
	}
	return r
}

// OfSelf is what windows to an address of this same host say.
func OfSelf() Reading { return Reading{Shape: Local} }

func whole(packets float64) int { return int(packets + 0.5) }

// shape is the first that fits. Losses at each load come first, since they disturb all else.
func (o outline) shape() Shape {
	switch {
	case o.plateau == 0:
		return Unknown
	case o.constant && o.tail < tailCut, o.ever && o.queues() && !o.bucket():
		return Lossy
	case o.cutsBursts():
		return NoQueue
	case o.collides():
		return Duplex
	case o.busy():
		return Busy
	case !o.loses && !o.flat():
		return Rising
	case o.queues() && o.spread < fairly && !o.bucket():
		return Normal
	case o.queues() && o.spread < uneven && (o.begins == 0 || o.begins > late):
		return Shaper
	case o.polices():
		return Policer
	case o.heavy < lossless && !o.queues():
		return SlowEnd
	}
	return Unknown
}

// busy says that this host kept too few windows full to tell the path's rate.
func (o outline) busy() bool { return 2*o.kept < o.windows }

// flat says that the rate has stopped to grow.
func (o outline) flat() bool { return float64(o.last) >= kneeRoom*float64(o.knee) }

// bucket says that bursts come back faster than everything does.
func (o outline) bucket() bool { return o.burst > bucketRatio*o.plateau }

// queues says that packets wait.
func (o outline) queues() bool {
	return o.queued >= waitShare*max(1, float64(o.last)-o.pipe) || o.queued > roomLeast && o.queued > roomShare*o.pipe
}

const (
	evenly   = 0.05 // the rates of links and buckets spread by less than this, those that collisions or lost bursts leave by more
	uneven   = 0.02 // collisions leave at least that, and shapers less
	fairly   = 0.12 // a bucket of few packets, which empties and fills again, spreads by up to this
	steep    = 4    // times as fast as the highest rate come the bursts of such a bucket
	cutMost  = 3    // and up to so many times those that a link without a queue cuts
	policed  = 2    // and at least so many times those of a bucket, for its rate to be taken for none of the link itself
	beyond   = 0.5  // at least of the packets beyond what the path holds at a policer's rate are lost
	collided = 0.7  // of the tail of a burst is lost at most where answers come while packets leave, and a rest of both passes
	late     = 0.6  // of the longest wait: losses that begin when packets wait that long are of a queue that is full
	early    = 0.5  // and those that begin before are not
)

// even says that the rate is the same in all windows that fill the path.
func (o outline) even() bool { return o.spread < evenly }

// cutsBursts says that bursts lose all but their beginning, that what passes comes at about the rate that is reached otherwise, and that hardly anything waits.
func (o outline) cutsBursts() bool {
	apart := o.burst < policed*o.top || !o.even() && o.burst < cutMost*o.top
	return apart && o.fast >= fastLeast && o.tail > tailCut && o.passed < 0.5 && o.wait*o.burst < 10*o.bits
}

// collides says that bursts come back as fast as a link brings them, while both ways together bring less and lose, long before a queue is full.
func (o outline) collides() bool {
	return o.loses && o.bucket() && o.fast >= fastLeast && o.tail > 0 && o.tail < collided && o.spread > uneven && o.queues() && o.begins < early
}

// polices says that bursts pass until a bucket is empty, nothing waits, the rate is even, and what does not fit it is lost.
func (o outline) polices() bool {
	even := o.even() || o.spread < fairly && o.burst > steep*o.top
	return o.loses && even && o.burst > policed*o.top && o.flat() && !o.queues() && (o.passed > 0.9 || o.tail > tailCut) &&
		o.heavy > beyond*(1-o.pipe/float64(o.last))
}
