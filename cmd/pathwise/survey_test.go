package main

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// What a step is about, and what a budget leaves it, is the plan's to say; all else is the command line's.
func TestSurveyAsks(t *testing.T) {
	v := &survey{asked: map[string]any{"duration": 8.0, "cc": "cubic", "length": 65536.0, "nodelay": true}}
	for name, c := range map[string]struct{ step, want map[string]any }{
		"a transfer": {
			map[string]any{"reverse": false, "duration": 8.0, "length": 32768, "event-loop": true, "narrow": 0.05},
			map[string]any{"reverse": false, "duration": 8.0, "length": 65536.0, "event-loop": true, "narrow": 0.05, "cc": "cubic", "nodelay": true},
		},
		"within a budget": {
			map[string]any{"duration": 2.0, "bytes": 1e6},
			map[string]any{"duration": 2.0, "bytes": 1e6, "length": 65536.0, "cc": "cubic", "nodelay": true},
		},
		"another congestion control": {
			map[string]any{"duration": 4.0, "cc": "bbr"},
			map[string]any{"duration": 4.0, "cc": "bbr", "length": 65536.0, "nodelay": true},
		},
	} {
		v.ask(c.step)
		if diff := cmp.Diff(c.want, c.step); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
