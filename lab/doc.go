// Package lab emulates a network on one machine and keeps the truth about what it did.
//
// Hosts are anonymous network namespaces with the kernel's own TCP; routers and links live in this process:
//
//	 host bob            engine process (user, network, mount and PID namespace of its own)             host carol
//	+---------+      +--------------------------------------------------------------------+      +---------+
//	| sockets |      |  port     direction      router      direction    router   port    |      | sockets |
//	| kernel  | eth0 | +----+   queue | wire   TTL, ICMP   queue | wire   ...    +----+   | eth0 | kernel  |
//	|  TCP    |======|=|read|--> [||||]-(~~~)--> (london) -> [||||]-(~~~)--> ... |write|==|======|  TCP    |
//	+---------+      | +----+                                                    +----+   |      +---------+
//	                 +--------------------------------------------------------------------+
//
// A packet that a host sends is read from its port with the kernel's arrival stamp, walks the links in virtual time,
// and is written to the other host's port when it is due. What happens to it on the way is computed from due times
// only, so one link's lateness never adds to the next one's, and the same seed and the same input give the same fate.
//
// The parts, from pure to real: a Spec (the YAML) becomes a Plan (addresses and routes); a Network carries packets
// over a Plan in virtual time and touches no socket; a pump moves packets between a Network and devices in real time;
// the engine is the process that holds namespaces, pump and control socket; a Lab is a handle on an engine.
//
// Nothing of a lab outlives its engine, which holds no name in any file system: namespaces, devices and processes go
// when it goes, kill -9 included. A Lab that was started attached goes with the process that started it.
//
// A lab carries unicast IPv4 and IPv6: with Offload in super-packets of up to 64 KiB, else packet by packet at the MTU of
// the hosts' links, 1500 bytes unless a link says otherwise. Multicast goes nowhere, and routers run no routing protocol:
// routes are the shortest, or what the Spec says.
package lab
