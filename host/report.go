package host

import (
	"cmp"
	"context"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/pathwise-net/pathwise/quantity"
)

// Ask is what a machine is audited for. Zero fields are found out, or assumed.
type Ask struct {
	To       netip.Addr    // where packets are to go; none: the default route
	Rate     float64       // bit/s; 0: that of the link on the way
	RTT      time.Duration // 0: what the kernel remembers of earlier connections there
	Only     []string      // IDs of Items; none: all
	Interval time.Duration // between two readings of the counters
}

// Need is what was asked for, or is assumed where nothing was.
func (a Ask) Need() Need { return Need{cmp.Or(a.Rate, assumedRate), cmp.Or(a.RTT, assumedRTT)} }

// Assumed where neither a caller nor the machine says: the commonest link of a host, and a round trip across a continent.
const (
	assumedRate = 1e9
	assumedRTT  = 50 * time.Millisecond
)

// Report is an audit as it is printed and kept.
type Report struct {
	Schema     string       `json:"schema"`
	Host       string       `json:"host"`
	Kernel     string       `json:"kernel"`
	Rate       float64      `json:"rate_bits_per_second"`
	RateFrom   string       `json:"rate_from"`
	RTTSeconds float64      `json:"rtt_seconds"`
	RTTFrom    string       `json:"rtt_from"`
	Interface  string       `json:"interface,omitempty"` // that packets take
	Source     netip.Addr   `json:"source_address,omitzero"`
	Verdict    Status       `json:"verdict"`
	Checks     []Check      `json:"checks"`
	DiskRates  []DiskRate   `json:"disk_rates,omitempty"`   // where they were asked for
	Crypto     []CipherRate `json:"crypto_rates,omitempty"` // of one core, where they were asked for
	Missing    []string     `json:"missing,omitempty"`      // what could not be read, and why
}

// Schema names the document that a Report is.
const Schema = "pathwise.host/1"

// Audit reads a machine and judges it.
func (s System) Audit(ctx context.Context, ask Ask) (*Report, error) {
	f, err := s.Read(ctx, ask.To, ask.Interval)
	if err != nil {
		return nil, err
	}
	return f.report(ask), nil
}

func (f *Facts) report(ask Ask) *Report {
	need, rateFrom, rttFrom := f.need(ask)
	r := &Report{Schema: Schema, Host: f.Name, Kernel: f.Kernel, Rate: need.Rate, RateFrom: rateFrom, RTTSeconds: need.RTT.Seconds(),
		RTTFrom: rttFrom, Interface: f.Network.Way.Interface, Source: f.source(), Checks: Judge(f, need),
		DiskRates: f.DiskRates, Crypto: f.Transfer, Missing: f.Missing}
	if len(ask.Only) > 0 {
		r.Checks = slices.DeleteFunc(r.Checks, func(c Check) bool { return !slices.Contains(ask.Only, c.ID) })
	}
	r.Verdict = Worst(r.Checks)
	return r
}

// Summary counts what was found, such as "1 problem and 8 warnings in 60 checks, of which 2 could not be read".
func (r *Report) Summary() string {
	count := map[Status]int{}
	for _, c := range r.Checks {
		count[c.Status]++
	}
	text := fmt.Sprintf("%s and %s in %s", quantity.FormatCount(count[Problem], "problem"), quantity.FormatCount(count[Warning], "warning"), quantity.FormatCount(len(r.Checks), "check"))
	if n := count[Unknown]; n > 0 {
		text += fmt.Sprintf(", of which %d could not be read", n)
	}
	return text
}

// Assumes says what of the rate and the round trip is assumed, which problems of buffers rest on; "": nothing is.
func (r *Report) Assumes() string {
	var what []string
	if strings.HasPrefix(r.RateFrom, assumed) {
		what = append(what, "rate")
	}
	if strings.HasPrefix(r.RTTFrom, assumed) {
		what = append(what, "round trip")
	}
	return strings.Join(what, " and ")
}

// Bears says in a sentence whether what is found holds transfers back now.
func (r *Report) Bears(s Status) string {
	if s == Problem {
		return fmt.Sprintf("It can hold back transfers of %s over %s; a diagnosis says whether it does.", quantity.FormatRate(r.Rate),
			quantity.FormatSeconds(r.RTTSeconds))
	}
	return "It is no sign by itself that a transfer is held back now."
}

// assumed begins what says where a rate or a round trip is from that nobody told.
const assumed = "assumed"

// need is what a machine is to carry, and where each half of that comes from.
func (f *Facts) need(ask Ask) (n Need, rateFrom, rttFrom string) {
	n, rateFrom, rttFrom = Need{ask.Rate, ask.RTT}, "as asked", "as asked"
	if n.Rate == 0 {
		if l, is := f.onWay(); is && l.Speed > 0 {
			n.Rate, rateFrom = l.Speed, "speed of "+l.Name
		} else {
			n.Rate, rateFrom = assumedRate, assumed+": no link says its speed"
		}
	}
	if n.RTT == 0 {
		if m := f.Network.Way.Remembered; m != nil && m.RTT > 0 {
			n.RTT, rttFrom = m.RTT, "of earlier connections there"
		} else {
			n.RTT, rttFrom = assumedRTT, assumed
		}
	}
	return n, rateFrom, rttFrom
}

// source is the address that packets on the way come from.
func (f *Facts) source() netip.Addr {
	if a := f.Network.Way.Source; a.IsValid() {
		return a
	}
	if l, is := f.onWay(); is && len(l.Addresses) > 0 {
		return l.Addresses[0].Addr()
	}
	return netip.Addr{}
}
