package probe

import (
	"errors"

	"github.com/pathwise-net/pathwise/analysis/dispersion"
	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/quantity"
)

// errTrainsLost and errTrainsSlow mean that no train tells how fast the narrowest link is.
var (
	errTrainsLost = errors.New("too few packets of the trains arrived to tell the capacity, as before a short queue or a limit on bursts")
	errTrainsSlow = errors.New("the path passed the trains on as fast as they were sent: " +
		"the sender is too slow, or too busy, to tell the capacity")
)

// mostFiled is half of the interval of a capacity, as a share of it, above which it is no metric: who reads that takes it for within a tenth.
const mostFiled = 0.1

// reduce files what a study found. A rate that is not certain is in the samples and in a note, and no metric.
func (c *capacityRun) reduce(study *dispersion.Study) error {
	f, r := study.Findings(), c.result
	r.Parameters["size"] = study.Size
	r.Samples.Trains = trainSamples(study.LongTrains())
	r.Samples.Capacity = pathCapacity(f, study)
	switch e := f.Capacity.Estimate; {
	case !e.Known() && e.Doubt == dispersion.Slow:
		return errTrainsSlow
	case !e.Known() && e.Doubt == dispersion.Few:
		return errTrainsLost
	case !e.Known():
		return errors.New("the capacity is not known: " + string(e.Doubt))
	case e.Certain() || e.Doubt == dispersion.Wide && (e.High-e.Low)/2 <= mostFiled*e.BitsPerSecond:
		r.Metrics[measure.Capacity] = e.BitsPerSecond
	}
	c.doubt("capacity", f.Capacity.Estimate)
	if f.Bucket.Known() {
		c.file(measure.Sustained, "sustained rate", f.Bucket.Rate)
		if f.Bucket.Bytes > 0 && f.Bucket.Rate.Certain() {
			r.Metrics[measure.BucketSize] = f.Bucket.Bytes
		}
	}
	if study.Goal.Free {
		c.file(measure.Available, "available bandwidth", f.Free)
	}
	return nil
}

// file files a rate where it is certain, and says why else.
func (c *capacityRun) file(m measure.Metric, name string, e dispersion.Estimate) {
	if e.Certain() {
		c.result.Metrics[m] = e.BitsPerSecond
	}
	c.doubt(name, e)
}

func (c *capacityRun) doubt(name string, e dispersion.Estimate) {
	switch {
	case e.Certain():
	case !e.Known():
		c.result.Note("the " + name + " is not known: " + inWords(e.Doubt))
	default:
		c.result.Note("the " + name + " is uncertain, " + quantity.FormatRate(e.Low) + " to " + quantity.FormatRate(e.High) + ": " + string(e.Doubt))
	}
}

// inWords is a doubt in words, also where nothing was tried.
func inWords(d dispersion.Doubt) string {
	if d == "" {
		return "nothing was sent that tells"
	}
	return string(d)
}

// pathCapacity are the findings as a Result has them.
func pathCapacity(f dispersion.Findings, study *dispersion.Study) *measure.PathCapacity {
	c := &measure.PathCapacity{Capacity: rateEstimate(f.Capacity.Estimate), AsymptoticBitsPerSecond: f.Capacity.Asymptotic, Modes: []measure.RateMode{}}
	if s, near := dispersion.Nearest(f.Capacity.BitsPerSecond, study.Size); near {
		c.Standard = s.Name
	}
	for _, m := range f.Capacity.Modes {
		c.Modes = append(c.Modes, measure.RateMode{BitsPerSecond: m.Value, Share: m.Share})
	}
	if f.Bucket.Known() {
		c.Bucket = &measure.TokenBucket{Rate: rateEstimate(f.Bucket.Rate), Bytes: f.Bucket.Bytes, Drops: f.Bucket.Drops}
	}
	if study.Goal.Free {
		c.Available = new(rateEstimate(f.Free))
	}
	for _, s := range f.Streams {
		c.Streams = append(c.Streams, measure.StreamSample{BitsPerSecond: s.Rate, Strain: s.Strain, Loss: s.Lost, Seconds: s.Seconds})
	}
	return c
}

func rateEstimate(e dispersion.Estimate) measure.RateEstimate {
	return measure.RateEstimate{BitsPerSecond: e.BitsPerSecond, Low: e.Low, High: e.High, Certain: e.Certain(), Doubt: string(e.Doubt)}
}

// trainSamples are trains as a Result has them.
func trainSamples(trains []dispersion.Train) (all []measure.Train) {
	for _, t := range trains {
		s := measure.Train{SentPackets: t.Sent, ReceivedPackets: len(t.Packets), BitsPerSecond: dispersion.NarrowestLink([]dispersion.Train{t}).BitsPerSecond}
		if n := len(t.Packets); n > 0 {
			s.DispersionSeconds = float64(t.Packets[n-1].At-t.Packets[0].At) / 1e9
		}
		all = append(all, s)
	}
	return all
}
