package source

import (
	"context"
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// pageSize is the length of a page: kubectl's own, and small enough for a
// page of pods to stay under the API server's timeouts on a large cluster.
const pageSize = 500

// mostExpiries bounds how often the pages of one list may expire: a server on
// which each page does is not asked for ever.
const mostExpiries = 5

// pages is what a list request brought.
type pages[T any] struct {
	items []T
	moved string // why the items are not all of one moment, or ""
}

// readPages reads a list to its end, page by page, and hands each page to
// strip before it asks for the next, so that what nobody reads is never held
// for more than one page. strip returns the part of the page to keep.
//
// A continue token expires after some five minutes of etcd history (410
// Gone). The server then offers a token that goes on from the same place at
// the present moment: readPages takes it, says so in moved, and drops what
// stands there twice, keeping the later. Without such a token it starts over.
//
// client-go's tools/pager is not used: after 410 Gone it asks for the rest of
// the list in one piece, which is what pages are there to avoid.
func readPages[T any](ctx context.Context, opts metav1.ListOptions,
	fetch func(context.Context, metav1.ListOptions) ([]T, metav1.ListMeta, error),
	strip func([]T) []T, key func(*T) string,
) (pages[T], error) {
	opts.Limit = pageSize
	var got pages[T]
	page, expiries := 1, 0
	followed := map[string]bool{} // tokens
	for {
		items, meta, err := fetch(ctx, opts)
		if token, gone := expired(err); gone && opts.Continue != "" {
			if expiries++; expiries > mostExpiries {
				return pages[T]{}, fmt.Errorf("its pages expired %d times while they were read: %w", expiries, err)
			}
			clear(followed)
			if token == "" || token == opts.Continue {
				got, page, opts.Continue = pages[T]{}, 1, ""
				continue
			}
			opts.Continue = token
			got.moved = fmt.Sprintf("page %d was read later than the pages before it, because their token had expired", page)
			continue
		}
		if err != nil {
			return pages[T]{}, err
		}
		got.items = append(got.items, strip(items)...)
		if left := meta.RemainingItemCount; meta.Continue == "" && left != nil && *left > 0 {
			return pages[T]{}, fmt.Errorf("the server announces %d more objects, but gives no token to request them", *left)
		}
		if meta.Continue == "" {
			break
		}
		if followed[meta.Continue] {
			return pages[T]{}, errors.New("the server's pages do not advance")
		}
		opts.Continue = meta.Continue
		followed[opts.Continue] = true
		page++
	}
	once := lastOfEach(got.items, key)
	if twice := len(got.items) - len(once); twice > 0 && got.moved == "" {
		got.moved = fmt.Sprintf("%d objects appear twice: the pages were not read at the same moment", twice)
	}
	got.items = once
	return got, nil
}

// expired reports whether err says that a continue token is too old, and which
// token the server offers instead.
func expired(err error) (token string, gone bool) {
	if !apierrors.IsResourceExpired(err) && !apierrors.IsGone(err) {
		return "", false
	}
	var status apierrors.APIStatus
	if errors.As(err, &status) {
		token = status.Status().Continue
	}
	return token, true
}

// lastOfEach drops every item but the last of its key.
func lastOfEach[T any](items []T, key func(*T) string) []T {
	last := make(map[string]int, len(items))
	for i := range items {
		last[key(&items[i])] = i
	}
	var out []T
	for i := range items {
		if last[key(&items[i])] == i {
			out = append(out, items[i])
		}
	}
	return out
}
