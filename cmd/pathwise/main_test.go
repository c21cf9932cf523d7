package main

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/pathwise-net/pathwise/lab"
)

func TestMain(m *testing.M) {
	lab.RunEngineIfAsked()
	if os.Getenv(actAsPathwise) != "" {
		main()
	}
	if os.Getenv(reflectVariable) != "" {
		fmt.Fprintln(os.Stderr, beReflector())
		os.Exit(1)
	}
	if os.Getenv(listenVariable) != "" {
		fmt.Fprintln(os.Stderr, beListeners())
		os.Exit(1)
	}
	if config := os.Getenv(natsVariable); config != "" {
		if err := beNATS(config); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	if err := flag.Set("test.parallel", strconv.Itoa(waitAtOnce)); err != nil { // a flag of the command line's comes later, and wins
		panic(err)
	}
	testscript.Main(tests{m}, map[string]func(){"pathwise": main})
}

// waitAtOnce is how many tests are under way at once of those that may be (t.Parallel): most of their time they wait. Those that
// take a processor each have a turn of carrying, too.
const waitAtOnce = 8

var carriers = make(chan struct{}, runtime.GOMAXPROCS(0))

// carrying waits for a turn of those whose labs carry much, and has it until the test ends.
func carrying(t *testing.T) {
	t.Helper()
	carriers <- struct{}{}
	t.Cleanup(func() { <-carriers })
}

// allSweeps reports whether tests are to take their long forms.
func allSweeps() bool { return os.Getenv("PATHWISE_SWEEPS") == "all" }

// onlyLong skips a test that takes minutes, where tests take their short forms. It comes before the test waits for a turn.
func onlyLong(t *testing.T) {
	t.Helper()
	if !allSweeps() {
		t.Skip("takes minutes: PATHWISE_SWEEPS=all does it")
	}
}

// installed skips a test where this machine lacks one of the programs that it runs.
func installed(t *testing.T, programs ...string) {
	t.Helper()
	for _, program := range programs {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("%s is not installed", program)
		}
	}
}

// tests take away what they have built.
type tests struct{ *testing.M }

func (m tests) Run() int {
	defer func() { _ = os.RemoveAll(builtIn) }()
	return m.M.Run()
}

// built is the file of pathwise as people have it, not slowed by -race; it is built once, in the folder builtIn.
var (
	builtIn string
	built   = sync.OnceValues(func() (string, error) {
		folder, err := os.MkdirTemp("", "pathwise-test-")
		if err != nil {
			return "", err
		}
		builtIn = folder
		file := filepath.Join(folder, "pathwise")
		if out, err := exec.Command("go", "build", "-ldflags", "-s -w", "-o", file, ".").CombinedOutput(); err != nil {
			return "", fmt.Errorf("build: %w\n%s", err, out)
		}
		return file, nil
	})
)

func builtProgram(t *testing.T) string {
	t.Helper()
	file, err := built()
	if err != nil {
		t.Fatal(err)
	}
	return file
}

// actAsPathwise makes this test binary be the program under test, for tests that start it themselves.
const actAsPathwise = "PATHWISE_TEST_ACT"

// TestScripts runs the command transcripts under testdata/script. $LAB is the name of a lab that goes when the script ends.
func TestScripts(t *testing.T) {
	t.Parallel()
	testscript.Run(t, testscript.Params{Dir: "testdata/script", Setup: func(e *testscript.Env) error {
		name := fmt.Sprintf("script-%d-%s", os.Getpid(), strings.ReplaceAll(filepath.Base(e.WorkDir), "_", "-"))
		e.Setenv("LAB", name) // of the script's own
		e.Setenv("GORACE", os.Getenv("GORACE"))
		carriers <- struct{}{}
		e.Defer(func() { <-carriers })
		e.Defer(func() { _ = (&lab.Lab{Name: name}).Down() })
		return nil
	}})
}
