package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"unsafe"
)

// onTerminal runs a command on a terminal of 80 columns and 24 lines and returns its output. resize
// receives the output so far and returns a new number of lines and columns, or 0 to keep them.
func onTerminal(t *testing.T, cmd *exec.Cmd, resize func(written string) (lines, columns uint16)) string {
	t.Helper()
	control, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	must(t, err)
	defer control.Close()
	ioctl := func(request uintptr, arg unsafe.Pointer) {
		t.Helper()
		if _, _, errno := syscall.Syscall(syscall.SYS_IOCTL, control.Fd(), request, uintptr(arg)); errno != 0 {
			t.Fatal(errno)
		}
	}
	var locked, number int32
	ioctl(syscall.TIOCSPTLCK, unsafe.Pointer(&locked))
	ioctl(syscall.TIOCGPTN, unsafe.Pointer(&number))
	size := [4]uint16{24, 80}
	ioctl(syscall.TIOCSWINSZ, unsafe.Pointer(&size))
	terminal, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|syscall.O_NOCTTY, 0)
	must(t, err)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = terminal, terminal, terminal
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	must(t, cmd.Start())
	terminal.Close()
	var out strings.Builder
	for chunk := make([]byte, 4096); ; {
		n, err := control.Read(chunk)
		if out.Write(chunk[:n]); err != nil { // the terminal was closed
			break
		}
		if lines, columns := resize(out.String()); lines > 0 {
			size = [4]uint16{lines, columns}
			ioctl(syscall.TIOCSWINSZ, unsafe.Pointer(&size))
		}
	}
	_ = cmd.Wait() // its status is in the output
	return out.String()
}

// shown returns what a terminal shows for an output: the lines that were not overwritten. It
// supports what --watch uses: moving to the first line, clearing to the end, and colors. The first
// line is where the first screen begins, because everything above was scrolled away.
func shown(t *testing.T, written string) (lines []string, redrawn int) {
	t.Helper()
	row, first := 0, true
	lines = []string{""}
	code := regexp.MustCompile(`^\x1b\[(\d*(?:;\d+)*)([HJm])`)
	for written != "" {
		switch m := code.FindStringSubmatch(written); {
		case m != nil:
			written = written[len(m[0]):]
			switch m[2] {
			case "H":
				if first {
					first, lines = false, lines[row:]
				} else {
					redrawn++
				}
				row = 0
			case "J":
				lines = append(lines[:row], "")
			}
		case written[0] == '\x1b':
			t.Fatalf("an unknown code in %q", written[:min(20, len(written))])
		case written[0] == '\r':
			written = written[1:]
		case written[0] == '\n':
			written = written[1:]
			if row++; row == len(lines) {
				lines = append(lines, "")
			}
		default:
			text := written
			if i := strings.IndexAny(written, "\x1b\r\n"); i >= 0 {
				text = written[:i]
			}
			lines[row] += text
			written = written[len(text):]
		}
	}
	return lines, redrawn
}
