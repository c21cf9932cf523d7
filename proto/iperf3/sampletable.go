package iperf3

import (
	"math"
	"slices"
)

// SampleTable holds TCP_INFO samples column by column: a row is stream, elapsed seconds, then a value for each name,
// null where the kernel reported none.
type SampleTable struct {
	Names []string     `json:"names"`
	Rows  [][]*float64 `json:"rows"`
}

// Sample is one reading of TCP_INFO at one end of one stream.
type Sample struct {
	Stream  int     // index from 1
	Sender  bool    // whether this end sends on the stream
	Elapsed float64 // seconds since the end's data phase began
	Values  map[string]float64
}

// Bounds on a peer's extras: a hostile text must not become large structures.
const (
	maxSampleValues = 20_000 // some 200 KB of JSON
	maxExtraNotes   = 100
	maxValue        = 1e18 // beyond any counter's use; products of two stay finite
)

// NewSampleTable arranges samples as a table. Past maxSampleValues it keeps every second, fourth… row of each stream.
func NewSampleTable(samples []Sample) *SampleTable {
	if len(samples) == 0 {
		return nil
	}
	names := map[string]bool{}
	for _, s := range samples {
		for name := range s.Values {
			names[name] = true
		}
	}
	t := &SampleTable{}
	for name := range names {
		t.Names = append(t.Names, name)
	}
	slices.Sort(t.Names)
	step := 1
	for len(samples)/step*(len(t.Names)+2) > maxSampleValues {
		step *= 2
	}
	seen := map[int]int{}
	for _, s := range samples {
		seen[s.Stream]++
		if (seen[s.Stream]-1)%step == 0 {
			t.Rows = append(t.Rows, t.row(s))
		}
	}
	return t
}

func (t *SampleTable) row(s Sample) []*float64 {
	stream, elapsed := float64(s.Stream), math.Round(s.Elapsed*1e6)/1e6
	row := append(make([]*float64, 0, 2+len(t.Names)), &stream, &elapsed)
	for _, name := range t.Names {
		if v, ok := s.Values[name]; ok {
			row = append(row, &v)
		} else {
			row = append(row, nil)
		}
	}
	return row
}

// Samples turns the table back into samples. Rows that do not fit the names are left out.
func (t *SampleTable) Samples(sender func(stream int) bool) []Sample {
	if t == nil {
		return nil
	}
	out := make([]Sample, 0, len(t.Rows))
	for _, row := range t.Rows {
		if len(row) != 2+len(t.Names) || row[0] == nil || row[1] == nil {
			continue
		}
		s := Sample{Stream: int(*row[0]), Elapsed: *row[1], Values: make(map[string]float64, len(t.Names))}
		s.Sender = sender(s.Stream)
		for i, v := range row[2:] {
			if v != nil && math.Abs(*v) <= maxValue {
				s.Values[t.Names[i]] = *v
			}
		}
		out = append(out, s)
	}
	return out
}
