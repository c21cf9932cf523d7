package archivebench

import (
	"regexp"
	"strings"
	"testing"
)

// The part of bench that draws pages runs in small, and everything that is asked gets an answer.
func TestPages(t *testing.T) {
	var out strings.Builder
	o := PageOptions{Keep: t.TempDir(), Few: 3, FewDays: 20, Many: 9, ManyDays: 10, Viewers: 4, Seconds: 1}
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
}
