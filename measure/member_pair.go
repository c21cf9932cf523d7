package measure

import (
	"crypto/sha256"
	"fmt"

	"github.com/oklog/ulid/v2"
)

// KindMemberPair is the kind of Results that say of two members of a group what one received of the other.
const KindMemberPair = "beacon-pair"

// PairResult is what a member's Result says of what it received of another one, as a Result from that member to this one, under an ID that follows from
// both: however often it is made, it is filed once. pair is of the Result's samples, and its receiver is who made it; sender is its other end.
func (r *Result) PairResult(pair *MemberPair, sender Endpoint) *Result {
	p := NewResult(KindMemberPair, r.Started)
	p.ID = idOf(r.ID, sender.Name)
	p.Test, p.Tool, p.Role, p.Parameters, p.Clock = r.Test, r.Tool, r.Role, r.Parameters, r.Clock
	p.Source, p.Target, p.DurationSeconds = sender, r.Source, r.DurationSeconds
	p.Metrics = pair.Metrics()
	if !pair.Final {
		p.Note("the figures are not final: more probes may change them")
	}
	return p
}

// Metrics are what a pair is, under the names that such quantities have of other measurements. The way is from sender to receiver.
func (p *MemberPair) Metrics() map[Metric]float64 {
	lost := p.Sent - p.Received
	m := map[Metric]float64{SentPackets: float64(p.Sent), ReceivedPackets: float64(p.Received), LostPackets: float64(lost),
		DuplicatePackets: float64(p.Duplicates), ReorderedPackets: float64(p.Reordered),
		SentOn(Forward): float64(p.Sent), LostOn(Forward): float64(lost), LossBurstOn(Forward): float64(p.BurstMax),
		DuplicateOn(Forward): float64(p.Duplicates), ReorderedOn(Forward): float64(p.Reordered), ExtentOn(Forward): float64(p.ExtentMax)}
	if p.Sent > 0 {
		m[LossRatio] = float64(lost) / float64(p.Sent)
		m[LossOn(Forward)] = m[LossRatio]
	}
	for name, v := range map[Metric]*float64{OneWay(Forward, "min"): p.DelayMinSeconds, OneWay(Forward, "median"): p.DelayMedianSeconds,
		OneWay(Forward, "p95"): p.DelayP95Seconds, PDVP95(Forward): p.PDVP95Seconds, IPDVP95(Forward): p.IPDVP95Seconds, OneWayError: p.ClockErrorSeconds} {
		if v != nil {
			m[name] = *v
		}
	}
	if p.HopsMin != nil {
		m[HopCount] = float64(*p.HopsMin + 1) // routers, and the receiver
	}
	return m
}

// idOf returns the ID of a part of a Result: of its time, the rest is drawn from both names. A Result without a ULID has no parts of their own.
func idOf(id, part string) string {
	whole, err := ulid.ParseStrict(id)
	if err != nil {
		return id
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "%s part %s", id, part))
	var u ulid.ULID
	_ = u.SetTime(whole.Time()) // it was the time of one
	_ = u.SetEntropy(sum[:10])
	return u.String()
}
