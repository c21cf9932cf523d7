package accuracy

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the table of kept samples anew")

// kept is a folder of a sample of each cause as it was played once, and keptTable what today's rules say of each.
const (
	kept      = "testdata/samples"
	keptTable = "testdata/verdicts.txt"
)

// mostKept is the size of a kept sample in bytes, so that all of them are small beside the source.
const mostKept = 48 << 10

// What the rules say right of the samples that are kept, one of each cause, they go on to say right. -update writes the table, which a
// reader of a change then sees.
func TestSamplesReplayed(t *testing.T) {
	outcomes, err := Judge(kept)
	if err != nil {
		t.Fatal(err)
	}
	var table strings.Builder
	there := map[string]bool{}
	for i := range outcomes {
		o := &outcomes[i]
		there[o.Sample.Cause] = true
		fmt.Fprintf(&table, "%-50s %-26s %v\n", o.Sample.Name, o.Verdict, o.Right())
		if o.State != Counts {
			t.Errorf("%s: %s", o.Sample.Name, o.State)
		}
		if !o.Right() {
			t.Errorf("%s: %s is not right", o.Sample.Name, o.Verdict)
		}
		if info, err := os.Stat(filepath.Join(kept, o.Sample.Name+".json.gz")); err != nil || info.Size() > mostKept {
			t.Errorf("%s: larger than %d bytes, or %v", o.Sample.Name, mostKept, err)
		}
	}
	for i := range causes {
		if name := causes[i].name; !there[name] {
			t.Errorf("%s: no sample is kept", name)
		}
	}
	if *update {
		if err := os.WriteFile(keptTable, []byte(table.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(keptTable)
	if err != nil {
		t.Fatal(err)
	}
	if table.String() != string(want) {
		t.Errorf("the table in %s is not what the rules say (-update writes it anew):\n%s", keptTable, table.String())
	}
}
