package main

import (
	"bytes"
	"cmp"
	"crypto/tls"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/pathwise-net/pathwise/probe"
	"github.com/pathwise-net/pathwise/proto/endpoint"
	"github.com/pathwise-net/pathwise/proto/iperf3"
	"github.com/pathwise-net/pathwise/proto/stamp"
	"github.com/pathwise-net/pathwise/respond"
	"github.com/pathwise-net/pathwise/sock"
)

// accessFlags are the flags of `pathwise respond` that say who may do what.
type accessFlags struct {
	keys       string
	clients    string
	stampKey   string
	stampTLVs  string
	stateless  bool
	stampMarks []int
	rsaKey     string
	users      string
	skew       string
	tlsFile    string
	tlsKey     string
	ndt7CC     string
	mptcp      bool
	multicast  string
	files      string
	noBack     bool
}

func (a *accessFlags) add(flags *pflag.FlagSet) {
	flags.StringVar(&a.keys, "key-file", "", "keys of OWAMP and TWAMP clients, in a `FILE` as the deployed servers have it")
	flags.StringVar(&a.clients, "clients", "", "classes of OWAMP, TWAMP and iperf3 clients and what each may do, in a YAML `FILE`")
	flags.StringVar(&a.stampKey, "stamp-key", "", "key of STAMP's authenticated mode, without which nothing is reflected then, in a `FILE` in hexadecimal")
	flags.StringVar(&a.stampTLVs, "stamp-tlv-key", "", "key of the HMAC TLV of STAMP packets that are not authenticated, in a `FILE` in hexadecimal")
	flags.BoolVar(&a.stateless, "stamp-stateless", false, "reflect STAMP packets without counting them")
	a.addUsers(flags)
	flags.StringVar(&a.tlsFile, "tls-certificate", "", "certificate by which ndt7 speaks TLS as well, on the same port, in a `FILE` in PEM with those that vouch for it")
	flags.StringVar(&a.tlsKey, "tls-key", "", "key of that certificate, in a `FILE` in PEM")
	flags.StringVar(&a.ndt7CC, "ndt7-cc", "", "congestion control of ndt7 where a client asks for none (default: bbr where the kernel has it)")
	flags.BoolVar(&a.noBack, "no-connect-back", false, "do not connect back to fresh ports of who asks for it, by ping --connect HOST --back, nor trace the route to it, by trace HOST --both")
	flags.IntSliceVar(&a.stampMarks, "stamp-dscp", nil, "DSCPs that STAMP packets may ask their answers to leave with, such as 10,46")
}

// addUsers are those of the iperf3 server, under iperf3's own names.
func (a *accessFlags) addUsers(flags *pflag.FlagSet) {
	flags.StringVar(&a.users, "authorized-users-path", "", "users of the iperf3 server, without whose name and password nobody tests, in a `FILE` as iperf3 has it")
	flags.StringVar(&a.rsaKey, "rsa-private-key-path", "", "RSA key by which clients encrypt these, in a `FILE` in PEM")
	flags.BoolVar(&a.mptcp, "mptcp", false, "let tests of throughput come by MPTCP as well")
	flags.StringVar(&a.multicast, "multicast", "",
		"let tests of throughput have this host join a multicast group while they last, and receive from it: a group of these `PREFIXES`")
	flags.Lookup("multicast").NoOptDefVal = iperf3.PrivateGroups
	flags.StringVar(&a.files, "files", "", "folder whose files tests of throughput may have sent, and in which they may write new ones, which are removed after")
	flags.StringVar(&a.skew, "time-skew-threshold", "10s", "how far the clocks of such clients may be off")
}

// ndt7Into reads the files of ndt7, and says what the kernel has not.
func (a *accessFlags) ndt7Into(l *respond.Limits) error {
	if has, err := sock.AvailableCongestion(); a.ndt7CC != "" && err == nil && !slices.Contains(has, a.ndt7CC) {
		return badFlag("ndt7-cc", fmt.Errorf("%q: this host has %s", a.ndt7CC, strings.Join(has, ", ")))
	}
	l.NDT7.Congestion = a.ndt7CC
	switch {
	case a.tlsFile == "" && a.tlsKey == "":
		return nil
	case a.tlsFile == "":
		return badFlag("tls-key", fmt.Errorf("%q: name the certificate by --tls-certificate as well", a.tlsKey))
	case a.tlsKey == "":
		return badFlag("tls-certificate", fmt.Errorf("%q: name the key by --tls-key as well", a.tlsFile))
	}
	pair, err := tls.LoadX509KeyPair(a.tlsFile, a.tlsKey)
	if err != nil {
		return badFlag("tls-certificate", err)
	}
	l.NDT7.Certificate = &pair
	return nil
}

