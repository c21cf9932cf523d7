package main

import (
	"encoding/hex"
	"fmt"
	"io"
	"net"
	"time"

	"github.com/oklog/ulid/v2"
	"github.com/spf13/cobra"

	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/probe"
)

// textFormat writes a Result for people, or for programs that read what another tool prints.
type textFormat func(io.Writer, *measure.Result)

// textFormats are those that a kind of probe has beside its own, by name.
var textFormats = map[string]map[string]textFormat{"owd": {"owping": owpingText}}

// ownFormat is the name of a kind's own.
const ownFormat = "text"

// addFormat gives a kind that has formats a flag to choose one.
func addFormat(c *cobra.Command, kind string) (chosen *string) {
	chosen = new(ownFormat)
	if textFormats[kind] != nil {
		c.Flags().StringVar(chosen, "format", ownFormat, "text, or owping: as owping prints it")
	}
	return chosen
}

// formatOf is a format of a kind by its name.
func formatOf(kind, name string) (textFormat, error) {
	if name == ownFormat {
		return probe.WriteText, nil
	}
	if f := textFormats[kind][name]; f != nil {
		return f, nil
	}
	return nil, badFlag("format", fmt.Errorf("%q: give text or owping", name))
}

// owpingText writes a Result as owping does, for scripts that read that: forward, then reverse.
func owpingText(w io.Writer, r *measure.Result) {
	near, far := net.JoinHostPort(r.Source.Address, "0"), r.Target.Address
	if port, known := r.Number("port"); known {
		far = net.JoinHostPort(far, fmt.Sprint(port))
	}
	owpingWay(w, r, measure.Forward, near, far, measure.HopCount)
	owpingWay(w, r, measure.Reverse, far, near, measure.ReverseHopCount)
}

// owpingTime is how owping writes a time: in UTC, to the millisecond.
const owpingTime = "2006-01-02T15:04:05.000"

func owpingWay(w io.Writer, r *measure.Result, way, from, to string, hops measure.Metric) {
	m := r.Metrics
	sid := r.ID
	if id, err := ulid.ParseStrict(r.ID); err == nil {
		sid = hex.EncodeToString(id.Bytes())
	}
	sent, lost, duplicates := m[measure.SentPackets], m[measure.LostPackets], m[measure.DuplicatePackets]
	if n, known := r.Get(measure.SentOn(way)); known {
		sent, lost, duplicates = n, m[measure.LostOn(way)], m[measure.DuplicateOn(way)]
	}
	last := r.Started
	if echoes := r.Samples.Echoes; len(echoes) > 0 {
		last = last.Add(time.Duration(echoes[len(echoes)-1].SentSeconds * float64(time.Second)))
	}
	fmt.Fprintf(w, "\n--- owping statistics from [%s] to [%s] ---\n", from, to)
	fmt.Fprintf(w, "SID:\t%s\nfirst:\t%s\nlast:\t%s\n", sid, r.Started.UTC().Format(owpingTime), last.UTC().Format(owpingTime))
	fmt.Fprintf(w, "%.0f sent, %.0f lost (%.3f%%), %.0f duplicates\n", sent, lost, 100*lost/max(1, sent), duplicates)
	if _, any := r.Get(measure.OneWay(way, "min")); !any {
		return
	}
	const ms = 1000
	fmt.Fprintf(w, "one-way delay min/median/max = %.3g/%.3g/%.3g ms, (err=%.3g ms)\n", ms*m[measure.OneWay(way, "min")],
		ms*m[measure.OneWay(way, "median")], ms*m[measure.OneWay(way, "max")], ms*m[measure.OneWayError])
	fmt.Fprintf(w, "one-way jitter = %.3g ms (P95-P50)\n", ms*m[measure.OneWaySpread(way)])
	if n, known := r.Get(hops); known {
		fmt.Fprintf(w, "hops = %.0f (consistently)\n", n-1)
	} else {
		fmt.Fprintln(w, "TTL not reported")
	}
	if m[measure.ReorderedOn(way)] == 0 {
		fmt.Fprintln(w, "no reordering")
		return
	}
	fmt.Fprintf(w, "%f%% reordered, %.0f-reordering at most\n", 100*m[measure.ReorderedOn(way)]/max(1, sent-lost), m[measure.DegreeOn(way)])
}
