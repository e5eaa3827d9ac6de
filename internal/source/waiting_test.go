//go:build unix

package source_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/kubectl-ds/kubectl-ds/internal/source/dump"
	"github.com/kubectl-ds/kubectl-ds/internal/source/manifest"
)

// TestPipesAreWaitedForInVain checks that opening or reading a pipe without a writer ends with the context.
func TestPipesAreWaitedForInVain(t *testing.T) {
	input := func(ctx context.Context, pipe string) error {
		_, err := dump.ReadFiles(ctx, []string{pipe}, nil, nil, dump.ReadOptions{})
		return err
	}
	given := func(ctx context.Context, pipe string) error {
		_, err := manifest.ReadManifests(ctx, []string{pipe}, "", nil)
		return err
	}
	kustomize := func(ctx context.Context, pipe string) error {
		folder := filepath.Dir(pipe)
		write(t, filepath.Join(folder, "kustomization.yaml"), []byte("resources: ["+filepath.Base(pipe)+"]\n"))
		_, err := manifest.ReadManifests(ctx, nil, folder, nil)
		return err
	}
	for _, tt := range []struct {
		name string
		read func(context.Context, string) error
	}{{"--from", input}, {"-f", given}, {"-k", kustomize}} {
		for _, opened := range []bool{false, true} {
			t.Run(tt.name+map[bool]string{false: " opens it", true: " reads it"}[opened], func(t *testing.T) {
				pipe := filepath.Join(t.TempDir(), "pipe.yaml")
				if err := syscall.Mkfifo(pipe, 0o600); err != nil {
					t.Fatal(err)
				}
				ctx, cancel := context.WithCancel(t.Context())
				ended := make(chan error, 1)
				go func() { ended <- tt.read(ctx, pipe) }()
				if opened {
					w, err := os.OpenFile(pipe, os.O_WRONLY, 0) // returns when the pipe has a reader
					if err != nil {
						t.Fatal(err)
					}
					defer w.Close()
				}
				cancel()
				if err := <-ended; !errors.Is(err, context.Canceled) {
					t.Errorf("%v", err)
				}
				if !opened { // unblocks a reader that still opens the pipe
					if w, err := os.OpenFile(pipe, os.O_RDWR, 0); err == nil {
						w.Close()
					}
				}
			})
		}
	}
}

// TestPipesAreRead checks that a pipe with a writer is read like a file.
func TestPipesAreRead(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	go func() {
		w, err := os.OpenFile(pipe, os.O_WRONLY, 0)
		if err == nil {
			_, _ = w.WriteString(dsYAML)
			w.Close()
		}
	}()
	d, err := dump.ReadFiles(t.Context(), []string{pipe}, nil, func() time.Time { return noon }, dump.ReadOptions{})
	if err == nil {
		_, err = d.Read(background, agent)
	}
	if err != nil {
		t.Error(err)
	}
}
