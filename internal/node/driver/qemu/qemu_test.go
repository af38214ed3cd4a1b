// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package qemu

import (
	"encoding/hex"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/node/driver"
	"github.com/reeve-run/reeve/internal/node/driver/exec"
	"github.com/reeve-run/reeve/internal/node/supervise/supervisetest"
	"github.com/reeve-run/reeve/internal/testbed/wait"
)

func TestMain(m *testing.M) { supervisetest.Main(m, nil) }

// bootText is the program of testdata/boot.s.
const bootText = "31c08ed8fcbe3b7cbaf803ac84c07403eeebf8ba0206b80001efba0006eda9000174f7baf803be4f7cac84c07403eeebf8ba0406b80020eff4ebfd" +
	"546865206d616368696e652072756e732e0d0a00546865206d616368696e6520706f77657273206f66662e0d0a00"

// disk returns a disk with the program.
func disk(t *testing.T) []byte {
	t.Helper()
	program, err := hex.DecodeString(bootText)
	if err != nil {
		t.Fatal(err)
	}
	sector := make([]byte, 512)
	copy(sector, program)
	sector[510], sector[511] = 0x55, 0xaa
	return sector
}

func open(t *testing.T) *Driver {
	t.Helper()
	d := New(exec.New(supervisetest.Connect(t), exec.Config{}))
	if s := d.Fingerprint(t.Context()); !s.Healthy || s.Attributes["driver.qemu.version"] == "" {
		t.Fatalf("the driver's status: %+v", s)
	}
	return d
}

// machine returns a task whose disk is in its directory.
func machine(t *testing.T, more map[string]any) *driver.Task {
	t.Helper()
	config := map[string]any{"image_path": "local/vm.img", "emulator": "qemu-system-x86_64"}
	for key, value := range more {
		config[key] = value
	}
	task := supervisetest.Task(t, "a/vm/0", config)
	task.Resources.MemoryMB = 32
	if err := os.WriteFile(filepath.Join(task.Dir.Local, "vm.img"), disk(t), 0o644); err != nil { // as the agent writes artifacts
		t.Fatal(err)
	}
	return task
}

