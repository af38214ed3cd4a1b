// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package agent

import (
	"fmt"
	"maps"
	"net/netip"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/node/allocdir"
	"github.com/reeve-run/reeve/internal/node/device"
	"github.com/reeve-run/reeve/internal/node/driver"
	"github.com/reeve-run/reeve/internal/node/driver/docker"
)

type fileClient struct {
	Enabled       bool              `hcl:"enabled,optional"`
	Servers       []string          `hcl:"servers,optional"`
	NodeClass     string            `hcl:"node_class,optional"`
	NodePool      string            `hcl:"node_pool,optional"`
	Meta          map[string]string `hcl:"meta,optional"`
	MetaBlock     *fileMeta         `hcl:"meta,block"`
	MaxAllocsKept int               `hcl:"gc_max_allocs,optional"`
	Reserved      *fileReserved     `hcl:"reserved,block"`
	Container     *fileContainer    `hcl:"container,block"`
	RawExec       *fileRawExec      `hcl:"raw_exec,block"`
	Exec          *fileUsers        `hcl:"exec,block"`
	Docker        string            `hcl:"docker,optional"`
	DockerSocket  string            `hcl:"docker_socket,optional"`
	Runtimes      []string          `hcl:"docker_runtimes,optional"`
	Devices       []fileDevice      `hcl:"device,block"`
	CDISpecDirs   []string          `hcl:"cdi_spec_dirs,optional"`
	HostNetworks  []fileHostNetwork `hcl:"host_network,block"`
	HostVolumes   []fileHostVolume  `hcl:"host_volume,block"`
	VolumesDir    string            `hcl:"host_volumes_dir,optional"`
	PluginDir     string            `hcl:"host_volume_plugin_dir,optional"`
	BridgeName    string            `hcl:"bridge_network_name,optional"`
	BridgeSubnet  string            `hcl:"bridge_network_subnet,optional"`
	BridgeSubnet6 string            `hcl:"bridge_network_subnet_ipv6,optional"`
	BridgeHairpin *bool             `hcl:"bridge_network_hairpin_mode,optional"` // without effect
	CNIConfigDir  string            `hcl:"cni_config_dir,optional"`
	CNIPath       string            `hcl:"cni_path,optional"`
	Join          *fileJoin         `hcl:"server_join,block"`
	CommonPlugins string            `hcl:"common_plugin_dir,optional"`
	Artifact      *fileArtifact     `hcl:"artifact,block"`
}

// A fileMeta has the same content as the attribute meta.
type fileMeta struct {
	Values map[string]string `hcl:",remain"`
}

// A fileDevice declares equal devices of the machine.
type fileDevice struct {
	Name       string           `hcl:"name,label"` // vendor/type/model
	IDs        []string         `hcl:"ids"`
	Attributes cty.Value        `hcl:"attributes,optional"`
	CDI        string           `hcl:"cdi,optional"` // vendor.com/class
	Nodes      []fileDeviceNode `hcl:"node,block"`
}

// A fileDeviceNode is a device node that the holder of a device gets.
type fileDeviceNode struct {
	ID          string `hcl:"id,label"`
	Path        string `hcl:"path"`
	InTask      string `hcl:"container_path,optional"`
	Permissions string `hcl:"permissions,optional"`
}

// A fileHostNetwork names one of the machine's addresses.
type fileHostNetwork struct {
	Name          string `hcl:"name,label"`
	CIDR          string `hcl:"cidr,optional"`
	Interface     string `hcl:"interface,optional"`
	ReservedPorts string `hcl:"reserved_ports,optional"`
}

