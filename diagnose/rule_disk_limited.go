package diagnose

import (
	"fmt"

	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/quantity"
)

// What a transfer of a file told of a way, and of the disk behind it.
const (
	FileGoodput Name = "file_goodput"
	FileRead    Name = "file_read_share"
	FileWritten Name = "file_write_share"
)

// ofFile is a transfer that a file is read for, or written by.
const ofFile sort = "file"

// diskLimited: the program at this end waits for a disk most of the time, and the connection waits for it: to be given data, or to be read.
var diskLimited = Rule{
	ID:       "disk-limited",
	Of:       OfConnection,
	Needs:    []Name{OwnerBlocked, Steady},
	Reads:    []Name{RoomShare, UnreadShare, OwnerCPU, ReceiveWindowShare, SendBufferShare, OwnGoodput},
	Apart:    map[string]Name{"application-limited": OwnerBlocked, "receiver-application-slow": OwnerBlocked},
	Replaces: []string{"application-limited", "receiver-application-slow"},
	Look: func(s *Subject) *Claim {
		sends := s.Value(RoomShare) >= mostlyIdle && s.Value(ReceiveWindowShare) < unlimited && s.Value(SendBufferShare) < unlimited
		reads := s.Value(UnreadShare) >= binding
		if s.Value(OwnerBlocked) < binding || s.Value(Steady) == 0 || !sends && !reads {
			return nil
		}
		c := &Claim{
			Where: AtSender, Confidence: 0.85,
			Evidence: []Name{OwnerBlocked, OwnerCPU, RoomShare, UnreadShare, Unread, Steady, OwnGoodput},
			Advice:   []string{"look", "blocks"},
			Words:    s.programWord(),
			Allows:   s.Value(Steady), // what the disk takes, or gives, is what moves
			Gone:     []limit{byReceiveWindow},
		}
		if reads {
			c.Where, c.Says, c.Advice = AtReceiver, []string{"reads"}, []string{"look-there", "blocks-there"}
		}
		return c
	},
}

// diskLimitedFile: a transfer of a file waits for it most of the time, and goes slower than one from memory to memory did. Both rates were measured the
// same way, so that nothing of the path is to blame for the difference.
var diskLimitedFile = Rule{
	ID:    "disk-limited",
	Of:    OfWay,
	In:    []State{Slow, Full},
	Needs: []Name{FileGoodput, Steady},
	Reads: []Name{FileRead, FileWritten, Goodput},
	Brings: []definition{
		{Name: FileGoodput, Metric: string(measure.Throughput), Unit: "bit/s", Means: "goodput of a transfer of a file", From: ofFile, Read: readMetric(measure.Throughput)},
		{Name: FileRead, Metric: string(measure.FileWaitSender), Unit: "ratio",
			Means: "share of its time that it waited for the file to be read", From: ofFile, Read: readMetric(measure.FileWaitSender)},
		{Name: FileWritten, Metric: string(measure.FileWaitReceiver), Unit: "ratio",
			Means: "share of its time that it waited for the file to be written", From: ofFile, Read: readMetric(measure.FileWaitReceiver)},
	},
	Replaces: []string{"application-limited"},
	Look: func(s *Subject) *Claim {
		alone := s.Fact(FileGoodput).Result == s.Fact(Steady).Result // nothing was moved from memory to memory
		if max(s.Value(FileRead), s.Value(FileWritten)) < binding || !alone && s.Value(FileGoodput) > fileSlower*s.Value(Goodput) {
			return nil
		}
		c := &Claim{
			Where: AtSender, Confidence: confidence(s.Value(FileRead)), Says: []string{"file-read"}, Advice: []string{"try", "blocks"},
			Evidence: []Name{FileRead, FileWritten, FileGoodput, Goodput},
			Allows:   s.Value(Steady), Unpredicted: true, Beyond: true, // a transfer that has no file gets what the path gives
		}
		if s.Value(FileWritten) > s.Value(FileRead) {
			c.Where, c.Confidence, c.Says, c.Advice = AtReceiver, confidence(s.Value(FileWritten)), []string{"file-written"}, []string{"try-there", "blocks-there"}
		}
		if !alone {
			c.Says = append(c.Says, "both-rates")
			c.Returns = &measure.Predicted{BitsPerSecond: s.Value(Goodput), Basis: fmt.Sprintf("a file moves as fast as the slower of disk and path, and the path moved %s from memory to memory",
				quantity.FormatRate(s.Value(Goodput)))}
		}
		return c
	},
}

// fileSlower is the share of a goodput from memory to memory below which that of a file is slower: two runs over one path differ by a tenth.
const fileSlower = 0.9

// readMetric reads a metric where a Result has it.
func readMetric(m measure.Metric) func(*Subject, *measure.Result) (float64, bool) {
	return func(_ *Subject, r *measure.Result) (float64, bool) { return r.Get(m) }
}
