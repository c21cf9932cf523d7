package screen

import (
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/google/go-cmp/cmp"

	"github.com/pathwise-net/pathwise/lab"
	"github.com/pathwise-net/pathwise/lab/record"
)

func TestScreen(t *testing.T) {
	f := newFakeLab(t)
	m := watching(f)
	f.truth = truthAt(12, 1000+8000, 80) // 4000 packets/s for 2 s
	f.truth.Emulator = lab.EmulatorTruth{Bottleneck: true, Why: "it did not read 3 packets in time", LateP99: 0.002}
	flow := record.FlowTruth{Name: "tcp 10.0.0.1:4000 > 10.0.1.2:5201", Protocol: "tcp", Source: "10.0.0.1", SourcePort: 4000,
		Target: "10.0.1.2", TargetPort: 5201, Packets: 8080, LossRatio: 0.0099, RateBitsPerSecond: 48e6}
	flow.DelaySeconds.Median, flow.DelaySeconds.P99 = 0.0413, 0.0452
	f.truth.Flows = []record.FlowTruth{{Name: "others", Packets: 3}, flow}
	m = settle(m, m.(model).poll(true))
	want := `lab test, up for 12.0 s, emulator late by 2.00 ms at p99
The emulator was the bottleneck: it did not read 3 packets in time

  direction             rate         now     load packets/s   queue/max  loss 5s   in all    delay late p99
> bob > london    100 Mbit/s 48.0 Mbit/s ####....      4000        7/64   0.99 %  0.881 %  21.3 ms      0 s
  london > bob    100 Mbit/s  0.00 bit/s ........         0         0/0      0 %      0 %      0 s      0 s
  london > carol    no limit  0.00 bit/s                  0         0/0      0 %      0 %      0 s      0 s
  carol > london    no limit  0.00 bit/s                  0         0/0      0 %      0 %      0 s    42 µs

link bob - london: keys change bob > london
  forward {rate: 100mbit, delay: 20ms, loss: 0.1%}
  reverse {rate: 100mbit, delay: 20ms}

  flow, last 2s                                   rate   packets     loss   median      p99
  tcp bob:4000 > carol:5201                48.0 Mbit/s      8080   0.99 %  41.3 ms  45.2 ms
  others                                             -         3      0 %      0 s      0 s


up/down select  d/D delay  l/L loss  r/R rate  b/B buffer  x down  ? all  q quit`
	if diff := cmp.Diff(want, strings.Join(m.(model).lines(), "\n")); diff != "" {
		t.Errorf("screen (-want +got):\n%s", diff)
	}
	content := m.View().Content
	if !strings.Contains(content, inverse+"> bob > london") || !strings.Contains(content, alarm+"The emulator") {
		t.Errorf("nothing stands out:\n%q", content)
	}
}

// Whatever the size of the terminal, nothing is drawn outside, and the selected direction and the keys can be seen.
func TestScreenFits(t *testing.T) {
	f := newFakeLab(t)
	m := press(watching(f), "down", "down", "down")
	for width := 20; width <= 140; width += 20 {
		for height := 12; height <= 40; height += 4 {
			m, _ := m.Update(tea.WindowSizeMsg{Width: width, Height: height})
			lines := m.(model).lines()
			for _, line := range lines {
				if n := len([]rune(line)); n > width {
					t.Errorf("%d by %d: a line of %d: %q", width, height, n, line)
				}
			}
			text := strings.Join(lines, "\n")
			if len(lines) > height || !strings.Contains(text, "> carol > lond") || !strings.Contains(text, "up/down select") {
				t.Errorf("%d by %d: %d lines:\n%s", width, height, len(lines), text)
			}
		}
	}
}
