package browser

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/pathwise-net/pathwise/measure"
)

// The list of the worst pairs says since when each is so, beside limits and beside its own past.
func TestWorstSince(t *testing.T) {
	m := theMesh(t)
	now := time.Now().UTC()
	var all []*measure.Result
	add := func(source string, v float64, ages ...time.Duration) {
		for _, ago := range ages {
			r := ended("throughput", "stream", source, "dl", now.Add(-ago))
			r.Metrics = map[measure.Metric]float64{measure.Jitter: v}
			all = append(all, r)
		}
	}
	const minute, hour, day = time.Minute, time.Hour, 24 * time.Hour
	add("liv", 0.001, 4*day, 3*day, 3*hour)
	add("liv", 0.050, 50*minute, 30*minute, 10*minute) // within the hour that is shown, so that none of it is of the past
	add("man", 0.040, 5*hour, 10*minute)               // of whose good time nobody knows
	must(t, m.archive.Put(context.Background(), all))
	p := open(t, desk, m.url+"#/?metric=jitter_seconds")
	begun := now.Add(-50 * minute).Truncate(5 * minute)
	words := "since " + begun.Format("15:04")
	if begun.YearDay() != time.Now().UTC().YearDay() {
		words = "since " + begun.Format("01-02 15:04")
	}
	const row = "[...document.querySelectorAll('.worst li')].find((li) => li.textContent.startsWith('%s → dl'))?.querySelector('small')?.textContent"
	p.until(fmt.Sprintf(row+" === %q", "liv", words))
	p.until(fmt.Sprintf(row+" === %q", "man", "since before "+now.Add(-5*hour).Truncate(5*minute).Format("01-02 15:04")))
	p.show("#/?metric=jitter_seconds&colour=past", desk, false)
	p.until("document.querySelector('#worst').textContent === 'Furthest from usual' && " + fmt.Sprintf(row+" === %q", "liv", words))
}
