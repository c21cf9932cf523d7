package twin

import (
	"os"
	"testing"

	"github.com/pathwise-net/pathwise/lab"
)

func TestMain(m *testing.M) {
	lab.RunEngineIfAsked() // the labs of these tests are this test binary again
	os.Exit(m.Run())
}
