package endpoint

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestReadKeys(t *testing.T) {
	got, err := ReadKeys(strings.NewReader("# pfstore\n\nann  70617373\tbad\n"))
	if err == nil {
		t.Errorf("three words: %v", got)
	}
	got, err = ReadKeys(strings.NewReader("# pfstore\n\nann  7061737320706872617365\n  bob\t00ff\n"))
	if diff := cmp.Diff(Keys{"ann": []byte("pass phrase"), "bob": {0, 255}}, got); err != nil || diff != "" {
		t.Errorf("%v\n%s", err, diff)
	}
	for text, want := range map[string]string{
		"ann xyz":                           "line 1",
		"ann":                               "1 words",
		"ann 00\nann 01":                    "line 2",
		strings.Repeat("a", 81) + " 00":     "line 1",
		"# x\n" + strings.Repeat("a", 5000): "too long",
	} {
		if _, err := ReadKeys(strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.20q: %v, want %q", text, err, want)
		}
	}
}

func FuzzReadKeys(f *testing.F) {
	f.Add("ann 7061")
	f.Fuzz(func(t *testing.T, text string) {
		keys, err := ReadKeys(strings.NewReader(text))
		for id, phrase := range keys {
			if err != nil || id == "" || len(id) > 80 || len(phrase) == 0 {
				t.Errorf("%q: %q, %x, %v", text, id, phrase, err)
			}
		}
	})
}
