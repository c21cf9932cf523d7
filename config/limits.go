package config

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"

	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/quantity"
)

// The kinds of probe that budgets know something of.
const (
	kindThroughput = "throughput" // it can be held to a rate and to a number of bytes
	kindCapacity   = "capacity"
)

// Daily is what a budget allows in a day in bytes, over links of that rate together; 0: all.
func (b Budget) Daily(rate float64) float64 { return lower(b.BytesPerDay, b.Share*rate*daySeconds/8) }

// BitsPerSecond is the rate of all of a host's interfaces together, as far as it is known.
func (h *Host) BitsPerSecond() (sum float64) {
	for _, part := range h.Interfaces {
		sum += part.BitsPerSecond
	}
	return sum
}

// budgeted is something with a budget that a leg uses.
type budgeted struct {
	kind, name string // host or site
	Budget
}

// budgets returns the budgets of both hosts of a leg, and of the sites whose links it crosses. BytesPerDay of each is all that is
// allowed in a day.
func (m *Mesh) budgets(leg Leg) []budgeted {
	if leg.Source == leg.Target {
		return nil
	}
	var all []budgeted
	add := func(kind, name string, b Budget, rate float64) {
		if b != (Budget{}) {
			all = append(all, budgeted{kind, name, Budget{b.Daily(rate), b.BitsPerSecond, 0}})
		}
	}
	for _, i := range []int{leg.Source, leg.Target} {
		add("host", m.Hosts[i].Name, m.Hosts[i].Budget, m.Hosts[i].BitsPerSecond())
	}
	for _, i := range m.crossed(leg.Source, leg.Target) {
		if i >= 0 {
			add("site", m.Sites[i].Name, m.Sites[i].Budget, m.Sites[i].BitsPerSecond)
		}
	}
	return all
}

// Daily says whether anybody has a budget of a day's bytes.
func (m *Mesh) Daily() bool {
	return slices.ContainsFunc(m.Hosts, func(h Host) bool { return h.Budget.Daily(h.BitsPerSecond()) > 0 }) ||
		slices.ContainsFunc(m.Sites, func(s Site) bool { return s.Budget.Daily(s.BitsPerSecond) > 0 })
}

// DailyLimit is what somebody may move in a day.
type DailyLimit struct {
	Whose string // "host NAME" or "site NAME"
	Bytes float64
}

// LimitDaily is the Limit of a Denial by a DailyLimit: the name that such a budget has in the mesh file.
const LimitDaily = "daily"

// Denies says why a test may not have so many bytes of today, of which so many are taken; nil: it may.
func (l DailyLimit) Denies(bytes, taken float64) *Denial {
	left := l.Bytes - taken
	if bytes <= left {
		return nil
	}
	size := func(bytes float64) string { return quantity.FormatSize(int64(max(0, bytes))) }
	return &Denial{Limit: LimitDaily, Value: size(bytes), Later: true, Want: fmt.Sprintf(
		"at most %s until midnight UTC: %s may move %s a day, of which %s are taken", size(left), l.Whose, size(l.Bytes), size(taken))}
}

// DailyLimits are those that hold for what is moved between two hosts.
func (m *Mesh) DailyLimits(source, target int) (limits []DailyLimit) {
	for _, b := range m.budgets(Leg{Source: source, Target: target}) {
		if b.BytesPerDay > 0 {
			limits = append(limits, DailyLimit{b.kind + " " + b.name, b.BytesPerDay})
		}
	}
	return limits
}

// limits are the strictest of what budgets allow a leg.
func (m *Mesh) limits(leg Leg) (least Budget) {
	for _, b := range m.budgets(leg) {
		least = least.least(b.Budget)
	}
	return least
}

// Beyond returns a budget that one run of such a need breaks, and whose it is; "" if none does.
func (m *Mesh) Beyond(leg Leg, need measure.Demand) (whose string, x Excess) {
	const rounding = 1 + 1e-9
	for _, b := range m.budgets(leg) {
		for _, x := range []Excess{{"daily", b.BytesPerDay, need.Bytes}, {"rate", b.BitsPerSecond, need.BitsPerSecond}} {
			if x.Limit > 0 && x.Value > x.Limit*rounding {
				return b.name, x
			}
		}
	}
	return "", Excess{}
}

const (
	// usualPayload is of a full frame of TCP with time stamps over IPv6, the least that a full one carries.
	usualPayload = 1428
	// frameBytes is what a segment or datagram takes beside its payload at most, in both directions: Ethernet's framing (38),
	// IPv6 (40), TCP with time stamps (32), and half of such a frame for acknowledgements, rounded up.
	frameBytes = 170
)

// OnWire is what a transfer takes of a link in bytes that moves so much payload.
func OnWire(parameters map[string]any, payload float64) float64 {
	return payload / payloadShare(parameters)
}

// payloadShare is how much of what a transfer takes of a link is payload, at least.
func payloadShare(parameters map[string]any) float64 {
	payload := float64(usualPayload)
	if v, given := numberOf(parameters, "mss", strconv.Atoi); given {
		payload = float64(v) - 12 // time stamps
	}
	if v, given := numberOf(parameters, "length", quantity.ParseSize); given && parameters["proto"] == "udp" {
		payload = float64(v)
	}
	return payload / (payload + frameBytes)
}

// numberOf reads a parameter, which may be a number or a text.
func numberOf[T int | int64 | float64](parameters map[string]any, name string, parse func(string) (T, error)) (v T, given bool) {
	switch p := parameters[name].(type) {
	case float64:
		return T(p), true
	case string:
		v, err := parse(p)
		return v, err == nil
	}
	return 0, false
}

// pace holds the rate of a transfer to what budgets allow, all its streams and headers together.
func (m *Mesh) pace(task *measure.Task, leg Leg) {
	limit := m.limits(leg).BitsPerSecond
	if limit == 0 || task.Kind != kindThroughput {
		return
	}
	streams, _ := numberOf(task.Parameters, "parallel", strconv.Atoi)
	most := math.Floor(limit * payloadShare(task.Parameters) / float64(max(1, streams)))
	rate, given := numberOf(task.Parameters, "rate", quantity.ParseRate)
	if !given && task.Parameters["proto"] == "udp" || given && rate <= most && rate > 0 {
		return // UDP has a low rate of its own
	}
	setParameter(task, "rate", most)
}

// Shorten ends a transfer once it has moved what it is reckoned to move, if there is a budget for the day: a path may
// carry more than was thought.
func (m *Mesh) Shorten(task *measure.Task, leg Leg, need measure.Demand) {
	if task.Kind != kindThroughput || m.limits(leg).BytesPerDay == 0 {
		return
	}
	most := need.Bytes * payloadShare(task.Parameters)
	if task.Parameters["bidir"] == true {
		most /= 2
	}
	if bytes, given := numberOf(task.Parameters, "bytes", quantity.ParseSize); !given || bytes == 0 || float64(bytes) > most {
		setParameter(task, "bytes", math.Max(1, math.Floor(most)))
	}
}

// setParameter sets a parameter of one task, whose tool may share them with others.
func setParameter(task *measure.Task, name string, v any) {
	task.Parameters = maps.Clone(task.Parameters)
	if task.Parameters == nil {
		task.Parameters = map[string]any{}
	}
	task.Parameters[name] = v
}
