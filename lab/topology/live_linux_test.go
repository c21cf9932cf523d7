package topology

import (
	"io"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"testing"

	"github.com/pathwise-net/pathwise/lab"
)

// Every lab stands up, with all its hosts' settings, and comes down.
func TestAllStandUp(t *testing.T) {
	for _, e := range List() {
		text, err := Read(e.Name)
		if err != nil {
			t.Fatal(err)
		}
		spec, err := lab.ParseSpec(e.Name, text)
		if err != nil {
			t.Errorf("%s: %v", e.Name, err)
			continue
		}
		l, err := lab.Start(t.Context(), spec, lab.Options{})
		if err != nil {
			t.Errorf("%s: %v", e.Name, err)
			continue
		}
		if err := l.Close(); err != nil {
			t.Errorf("%s: close lab: %v", e.Name, err)
		}
	}
}

// Two of the labs stood up for real: what the kernel's own hosts see is the table's round trip, or more where this
// machine is busy. The bound above is wide for that reason.
func TestRoundTripsForReal(t *testing.T) {
	if _, err := exec.LookPath("ping"); err != nil {
		t.Skip("ping is not installed")
	}
	for _, c := range []struct {
		name, from, to string
		want, most     float64 // ms
	}{
		{"two-hosts", "a", "b", 20, 30},
		{"gridnm-2002", "ucl", "nikhef", 10, 20},
	} {
		t.Run(c.name, func(t *testing.T) {
			text, err := Read(c.name)
			if err != nil {
				t.Fatal(err)
			}
			spec, err := lab.ParseSpec(c.name, text)
			if err != nil {
				t.Fatal(err)
			}
			l, err := lab.Start(t.Context(), spec, lab.Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer func() {
				if err := l.Close(); err != nil {
					t.Errorf("close lab: %v", err)
				}
			}()
			if ms := leastRoundTrip(t, l, c.from, c.to); ms < c.want-0.05 || ms > c.most {
				t.Errorf("%s > %s: %.3f ms at least; want %v to %v", c.from, c.to, ms, c.want, c.most)
			}
		})
	}
}

var leastOf = regexp.MustCompile(`= ([0-9.]+)/`)

// leastRoundTrip runs the system's ping on a host.
func leastRoundTrip(t *testing.T, l *lab.Lab, from, to string) float64 {
	t.Helper()
	reader, writer, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	p, err := l.Start(t.Context(), from, lab.Command{Argv: []string{"ping", "-n", "-q", "-c", "10", "-i", "0.02", to},
		Stdout: writer, Stderr: writer})
	writer.Close()
	if err != nil {
		t.Fatal(err)
	}
	out, err := io.ReadAll(reader)
	if err != nil {
		t.Fatal(err)
	}
	if status, err := p.Wait(); err != nil || status != 0 {
		t.Fatalf("ping: exit status %d, %v:\n%s", status, err, out)
	}
	m := leastOf.FindSubmatch(out)
	if m == nil {
		t.Fatalf("ping says no round trip:\n%s", out)
	}
	ms, err := strconv.ParseFloat(string(m[1]), 64)
	if err != nil {
		t.Fatal(err)
	}
	return ms
}
