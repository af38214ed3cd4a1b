// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package allocset

import "github.com/reeve-run/reeve/api"

// PackID turns an id in UUID form into 16 bytes; others stay text.
func PackID(id string) []byte { return appendID(nil, id) }

// packedSize is the size of a packed UUID.
const packedSize = 16

// appendID appends the packed id.
func appendID(dst []byte, id string) []byte {
	var b [packedSize]byte
	if ParseUUID(id, &b) {
		return append(dst, b[:]...)
	}
	return append(dst, id...)
}

// ParseUUID fills b from an id in UUID form with small letters. It reports
// whether id has that form.
func ParseUUID(id string, b *[packedSize]byte) bool {
	if len(id) != 36 || id[8] != '-' || id[13] != '-' || id[18] != '-' || id[23] != '-' {
		return false
	}
	seen := byte(0)
	value := func(hi, lo byte) byte {
		h, l := hexDigits[hi], hexDigits[lo]
		seen |= h | l
		return h<<4 | l
	}
	// Every placement packs its id several times: a loop would take three times as long.
	b[0], b[1], b[2], b[3] = value(id[0], id[1]), value(id[2], id[3]), value(id[4], id[5]), value(id[6], id[7])
	b[4], b[5] = value(id[9], id[10]), value(id[11], id[12])
	b[6], b[7] = value(id[14], id[15]), value(id[16], id[17])
	b[8], b[9] = value(id[19], id[20]), value(id[21], id[22])
	b[10], b[11], b[12] = value(id[24], id[25]), value(id[26], id[27]), value(id[28], id[29])
	b[13], b[14], b[15] = value(id[30], id[31]), value(id[32], id[33]), value(id[34], id[35])
	return seen <= 15
}

// hexDigits holds the value of each digit, and more than 15 for other characters.
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
