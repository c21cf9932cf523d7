package main

import (
	"os"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/pathwise-net/pathwise/lab"
)

func TestMain(m *testing.M) {
	lab.RunEngineIfAsked()
	if os.Getenv(actAsPathwise) != "" {
		main()
	}
	testscript.Main(m, map[string]func(){"pathwise": main})
}

// actAsPathwise makes this test binary be the program under test, for tests that start it themselves.
const actAsPathwise = "PATHWISE_TEST_ACT"

// TestScripts runs the command transcripts under testdata/script.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{Dir: "testdata/script"})
}
