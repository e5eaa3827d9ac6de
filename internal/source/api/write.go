package api

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// WriteNew writes a file that only its owner may read. It fails where there is a file of
// that name.
func WriteNew(path, text string) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err == nil {
		_, err = f.WriteString(text)
		if closed := f.Close(); err == nil {
			err = closed
		}
	}
	var of *fs.PathError
	if errors.As(err, &of) {
		err = of.Err
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return nil
}
