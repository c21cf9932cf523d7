package twin

import "github.com/pathwise-net/pathwise/measure"
import (
	"fmt"
	"os"
	"testing"
)

func TestDbg(t *testing.T) {
	dir := "/tmp/mine/W/lab/"
	for _, fs := range [][]string{{"ping.json", "trace.json", "tp.json"}, {"diag.json"}, {"ping.json"}, {"tp.json"}} {
		var all = []*resultT{}
		for _, f := range fs {
			b, _ := os.ReadFile(dir + f)
			rs, err := Read(f, b)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, rs...)
		}
		tw, err := FromResults(all)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Println(string(tw.YAML()))
		if _, err := tw.Spec(); err != nil {
			t.Error(err)
		}
	}
}

type resultT = measure.Result