// TestOnlyFilesOfTheAgentChangeTheirOwner puts other files in the place of a disk, as an earlier run of the task could.
func TestOnlyFilesOfTheAgentChangeTheirOwner(t *testing.T) {
	d := New(exec.New(supervisetest.Connect(t), exec.Config{}))
	outside := filepath.Join(t.TempDir(), "outside")
	if err := os.WriteFile(outside, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	owner := func(path string) int {
		t.Helper()
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		return int(info.Sys().(*syscall.Stat_t).Uid)
	}
	for name, place := range map[string]func(path string) error{
		"link":      func(path string) error { return os.Symlink(outside, path) },
		"hard link": func(path string) error { return os.Link(outside, path) },
		"pipe":      func(path string) error { return syscall.Mkfifo(path, 0o600) },
		"nothing":   func(string) error { return nil },
	} {
		task := machine(t, map[string]any{"image_path": "/local/../local/other"})
		if err := place(filepath.Join(task.Dir.Local, "other")); err != nil {
			t.Fatal(err)
		}
		if err := d.giveImage(task); err != nil || owner(outside) != os.Geteuid() {
			t.Errorf("%s: %v, user %d owns a file outside", name, err, owner(outside))
		}
	}
	shared := machine(t, map[string]any{"image_path": "/alloc/logs"})
	if err := d.giveImage(shared); err != nil || owner(shared.Dir.Alloc) != os.Geteuid() {
		t.Errorf("%v, user %d owns what the tasks of the group share", err, owner(shared.Dir.Alloc))
	}
	own := machine(t, nil)
	user, err := d.exec.User(own)
	if err != nil || user == nil {
		t.Fatal(user, err)
	}
	if err := d.giveImage(own); err != nil || owner(filepath.Join(own.Dir.Local, "vm.img")) != int(user.UID) {
		t.Errorf("%v, user %d owns the disk, want %d", err, owner(filepath.Join(own.Dir.Local, "vm.img")), user.UID)
	}
}

func says(t *testing.T, task *driver.Task, text string) {
	t.Helper()
	wait.Until(t, "the machine says "+text, func() bool { return strings.Contains(supervisetest.Output(t, task.Logs.StdoutPrefix), text) })
}

func TestAMachinePowersOff(t *testing.T) {
	d := open(t)
	task := machine(t, map[string]any{"graceful_shutdown": true, "guest_agent": "true"})
	if _, err := d.Start(t.Context(), task); err != nil {
		t.Fatal(err)
	}
	says(t, task, "The machine runs.")
	h, err := d.Recover(t.Context(), task) // as the next agent does
	if err != nil {
		t.Fatal(err)
	}
	if err := h.Stop(t.Context(), "", time.Minute); err != nil {
		t.Error(err)
	}
	exit, err := h.Wait(t.Context())
	if err != nil || exit.Code != 0 || exit.Signal != 0 {
		t.Errorf("%v, exit %+v, output %s", err, exit, supervisetest.Output(t, task.Logs.StderrPrefix))
	}
	says(t, task, "The machine powers off.")
}

func TestPortsLeadIntoTheMachine(t *testing.T) {
	d := open(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := l.Addr().(*net.TCPAddr).Port
	l.Close()
	task := machine(t, map[string]any{"port_map": []any{map[string]any{"ssh": 22}}})
	task.Ports = []api.PortMapping{{Label: "ssh", Value: port}}
	h, err := d.Start(t.Context(), task)
	if err != nil {
		t.Fatal(err)
	}
	says(t, task, "The machine runs.")
	conn, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", port))
	if err != nil {
		t.Error(err)
	} else {
		conn.Close()
	}
	if err := h.Stop(t.Context(), "SIGTERM", time.Minute); err != nil { // without graceful_shutdown it is the emulator that ends
		t.Error(err)
	}
	if exit, err := h.Wait(t.Context()); err != nil || strings.Contains(supervisetest.Output(t, task.Logs.StdoutPrefix), "powers off") {
		t.Errorf("%v, exit %+v", err, exit)
	}
}

// TestAMachineReachesNoFileOfTheNode lets the arguments of the job open some.
func TestAMachineReachesNoFileOfTheNode(t *testing.T) {
	d := open(t)
	secret := filepath.Join(t.TempDir(), "secret.img")
	if err := os.WriteFile(secret, disk(t), 0o666); err != nil {
		t.Fatal(err)
	}
	for name, config := range map[string]map[string]any{
		"image":    {"image_path": secret},
		"argument": {"args": []any{"-drive", "file=" + secret + ",if=ide"}},
		"shadow":   {"args": []any{"-fw_cfg", "name=opt/x,file=/etc/shadow"}},
		"output":   {"args": []any{"-serial", "file:/usr/share/written"}},
		"device":   {"args": []any{"-drive", "file=/dev/vda,if=ide"}},
	} {
		task := machine(t, config)
		h, err := d.Start(t.Context(), task)
		if err != nil {
			t.Fatal(err)
		}
		exit, err := h.Wait(t.Context())
		if err != nil || exit.Code == 0 {
			t.Errorf("%s: %v, exit %+v", name, err, exit)
		}
		if got := supervisetest.Output(t, task.Logs.StderrPrefix); !strings.Contains(got, "No such file") && !strings.Contains(got, "Read-only") && !strings.Contains(got, "ermission denied") {
			t.Errorf("%s: output %s", name, got)
		}
		if err := h.Destroy(t.Context()); err != nil {
			t.Error(err)
		}
	}
}

func TestArguments(t *testing.T) {
	ports := []api.PortMapping{{Label: "ssh", Value: 20022}, {Label: "http", Value: 20080, To: 80}, {Label: "other", Value: 20099}, {Label: "inner", Value: 20100, To: 90, HostIP: "192.0.2.1", HostNetwork: "inner"}}
	for _, test := range []struct {
		name    string
		config  map[string]any
		network *driver.Network
		want    string
	}{
		{"ports", map[string]any{"port_map": map[string]any{"ssh": 22}}, nil,
			"-netdev user,id=reeve,hostfwd=tcp::20022-:22,hostfwd=udp::20022-:22,hostfwd=tcp::20080-:80,hostfwd=udp::20080-:80,hostfwd=tcp:192.0.2.1:20100-:90,hostfwd=udp:192.0.2.1:20100-:90 -device virtio-net,netdev=reeve"},
		{"ports of a network", map[string]any{"port_map": map[string]any{"http": "8080"}}, &driver.Network{},
			"hostfwd=tcp::20022-:20022,hostfwd=udp::20022-:20022,hostfwd=tcp::80-:8080,hostfwd=udp::80-:8080,"},
		{"machine", map[string]any{"drive_interface": "virtio", "emulator": "qemu-system-x86_64"}, nil, "-machine type=pc,accel=tcg -name vm -nographic -drive file=local/vm.img,if=virtio -m 32M "},
		{"another machine", map[string]any{"emulator": "qemu-system-riscv64"}, nil, "-machine accel=tcg -name"},
		{"own arguments", map[string]any{"args": []any{"-smp", "2"}}, nil, " -smp 2"},
	} {
		task := &driver.Task{Name: "vm", Config: map[string]any{"image_path": "local/vm.img"}, Ports: ports, Network: test.network, Resources: driver.Limits{MemoryMB: 32}}
		for key, value := range test.config {
			task.Config[key] = value
		}
		got, err := arguments(task)
		if text := strings.Join(got, " "); err != nil || !strings.Contains(text, test.want) {
			t.Errorf("%s: %v, the arguments are %q, want %q in them", test.name, err, text, test.want)
		}
	}
}

func TestBadConfigurationsAreExplained(t *testing.T) {
	d := &Driver{kvm: "/nowhere/kvm"}
	for want, config := range map[string]map[string]any{
		"image_path is missing":                   {"image_path": ""},
		"must have no comma":                      {"image_path": "local/vm.img,file=/etc/shadow"},
		"accelerator must be one of kvm, tcg":     {"accelerator": "hvf"},
		"drive_interface must be one of floppy":   {"drive_interface": "nvme"},
		"emulator must be the name of a program":  {"emulator": "/bin/sh"},
		"the allocation has no port \"ssh\"":      {"port_map": map[string]any{"ssh": 22}},
		"ssh must be a port from 1 to 65535":      {"port_map": map[string]any{"ssh": 70000}},
		"has no key \"image\"":                    {"image": "x"},
		"the node has no /dev/kvm: set \"tcg\"":   {"accelerator": "kvm"},
		"install one, such as Debian's qemu-syst": {"emulator": "qemu-system-nonesuch"},
	} {
		full := map[string]any{"image_path": "local/vm.img"}
		for key, value := range config {
			full[key] = value
		}
		if _, err := d.command(&driver.Task{Name: "vm", Config: full}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v, want %q", config, err, want)
		}
	}
}

func TestMemoryBesidesTheMachines(t *testing.T) {
	task := &driver.Task{Resources: driver.Limits{MemoryMB: 1024}}
	if got := with(task, "qemu", nil).Resources.MemoryMaxMB; got != 1024+128+32 {
		t.Errorf("the limit is %d MB", got)
	}
	task.Resources.MemoryMaxMB = 1100
	if got := with(task, "qemu", nil).Resources.MemoryMaxMB; got != 1100 {
		t.Errorf("the limit of the job is %d MB", got)
	}
}

// TestAHostileMonitor answers in the place of an emulator.
func TestAHostileMonitor(t *testing.T) {
	for name, answer := range map[string]string{
		"nothing":   "",
		"no QEMU":   "{\"hello\": 1}\n",
		"no JSON":   "GET / HTTP/1.1\r\n\r\n",
		"endless":   "{\"QMP\": \"" + strings.Repeat("x", 2*maxAnswer) + "\"}\n",
		"refusal":   "{\"QMP\": {}}\n{\"return\": {}}\n{\"error\": {\"desc\": \"no power button\"}}\n",
		"nonsense":  "{\"QMP\": {}}\n" + strings.Repeat("{\"event\": \"x\"}\n", maxAnswer/8),
		"truncated": "{\"QMP\": {}}\n{\"ret",
	} {
		dir := t.TempDir()
		l, err := net.Listen("unix", filepath.Join(dir, monitorName))
		if err != nil {
			t.Fatal(err)
		}
		go func() {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			conn.Write([]byte(answer))
			conn.(*net.UnixConn).CloseWrite()
			conn.Read(make([]byte, 1000)) // the commands
			conn.Close()
		}()
		if err := powerDown(t.Context(), dir); err == nil {
			t.Errorf("%s: the machine was asked to power off", name)
		}
		l.Close()
	}
	outside := filepath.Join(t.TempDir(), "other")
	l, err := net.Listen("unix", outside)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	dir := t.TempDir()
	for name, place := range map[string]func(path string) error{
		"link": func(path string) error { return os.Symlink(outside, path) },
		"file": func(path string) error { return os.WriteFile(path, nil, 0o666) },
		"none": func(string) error { return nil },
	} {
		path := filepath.Join(dir, monitorName)
		if err := place(path); err != nil {
			t.Fatal(err)
		}
		if fd, err := openSocket(dir); err == nil {
			t.Errorf("%s: it was opened as %d", name, fd)
		}
		os.Remove(path)
	}
}

func TestTheStatusSaysWhetherThereIsKVM(t *testing.T) {
	d := open(t)
	d.kvm = filepath.Join(t.TempDir(), "kvm")
	if got := d.Fingerprint(t.Context()).Attributes["driver.qemu.kvm"]; got != "" {
		t.Errorf("without the device: %q", got)
	}
	if err := os.WriteFile(d.kvm, nil, 0o600); err != nil { // as if the module was loaded
		t.Fatal(err)
	}
	if got := d.Fingerprint(t.Context()).Attributes["driver.qemu.kvm"]; got != "1" {
		t.Errorf("with the device: %q", got)
	}
}

func TestTheStatusSaysWhatIsMissing(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	d := New(exec.New(supervisetest.Connect(t), exec.Config{}))
	s := d.Fingerprint(t.Context())
	if s.Detected || !strings.Contains(s.HealthDescription, "such as Debian's qemu-system-") {
		t.Errorf("%+v", s)
	}
	if !slices.Contains(api.BuiltInDrivers(), d.Name()) {
		t.Error("the driver is not listed")
	}
}