func (c *Client) merge(k *fileClient) error {
	override(&c.NodeClass, k.NodeClass)
	override(&c.NodePool, k.NodePool)
	override(&c.MaxAllocsKept, k.MaxAllocsKept)
	if err := c.Bridge.merge(k); err != nil {
		return err
	}
	if len(k.Servers) > 0 {
		c.Servers = k.Servers
	}
	if c.Meta == nil && (k.Meta != nil || k.MetaBlock != nil) {
		c.Meta = map[string]string{}
	}
	maps.Copy(c.Meta, k.Meta)
	if k.MetaBlock != nil {
		maps.Copy(c.Meta, k.MetaBlock.Values)
	}
	if r := k.Reserved; r != nil {
		c.Reserved.CPU.CPUShares = r.CPU
		c.Reserved.Memory.MemoryMB = r.Memory
		c.Reserved.Disk.DiskMB = r.Disk
		if err := checkPorts(r.Ports); err != nil {
			return fmt.Errorf("reserved: %w", err)
		}
		c.Reserved.Networks.ReservedHostPorts = r.Ports
		cores, err := api.ParseCores(r.Cores)
		if err != nil {
			return fmt.Errorf("reserved: cores: %w", err)
		}
		c.ReservedCores = cores
	}
	if k.Container != nil {
		if err := k.Container.merge(&c.Container); err != nil {
			return fmt.Errorf("container: %w", err)
		}
	}
	if err := c.mergeGates(k); err != nil {
		return err
	}
	override(&c.Docker.Mode, k.Docker)
	override(&c.Docker.Socket, k.DockerSocket)
	if k.Runtimes != nil {
		c.Docker.Runtimes = k.Runtimes
	}
	if k.DockerSocket != "" && !filepath.IsAbs(k.DockerSocket) {
		return fmt.Errorf("docker_socket %q: must be the absolute path of a unix socket", k.DockerSocket)
	}
	if !docker.IsMode(c.Docker.Mode) {
		return fmt.Errorf("docker %q: must be one of %s", c.Docker.Mode, strings.Join(docker.Modes(), ", "))
	}
	for _, f := range k.Devices {
		g, err := f.group()
		if err != nil {
			return fmt.Errorf("device %q: %w", f.Name, err)
		}
		nodes, err := f.nodes()
		if err != nil {
			return fmt.Errorf("device %q: %w", f.Name, err)
		}
		c.Devices = slices.DeleteFunc(c.Devices, func(d device.Declared) bool {
			return d.Group.Vendor == g.Vendor && d.Group.Type == g.Type && d.Group.Name == g.Name
		})
		c.Devices = append(c.Devices, device.Declared{Group: g, Nodes: nodes, CDI: f.CDI})
	}
	if k.CDISpecDirs != nil {
		c.CDISpecDirs = k.CDISpecDirs
	}
	for _, dir := range k.CDISpecDirs {
		if !filepath.IsAbs(dir) {
			return fmt.Errorf("cdi_spec_dirs: %q: must be an absolute path", dir)
		}
	}
	for _, f := range k.HostNetworks {
		if err := f.check(); err != nil {
			return fmt.Errorf("host_network %q: %w", f.Name, err)
		}
		c.HostNetworks = slices.DeleteFunc(c.HostNetworks, func(h api.HostNetwork) bool { return h.Name == f.Name })
		c.HostNetworks = append(c.HostNetworks, api.HostNetwork{
			Name: f.Name, CIDR: f.CIDR, Interface: f.Interface, ReservedPorts: f.ReservedPorts,
		})
	}
	override(&c.PluginDir, k.CommonPlugins)
	if c.PluginDir != "" && !filepath.IsAbs(c.PluginDir) {
		return fmt.Errorf("common_plugin_dir %q: must be an absolute path", c.PluginDir)
	}
	if err := mergeArtifact(&c.Artifact, k.Artifact); err != nil {
		return err
	}
	return c.mergeVolumes(k)
}

// A fileHostVolume names a directory of the machine that tasks may use.
type fileHostVolume struct {
	Name     string `hcl:"name,label"`
	Path     string `hcl:"path"`
	ReadOnly bool   `hcl:"read_only,optional"`
}

// mergeVolumes adds the host volumes of a file.
func (c *Client) mergeVolumes(k *fileClient) error {
	override(&c.VolumesDir, k.VolumesDir)
	override(&c.VolumePlugins, k.PluginDir)
	for name, dir := range map[string]string{"host_volumes_dir": k.VolumesDir, "host_volume_plugin_dir": k.PluginDir} {
		if dir != "" && !filepath.IsAbs(dir) {
			return fmt.Errorf("%s %q: must be an absolute path", name, dir)
		}
	}
	for _, f := range k.HostVolumes {
		if !api.IsVolumeName(f.Name) {
			return fmt.Errorf("host_volume %q: a name must be 1 to 128 characters without white space, quotes or slashes", f.Name)
		}
		if !filepath.IsAbs(f.Path) {
			return fmt.Errorf("host_volume %q: path %q: must be the absolute path of a directory", f.Name, f.Path)
		}
		if c.HostVolumes == nil {
			c.HostVolumes = map[string]*api.HostVolumeInfo{}
		}
		c.HostVolumes[f.Name] = &api.HostVolumeInfo{Path: filepath.Clean(f.Path), ReadOnly: f.ReadOnly}
	}
	return nil
}

