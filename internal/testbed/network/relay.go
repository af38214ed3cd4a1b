// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package network

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// A Quality describes a bad link in both directions.
type Quality struct {
	Delay  time.Duration // of each packet
	Jitter time.Duration // added at most; packets keep their order
	Loss   float64       // share of packets that are dropped
	Stall  bool          // hold all packets until Improve, which delivers them
}

// A relay carries the packets of a host's link between the host and the switch.
type relay struct {
	quality Quality
	ends    [2]*os.File // packet sockets of the host's port, and of a cable to the switch
	flush   chan struct{}
	running sync.WaitGroup
}

// maxFrame is the length of the largest packet, which the kernel has not segmented yet, with
// the header of PACKET_VNET_HDR.
const maxFrame = 10 + 14 + 4 + 1<<16

// queued bounds the packets of a link that are on their way. More are dropped.
const queued = 4096

// Degrade gives the host's link a bad quality until Improve. This process carries the packets.
func (h *Host) Degrade(q Quality) error {
	if h.relay != nil {
		return fmt.Errorf("the link of %s is degraded already", h.Addr)
	}
	for _, args := range [][]string{
		{"link", "add", h.cable(), "type", "veth", "peer", "name", h.socket()},
		{"link", "set", h.cable(), "master", "switch"},
		{"link", "set", h.cable(), "up"},
		{"link", "set", h.socket(), "up"},
		{"link", "set", h.port, "nomaster"},
	} {
		if err := h.net.ip(args...); err != nil {
			return err
		}
	}
	r := &relay{quality: q, flush: make(chan struct{})}
	for i, link := range []string{h.port, h.socket()} {
		err := within(h.net.name, func() (err error) {
			r.ends[i], err = openLink(link)
			return err
		})
		if err != nil {
			return errors.Join(fmt.Errorf("open the link %s: %w", link, err), r.close())
		}
	}
	for i := range r.ends {
		packets := make(chan packet, queued)
		r.running.Go(func() { r.receive(r.ends[i], packets) })
		r.running.Go(func() { r.send(r.ends[1-i], packets) })
	}
	h.relay = r
	return nil
}

// Improve undoes Degrade. It delivers the packets on their way.
func (h *Host) Improve() error {
	if h.relay == nil {
		return nil
	}
	err := errors.Join(h.relay.close(), h.net.ip("link", "set", h.port, "master", "switch"), h.net.ip("link", "delete", h.cable()))
	h.relay = nil
	return err
}

func (h *Host) cable() string  { return "cable-" + h.port }
func (h *Host) socket() string { return "socket-" + h.port }

func (r *relay) close() error {
	close(r.flush)
	var errs []error
	for _, end := range r.ends {
		if end != nil {
			errs = append(errs, end.SetReadDeadline(time.Now()))
		}
	}
	r.running.Wait()
	for _, end := range r.ends {
		if end != nil {
			errs = append(errs, end.Close())
		}
	}
	return errors.Join(errs...)
}

type packet struct {
	frame []byte
	due   time.Time
}

// receive reads packets from a link until its deadline.
func (r *relay) receive(from *os.File, packets chan<- packet) {
	defer close(packets)
	buffer := make([]byte, maxFrame)
	var last time.Time
	for {
		n, err := from.Read(buffer)
		if errors.Is(err, unix.ENETDOWN) {
			continue // reported once after the link was down
		}
		if err != nil {
			return
		}
		if rand.Float64() < r.quality.Loss {
			continue
		}
		due := time.Now().Add(r.quality.Delay)
		if r.quality.Jitter > 0 {
			due = due.Add(rand.N(r.quality.Jitter))
		}
		if due.Before(last) {
			due = last
		}
		last = due
		select {
		case packets <- packet{append([]byte(nil), buffer[:n]...), due}:
		default:
		}
	}
}

// send writes packets to a link when they are due.
func (r *relay) send(to *os.File, packets <-chan packet) {
	for p := range packets {
		r.await(p.due)
		// A packet that the link does not take is lost, as on a real one.
		_, _ = to.Write(p.frame)
	}
}

// await returns at a time, or when the relay delivers everything.
func (r *relay) await(due time.Time) {
	var expired <-chan time.Time
	if !r.quality.Stall {
		timer := time.NewTimer(time.Until(due))
		defer timer.Stop()
		expired = timer.C
	}
	select {
	case <-expired:
	case <-r.flush:
	}
}

// openLink opens a packet socket that receives all packets of a link of this thread's namespace.
// Packets carry the offload header of the kernel: their checksums may be incomplete.
func openLink(name string) (*os.File, error) {
	link, err := net.InterfaceByName(name)
	if err != nil {
		return nil, err
	}
	const all = unix.ETH_P_ALL<<8&0xff00 | unix.ETH_P_ALL>>8 // in the order of the network
	fd, err := unix.Socket(unix.AF_PACKET, unix.SOCK_RAW|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	for _, option := range []int{unix.PACKET_VNET_HDR, unix.PACKET_IGNORE_OUTGOING} {
		if err := unix.SetsockoptInt(fd, unix.SOL_PACKET, option, 1); err != nil {
			unix.Close(fd)
			return nil, fmt.Errorf("option %d: %w", option, err)
		}
	}
	member := unix.PacketMreq{Ifindex: int32(link.Index), Type: unix.PACKET_MR_PROMISC}
	err = unix.SetsockoptPacketMreq(fd, unix.SOL_PACKET, unix.PACKET_ADD_MEMBERSHIP, &member)
	if err == nil {
		err = unix.Bind(fd, &unix.SockaddrLinklayer{Protocol: all, Ifindex: link.Index})
	}
	if err != nil {
		unix.Close(fd)
		return nil, err
	}
	return os.NewFile(uintptr(fd), name), nil
}
