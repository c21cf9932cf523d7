package chance

import (
	"testing"

	"github.com/pathwise-net/pathwise/lab/notation"
)

// sink keeps what is measured from being left out.
var sink int64

func BenchmarkLoss(b *testing.B) {
	for name, l := range map[string]*Loss{
		"ratio":   Independent(0.01),
		"gilbert": {Gilbert: &Gilbert{Ratio: 0.01, Burst: 5}},
		"every":   {Every: 100},
		"size":    {LargerThan: 1300},
		"window":  {Period: 10e9, For: 200e6},
		"three":   {Any: []Loss{*Independent(0.01), {LargerThan: 1600}, {Every: 100}}},
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			p := l.New(0, seeded(0))
			for i := range b.N {
				if p.Lost(int64(i)*8000, 1500) {
					sink++
				}
			}
		})
	}
}

func BenchmarkJitter(b *testing.B) {
	for name, test := range jitters {
		for _, correlation := range []notation.Ratio{0, 0.25} {
			b.Run(name+"/"+correlation.String(), func(b *testing.B) {
				b.ReportAllocs()
				jitter := test.jitter
				jitter.Correlation = correlation
				p := jitter.New(seeded(0))
				for range b.N {
					sink += p.Extra(0)
				}
			})
		}
	}
}

func BenchmarkShare(b *testing.B) {
	b.ReportAllocs()
	p := (&Share{Ratio: 0.01, Correlation: 0.2}).New(seeded(0))
	for range b.N {
		if p.Hit() {
			sink++
		}
	}
}

func BenchmarkReorder(b *testing.B) {
	for name, o := range map[string]*Reorder{"ratio": {Ratio: 0.02}, "gap": {Gap: 5}} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			p := o.New(seeded(0))
			for range b.N {
				sink += p.Extra()
			}
		})
	}
}

func BenchmarkOutage(b *testing.B) {
	for name, o := range map[string]*Outage{
		"link":       &minutely,
		"idle":       {Idle: 30e9, MTTR: Times{5e9}},
		"connection": perConnection(),
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			p := o.New(0, seeded(0))
			for i := range b.N {
				if p.Down(int64(i)*8000, uint64(i%1000)) {
					sink++
				}
			}
		})
	}
}

func BenchmarkDrift(b *testing.B) {
	for _, shape := range driftShapes {
		b.Run(string(shape), func(b *testing.B) {
			b.ReportAllocs()
			p := (&Drift{Amplitude: 5e6, Period: 5400e9, Shape: shape}).New(0)
			for i := range b.N {
				sink += p.Extra(int64(i) * 8000)
			}
		})
	}
}

func BenchmarkCreep(b *testing.B) {
	b.ReportAllocs()
	p := (&Creep{By: 10e6, Over: 300e9}).New(0)
	for i := range b.N {
		sink += p.Extra(int64(i) * 8000)
	}
}
