package main

import (
	"fmt"
	"math"
)

// attempt is what became of a stream at some rate.
type attempt struct {
	clean   bool    // nothing was dropped that should not be
	reached float64 // packets/s that the sender managed
}

const (
	climbStep  = 1.1
	climbTries = 2 // of each rate: one hiccup of the machine is not the emulator's limit
	climbMin   = 10_000
	climbMax   = 2_000_000
	// senderShare is how much of the rate the sender must manage for an attempt to count.
	senderShare = 0.98
)

// climb finds the highest rate in packets/s, in steps of 10 % from where it begins, at which one of two attempts is clean:
// upwards until one is not, or downwards until one is. Why says what else ended it; the rate is 0 if none was clean.
func climb(from int, try func(rate int) (attempt, error)) (best int, why string, err error) {
	up := 0
	for {
		rate := int(math.Round(float64(from) * math.Pow(climbStep, float64(up))))
		if rate < climbMin || rate > climbMax {
			return best, "", nil
		}
		a, err := tryTwice(rate, try)
		if err != nil {
			return 0, "", err
		}
		switch slow := a.reached < senderShare*float64(rate); {
		case a.clean && !slow:
			best = rate
			if up < 0 {
				return best, "", nil
			}
			up++
		case slow && up > 0: // whatever was dropped
			return best, fmt.Sprintf("; the sender managed no more than %s", describeRate(int(a.reached))), nil
		case up > 0:
			return best, "", nil
		default:
			up--
		}
	}
}

func tryTwice(rate int, try func(int) (attempt, error)) (a attempt, err error) {
	for range climbTries {
		if a, err = try(rate); err != nil || a.clean {
			break
		}
	}
	return a, err
}

// describeRate says packets/s of the bulk stream, and what that is in bits.
func describeRate(rate int) string {
	return fmt.Sprintf("%d packets/s (%.2f Gbit/s)", rate, bulkStream.bitsPerSecond(float64(rate))/1e9)
}
