// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package allocset

import "github.com/reeve-run/reeve/api"

// PackID turns an id in UUID form into 16 bytes; others stay text.
func PackID(id string) []byte {
	var b [16]byte
	if ParseUUID(id, &b) {
		return b[:]
	}
	return []byte(id)
}

// ParseUUID fills b from an id in UUID form with small letters.
func ParseUUID(id string, b *[16]byte) bool {
	if len(id) != 36 || id[8] != '-' || id[13] != '-' || id[18] != '-' || id[23] != '-' {
		return false
	}
	at := 0
	for i := 0; i < 36; i += 2 {
		switch i {
		case 8, 13, 18, 23:
			i++
		}
		hi, lo := hexDigit(id[i]), hexDigit(id[i+1])
		if hi|lo > 15 {
			return false
		}
		b[at] = hi<<4 | lo
		at++
	}
	return true
}

func hexDigit(c byte) byte { return hexDigits[c] }

var hexDigits = func() (digits [256]byte) {
	for i := range digits {
		digits[i] = 0xff
	}
	for i, c := range []byte("0123456789abcdef") {
		digits[c] = byte(i)
	}
	return digits
}()

// UnpackID is the inverse of PackID.
func UnpackID(b []byte) string {
	if len(b) != 16 {
		return string(b)
	}
	return api.FormatID([16]byte(b))
}
