// Package iperf3 speaks the wire protocol of iperf3 (github.com/esnet/iperf) in both roles, over TCP and over basic
// UDP, so that every iperf3 in the world is a peer.
//
// The codec (state bytes, JSON frames, parameters, results, datagram headers) is pure and touches no socket; Client
// and Server drive it over real ones. What it does not do: SCTP, MPTCP, authentication, zero copy, files on the
// server's side, and judging what was measured.
//
// One test, as it crosses the control connection (client on the left, state bytes named as in iperf3's source):
//
//	connect, 37-byte cookie  ---->
//	                         <----  PARAM_EXCHANGE 9
//	parameters (JSON frame)  ---->
//	                         <----  PATHWISE 80, hello (JSON frame)     only if the parameters held "pathwise"
//	                         <----  CREATE_STREAMS 10
//	data connections, each
//	starting with the cookie ====>
//	                         <----  TEST_START 1, TEST_RUNNING 2
//	data                     <===>  data
//	TEST_END 4               ---->
//	                         <----  EXCHANGE_RESULTS 13
//	results (JSON frame)     ---->
//	                         <----  results (JSON frame), DISPLAY_RESULTS 14
//	IPERF_DONE 16            ---->
//
// At any time: CLIENT_TERMINATE 12, SERVER_TERMINATE 11, SERVER_ERROR -2 with two int32; instead of the first 9 a
// busy server sends ACCESS_DENIED -1 and closes.
//
// # What is counted
//
// iperf3 lets its sender count what it wrote and its receiver what it read, so the two differ by a send buffer, which
// on a long path is megabytes. Here both ends count what reached the receiving host:
//
//   - A TCP sender counts the bytes that the peer's kernel acknowledged (RFC 4898 HCThruOctetsAcked, tcpi_bytes_acked).
//     The client samples that when EXCHANGE_RESULTS arrives, the server when TEST_END arrives: in both cases the
//     acknowledgement of what the receiver held when it stopped counting travelled just ahead of that message.
//   - A test by time stops at that time. A test by bytes, or of a Source, ends when everything was acknowledged.
//   - A receiver stops at the end of the test after reading what the kernel already held (SIOCINQ), if the peer is
//     Pathwise. A stock peer reports what it wrote, so the receiver reads on until it has that many bytes (server) or
//     end of file (client), for at most drainLimit. Its seconds then run to the last byte.
//
// Goodput is the receiver's bytes over the receiver's own seconds, from TEST_START to its end.
package iperf3
