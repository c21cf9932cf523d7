package export

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pathwise-net/pathwise/archive"
	"github.com/pathwise-net/pathwise/measure"
)

// odd is a Result with all that a careless writer would spoil.
func odd() *measure.Result {
	r := ping("DD", noon.Add(-time.Hour+123456789), map[measure.Metric]float64{
		measure.RTTMin: 0.30000000000000004, measure.LossRatio: 0, "temperature_count": -7, measure.SentBytes: 12345678901,
	})
	r.Target = measure.Endpoint{Address: "10.0.0.9"}
	r.Tool, r.Test = "", `=cmd|' /C calc'!A0`
	r.Fail(errors.New("line 1, \"quoted\"\nline 2 <&>"))
	r.Parameters = map[string]any{"count": 10.0, "name": "ünï"}
	rtt := 0.04
	r.Samples = measure.Samples{
		Echoes:  []measure.Echo{{Seq: 1, RTTSeconds: &rtt}, {Seq: 2}},
		TCPInfo: []measure.TCPSample{{End: "sender", Direction: "forward", Stream: 1, Values: map[string]float64{"rtt_seconds": 0.01}}},
		Output:  &measure.Output{Command: []string{"x"}, Stdout: "a\tb\x00\n", ExitCode: 3},
	}
	r.Note("a note")
	return r
}

// What is written as JSON lines reads back as the same Results, newest first.
func TestJSONLines(t *testing.T) {
	want := []*measure.Result{numbered(noon.Add(-time.Minute), 1)[0], odd()}
	a := filled(t, odd(), want[0])
	var out bytes.Buffer
	if err := JSONLines(t.Context(), &out, a, archive.ResultQuery{}); err != nil {
		t.Fatal(err)
	}
	var got []*measure.Result
	for _, line := range strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n") {
		r := new(measure.Result)
		if err := json.Unmarshal([]byte(line), r); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		got = append(got, r)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestCSV(t *testing.T) {
	failed := numbered(noon, 1)[0]
	failed.Metrics = map[measure.Metric]float64{}
	failed.Fail(errors.New("-no route"))
	a := filled(t, odd(), failed)
	const oddTime = "2026-11-21T11:00:00.123456789Z"
	tests := map[string]struct {
		write func(w io.Writer) error
		want  string
	}{
		"one row a value": {
			func(w io.Writer) error { return CSV(t.Context(), w, a, archive.ResultQuery{}) },
			`time,source,target,test,tool,metric,value,way,role,subject
` + oddTime + `,a,10.0.0.9,'=cmd|' /C calc'!A0,ping,loss_ratio,0,,planned,
` + oddTime + `,a,10.0.0.9,'=cmd|' /C calc'!A0,ping,rtt_min_seconds,0.30000000000000004,,planned,
` + oddTime + `,a,10.0.0.9,'=cmd|' /C calc'!A0,ping,sent_bytes,12345678901,,planned,
` + oddTime + `,a,10.0.0.9,'=cmd|' /C calc'!A0,ping,temperature_count,-7,,planned,
`},
		"one row a Result": {
			func(w io.Writer) error { return WideCSV(t.Context(), w, a, archive.ResultQuery{}) },
			`time,id,source,target,test,tool,status,duration_seconds,error,loss_ratio,rtt_min_seconds,sent_bytes,temperature_count,way,role,subject
2026-11-21T12:00:00.000000000Z,00000000000000000000000000,a,b,lat,rtt,failed,1.5,'-no route,,,,,,planned,
` + oddTime + `,000000000000000000000000DD,a,10.0.0.9,'=cmd|' /C calc'!A0,ping,partial,1.5,"line 1, ""quoted""
line 2 <&>",0,0.30000000000000004,12345678901,-7,,planned,
`},
		"chosen columns": {
			func(w io.Writer) error {
				return WideCSV(t.Context(), w, a, archive.ResultQuery{Status: measure.StatusPartial, Tool: "p*"},
					measure.RTTMax, measure.LossRatio)
			},
			`time,id,source,target,test,tool,status,duration_seconds,error,rtt_max_seconds,loss_ratio,way,role,subject
` + oddTime + `,000000000000000000000000DD,a,10.0.0.9,'=cmd|' /C calc'!A0,ping,partial,1.5,"line 1, ""quoted""
line 2 <&>",,0,,planned,
`},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			var out strings.Builder
			if err := test.write(&out); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, out.String()); diff != "" {
				t.Error(diff)
			}
			if _, err := csv.NewReader(strings.NewReader(out.String())).ReadAll(); err != nil {
				t.Errorf("does not read back: %v", err)
			}
		})
	}
}

