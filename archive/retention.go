package archive

import (
	"cmp"
	"fmt"
	"math"
	"time"
)

// Levels are the steps of the rollups, finest first. Each divides the next, and a day begins at midnight UTC.
var Levels = [...]time.Duration{time.Minute, 5 * time.Minute, time.Hour, 24 * time.Hour}

// How long something is kept, where that is not a time.
const (
	Forever time.Duration = math.MaxInt64
	Never   time.Duration = -1 // not even written
)

// Rule says how long things are kept, for tools and metrics that match. A field of 0 says nothing: it is left to the
// next rule that matches, in the end to DefaultRule.
type Rule struct {
	Tool   string // pattern as in Match; "" matches all
	Metric string // pattern; counts only for Points and Rollups. "" matches all

	Samples time.Duration              // the singletons behind the metrics, and the output of external programs
	Results time.Duration              // the whole Results
	Points  time.Duration              // each value with its time
	Rollups [len(Levels)]time.Duration // as Levels
}

// DefaultRule is what holds where no rule says otherwise: a quarter to look at every value, a year and a month to read
// a Result again and to compare with last year, and the shape of each hour and day for good.
func DefaultRule() Rule {
	const day = 24 * time.Hour
	return Rule{
		Samples: 90 * day,
		Results: 400 * day,
		Points:  90 * day,
		Rollups: [len(Levels)]time.Duration{30 * day, 90 * day, 1100 * day, Forever},
	}
}

// idsKept is how long the ID of a Result is known at least, whatever the rules say of the Result itself: an agent's
// spool may bring it again for as long as it was cut off. What is older than this and no longer kept is not filed.
const idsKept = 31 * 24 * time.Hour

// Misses are kept as long as an ordinary Result.
var missesKept = DefaultRule().Results

// Validate says what is wrong with a rule, as bad input.
func (r Rule) Validate() error {
	for field, pattern := range map[string]string{"tool": r.Tool, "metric": r.Metric} {
		if _, err := compile(pattern); err != nil {
			return badOption("retention "+field, pattern, "a pattern such as ping or *_seconds")
		}
	}
	periods := append([]time.Duration{r.Samples, r.Results, r.Points}, r.Rollups[:]...)
	for _, p := range periods {
		if p < 0 && p != Never {
			return badOption("retention", p.String(), "a positive time, Forever or Never")
		}
	}
	if r.Metric != "" && (r.Samples != 0 || r.Results != 0) {
		return badOption("retention metric", r.Metric, "none where samples or results are given: a Result is kept whole")
	}
	return nil
}

// String is the rule in one line.
func (r Rule) String() string {
	return fmt.Sprintf("tool %q metric %q: samples %v results %v points %v rollups %v",
		r.Tool, r.Metric, r.Samples, r.Results, r.Points, r.Rollups)
}

// retention is a list of rules, the default one last.
type retention []compiledRule

type compiledRule struct {
	Rule
	tool, metric matcher
}

func newRetention(rules []Rule) (retention, error) {
	var all retention
	for _, r := range append(rules[:len(rules):len(rules)], DefaultRule()) {
		if err := r.Validate(); err != nil {
			return nil, err
		}
		tool, _ := compile(r.Tool)
		metric, _ := compile(r.Metric)
		all = append(all, compiledRule{r, tool, metric})
	}
	return all, nil
}

// of returns what holds for a tool (metric == "": for its Results) with every field set.
func (all retention) of(tool, metric string) Rule {
	kept := Rule{Tool: tool, Metric: metric}
	for _, r := range all {
		if !r.tool.matches(tool) || !r.metric.matches(metric) {
			continue
		}
		first(&kept.Samples, r.Samples)
		first(&kept.Results, r.Results)
		first(&kept.Points, r.Points)
		for i := range Levels {
			first(&kept.Rollups[i], r.Rollups[i])
		}
	}
	return kept
}

// first sets what no earlier rule has set.
func first(field *time.Duration, value time.Duration) {
	*field = cmp.Or(*field, value)
}

// Times before and after all that is filed, with room to reckon.
const (
	beginning int64 = -1 << 61
	end       int64 = 1 << 61
)

// expiry is the time before which something that is kept for so long has gone at the time now, in ns since 1970.
func expiry(now int64, kept time.Duration) int64 {
	switch kept {
	case Forever:
		return beginning
	case Never:
		return end
	}
	return now - int64(kept)
}
