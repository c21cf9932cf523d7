package archive

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// The number and the key of a bucket must say of which stream, metric and time it is, in every layout.
func TestLayouts(t *testing.T) {
	type bucketOf struct {
		Stream streamID
		Metric metricID
		Begins int64
	}
	for layout, l := range layouts {
		for _, want := range []bucketOf{{1, 0, 0}, {64, 3, 1}, {127, 65535, 7}, {1 << 35, 300, 1000}} {
			want.Begins = want.Begins*int64(l.step()) + 1_477_000*int64(20*time.Minute)/int64(24*time.Hour)*int64(24*time.Hour)
			key := rollupKey{layout, chunkStart(layout, want.Begins), want.Stream.rowOf(layout, want.Metric)}
			number := numberOf(layout, want.Stream, want.Metric, want.Begins+int64(l.step())-1)
			got := bucketOf{key.stream(number), key.metric(number), key.begins(number)}
			if diff := cmp.Diff(want, got); diff != "" || number >= mostNumbers(layout) {
				t.Errorf("layout %d: number %d below %d (-want +got):\n%s", layout, number, mostNumbers(layout), diff)
			}
		}
	}
	for level, layout := range across {
		if layout > 0 && (layouts[layout].level != level || layouts[layout].holds != manyStreams) {
			t.Errorf("of level %d, layout %d is said to be across streams", level, layout)
		}
	}
}

// A row across streams holds the buckets of each, as the rows of the streams do.
func TestAcrossMaker(t *testing.T) {
	var a acrossMaker
	start := slotStart / int64(24*time.Hour) * int64(24*time.Hour)
	row := []bucket{{0, sketchOf(1)}, {2, sketchOf(2, 3)}, {23, sketchOf(4)}} // of 1 hour
	for _, id := range []streamID{70, 66, 200} {
		a.add(id, 5, 2, chunkStart(2, start), row)
		a.add(id, 5, 0, chunkStart(0, start), row[:1]) // there are none of minutes
	}
	rows := a.take(nil)
	got := map[rollupKey][]bucket{}
	for _, r := range rows {
		buckets, err := decodeBuckets(nil, r.data, r.layout)
		if err != nil {
			t.Fatal(err)
		}
		got[r.rollupKey] = buckets
	}
	seconds := func(hours int64) int64 { return start/int64(time.Second) + hours*3600 }
	want := map[rollupKey][]bucket{}
	for hour, sketch := range map[int64][]byte{0: sketchOf(1), 2: sketchOf(2, 3), 23: sketchOf(4)} {
		want[rollupKey{5, seconds(hour), groupRow(5, 1)}] = []bucket{{2, sketch}, {6, sketch}}
		want[rollupKey{5, seconds(hour), groupRow(5, 3)}] = []bucket{{8, sketch}}
	}
	if diff := cmp.Diff(want, got, plainly, cmp.AllowUnexported(rollupKey{})); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if again := a.take(nil); len(again) > 0 {
		t.Errorf("%d rows are left", len(again))
	}
}