// A Result that came after the columns were chosen is left out rather than cut.
func TestWideCSVKeepsItsColumns(t *testing.T) {
	m := &memory{all: numbered(noon, 1)}
	m.onYield = func(int) {
		if m.reads == 2 {
			m.all[0].Metrics[measure.RTTMax] = 1
		}
	}
	var out strings.Builder
	if err := WideCSV(t.Context(), &out, m, archive.ResultQuery{}); err != nil {
		t.Fatal(err)
	}
	if want := "time,id,source,target,test,tool,status,duration_seconds,error,rtt_min_seconds,way,role,subject\n"; out.String() != want {
		t.Errorf("got %q, want %q", out.String(), want)
	}
}

func TestText(t *testing.T) {
	for in, want := range map[string]string{
		"": "", "a": "a", "=1+1": "'=1+1", "+1": "'+1", "-host": "'-host", "@SUM(A1)": "'@SUM(A1)", "\t=1": "'\t=1", "\r=1": "'\r=1",
		"a=b": "a=b", "fe80::1": "fe80::1", "10.0.0.1": "10.0.0.1",
	} {
		if got := text(in); got != want {
			t.Errorf("text(%q) = %q, want %q", in, got, want)
		}
	}
}

type writers map[string]func(context.Context, io.Writer, archive.Archive) error

var everyForm = writers{
	"csv": func(ctx context.Context, w io.Writer, a archive.Archive) error {
		return CSV(ctx, w, a, archive.ResultQuery{})
	},
	"wide csv": func(ctx context.Context, w io.Writer, a archive.Archive) error {
		return WideCSV(ctx, w, a, archive.ResultQuery{}, measure.RTTMin)
	},
	"json lines": func(ctx context.Context, w io.Writer, a archive.Archive) error {
		return JSONLines(ctx, w, a, archive.ResultQuery{})
	},
}

// When ctx ends, so does each export, with whole lines written so far.
func TestRowsEndWithContext(t *testing.T) {
	for name, write := range everyForm {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			m := &memory{all: numbered(noon, 10), onYield: func(n int) {
				if n == 3 {
					cancel()
				}
			}}
			var out strings.Builder
			err := write(ctx, &out, m)
			if !errors.Is(err, context.Canceled) {
				t.Errorf("error is %v", err)
			}
			lines := strings.Count(out.String(), "\n")
			if want := map[bool]int{true: 3, false: 4}[name == "json lines"]; lines != want || !strings.HasSuffix(out.String(), "\n") {
				t.Errorf("%d lines, want %d:\n%s", lines, want, out.String())
			}
		})
	}
}

type full struct{ room int }

var errFull = errors.New("no space left on device")

func (f *full) Write(p []byte) (int, error) {
	n := min(len(p), f.room)
	f.room -= n
	if n < len(p) {
		return n, errFull
	}
	return n, nil
}

func TestRowsReportErrors(t *testing.T) {
	broken := errors.New("disk is gone")
	for name, write := range everyForm {
		for _, room := range []int{0, 100, 70_000} {
			t.Run(fmt.Sprint(name, " into ", room), func(t *testing.T) {
				m := &memory{all: numbered(noon, 2000)}
				if err := write(t.Context(), &full{room}, m); !errors.Is(err, errFull) {
					t.Errorf("error is %v", err)
				}
			})
		}
		t.Run(name+" from a broken archive", func(t *testing.T) {
			if err := write(t.Context(), io.Discard, &memory{broken: broken}); !errors.Is(err, broken) {
				t.Errorf("error is %v", err)
			}
		})
	}
	if err := WideCSV(t.Context(), io.Discard, &memory{broken: broken}, archive.ResultQuery{}); !errors.Is(err, broken) {
		t.Errorf("finding columns: error is %v", err)
	}
}
