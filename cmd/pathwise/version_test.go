package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// linkedModule is one whose packages are in the binary.
type linkedModule struct{ Path, Version, Dir string }

// linkedModules asks Go for the modules of all packages in the binary, but its own.
func linkedModules(t *testing.T) (all []linkedModule) {
	t.Helper()
	out, err := exec.Command("go", "list", "-deps", "-json=Module", ".").Output()
	if err != nil {
		t.Fatal(err)
	}
	for d := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p struct {
			Module *struct {
				linkedModule
				Main bool
			}
		}
		err := d.Decode(&p)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if p.Module != nil && !p.Module.Main {
			all = append(all, p.Module.linkedModule)
		}
	}
	slices.SortFunc(all, func(a, b linkedModule) int { return cmp.Compare(a.Path, b.Path) })
	return slices.Compact(all)
}

// licenceFile matches what a module's licence, and what must be told with it, is called.
var licenceFile = regexp.MustCompile(`(?i)^(licen[cs]e|copying|notice|patents)([.-].*)?$`)

// licenceText is the text of all licences, each module's under its name and version.
func licenceText(t *testing.T, modules []linkedModule) string {
	t.Helper()
	var b strings.Builder
	for _, m := range modules {
		entries, err := os.ReadDir(m.Dir)
		if err != nil {
			t.Fatal(err)
		}
		found := false
		for _, e := range entries {
			if !licenceFile.MatchString(e.Name()) || !e.Type().IsRegular() {
				continue
			}
			text, err := os.ReadFile(filepath.Join(m.Dir, e.Name()))
			if err != nil {
				t.Fatal(err)
			}
			found = true
			fmt.Fprintf(&b, "\n%s\n%s %s: %s\n\n%s\n", strings.Repeat("=", 80), m.Path, m.Version, e.Name(), strings.TrimSpace(string(text)))
		}
		if !found {
			t.Errorf("%s %s has no licence: leave it out, or ask for one", m.Path, m.Version)
		}
	}
	return b.String()
}

// pagesLicences is of what the pages are made with.
func pagesLicences(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("../../web/page/static/vendor/licences.txt")
	if err != nil {
		t.Fatal(err)
	}
	return "\n" + strings.Repeat("=", 80) + "\nIn the pages\n\n" + strings.TrimSpace(string(text)) + "\n"
}

// The binary carries the licences of all that is linked into it, of the versions of go.mod. WRITE_LICENCES=1 writes them.
func TestLicences(t *testing.T) {
	modules := linkedModules(t)
	if os.Getenv("WRITE_LICENCES") != "" {
		root, err := exec.Command("go", "env", "GOROOT").Output()
		if err != nil {
			t.Fatal(err)
		}
		own := []linkedModule{{"Go", "", strings.TrimSpace(string(root))}}
		text := "Go and the modules in this program, and their licences.\n" + licenceText(t, own) + licenceText(t, modules) + pagesLicences(t)
		if err := os.WriteFile("licences.txt", []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	status, said, _ := pathwise(t, "version", "--licences")
	if status != exitDone || len(modules) < 20 {
		t.Fatalf("exit status %d; %d modules", status, len(modules))
	}
	heading := regexp.MustCompile(`(?m)^={80}\n(\S+) (\S*): `)
	var have, want []string
	for _, m := range heading.FindAllStringSubmatch(said, -1) {
		if m[1] != "Go" {
			have = append(have, m[1]+" "+m[2])
		}
	}
	for _, m := range modules {
		want = append(want, m.Path+" "+m.Version)
	}
	if have = slices.Compact(have); !slices.Equal(have, want) {
		t.Errorf("licences.txt is not of the modules of go.mod; go test -run TestLicences with WRITE_LICENCES=1 makes it so\nhave %q\nwant %q", have, want)
	}
	if !t.Failed() && !strings.HasSuffix(said, licenceText(t, modules)+pagesLicences(t)) {
		t.Error("licences.txt has other texts than the modules have; write it anew")
	}
}
