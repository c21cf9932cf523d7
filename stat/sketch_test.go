package stat

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

var sameSketch = cmp.Options{
	cmp.AllowUnexported(Sketch{}, sketchBin{}), cmpopts.EquateEmpty(),
}

func sketchOf(values ...float64) *Sketch {
	s := new(Sketch)
	for _, v := range values {
		s.Add(v)
	}
	return s
}

// Quantiles must be those of the values, to 1 %, for what metrics look like: delays, rates, ratios, offsets of clocks.
func TestSketchAgreesWithQuantile(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	shapes := map[string]func() float64{
		"delays":       func() float64 { return 0.04 + 0.005*random.ExpFloat64() },
		"rates":        func() float64 { return 1e9 * random.Float64() },
		"ratios":       func() float64 { return max(0, random.NormFloat64()) / 10 },
		"offsets":      func() float64 { return random.NormFloat64() },
		"below zero":   func() float64 { return -random.ExpFloat64() },
		"magnitudes":   func() float64 { return math.Exp(1300*random.Float64() - 650) },
		"packets":      func() float64 { return float64(random.IntN(11)) },
		"always 1500":  func() float64 { return 1500 },
		"mostly zeros": func() float64 { return math.Floor(1.01 * random.Float64()) },
	}
	for name, draw := range shapes {
		values := make([]float64, 10000)
		var whole, odd, even Sketch
		var sum float64
		for i := range values {
			values[i] = draw()
			sum += values[i]
			whole.Add(values[i])
			if i%2 == 1 {
				odd.Add(values[i])
			} else {
				even.Add(values[i])
			}
		}
		slices.Sort(values)
		for _, q := range []float64{0, 0.001, 0.25, 0.5, 0.95, 0.99, 0.999, 1} {
			want, got := Quantile(values, q), whole.Quantile(q)
			if !(math.Abs(got-want) <= SketchError*math.Abs(want)*(1+1e-9)) {
				t.Errorf("%s: Quantile(%v) = %v, want %v within 1 %%", name, q, got, want)
			}
		}
		if whole.Count() != 10000 || whole.Min() != values[0] || whole.Max() != values[9999] || whole.Sum() != sum {
			t.Errorf("%s: count %d min %v max %v sum %v", name, whole.Count(), whole.Min(), whole.Max(), whole.Sum())
		}
		var other Sketch
		other.Merge(&even)
		other.Merge(&odd)
		odd.Merge(&even)
		if diff := cmp.Diff(&odd, &other, sameSketch); diff != "" {
			t.Errorf("%s: merging is not commutative (-one way +the other):\n%s", name, diff)
		}
		exact := cmp.Options{sameSketch, cmpopts.IgnoreFields(Sketch{}, "sum")}
		if diff := cmp.Diff(&whole, &odd, exact); diff != "" ||
			math.Abs(odd.Sum()-sum) > 1e-12*float64(10000)*max(-odd.Min(), odd.Max()) {
			t.Errorf("%s: two halves merged differ from the whole (-whole +merged):\n%s", name, diff)
		}
	}
}

func TestSketchEnds(t *testing.T) {
	var s Sketch
	for _, v := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		if s.Add(v) {
			t.Errorf("%v was taken for a value", v)
		}
	}
	for name, v := range map[string]float64{"min": s.Min(), "max": s.Max(), "mean": s.Mean(), "median": s.Quantile(0.5)} {
		if !math.IsNaN(v) {
			t.Errorf("%s of nothing is %v, want NaN", name, v)
		}
	}
	if s.Count() != 0 || s.Sum() != 0 {
		t.Errorf("nothing has count %d, sum %v", s.Count(), s.Sum())
	}
	for _, v := range []float64{0, 1, -1, 1500, 0.1, math.MaxFloat64, -math.MaxFloat64, math.SmallestNonzeroFloat64} {
		one := sketchOf(v)
		one.Merge(&s)
		if one.Min() != v || one.Max() != v || one.Mean() != v || one.Quantile(0.5) != v || one.Count() != 1 {
			t.Errorf("one value of %v: %+v", v, one)
		}
	}
}

