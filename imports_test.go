// Package pathwise_test keeps the rules that hold for the whole house.
package pathwise_test

import (
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/pathwise-net/pathwise/"

// rooms says what each package may import of ours: the table in ARCHITECTURE.md. A package under proto stands for
// itself; every other folder below a room belongs to that room.
var rooms = map[string][]string{
	"admission":    {},
	"document":     {},
	"durable":      {},
	"quantity":     {},
	"stat":         {},
	"secret":       {},
	"sock":         {},
	"model":        {},
	"calc":         {"model", "quantity"},
	"measure":      {"stat"},
	"account":      {"admission", "document", "durable"},
	"parse":        {"document", "measure"},
	"proto/iperf3": {"admission", "document", "sock"},
	"lab":          {"document", "measure", "quantity", "sock", "stat"},
	"probe":        {"document", "measure", "model", "parse", "proto/iperf3", "quantity", "sock", "stat"},
	"config":       {"document", "measure", "parse", "quantity"},
	"schedule":     {"measure"},
	"fleet":        {"admission", "document", "durable", "measure"},
	"archive":      {"document", "durable", "measure", "stat"},
	"chart":        {"measure", "stat"},
	"diagnose":     {"calc", "document", "measure", "model", "quantity", "stat"},
	"agent":        {"document", "durable", "fleet", "measure", "probe", "proto/iperf3", "quantity", "sock"},
	"export":       {"archive", "durable", "measure", "secret"},
	"control":      {"archive", "config", "diagnose", "document", "durable", "fleet", "measure", "parse", "probe", "schedule"},
	"web":          {"account", "admission", "archive", "calc", "config", "control", "diagnose", "document", "durable", "export", "fleet", "lab", "measure", "probe", "quantity", "secret"},
	"cmd/pathwise": nil, // the top: everything
	"cmd/bench":    nil,
}

type listed struct {
	ImportPath                         string
	Imports, TestImports, XTestImports []string
}

func TestImportsGoDown(t *testing.T) {
	out, err := exec.Command("go", "list", "-json=ImportPath,Imports,TestImports,XTestImports", "./...").Output()
	if err != nil {
		t.Fatal(err)
	}
	packages := 0
	for decoder := json.NewDecoder(strings.NewReader(string(out))); ; packages++ {
		var p listed
		if err := decoder.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		name, ours := strings.CutPrefix(p.ImportPath, module)
		if !ours {
			continue // the root holds no code
		}
		room := roomOf(name)
		allowed, known := rooms[room]
		if !known {
			t.Errorf("%s: no such room; give it a floor in ARCHITECTURE.md and here", name)
		}
		for _, i := range p.Imports {
			other, ours := strings.CutPrefix(i, module)
			if !ours || roomOf(other) == room || strings.HasPrefix(room, "cmd/") {
				continue
			}
			if !slices.Contains(allowed, roomOf(other)) {
				t.Errorf("%s imports %s, which is not below it", name, other)
			}
		}
	}
	if packages < len(rooms) {
		t.Errorf("%d packages seen, %d rooms: a room is empty", packages, len(rooms))
	}
}

func roomOf(name string) string {
	parts := strings.SplitN(name, "/", 3)
	if parts[0] == "proto" || parts[0] == "cmd" {
		return strings.Join(parts[:min(2, len(parts))], "/")
	}
	return parts[0]
}
