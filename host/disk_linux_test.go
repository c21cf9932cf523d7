package host

import (
	"context"
	"errors"
	"os"
	"testing"
)

// A disk is tried both ways, and nothing of it stays, whether it was done or ended.
func TestTryDisk(t *testing.T) {
	folder := t.TempDir()
	all, err := tryDisk(t.Context(), folder, 2*diskBehind)
	if err != nil || len(all) != 2 || all[0].What != "write" || all[1].What != "read" || !(all[0].Rate > 0) || !(all[1].Rate > 0) {
		t.Errorf("%+v, %v", all, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if all, err := tryDisk(ctx, folder, diskBytes); !errors.Is(err, context.Canceled) {
		t.Errorf("ended: %+v, %v", all, err)
	}
	if left, err := os.ReadDir(folder); err != nil || len(left) > 0 {
		t.Errorf("left: %v, %v", left, err)
	}
	if _, err := tryDisk(t.Context(), folder+"/none", diskBlock); err == nil {
		t.Error("a folder that is not there was tried")
	}
}
