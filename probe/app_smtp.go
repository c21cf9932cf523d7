package probe

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/netip"
	"strconv"
	"time"
)

// smtpScheme greets a mail server (RFC 5321): it opens a connection, waits for the greeting (220), sends EHLO, and waits for the whole of its
// answer (250). All of that is the round trip. QUIT follows, and no mail is sent. Any other code is no answer.
func smtpScheme() appScheme {
	return appScheme{name: schemeSMTP, port: 25, ahead: 650, back: 900,
		remedy:  "does a mail server run there, and is its port open to this host? Many providers close 25",
		service: func(App) (appService, error) { return smtpService{}, nil }}
}

const (
	schemeSMTP = "smtp"
	smtpMost   = 64 << 10 // bytes of a whole exchange: RFC 5321 section 4.5.3.1.5 has lines of 512
)

type smtpService struct{}

func (smtpService) exchange(ctx context.Context, to netip.AddrPort) (a appAnswer, err error) {
	conn, began, err := dialApp(ctx, to, &a)
	if err != nil {
		return a, err
	}
	defer conn.Close()
	defer endWith(ctx, conn)()
	opened := time.Now()
	reader := bufio.NewReader(io.LimitReader(conn, smtpMost))
	if err := expectReply(reader, 220, "greets with"); err != nil {
		return a, err
	}
	a.first = time.Since(opened)
	if _, err := fmt.Fprintf(conn, "EHLO %s\r\n", smtpSelf(conn)); err != nil {
		return a, err
	}
	if err := expectReply(reader, 250, "answers EHLO with"); err != nil {
		return a, err
	}
	a.rtt, a.said = time.Since(began), "220, 250"
	_, _ = io.WriteString(conn, "QUIT\r\n") // out of courtesy: the answer came
	return a, nil
}

// smtpSelf is how a client without a name says who it is (RFC 5321 section 4.1.3).
func smtpSelf(conn net.Conn) string {
	a := conn.LocalAddr().(*net.TCPAddr).AddrPort().Addr().Unmap()
	if a.Is6() {
		return "[IPv6:" + a.WithZone("").String() + "]"
	}
	return "[" + a.String() + "]"
}

func expectReply(reader *bufio.Reader, code int, does string) error {
	got, text, err := readReply(reader)
	if err != nil {
		return err
	}
	if got != code {
		return fmt.Errorf("the server %s \"%d %s\"", does, got, text)
	}
	return nil
}

// readReply reads a reply of one or more lines (RFC 5321 section 4.2.1), of which all but the last have a hyphen after the code. text is that of
// the first line.
func readReply(reader *bufio.Reader) (code int, text string, err error) {
	for first := true; ; first = false {
		line, err := reader.ReadString('\n')
		if err != nil {
			return 0, "", closedEarly(err)
		}
		for len(line) > 0 && (line[len(line)-1] == '\n' || line[len(line)-1] == '\r') {
			line = line[:len(line)-1]
		}
		n, failed := strconv.Atoi(line[:min(3, len(line))])
		if failed != nil || n < 200 || n > 599 || !first && n != code || len(line) > 3 && line[3] != ' ' && line[3] != '-' {
			return 0, "", fmt.Errorf("what answers speaks no SMTP: %.60q", line)
		}
		if first {
			code, text = n, line[min(4, len(line)):]
		}
		if len(line) == 3 || line[3] == ' ' {
			return code, text, nil
		}
	}
}
