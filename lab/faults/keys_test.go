package faults

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/pathwise-net/pathwise/lab/scenario"
)

var keyPattern = regexp.MustCompile(`[{ ]([a-z_]{4,}): `)

// Each key that the library uses, written with one letter too many, is told with the key that was meant.
func TestMisspeltKeys(t *testing.T) {
	files, err := filepath.Glob("*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var tried []string
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, at := range keyPattern.FindAllSubmatchIndex(text, -1) {
			key := string(text[at[2]:at[3]])
			if slices.Contains(tried, key) {
				continue
			}
			wrong := key[:2] + key[1:] // its second letter twice
			_, err := scenario.Parse(file, slices.Concat(text[:at[2]], []byte(wrong), text[at[3]:]))
			if err == nil || !strings.Contains(err.Error(), `unknown field "`+wrong+`"`) {
				continue // a name that the file gives, or a word in a text
			}
			tried = append(tried, key)
			if want := `unknown field "` + wrong + `"; did you mean ` + key + "?"; !strings.HasSuffix(err.Error(), want) {
				t.Errorf("%v, want %s", err, want)
			}
		}
	}
	if len(tried) < 50 {
		t.Errorf("only %d keys tried: %q", len(tried), tried)
	}
}
