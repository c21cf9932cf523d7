package demo

import (
	"strings"
	"testing"
)

// The pages are for all who reach them, so they are where only this machine does.
func TestAddressIsOfThisMachine(t *testing.T) {
	for _, address := range []string{"0.0.0.0:0", ":0", "[::]:0"} {
		if at, err := Address(address); err == nil || !strings.Contains(err.Error(), "of this machine alone") {
			t.Errorf("%s: %s, %v", address, at, err)
		}
	}
	if at, err := Address("127.0.0.1:0"); err != nil || !strings.HasPrefix(at, "127.0.0.1:") {
		t.Errorf("%s, %v", at, err)
	}
}
