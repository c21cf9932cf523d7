package page_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"
	"time"
)

// noNetwork is what npm says where it reaches nobody.
var noNetwork = regexp.MustCompile("ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ENETUNREACH|ETIMEDOUT")

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
		ctx, end := context.WithTimeout(t.Context(), 5*time.Minute)
		defer end()
		command := exec.CommandContext(ctx, npm, args...)
		command.Dir = folder
		command.WaitDelay = time.Second
		out, err := command.CombinedOutput()
		if args[0] == "ci" && (noNetwork.Match(out) || ctx.Err() != nil) {
			t.Skipf("what checks the types cannot be fetched: %s", out)
		}
		if err != nil {
			t.Fatalf("npm %v: %v\n%s", args, err, out)
		}
	}
}
