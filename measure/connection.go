package measure

import "slices"

// Connection is one TCP connection of a host, as the kernel there showed it moment by moment.
type Connection struct {
	Local             string `json:"local"`  // address and port
	Remote            string `json:"remote"` // address and port of the other end
	State             string `json:"state"`  // when it was last seen, such as "established"
	CongestionControl string `json:"congestion_control,omitempty"`

	// Which of its buffers the program set by itself, so that the kernel does not tune them; nil: that may not be seen.
	SendBufferFixed    *bool `json:"send_buffer_fixed,omitempty"`
	ReceiveBufferFixed *bool `json:"receive_buffer_fixed,omitempty"`

	Process  int       `json:"process,omitempty"` // that has it open, as in Samples.Processes; 0: that may not be seen
	Readings []Reading `json:"readings"`          // in the order of time: one at least
}

// Process is a program of a host, with what it did and waited for from the first reading on.
type Process struct {
	ID       int       `json:"id"`
	Name     string    `json:"name"`
	Readings []Reading `json:"readings"`
}

// encrypting are the names of programs that encrypt and decrypt all that their connections carry, in one thread for each: those of SSH, under
// which scp, sftp and rsync move files, and tunnels of TLS.
var encrypting = []string{"ssh", "sshd", "sshd-session", "dropbear", "dbclient", "stunnel", "stunnel4"}

// Encrypts reports whether the program is known to encrypt all that its connections carry.
func (p *Process) Encrypts() bool { return slices.Contains(encrypting, p.Name) }

// Reading is what a kernel said at one moment. Values are keyed by names that end in their unit; one that the kernel did not report is
// absent, which is not zero. Those of a connection are TCPSample's; unread_bytes and unsent_bytes are what its two queues hold. Those of a
// process are sums since its first reading, in seconds:
//
//	cpu_seconds       of all its threads on processors
//	busiest_seconds   of the thread that used most in each interval, on a processor or waiting for one
//	disk_seconds      of the thread that waited most for disks, where the kernel counts that
//	blocked_seconds   of intervals at whose end a thread was in a wait that nothing interrupts, as that for a disk
//	disk_read_bytes, disk_written_bytes
type Reading struct {
	ElapsedSeconds float64            `json:"elapsed_seconds"` // since the measurement began
	Values         map[string]float64 `json:"values"`
}

// Last is what the last reading said; nil where there is none.
func Last(all []Reading) map[string]float64 {
	if len(all) == 0 {
		return nil
	}
	return all[len(all)-1].Values
}

// Growth is by how much a value grew from the first reading that has it to the last one, over which time in seconds; both 0 where fewer than
// two have it.
func Growth(all []Reading, name string) (by, seconds float64) {
	first := -1
	for i, r := range all {
		v, told := r.Values[name]
		switch {
		case told && first < 0:
			first = i
		case told:
			by, seconds = v-all[first].Values[name], r.ElapsedSeconds-all[first].ElapsedSeconds
		}
	}
	return by, seconds
}

// Share is what part of the time a value that counts seconds grew, and whether that is told.
func Share(all []Reading, name string) (share float64, told bool) {
	by, seconds := Growth(all, name)
	if seconds <= 0 {
		return 0, false
	}
	return by / seconds, true
}

// Rate is how fast a value that counts bytes grew, in bit/s; 0 where that is not told.
func Rate(all []Reading, name string) float64 {
	by, seconds := Growth(all, name)
	if seconds <= 0 {
		return 0
	}
	return by * 8 / seconds
}
