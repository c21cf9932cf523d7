package host

import (
	"context"

	"github.com/pathwise-net/pathwise/disk"
)

// TryDisk returns what System.DiskRates does: it has package disk try a folder.
func TryDisk(folder string) func(context.Context) ([]DiskRate, error) {
	return func(ctx context.Context) (all []DiskRate, err error) {
		rates, err := disk.Try(ctx, folder, disk.Limits{})
		for _, r := range rates {
			one := DiskRate{Path: folder, What: r.What(), Rate: r.BitsPerSecond()}
			if r.Random {
				one.PerSecond = r.PerSecond()
			}
			all = append(all, one)
		}
		return all, err
	}
}
