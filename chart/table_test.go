package chart

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A table that is too wide loses the columns that it can spare, one after the other; colours take no room.
func TestFitted(t *testing.T) {
	rows := [][]string{{"host", "a", "b", "word"}, {"x", "1", "22", "\x1b[31mred\x1b[m"}}
	for _, c := range []struct {
		width int
		want  []string
	}{
		{80, []string{"host  a   b  word", "x     1  22  \x1b[31mred\x1b[m"}},
		{16, []string{"host  a  word", "x     1  \x1b[31mred\x1b[m"}},
		{12, []string{"host  word", "x     \x1b[31mred\x1b[m"}},
		{4, []string{"host  word", "x     \x1b[31mred\x1b[m"}},
	} {
		if diff := cmp.Diff(c.want, Fitted(rows, c.width, []int{2, 1}, 3)); diff != "" {
			t.Errorf("in %d columns (-want +got):\n%s", c.width, diff)
		}
	}
}
