package daily

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

func TestCount(t *testing.T) {
	path := filepath.Join(t.TempDir(), "bytes.json")
	c, err := Open(path, "sent", "received")
	if err != nil {
		t.Fatal(err)
	}
	c.Add(c.Day(noon), "sent", []string{"guests", "everyone"}, 100)
	c.Add(c.Day(noon.Add(time.Hour)), "sent", []string{"everyone"}, 10)
	c.Add("2026-11-20", "sent", []string{"everyone"}, 1000) // another day
	c.Add(c.Day(noon), "received", []string{"everyone"}, 7)
	c.Add(c.Day(noon), "received", []string{"everyone"}, -9) // less than nothing is nothing
	if err := c.Save(); err != nil {
		t.Fatal(err)
	}
	if c, err = Open(path, "sent", "received"); err != nil {
		t.Fatal(err)
	}
	full := map[string]float64{"guests": 100, "everyone": 110}
	for _, test := range []struct {
		at   time.Time
		want map[string]float64
	}{
		{noon, full},
		{noon.Add(-13 * time.Hour), full}, // set back past midnight
		{noon.Add(13 * time.Hour), map[string]float64{}},
	} {
		c.Day(test.at)
		if diff := cmp.Diff(test.want, c.Used("sent")); diff != "" {
			t.Errorf("at %v (-want +got):\n%s", test.at, diff)
		}
	}
	c.Add(c.Day(noon.AddDate(1, 0, 0)), "sent", []string{"everyone"}, 10)
	if day := c.Day(noon); day != "2026-11-21" || len(c.Used("sent")) > 0 {
		t.Errorf("after the clock was a year ahead it is %s, with %v", day, c.Used("sent"))
	}
}

// What a file cannot tell begins at zero, and can be counted and kept.
func TestOpenSpoilt(t *testing.T) {
	path := filepath.Join(t.TempDir(), "bytes.json")
	for text, good := range map[string]bool{
		"": false, "not JSON": false, "[]": false, `{"day":7,"sent":{}}`: false, `{"day":"2026-11-21"}`: false,
		`{"day":"2026-11-21","sent":{"a":"b"}}`: false, `{"day":"2026-11-21","sent":null}`: true, `{"day":"2026-11-21","sent":{"a":1},"other":[]}`: true,
	} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		c, err := Open(path, "sent")
		if (err == nil) != good || !good && len(c.Used("sent")) > 0 {
			t.Errorf("%q: %v, %v", text, c.Used("sent"), err)
		}
		c.Add(c.Day(noon), "sent", []string{"z"}, 5)
		if err := c.Save(); err != nil || c.Of("sent", "z") != 5 {
			t.Errorf("%q: %v of z, %v", text, c.Of("sent", "z"), err)
		}
	}
}

// What could not be saved is saved by the next call, also by one that waits for more to write.
func TestSaveAfterAnError(t *testing.T) {
	for name, save := range map[string]func(*Count) error{"at once": (*Count).Save, "now and then": (*Count).SaveNowAndThen} {
		t.Run(name, func(t *testing.T) {
			folder := filepath.Join(t.TempDir(), "missing")
			path := filepath.Join(folder, "bytes.json")
			c, err := Open(path, "sent")
			if err != nil {
				t.Fatal(err)
			}
			c.Add(c.Day(noon), "sent", []string{"a"}, 2*saveBytes)
			if err := save(c); err == nil {
				t.Fatal("a file was written in no folder")
			}
			if err := os.Mkdir(folder, 0o700); err != nil {
				t.Fatal(err)
			}
			if err := save(c); err != nil {
				t.Fatal(err)
			}
			again, err := Open(path, "sent")
			if diff := cmp.Diff(c.Used("sent"), again.Used("sent")); diff != "" || err != nil {
				t.Errorf("%v (-want +got):\n%s", err, diff)
			}
		})
	}
}

// Little is not written each time.
func TestSaveNowAndThen(t *testing.T) {
	path := filepath.Join(t.TempDir(), "bytes.json")
	c, err := Open(path, "sent")
	if err != nil {
		t.Fatal(err)
	}
	kept := func() float64 {
		t.Helper()
		if err := c.SaveNowAndThen(); err != nil {
			t.Fatal(err)
		}
		on, err := Open(path, "sent")
		if err != nil {
			t.Fatal(err)
		}
		return on.Of("sent", "a")
	}
	for i, step := range []struct{ add, want float64 }{{1, 1}, {2, 1}, {saveBytes, saveBytes + 3}, {1, saveBytes + 3}} {
		c.Add(c.Day(noon), "sent", []string{"a"}, step.add)
		if got := kept(); got != step.want {
			t.Errorf("step %d: %v bytes are on disk, want %v", i, got, step.want)
		}
	}
	c.saved = c.saved.Add(-saveAge)
	if got := kept(); got != saveBytes+4 {
		t.Errorf("after a while: %v bytes are on disk", got)
	}
}
