package stat

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Every value must fall into a bucket that stands for it within 1/128, at every edge where the buckets change.
func TestHistogramBuckets(t *testing.T) {
	var edges []int64
	for shift := range 63 {
		low := int64(1) << shift
		edges = append(edges, low-1, low, low+1, low+low/3, low+low/2)
	}
	for _, v := range append(edges, 0, math.MaxInt64-1, math.MaxInt64) {
		i := bucket(v)
		if i < 0 || i >= bucketCount {
			t.Fatalf("%d falls into bucket %d of %d", v, i, bucketCount)
		}
		if off := math.Abs(float64(middle(i)) - float64(v)); off > float64(v)/128 {
			t.Errorf("%d falls into bucket %d, which stands for %d", v, i, middle(i))
		}
	}
	if last := bucket(math.MaxInt64); last != bucketCount-1 {
		t.Errorf("the largest value falls into bucket %d, want the last, %d", last, bucketCount-1)
	}
	for i := 1; i < bucketCount; i++ {
		if bucket(middle(i)) != i {
			t.Fatalf("bucket %d stands for %d, which falls into bucket %d", i, middle(i), bucket(middle(i)))
		}
	}
}

func TestHistogramAgreesWithQuantile(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	var whole, left, right Histogram
	var sum float64
	values := make([]float64, 10000)
	for i := range values {
		v := int64(40e6 + 5e6*random.ExpFloat64()) // 40 ms and a queue
		values[i] = float64(v)
		sum += values[i]
		whole.Record(v)
		if i%3 == 0 {
			left.Record(v)
		} else {
			right.Record(v)
		}
	}
	slices.Sort(values)
	for _, q := range []float64{0, 0.001, 0.25, 0.5, 0.95, 0.99, 0.999, 1} {
		want, got := Quantile(values, q), float64(whole.Quantile(q))
		if math.Abs(got-want) > want/100 {
			t.Errorf("Quantile(%v) = %v, want %v within 1 %%", q, got, want)
		}
	}
	if whole.Count() != 10000 || whole.Min() != int64(values[0]) || whole.Max() != int64(values[9999]) {
		t.Errorf("count %d min %d max %d", whole.Count(), whole.Min(), whole.Max())
	}
	left.Merge(&right)
	if diff := cmp.Diff(whole, left, cmp.AllowUnexported(Histogram{})); diff != "" {
		t.Errorf("two halves merged differ from the whole (-whole +merged):\n%s", diff)
	}
}

func TestHistogramEnds(t *testing.T) {
	var h, empty Histogram
	if h.Count() != 0 || h.Min() != 0 || h.Max() != 0 || h.Quantile(0.5) != 0 {
		t.Errorf("the zero value is not empty: %d %d %d %d", h.Count(), h.Min(), h.Max(), h.Quantile(0.5))
	}
	h.Record(1000)
	h.Merge(&empty) // must not pull the minimum to 0
	if h.Min() != 1000 || h.Quantile(0.5) != 1000 || h.Quantile(1) != 1000 {
		t.Errorf("one value of 1000: min %d, median %d, last %d", h.Min(), h.Quantile(0.5), h.Quantile(1))
	}
	empty.Merge(&h)
	if empty.Min() != 1000 || empty.Count() != 1 {
		t.Errorf("merged into an empty one: min %d, count %d", empty.Min(), empty.Count())
	}
	h.Record(-5)
	if h.Min() != 0 || h.Count() != 2 {
		t.Errorf("a negative value: min %d, count %d", h.Min(), h.Count())
	}
}

func TestHistogramRecordDoesNotAllocate(t *testing.T) {
	h := new(Histogram)
	if n := testing.AllocsPerRun(1000, func() { h.Record(40123456) }); n != 0 {
		t.Errorf("Record allocates %v times", n)
	}
}

func BenchmarkHistogramRecord(b *testing.B) {
	h := new(Histogram)
	v := int64(40e6)
	b.ReportAllocs()
	for b.Loop() {
		h.Record(v)
		v = v*5%90000001 + 1000 // another bucket each time
	}
}

func BenchmarkHistogramQuantile(b *testing.B) {
	h := new(Histogram)
	for v := range int64(100000) {
		h.Record(v * 1000)
	}
	for b.Loop() {
		h.Quantile(0.99)
	}
}
