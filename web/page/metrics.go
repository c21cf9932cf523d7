package page

import (
	"encoding/json"

	"github.com/pathwise-net/pathwise/measure"
)

// metricEntry is what the pages know of a metric.
type metricEntry struct {
	Name   measure.Metric `json:"name"`
	Label  string         `json:"label"`
	Group  string         `json:"group"`
	Better measure.Better `json:"better"`
	Warn   float64        `json:"warn,omitempty"`
	Bad    float64        `json:"bad,omitempty"`
	Draw   measure.Draw   `json:"draw"`
	Loss   measure.Metric `json:"loss,omitempty"`
	Of     measure.Metric `json:"of,omitempty"` // of a share: what was counted, so many of which it is
}

// tableName is the name of the module that metricTable makes.
const tableName = "metric-table.js"

// metricTable is a module that holds the table of package measure, so that the pages have it before they ask the API for anything.
// static/metric-table.d.ts says of which type it is.
func metricTable() []byte {
	var all []metricEntry
	for _, d := range measure.Definitions() {
		all = append(all, metricEntry{d.Metric, d.Label, d.Group, d.Better, d.Warn, d.Bad, d.Draw, d.Loss, d.Merge.Under})
	}
	text, err := json.Marshal(all)
	if err != nil {
		panic(err) // texts and finite numbers, which JSON can hold
	}
	return append(append([]byte("// Made of package measure.\nexport const table = "), text...), ";\n"...)
}
