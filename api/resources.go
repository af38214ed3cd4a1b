// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package api

// Resources holds the resources that a task requests, or those of a node in the form of
// older clients.
type Resources struct {
	CPU         *int // MHz
	Cores       *int // number of whole cores reserved for this task; excludes CPU
	MemoryMB    *int // reserved memory
	MemoryMaxMB *int // upper limit while the node has memory to spare; 0: MemoryMB, MemoryUnlimited: no limit
	DiskMB      *int
	Networks    []*Network
	Devices     []*DeviceRequest
	NUMA        *NUMA
	SecretsMB   *int // size of the directory of secrets, which counts as memory; 0: 1 MiB, which does not count
	IOPS        *int // ignored
}

// MaxSecretsMB bounds the size of a task's directory of secrets.
const MaxSecretsMB = 1 << 20

// SecretsMB returns the size that the task requests for its directory of secrets; 0: the default.
func (t *Task) SecretsMB() int { return t.Resources.secretsMB() }

func (r *Resources) secretsMB() int {
	if r == nil || r.SecretsMB == nil {
		return 0
	}
	return min(max(*r.SecretsMB, 0), MaxSecretsMB)
}

// Memory returns the memory that the task requests with its directory of secrets, and its upper limit: 0 without
// one, MemoryUnlimited for no limit.
func (r *Resources) Memory() (mb, most int) {
	if r == nil {
		return 0, 0
	}
	secrets := r.secretsMB()
	if r.MemoryMB != nil {
		mb = *r.MemoryMB + secrets
	}
	if r.MemoryMaxMB != nil {
		most = *r.MemoryMaxMB
	}
	if most > 0 {
		most += secrets
	}
	return mb, most
}

// NUMA requests cores that are close to each other.
type NUMA struct {
	Affinity string
	Devices  []string
}

// DeviceRequest requests devices by "type", "vendor/type" or "vendor/type/model".
type DeviceRequest struct {
	Name        string
	Count       *uint64
	Constraints []*Constraint
	Affinities  []*Affinity
}

// Network is a group's network: its isolation and its ports.
type Network struct {
	Mode          string // "host" (default), "none", "bridge" or "cni/NAME"
	Device        string
	CIDR          string
	IP            string
	DNS           *DNS
	ReservedPorts []Port // ports with a fixed number on the node
	DynamicPorts  []Port // ports for which the node picks a free number
	Hostname      string
	MBits         *int // ignored
	CNI           *CNI
}

// Port is one named port. In a request Value is 0 for a dynamic port.
type Port struct {
	Label           string
	Value           int // number on the node
	To              int // number inside the network namespace
	HostNetwork     string
	IgnoreCollision bool
}

// DNS is the resolver configuration inside an isolated network.
type DNS struct {
	Servers  []string
	Searches []string
	Options  []string
}

// CNI holds arguments for a CNI network.
type CNI struct {
	Args map[string]string
}

// Dynamic ports are taken from this range of a node, both ends included,
// unless the node says otherwise.
const (
	DynamicPortMin = 20000
	DynamicPortMax = 32000
)

// AllocatedResources holds the resources that an allocation holds on its node.
type AllocatedResources struct {
	Tasks          map[string]*AllocatedTask
	TaskLifecycles map[string]*Lifecycle `json:",omitempty"` // by task, set only in responses; nil: a main task
	Shared         AllocatedShared
}

// AllocatedTask holds the resources of one task of an allocation.
type AllocatedTask struct {
	CPU      AllocatedCPU `json:"Cpu"`
	Memory   AllocatedMemory
	Networks []*Network
	Devices  []*AllocatedDevice
}

// AllocatedCPU is a share of the node's processors, in MHz, and the ids of cores reserved
// for the task.
type AllocatedCPU struct {
	CPUShares     int64    `json:"CpuShares"`
	ReservedCores []uint16 `json:",omitempty"`
}

// AllocatedMemory is in MB.
type AllocatedMemory struct {
	MemoryMB    int64
	MemoryMaxMB int64
}

