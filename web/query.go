package web

import (
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/pathwise-net/pathwise/archive"
	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/quantity"
)

// badQuery is a parameter of a URL that cannot be used.
type badQuery struct{ name, value, want string }

func (e *badQuery) Error() string  { return fmt.Sprintf("%s: %q: want %s", e.name, e.value, e.want) }
func (e *badQuery) BadInput() bool { return true }

// query reads parameters of a URL, and keeps the first error.
type query struct {
	url.Values
	now time.Time
	err error
}

func newQuery(r *http.Request) *query { return &query{Values: r.URL.Query(), now: time.Now()} }

func (q *query) fail(name, want string) {
	if q.err == nil {
		q.err = &badQuery{name, q.Get(name), want}
	}
}

// time reads a time: RFC 3339, or how long ago (-2h).
func (q *query) time(name string) time.Time {
	text := q.Get(name)
	if text == "" {
		return time.Time{}
	}
	if ago, cut := strings.CutPrefix(text, "-"); cut {
		d, err := quantity.ParseDuration(ago)
		if err != nil {
			q.fail(name, "a time such as 2026-11-20T10:00:00Z, or how long ago, such as -2h")
		}
		return q.now.Add(-d)
	}
	t, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		q.fail(name, "a time such as 2026-11-20T10:00:00Z, or how long ago, such as -2h")
	}
	return t
}

// duration reads a duration.
func (q *query) duration(name string) time.Duration {
	if q.Get(name) == "" {
		return 0
	}
	d, err := quantity.ParseDuration(q.Get(name))
	if err != nil {
		q.fail(name, "a time such as 5m")
	}
	return d
}

// count reads a whole number from 0 to limit.
func (q *query) count(name string, limit int) int {
	if q.Get(name) == "" {
		return 0
	}
	n, err := strconv.Atoi(q.Get(name))
	if err != nil || n < 0 || n > limit {
		q.fail(name, fmt.Sprintf("a whole number up to %d", limit))
	}
	return n
}

// maxQuantiles is more than any drawing shows; each is looked up in every bucket.
const maxQuantiles = 100

// quantiles reads a list of ratios; without one, those that a smoke graph needs.
func (q *query) quantiles(name string) []float64 {
	text := q.Get(name)
	if text == "" {
		return []float64{0.05, 0.25, 0.5, 0.75, 0.95}
	}
	parts := strings.Split(text, ",")
	if len(parts) > maxQuantiles {
		q.fail(name, fmt.Sprintf("at most %d numbers", maxQuantiles))
		return nil
	}
	var all []float64
	for _, part := range parts {
		v, err := strconv.ParseFloat(part, 64)
		if err != nil || !(v >= 0 && v <= 1) {
			q.fail(name, "numbers from 0 to 1 with commas, such as 0.5,0.95")
		}
		all = append(all, v)
	}
	return all
}

// status reads how a Result ended; "" is any.
func (q *query) status(name string) measure.Status {
	s := measure.Status(q.Get(name))
	if s != "" && s != measure.StatusOK && s != measure.StatusPartial && s != measure.StatusFailed {
		q.fail(name, "ok, partial or failed")
	}
	return s
}

// maxPage is how many Results one answer may hold.
const maxPage = 1000

// resultQuery reads what selects Results.
func (q *query) resultQuery() archive.ResultQuery {
	return archive.ResultQuery{
		Source: q.Get("source"), Target: q.Get("target"), Test: q.Get("test"), Tool: q.Get("tool"), Kind: q.Get("kind"),
		Status: q.status("status"), From: q.time("from"), To: q.time("to"),
		Cursor: q.Get("cursor"), Limit: q.count("limit", maxPage),
	}
}
