# The first sector of a disk: it says that it runs, waits for the power button, and powers the machine off.
# bootText in qemu_test.go has the bytes: as --32 -o boot.o boot.s; ld -m elf_i386 -Ttext 0x7c00 --oformat binary -o boot.img boot.o
	.code16
	.globl _start
_start:
	xor %ax, %ax
	mov %ax, %ds
	cld
	mov $hello, %si
	mov $0x3f8, %dx		# the serial port
1:	lodsb
	test %al, %al
	jz 2f
	out %al, %dx
	jmp 1b
2:	mov $0x602, %dx		# enables the power button
	mov $0x100, %ax
	out %ax, %dx
3:	mov $0x600, %dx		# is it pressed?
	in %dx, %ax
	test $0x100, %ax
	jz 3b
	mov $0x3f8, %dx
	mov $bye, %si
4:	lodsb
	test %al, %al
	jz 5f
	out %al, %dx
	jmp 4b
5:	mov $0x604, %dx		# off
	mov $0x2000, %ax
	out %ax, %dx
6:	hlt
	jmp 6b
hello:	.asciz "The machine runs.\r\n"
bye:	.asciz "The machine powers off.\r\n"
	.org 510
	.word 0xaa55