// AllocatedDevice names the devices given to a task.
type AllocatedDevice struct {
	Vendor    string
	Type      string
	Name      string
	DeviceIDs []string
}

// AllocatedShared holds the resources that the tasks of an allocation share.
type AllocatedShared struct {
	DiskMB   int64
	Networks []*Network
	Ports    []PortMapping
	Volumes  []AllocatedVolume `json:",omitempty"` // by request
}

// AllocatedVolume is a host volume that an allocation uses on its node.
type AllocatedVolume struct {
	Request   string // name of the group's volume block
	Name      string // of the volume
	ID        string `json:",omitempty"` // of a dynamic volume
	ReadOnly  bool   `json:",omitempty"`
	Exclusive bool   `json:",omitempty"` // reports whether no other allocation may write to it
	Sticky    bool   `json:",omitempty"` // reports whether the instance keeps the volume
}

// PortMapping is a port that an allocation owns on its node.
type PortMapping struct {
	Label  string
	Value  int // number on the node
	To     int // number the task listens on; 0 means Value
	HostIP string
	// HostNetwork is the only network of the node on which the port is bound; "" for the
	// node's own address, where the number is taken on every address.
	HostNetwork     string `json:",omitempty"`
	IgnoreCollision bool   `json:",omitempty"` // reports whether other allocations may hold the number too
}

// NodeResources holds a node's resources.
type NodeResources struct {
	CPU            NodeCPU `json:"Cpu"`
	Memory         NodeMemory
	Disk           NodeDisk
	Networks       []*Network
	Devices        []*NodeDeviceGroup
	MinDynamicPort int
	MaxDynamicPort int
}

// NodeCPU describes a node's processors.
type NodeCPU struct {
	CPUShares          int64    `json:"CpuShares"` // MHz over all cores
	TotalCPUCores      uint16   `json:"TotalCpuCores"`
	ReservableCPUCores []uint16 `json:"ReservableCpuCores"`
}

// PerCore returns the MHz of one core.
func (c NodeCPU) PerCore() int64 {
	if c.TotalCPUCores == 0 {
		return 0
	}
	return amount(c.CPUShares) / int64(c.TotalCPUCores)
}

// NodeMemory is in MB.
type NodeMemory struct {
	MemoryMB int64
}

// NodeDisk is in MB.
type NodeDisk struct {
	DiskMB int64
}

// NodeDeviceGroup is a set of equal devices of a node.
type NodeDeviceGroup struct {
	Vendor     string
	Type       string
	Name       string
	Instances  []*NodeDevice
	Attributes map[string]*DeviceAttribute
}

// NodeDevice is one device.
type NodeDevice struct {
	ID                string
	Healthy           bool
	HealthDescription string
}

// DeviceAttribute is a typed value with a unit.
type DeviceAttribute struct {
	Float  *float64 `json:",omitempty"`
	Int    *int64   `json:",omitempty"`
	String *string  `json:",omitempty"`
	Bool   *bool    `json:",omitempty"`
	Unit   string
}

// NodeReserved holds the resources that a node reserves for itself. Allocations never get
// them.
type NodeReserved struct {
	CPU      NodeReservedCPU `json:"Cpu"`
	Memory   NodeReservedMemory
	Disk     NodeReservedDisk
	Networks NodeReservedNetworks
}

// NodeReservedCPU is in MHz.
type NodeReservedCPU struct {
	CPUShares uint64 `json:"CpuShares"`
}

// NodeReservedMemory is in MB.
type NodeReservedMemory struct {
	MemoryMB uint64
}

// NodeReservedDisk is in MB.
type NodeReservedDisk struct {
	DiskMB uint64
}

// NodeReservedNetworks lists ports, as in "22,80,8000-8100".
type NodeReservedNetworks struct {
	ReservedHostPorts string
}

// MemoryUnlimited as Resources.MemoryMaxMB lets a task use all memory that the node has to
// spare.
const MemoryUnlimited = -1
