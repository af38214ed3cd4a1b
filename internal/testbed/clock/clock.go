// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

// Package clock builds binaries whose wall clock a test can shift, for faults of clocks. The shift is a
// word of the page of package failpoint.
package clock

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/reeve-run/reeve/internal/failpoint"
)

// Lines of the Go standard library's time.Now before and after the patch. A release that changes them needs
// another patch.
const (
	nowLine    = "\tsec, nsec, mono := runtimeNow()\n\tif mono == 0 {\n"
	nowPatched = "\tsec, nsec, mono := runtimeNow()\n\tsec, nsec = shift(sec, nsec)\n\tif mono == 0 {\n"
)

// shiftSource is added to package time. It shifts the wall clock by the first word of the page of failpoints.
// The monotonic clock is unchanged, as on a machine whose clock is set.
const shiftSource = `package time

import (
	"syscall"
	"unsafe"
)

var shiftWord = openShift()

func openShift() *int64 {
	path, ok := syscall.Getenv("` + failpoint.Env + `")
	if !ok {
		return nil
	}
	fd, err := syscall.Open(path, syscall.O_RDONLY|syscall.O_CLOEXEC, 0)
	if err != nil {
		return nil
	}
	defer syscall.Close(fd)
	page, err := syscall.Mmap(fd, 0, 4096, syscall.PROT_READ, syscall.MAP_SHARED)
	if err != nil {
		return nil
	}
	return (*int64)(unsafe.Pointer(&page[0]))
}

func shift(sec int64, nsec int32) (int64, int32) {
	if shiftWord == nil {
		return sec, nsec
	}
	at := sec*1e9 + int64(nsec) + *shiftWord
	return at / 1e9, int32(at % 1e9)
}
`

// Overlay writes an overlay for go build that lets a test shift the wall clock of the
// binary, and returns the overlay's path.
func Overlay(dir string) (string, error) {
	out, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return "", fmt.Errorf("find the Go standard library: %w", err)
	}
	library := filepath.Join(strings.TrimSpace(string(out)), "src", "time")
	source, err := os.ReadFile(filepath.Join(library, "time.go"))
	if err != nil {
		return "", err
	}
	if bytes.Count(source, []byte(nowLine)) != 1 {
		return "", fmt.Errorf("%s/time.go: time.Now differs from the one that is patched here; adapt clock.go", library)
	}
	patched, shift, overlay := filepath.Join(dir, "time.go"), filepath.Join(dir, "shift.go"), filepath.Join(dir, "overlay.json")
	text, err := json.Marshal(map[string]map[string]string{"Replace": {
		filepath.Join(library, "time.go"):        patched,
		filepath.Join(library, "shift_clock.go"): shift,
	}})
	return overlay, errors.Join(err,
		os.WriteFile(patched, bytes.Replace(source, []byte(nowLine), []byte(nowPatched), 1), 0o644),
		os.WriteFile(shift, []byte(shiftSource), 0o644),
		os.WriteFile(overlay, text, 0o644))
}
