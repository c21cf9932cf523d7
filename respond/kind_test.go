package respond

import (
	"context"
	"flag"
	"fmt"
	"net"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/probe"
)

var update = flag.Bool("update", false, "write the table of kinds in docs/agent.md anew")

// What a probe asks its target to open is in the table, and what the table says of probes is what they ask for.
func TestKindsAnswerProbes(t *testing.T) {
	asked := map[string][]string{measure.ResponderCommand: {"command"}} // a program asks for a server only where its tool has one
	tasks := []measure.Task{{Kind: "owd", Parameters: map[string]any{"proto": "twamp"}}, {Kind: "owd", Parameters: map[string]any{"proto": "owamp"}}}
	for _, kind := range probe.Kinds() {
		tasks = append(tasks, measure.Task{Kind: kind.Name})
	}
	tasks = append(tasks, measure.Task{Kind: "mtu", Parameters: map[string]any{"proto": "stamp"}}, measure.Task{Kind: "trace", Parameters: map[string]any{"both": true}})
	for _, kind := range tasks {
		if kind.Kind == "command" {
			continue
		}
		demand, err := probe.Demand(kind)
		if err != nil {
			t.Fatal(err)
		}
		if demand.Responder != "" {
			asked[demand.Responder] = append(asked[demand.Responder], kind.Kind)
		}
	}
	answered, names := map[string][]string{}, map[string]bool{}
	for _, kind := range Kinds() {
		if names[kind.Name] {
			t.Errorf("%s: twice in the table", kind.Name)
		}
		names[kind.Name] = true
		if answered[kind.Name] = kind.Probes; len(kind.Probes) == 0 {
			delete(answered, kind.Name) // no probe asks for it
		}
		if kind.Meaning == "" || kind.Program != (len(kind.Protocols) == 0) || kind.Program != (kind.open == nil) {
			t.Errorf("%s: %+v does not say what it is", kind.Name, kind)
		}
	}
	if diff := cmp.Diff(asked, answered); diff != "" {
		t.Errorf("probes by what answers them (-as they ask +as the table says):\n%s", diff)
	}
	if Kinds()[0].Program {
		t.Error("`pathwise respond` has nothing to open")
	}
}

func TestListed(t *testing.T) {
	got := []string{Listed(nil), Listed([]string{"a"}), Listed([]string{"a", "b"}), Listed([]string{"a", "b", "c"})}
	if diff := cmp.Diff([]string{"", "a", "a and b", "a, b and c"}, got); diff != "" {
		t.Error(diff)
	}
}

// Where only root may open a port the spare one is opened, if there is one; any other error stays.
func TestOpenOrSpare(t *testing.T) {
	for _, c := range []struct {
		spare int
		fails error
		want  string
	}{{0, nil, "host:861"}, {5861, nil, "host:861"}, {5861, unix.EACCES, "host:861 host:5861"}, {0, unix.EACCES, "host:861"},
		{5861, unix.EADDRINUSE, "host:861"}} {
		var tried []string
		kind := Kind{Spare: c.spare, open: func(_ context.Context, address string, _ terms) (net.Addr, serve, error) {
			tried = append(tried, address)
			if len(tried) == 1 && c.fails != nil {
				return nil, nil, fmt.Errorf("listen: %w", c.fails)
			}
			return nil, nil, nil
		}}
		_, err := kind.OpenOrSpare(t.Context(), "host:861", Limits{}, nil)
		if got := strings.Join(tried, " "); got != c.want || (err != nil) != (c.fails != nil && len(tried) == 1) {
			t.Errorf("%+v: tried %s (%v)", c, got, err)
		}
	}
}

// What a program answers is for its host to start.
func TestProgramIsNotOpened(t *testing.T) {
	kind, _ := KindOf(measure.ResponderCommand)
	if o, err := kind.OpenForRun(t.Context(), "127.0.0.1:0", Run{}, nil); err == nil {
		o.Close()
		t.Error("it was opened")
	}
}

// The table of kinds in docs/agent.md is made of ours: go test ./respond -run TestPage -update writes it. Each has a paragraph there.
func TestPage(t *testing.T) {
	const path, begin = "../docs/agent.md", "| kind | answers | probes | port |\n|---|---|---|---|\n"
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, found := strings.Cut(string(text), begin)
	_, after, ends := strings.Cut(rest, "\n\n")
	if !found || !ends {
		t.Fatal("the page has no table of kinds")
	}
	want := before + begin + pageTable() + "\n" + after
	if *update {
		if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if diff := cmp.Diff(want, string(text)); diff != "" {
		t.Errorf("the page is not what the table says; -update writes it anew (-want +got):\n%s", diff)
	}
	for _, name := range Names() {
		if !strings.Contains("\n"+after, "\n- **"+name+"**: ") {
			t.Errorf("the page says nothing of %s below its table", name)
		}
	}
}

func pageTable() string {
	var b strings.Builder
	for _, kind := range Kinds() {
		port := "the program's own"
		if !kind.Program {
			port = fmt.Sprintf("%d/%s", kind.Port, strings.Join(kind.Protocols, ", "))
		}
		probes := strings.Join(kind.Probes, ", ")
		if probes == "" {
			probes = "those of other programs"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", kind.Name, kind.Meaning, probes, port)
	}
	return b.String()
}