// usersInto reads the files of these users.
func (a *accessFlags) usersInto(l *respond.Limits) error {
	l.MPTCP, l.Files = a.mptcp, a.files
	if a.multicast != "" {
		var err error
		if l.Groups, err = iperf3.ParseGroups(a.multicast); err != nil {
			return badFlag("multicast", err)
		}
	}
	if info, err := os.Stat(a.files); a.files != "" && err != nil {
		return badFlag("files", err)
	} else if a.files != "" && !info.IsDir() {
		return badFlag("files", fmt.Errorf("%q: want a folder", a.files))
	}
	skew, err := parsePositive(a.skew)
	if err != nil {
		return badFlag("time-skew-threshold", err)
	}
	switch {
	case a.users == "" && a.rsaKey == "":
		return nil
	case a.users == "":
		return badFlag("rsa-private-key-path", fmt.Errorf("%q: name the users by --authorized-users-path as well", a.rsaKey))
	case a.rsaKey == "":
		return badFlag("authorized-users-path", fmt.Errorf("%q: name the key by --rsa-private-key-path as well", a.users))
	}
	l.Iperf3 = &iperf3.ServerAuth{Skew: skew}
	text, err := os.ReadFile(a.users)
	if err == nil {
		l.Iperf3.Users, err = iperf3.ReadUsers(bytes.NewReader(text))
	}
	if err != nil {
		return badFlag("authorized-users-path", err)
	}
	if text, err = os.ReadFile(a.rsaKey); err == nil {
		l.Iperf3.Key, err = iperf3.ReadPrivateKey(text)
	}
	if err != nil {
		return badFlag("rsa-private-key-path", err)
	}
	return nil
}

// into reads the files that the flags name, and sets what they allow.
func (a *accessFlags) into(l *respond.Limits) error {
	l.STAMP.Stateless, l.STAMP.Marks, l.NoConnectBack = a.stateless, a.stampMarks, a.noBack
	l.TraceBack = probe.TraceBack
	if err := cmp.Or(a.usersInto(l), a.ndt7Into(l)); err != nil {
		return err
	}
	for _, dscp := range a.stampMarks {
		if dscp < 0 || dscp > 63 {
			return badFlag("stamp-dscp", fmt.Errorf("\"%d\": want 0 to 63", dscp))
		}
	}
	if a.stampKey != "" && a.stampTLVs != "" {
		return badFlag("stamp-tlv-key", errors.New("authenticated packets have their key for it: give this or --stamp-key"))
	}
	for _, f := range []struct {
		flag, file string
		read       func(text []byte) error
	}{
		{"key-file", a.keys, func(text []byte) (err error) { l.Keys, err = endpoint.ReadKeys(bytes.NewReader(text)); return err }},
		{"clients", a.clients, func(text []byte) (err error) { l.Classes, err = respond.ParseClasses(a.clients, text); return err }},
		{"clients", a.clients, func(text []byte) (err error) {
			l.Iperf3Classes, err = respond.ParseIperf3Classes(a.clients, text)
			return err
		}},
		{"stamp-key", a.stampKey, func(text []byte) (err error) { l.STAMP.Key, err = stamp.ReadKey(bytes.NewReader(text)); return err }},
		{"stamp-tlv-key", a.stampTLVs, func(text []byte) (err error) { l.STAMP.TLVKey, err = stamp.ReadKey(bytes.NewReader(text)); return err }},
	} {
		if f.file == "" {
			continue
		}
		text, err := os.ReadFile(f.file)
		if err == nil {
			err = f.read(text)
		}
		if err != nil {
			return badFlag(f.flag, err)
		}
	}
	return nil
}
