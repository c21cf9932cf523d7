package archivebench

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/pathwise-net/pathwise/archive"
)

// The part of bench that draws pages runs in small, and everything that is asked gets an answer.
func TestPages(t *testing.T) {
	var out strings.Builder
	keep := filepath.Join(t.TempDir(), "new")
	o := PageOptions{Keep: keep, Few: 3, FewDays: 20, Many: 9, ManyDays: 10, Viewers: 4, Seconds: 1}
	if err := Pages(t.Context(), o, &out); err != nil {
		t.Fatal(err)
	}
	text := out.String()
	t.Log("\n" + text)
	for _, want := range []string{
		`20 days of 3 hosts: \d+ Results of \d+ values, filed in `, `\n10 days of 9 hosts: `,
		`matrix of the last hour +72 `, `not a whole one +72 `, `matrix of the last day +72 `, `matrix of 1 whole day +72 `,
		`7 whole days +72 `, `remembered +72 `, `series of a year +\d\d`, `series of a month +\d\d`,
		`keys of a pair +3 `, `latest value of all pairs +78 `, `pairs +78 `, `100 results of all +100 `,
		`4 viewers of the overview at once, `, `4 viewers of the overview and pairs at once, without a pause, while \d+ Results come in: \d\d+ answers`,
	} {
		if !regexp.MustCompile(want).MatchString(text) {
			t.Errorf("nothing says %s", want)
		}
	}
	// What came in meanwhile is not kept.
	files, err := os.ReadDir(keep)
	if err != nil || len(files) != 1 || files[0].Name() != "pages-3x20-9x10.db" {
		t.Fatalf("error %v; in the folder are %v", err, files)
	}
	a, err := archive.Open(t.Context(), filepath.Join(keep, files[0].Name()), archive.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	end := time.Date(2026, 11, 22, 15, 25, 0, 0, time.UTC)
	page, err := a.Results(t.Context(), archive.ResultQuery{From: end.Add(time.Nanosecond)})
	if err != nil || len(page.Results) > 0 {
		t.Errorf("error %v; %d Results of after the end are kept", err, len(page.Results))
	}
}
