package api

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// WriteNew creates a file that only its owner can read. It returns an error if the file already exists.
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