// What is kept by the million must be small, and every form must read back as it was.
func TestSketchSize(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	hour := new(Sketch)
	for range 60 {
		hour.Add(0.04 + 0.002*random.ExpFloat64())
	}
	cases := []struct {
		name   string
		sketch *Sketch
		most   int
	}{
		{"nothing", new(Sketch), 1},
		{"zero", sketchOf(0), 2},
		{"ten packets", sketchOf(10), 4},
		{"a third", sketchOf(1.0 / 3), 10},
		{"1500 three times", sketchOf(1500, 1500, 1500), 6},
		{"0.1 ten times", sketchOf(0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1), 40}, // the sum is not 1
		{"two", sketchOf(2, -2), 5},
		{"signs", sketchOf(-5, 0, 0, 5, 6), 25},
		{"the largest", sketchOf(math.MaxFloat64, math.MaxFloat64, math.MaxFloat64), 12},
		{"an hour of delays", hour, 60},
	}
	for _, c := range cases {
		data := c.sketch.AppendBinary(nil)
		if c.sketch.Count() == 1 && string(data) != string(AppendSketchOf(nil, c.sketch.Min())) {
			t.Errorf("%s: AppendSketchOf writes %x, AppendBinary %x", c.name, AppendSketchOf(nil, c.sketch.Min()), data)
		}
		if len(data) > c.most {
			t.Errorf("%s takes %d bytes, want at most %d", c.name, len(data), c.most)
		}
		got := sketchOf(99, -99) // what it held must not matter
		count, sum, totalsErr := SketchTotals(data)
		if totalsErr != nil || count != c.sketch.Count() || sum != c.sketch.Sum() {
			t.Errorf("%s: totals %d, %v, %v", c.name, count, sum, totalsErr)
		}
		rest, err := got.DecodeBinary(append(data, 'x'))
		if err != nil || string(rest) != "x" {
			t.Errorf("%s: rest %q, error %v", c.name, rest, err)
		}
		if diff := cmp.Diff(c.sketch, got, sameSketch); diff != "" {
			t.Errorf("%s: reads back differently (-written +read):\n%s", c.name, diff)
		}
		for i := range data {
			if _, err := got.DecodeBinary(data[:i]); err == nil {
				t.Errorf("%s: cut to %d of %d bytes it still reads", c.name, i, len(data))
			}
		}
	}
}

// Whatever the bytes say, reading ends, takes little memory and yields something that can be used and written again.
func FuzzSketch(f *testing.F) {
	f.Add(sketchOf().AppendBinary(nil), sketchOf(1).AppendBinary(nil))
	f.Add(sketchOf(1, 2, 3, -4, 0).AppendBinary(nil), sketchOf(5, 5, 5).AppendBinary(nil))
	f.Add(sketchOf(1, 2).AppendBinary(nil), sketchOf(math.MaxFloat64, -math.SmallestNonzeroFloat64, 0).AppendBinary(nil))
	f.Add([]byte{sketchFull, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1}, []byte{sketchSame, 0, 0})
	f.Fuzz(func(t *testing.T, one, two []byte) {
		var a, b Sketch
		if _, err := a.DecodeBinary(one); err != nil {
			if a.Count() != 0 {
				t.Fatalf("an error left %d values behind", a.Count())
			}
			return
		}
		if n, sum, err := SketchTotals(one); err == nil && n == a.Count() && sum != a.Sum() && one[0] != sketchFull {
			t.Fatalf("its totals are %d and %v, want %v", n, sum, a.Sum())
		}
		var again Sketch
		if rest, err := again.DecodeBinary(a.AppendBinary(nil)); err != nil || len(rest) != 0 {
			t.Fatalf("what was read cannot be written: %v", err)
		}
		if diff := cmp.Diff(&a, &again, sameSketch, cmpopts.EquateNaNs()); diff != "" {
			t.Fatalf("reads back differently:\n%s", diff)
		}
		if _, err := b.DecodeBinary(two); err != nil {
			return
		}
		a.Quantile(0.5)
		a.Merge(&b)
		b.Merge(&again)
		if diff := cmp.Diff(&a, &b, sameSketch); diff != "" {
			t.Fatalf("merging is not commutative:\n%s", diff)
		}
	})
}

