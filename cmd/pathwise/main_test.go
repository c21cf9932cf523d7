package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/pathwise-net/pathwise/lab"
)

func TestMain(m *testing.M) {
	lab.RunEngineIfAsked()
	if os.Getenv(actAsPathwise) != "" {
		main()
	}
	if config := os.Getenv(natsVariable); config != "" {
		if err := beNATS(config); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	testscript.Main(m, map[string]func(){"pathwise": main})
}

// actAsPathwise makes this test binary be the program under test, for tests that start it themselves.
const actAsPathwise = "PATHWISE_TEST_ACT"

// TestScripts runs the command transcripts under testdata/script. $LAB is the name of a lab that goes when the script ends.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{Dir: "testdata/script", Setup: func(e *testscript.Env) error {
		name := fmt.Sprintf("script-%d-%s", os.Getpid(), strings.ReplaceAll(filepath.Base(e.WorkDir), "_", "-"))
		e.Setenv("LAB", name) // of the script's own
		e.Defer(func() { _ = (&lab.Lab{Name: name}).Down() })
		return nil
	}})
}
