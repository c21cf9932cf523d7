// Package export hands what the mesh measured to programs that are not ours: Prometheus and its kin, by scrape and by
// remote write, and whatever reads CSV or JSON lines.
//
// It renames, encodes and sends. It measures nothing, keeps no history (package archive does) and draws nothing; what
// other programs make of the numbers is theirs.
//
//	measure.Result --Observe--> Collector ----> GET /metrics   the newest Result of each stream
//	      |        --Observe--> RemoteWriter -> POST           every Result, at its own time, however long that takes
//	      v                          ^
//	   archive ------ what could not be sent, CSV, JSON lines
//
// A series is called pathwise_<metric>, with the metric's name as everywhere in Pathwise, and has the labels role, source,
// target, test, tool and way, and subject where the Result is of one. A metric whose name measure.Metric does not allow is left out.
package export

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/pathwise-net/pathwise/input"
	"github.com/pathwise-net/pathwise/measure"
)

// prefix stands before every name that we give to others.
const prefix = "pathwise_"

// resultOK is what each Result has beside its metrics: 1, or 0 if it is partial or failed.
const resultOK = "result_ok"

// reserved are names of our own that a program's metric might have, too. Such a metric is not exported.
var reserved = map[measure.Metric]bool{
	"result_timestamp_seconds":        true,
	"remote_write_unsent_age_seconds": true,
}

// stream is who measured what, and why: the Results of one role, test and tool on one path, of one subject or none. Its fields are
// labels of its series. A role is as archive.Key has it, without the ID of a diagnosis: each diagnosis would else make series of its own.
type stream struct {
	role, source, target, test, tool, subject string
}

// streamOf names ends and tools as archive.Key does.
func streamOf(r *measure.Result) stream {
	return stream{string(roleOf(r).Series()), r.Source.NameOrAddress(), r.Target.NameOrAddress(), r.Test,
		cmp.Or(r.Tool, r.Kind), r.Subject.String()}
}

// roleOf is why a Result was made, also of one that does not say it.
func roleOf(r *measure.Result) measure.Role { return cmp.Or(r.Role, measure.RoleOf(r.Test)) }

// labels is the stream with what every receiver takes for the values of labels.
func (s stream) labels() stream {
	return stream{label(s.role), label(s.source), label(s.target), label(s.test), label(s.tool), label(s.subject)}
}

// labelBytes bounds the value of a label. Receivers cut or refuse long ones, each at another length; a host's name has
// at most 253 bytes.
const labelBytes = 256

// label makes a text that every receiver takes for the value of a label: valid UTF-8, no control characters, not long.
// What cannot stay becomes "?": Prometheus stores U+FFFD, which stands for such elsewhere, and reads it in no query.
func label(text string) string {
	plain := true
	for i := 0; i < len(text) && plain; i++ {
		plain = ' ' <= text[i] && text[i] < 0x7f
	}
	if !plain {
		text = strings.Map(func(r rune) rune {
			if r < ' ' || r == 0x7f || r == utf8.RuneError {
				return '?'
			}
			return r
		}, text)
	}
	if len(text) > labelBytes {
		text = strings.ToValidUTF8(text[:labelBytes], "")
	}
	return text
}

// value is one number of a Result.
type value struct {
	metric measure.Metric
	value  float64
}

// part is what a Result says of one way between its ends, as the archive files it.
type part struct {
	stream
	values []value
}

// partsOf divides a Result as measure.Result.Parts does, with ends and values that every receiver takes.
func partsOf(r *measure.Result) []part {
	var all []part
	for _, p := range r.Parts() {
		s := streamOf(r)
		s.source, s.target = p.Source.NameOrAddress(), p.Target.NameOrAddress()
		all = append(all, part{s.labels(), valuesOf(p.Metrics)})
	}
	return all
}

// valuesOf returns the metrics that have a name to export, in order of name.
func valuesOf(metrics map[measure.Metric]float64) []value {
	values := make([]value, 0, len(metrics))
	for _, m := range slices.Sorted(maps.Keys(metrics)) {
		if exportable(m) {
			values = append(values, value{m, metrics[m]})
		}
	}
	return values
}

func exportable(m measure.Metric) bool { return m.Unit() != "" && !reserved[m] }

// badOption says which setting of an export cannot be used, and what would be right.
func badOption(field, value, want string) error {
	return input.Errorf("export: %s is %q, want %s", field, value, want)
}