func BenchmarkSketchAdd(b *testing.B) {
	random := rand.New(rand.NewPCG(5, 6))
	values := make([]float64, 4096)
	for i := range values {
		values[i] = 0.04 + 0.005*random.ExpFloat64()
	}
	s := new(Sketch)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		s.Add(values[i%len(values)])
	}
}

func BenchmarkSketchDecodeAndMerge(b *testing.B) {
	random := rand.New(rand.NewPCG(5, 6))
	hour := new(Sketch)
	for range 60 {
		hour.Add(0.04 + 0.002*random.ExpFloat64())
	}
	data := hour.AppendBinary(nil)
	var one, all Sketch
	b.ReportAllocs()
	for b.Loop() {
		if _, err := one.DecodeBinary(data); err != nil {
			b.Fatal(err)
		}
		all.Merge(&one)
	}
}

// Copies of a sketch merge as its values many times over would.
func TestSketchMergeTimes(t *testing.T) {
	want, got, other := new(Sketch), new(Sketch), new(Sketch)
	for _, v := range []float64{-2, 0, 1, 7} {
		want.Add(v)
		got.Add(v)
	}
	for _, v := range []float64{-2, 0, 0, 3, 8, 9} {
		other.Add(v)
		for range 5 {
			want.Add(v)
		}
	}
	got.MergeTimes(other, 5)
	got.MergeTimes(other, 0)
	got.MergeTimes(new(Sketch), 5)
	if diff := cmp.Diff(string(want.AppendBinary(nil)), string(got.AppendBinary(nil))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// The median of a sketch is that of its values, the mean of the middle two where they are even.
func TestSketchMedian(t *testing.T) {
	for _, values := range [][]float64{{3}, {1, 3}, {1, 2, 9}, {1, 2, 30, 40}, {-5, -4, 0, 100, 200, 300}} {
		var s Sketch
		for _, v := range values {
			s.Add(v)
		}
		if want, got := Median(values), s.Median(); math.Abs(got-want) > 1.01*SketchError*math.Abs(want) {
			t.Errorf("of %v: %v, want %v", values, got, want)
		}
	}
	if got := new(Sketch).Median(); !math.IsNaN(got) {
		t.Errorf("of nothing: %v", got)
	}
}

// Sketches merge to that of all their values, whatever bins they have in common.
func TestSketchMergesLikeOne(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 8))
	shapes := []func() float64{
		func() float64 { return 0.04 + 0.005*random.ExpFloat64() },
		func() float64 { return 0.04 },
		func() float64 { return random.NormFloat64() },
		func() float64 { return math.Floor(3 * random.Float64()) },
		func() float64 { return math.Exp(1400*random.Float64() - 700) },
	}
	for round := range 500 {
		var whole, merged, part, read Sketch
		for range 1 + random.IntN(12) {
			part.Reset()
			draw := shapes[(round+random.IntN(2)*random.IntN(len(shapes)))%len(shapes)]
			for range random.IntN(40) {
				v := draw()
				part.Add(v)
				whole.Add(v)
			}
			if _, err := read.DecodeBinary(part.AppendBinary(nil)); err != nil {
				t.Fatal(err)
			}
			merged.Merge(&read)
		}
		if diff := cmp.Diff(&whole, &merged, sameSketch, cmpopts.IgnoreFields(Sketch{}, "sum")); diff != "" {
			t.Fatalf("(-whole +merged):\n%s", diff)
		}
	}
}
