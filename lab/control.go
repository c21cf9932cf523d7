package lab

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"

	"github.com/pathwise-net/pathwise/input"
	"golang.org/x/sys/unix"
)

// The engine and its users speak over a Unix socket in the abstract name space, so that no file is left behind. A
// connection carries one request and its answers, one JSON object a line. The descriptors of an exec travel with the
// request; then the user may send signals, and a connection that ends takes the process with it.
//
//	user                              engine
//	{"do":"exec", …} + 3 fds   -->
//	{"signal":2}               -->    (signals the process group)
//	                           <--    {"exit":0}
type request struct {
	Do       string            `json:"do"` // exec, set, replace, route, sysctl, show, shapes, truth, follow, capture, down
	Host     string            `json:"host,omitempty"`
	Argv     []string          `json:"argv,omitempty"`
	Env      []string          `json:"env,omitempty"`
	Dir      string            `json:"dir,omitempty"`
	Between  []string          `json:"between,omitempty"`
	Settings []string          `json:"settings,omitempty"`
	Sysctl   map[string]string `json:"sysctl,omitempty"`
	Signal   int               `json:"signal,omitempty"`
	Route    *Route            `json:"route,omitempty"`
	Window   Window            `json:"window,omitzero"`
	Follow   FollowOptions     `json:"follow,omitzero"`
	At       []string          `json:"at,omitempty"` // nodes, or NODE.ethN, to capture at
	Replace  *Replacement      `json:"replace,omitempty"`
}

// answer is what the engine says: one of its fields.
type answer struct {
	Error  string  `json:"error,omitempty"`
	Input  bool    `json:"input,omitempty"` // the error is the caller's
	Stale  bool    `json:"stale,omitempty"` // the error is ErrStale
	Exit   *int    `json:"exit,omitempty"`
	State  *State  `json:"state,omitempty"`
	Shapes []Shape `json:"shapes,omitempty"`
	Truth  *Truth  `json:"truth,omitempty"`
	Ready  *Status `json:"ready,omitempty"`
	Event  *Event  `json:"event,omitempty"` // of follow; more come
	Done   bool    `json:"done,omitempty"`  // of capture
}

// Status is what an engine reports once its lab stands.
type Status struct {
	Device DeviceKind `json:"device"`
	PID    int        `json:"pid"` // in the namespace of whoever started it; filled in there
}

// engineError is an error that the engine reported.
type engineError struct {
	text  string
	input bool
}

func (e *engineError) Error() string  { return e.text }
func (e *engineError) BadInput() bool { return e.input }

func errorAnswer(err error) answer {
	return answer{Error: err.Error(), Input: input.Bad(err), Stale: errors.Is(err, ErrStale)}
}

// maxRequest bounds one request line; an argument list may be 2 MiB on Linux.
const maxRequest = 4 << 20

// readRequest reads the first line of a connection and the descriptors that come with it.
func readRequest(c *net.UnixConn) (request, []*os.File, *bufio.Reader, error) {
	var r request
	reader := &descriptorReader{conn: c}
	lines := bufio.NewReaderSize(io.LimitReader(reader, maxRequest), 64<<10)
	line, err := lines.ReadBytes('\n')
	if err == nil {
		err = json.Unmarshal(line, &r)
	}
	if err != nil {
		reader.close()
		return r, nil, nil, fmt.Errorf("read request: %w", err)
	}
	return r, reader.files, lines, nil
}

// descriptorReader reads a Unix socket and keeps the descriptors that arrive with the bytes.
type descriptorReader struct {
	conn  *net.UnixConn
	files []*os.File
}

func (d *descriptorReader) close() {
	for _, f := range d.files {
		f.Close()
	}
}

func (d *descriptorReader) Read(b []byte) (int, error) {
	var control [128]byte
	n, controlLength, _, _, err := d.conn.ReadMsgUnix(b, control[:])
	if err != nil {
		return max(0, n), err
	}
	messages, err := unix.ParseSocketControlMessage(control[:controlLength])
	if err != nil {
		return n, fmt.Errorf("parse control message: %w", err)
	}
	for i := range messages {
		fds, err := unix.ParseUnixRights(&messages[i])
		if err != nil {
			continue
		}
		for _, fd := range fds {
			unix.CloseOnExec(fd)
			d.files = append(d.files, os.NewFile(uintptr(fd), "passed"))
		}
	}
	if n == 0 {
		return 0, io.EOF
	}
	return n, nil
}

// sendRequest writes a request line and, with its first byte, the descriptors.
func sendRequest(c *net.UnixConn, r request, files ...*os.File) error {
	line, err := json.Marshal(r)
	if err != nil {
		return fmt.Errorf("encode request: %w", err)
	}
	var fds []int
	for _, f := range files {
		fds = append(fds, int(f.Fd()))
	}
	var rights []byte
	if len(fds) > 0 {
		rights = unix.UnixRights(fds...)
	}
	line = append(line, '\n')
	n, _, err := c.WriteMsgUnix(line, rights, nil)
	if err == nil && n < len(line) {
		_, err = c.Write(line[n:])
	}
	if err != nil {
		return fmt.Errorf("send request: %w", err)
	}
	return nil
}

// socketName is the abstract name of a user's lab.
func socketName(name string) string { return fmt.Sprintf("@pathwise-lab-%d-%s", os.Geteuid(), name) }
