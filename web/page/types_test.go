package page_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// The types in the modules' comments hold: TypeScript checks them, and nothing of it is shipped.
func TestTypes(t *testing.T) {
	npm, err := exec.LookPath("npm")
	if err != nil {
		t.Skip("no npm, which the check of the pages' types needs")
	}
	folder := t.TempDir()
	if err := os.CopyFS(filepath.Join(folder, "static"), os.DirFS("static")); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"package.json", "package-lock.json", "tsconfig.json", "api.d.ts"} {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(folder, name), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, args := range [][]string{{"ci", "--ignore-scripts", "--no-audit", "--no-fund"}, {"run", "check"}} {
		command := exec.CommandContext(t.Context(), npm, args...)
		command.Dir = folder
		if out, err := command.CombinedOutput(); err != nil {
			t.Fatalf("npm %v: %v\n%s", args, err, out)
		}
	}
}