func (f *fileDevice) group() (*api.NodeDeviceGroup, error) {
	parts := strings.Split(f.Name, "/")
	if len(parts) != 3 || slices.Contains(parts, "") {
		return nil, fmt.Errorf("name it vendor/type/model, as in \"nvidia/gpu/a100\"")
	}
	g := &api.NodeDeviceGroup{Vendor: parts[0], Type: parts[1], Name: parts[2]}
	for i, id := range f.IDs {
		if id == "" || strings.ContainsAny(id, ",\n") || slices.Contains(f.IDs[:i], id) {
			return nil, fmt.Errorf("ids: %q is empty, has a comma, or is given twice", id)
		}
		g.Instances = append(g.Instances, &api.NodeDevice{ID: id, Healthy: true})
	}
	if len(g.Instances) == 0 {
		return nil, fmt.Errorf("ids is empty: name each device")
	}
	if f.Attributes.IsNull() {
		return g, nil
	}
	if t := f.Attributes.Type(); !t.IsObjectType() && !t.IsMapType() {
		return nil, fmt.Errorf("attributes must be names with values, as in { memory = \"40 GiB\" }")
	}
	g.Attributes = map[string]*api.DeviceAttribute{}
	for name, v := range f.Attributes.AsValueMap() {
		a, err := deviceAttribute(v)
		if err != nil {
			return nil, fmt.Errorf("attribute %s: %w", name, err)
		}
		g.Attributes[name] = a
	}
	return g, nil
}

// nodes returns the device nodes by the ids of devices.
func (f *fileDevice) nodes() (map[string][]driver.Device, error) {
	if f.CDI != "" && !device.IsKind(f.CDI) {
		return nil, fmt.Errorf("cdi %q: must be a vendor and a class, as in \"vendor.com/class\"", f.CDI)
	}
	nodes := map[string][]driver.Device{}
	for _, n := range f.Nodes {
		if !slices.Contains(f.IDs, n.ID) {
			return nil, fmt.Errorf("node %q: ids has no such device", n.ID)
		}
		d := driver.Device{Source: n.Path, Target: n.InTask, Permissions: n.Permissions}
		if err := device.CheckNode(&d); err != nil {
			return nil, fmt.Errorf("node %q: %w", n.ID, err)
		}
		nodes[n.ID] = append(nodes[n.ID], d)
	}
	return nodes, nil
}

// devices describes the devices of the machine.
func (c *Config) devices() device.Config {
	d := device.Config{Declared: c.Client.Devices, SpecDirs: c.Client.CDISpecDirs, Private: allocdir.Private(c.DataDir)}
	if d.SpecDirs == nil {
		d.SpecDirs = device.DefaultSpecDirs
	}
	return d
}

// deviceAttribute keeps the type of a value in the file. Text is a number only if it has a
// unit: a driver's version may look like a number.
func deviceAttribute(v cty.Value) (*api.DeviceAttribute, error) {
	if v.IsNull() {
		return nil, fmt.Errorf("the value is null")
	}
	text, err := convert.Convert(v, cty.String)
	if err != nil {
		return nil, fmt.Errorf("must be a number, a text or a truth value")
	}
	s := text.AsString()
	a := api.ParseDeviceAttribute(s)
	if v.Type() == cty.String && a.Unit == "" {
		return &api.DeviceAttribute{String: &s}, nil
	}
	return a, nil
}

func (f *fileHostNetwork) check() error {
	if f.Name == "" || f.Name == api.HostNetworkDefault || strings.ContainsAny(f.Name, " \t,\"") {
		return fmt.Errorf("give it another name: %q is the node's own address", api.HostNetworkDefault)
	}
	if f.CIDR == "" && f.Interface == "" {
		return fmt.Errorf("cidr or interface is needed, to find the machine's address in it")
	}
	if err := checkPorts(f.ReservedPorts); err != nil {
		return err
	}
	if f.CIDR != "" {
		if _, err := netip.ParsePrefix(f.CIDR); err != nil {
			return fmt.Errorf("cidr %q: must be a range such as \"10.1.0.0/16\"", f.CIDR)
		}
	}
	return nil
}

// checkPorts validates a list such as "22,80,8000-8100".
func checkPorts(list string) error {
	if list == "" {
		return nil
	}
	for part := range strings.SplitSeq(list, ",") {
		from, to, isRange := strings.Cut(strings.TrimSpace(part), "-")
		if !isRange {
			to = from
		}
		lo, err1 := strconv.ParseUint(strings.TrimSpace(from), 10, 16)
		hi, err2 := strconv.ParseUint(strings.TrimSpace(to), 10, 16)
		if err1 != nil || err2 != nil || lo == 0 || hi < lo {
			return fmt.Errorf("reserved_ports %q: must be ports and ranges, as in \"22,80,8000-8100\"", list)
		}
	}
	return nil
}
