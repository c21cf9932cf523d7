package measure

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pathwise-net/pathwise/stat"
)

func distributionOf(values ...float64) Distribution {
	var s stat.Sketch
	for _, v := range values {
		s.Add(v)
	}
	return NewDistribution(&s)
}

// A Result keeps its distributions through JSON.
func TestDistributionJSON(t *testing.T) {
	want := Result{Schema: ResultSchema, Kind: "ping", Distributions: map[Metric]Distribution{RTTs: distributionOf(0.01, 0.02, 0.3)}}
	text, err := json.Marshal(&want)
	if err != nil {
		t.Fatal(err)
	}
	var got Result
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	s, err := got.Distributions[RTTs].Sketch()
	if err != nil || s.Count() != 3 || s.Max() != 0.3 {
		t.Errorf("%d samples up to %v, error %v", s.Count(), s.Max(), err)
	}
}

// What is no distribution is refused, and the refusal says why.
func TestDistributionRefused(t *testing.T) {
	many := stat.Sketch{}
	for i := range 2000 {
		many.Add(float64(i) * 1e-9)
	}
	huge := binary.AppendUvarint([]byte{0x12}, 1<<60) // so many times the same value
	huge = append(huge, 1, 0x40)
	text := func(b []byte) string { return `"` + base64.StdEncoding.EncodeToString(b) + `"` }
	for name, c := range map[string]struct{ text, want string }{
		"good":       {text(many.AppendBinary(nil)), ""},
		"null":       {`null`, "base64"},
		"number":     {`1`, "base64"},
		"no base64":  {`"*"`, "base64"},
		"no sketch":  {text([]byte("hello")), "not a sketch"},
		"empty":      {text(new(stat.Sketch).AppendBinary(nil)), "0 samples"},
		"more after": {text(append(distributionOf(1), 0)), "1 bytes after"},
		"cut":        {text(many.AppendBinary(nil)[:50]), "not a sketch"},
		"huge count": {text(huge), "samples, want"},
		"long":       {`"` + strings.Repeat("A", 1<<20) + `"`, "base64"},
	} {
		var r Result
		err := json.Unmarshal([]byte(`{"schema":"pathwise.result/2","distributions":{"rtt_seconds":`+c.text+`}}`), &r)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: error %v, want %q", name, err, c.want)
		}
	}
	var names []string
	for i := range MostDistributions + 1 {
		names = append(names, fmt.Sprintf(`"a%d_seconds":%s`, i, text(distributionOf(1))))
	}
	var r Result
	err := json.Unmarshal([]byte(`{"schema":"pathwise.result/2","distributions":{`+strings.Join(names, ",")+`}}`), &r)
	if err == nil || !strings.Contains(err.Error(), "want at most 32") {
		t.Errorf("too many: error %v", err)
	}
}

// A distribution that is written in another way than ours is made one as we write it.
func TestDistributionCanonical(t *testing.T) {
	got, err := CheckDistribution([]byte{0x12, 0x81, 0x00, 0}) // 1 in two bytes, times 0
	if diff := cmp.Diff(distributionOf(0), got); diff != "" || err != nil {
		t.Errorf("error %v (-want +got):\n%s", err, diff)
	}
}

// The metrics of a distribution are found by its name.
func TestSampled(t *testing.T) {
	want := []Metric{RTTMedian, RTTMin, RTTP95, RTTP99, RTTMax, RTTMean}
	if diff := cmp.Diff(want, RTTs.Sampled()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got := RTTMedian.Sampled(); got != nil {
		t.Errorf("a metric is the distribution of %v", got)
	}
	if _, known := RTTs.Definition(); known {
		t.Error("a distribution has the name of a metric")
	}
}
