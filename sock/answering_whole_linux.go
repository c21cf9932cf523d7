package sock

import "golang.org/x/sys/unix"

// AnswerWhole is Answer of a packet that no router may cut, whatever the kernel has learnt of the path. Where it is larger than the interface takes,
// which is an error, nothing leaves.
func (a *Answering) AnswerWhole(data []byte, to Asked, tos int) error {
	level, option := unix.IPPROTO_IP, unix.IP_MTU_DISCOVER
	if !to.From.Addr().Is4() {
		level, option = unix.IPPROTO_IPV6, unix.IPV6_MTU_DISCOVER
	}
	if err := SetInt(a.raw, level, option, unix.IP_PMTUDISC_PROBE); err != nil { // the same number for both families
		return err
	}
	err := a.Answer(data, to, tos)
	_ = SetInt(a.raw, level, option, unix.IP_PMTUDISC_WANT) // what was so before
	return err
}
