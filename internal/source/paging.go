package source

import (
	"context"
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// pageSize is the length of a page: kubectl's own, and small enough for a
// page of pods to stay under the API server's timeouts on a large cluster.
const pageSize = 500

// mostExpiries bounds how often the pages of one list may expire: a server on
// which each page does is not asked for ever.
const mostExpiries = 5

// pageOf is a list of one kind, of which a server may send a part.
type pageOf interface {
	metav1.ListInterface
	runtime.Object
}

// readPages reads a list to its end, page by page, and strips what it keeps of
// each before it asks for the next, so that what nobody reads is never held for
// more than one page. Without keep it keeps all. moved says why the objects are
// not all of one moment, or is empty.
//
// A continue token expires after some five minutes of etcd history (410
// Gone). The server then offers a token that goes on from the same place at
// the present moment: readPages takes it, says so in moved, and drops what
// stands there twice, keeping the later. Without such a token it starts over.
//
// client-go's tools/pager is not used: after 410 Gone it asks for the rest of
// the list in one piece, which is what pages are there to avoid.
func readPages[T any, L pageOf](ctx context.Context, opts metav1.ListOptions, ask func(context.Context, metav1.ListOptions) (L, error), keep func(metav1.Object) bool) (got []T, moved string, err error) {
	opts.Limit = pageSize
	page, expiries := 1, 0
	followed := map[string]bool{} // tokens
	for {
		answer, err := ask(ctx, opts)
		if token, gone := expired(err); gone && opts.Continue != "" {
			if expiries++; expiries > mostExpiries {
				return nil, "", fmt.Errorf("its pages expired %d times while they were read: %w", expiries, err)
			}
			clear(followed)
			if token == "" || token == opts.Continue {
				got, moved, page, opts.Continue = nil, "", 1, ""
				continue
			}
			opts.Continue = token
			moved = fmt.Sprintf("page %d was read later than the pages before it, because their token had expired", page)
			continue
		}
		if err != nil {
			return nil, "", err
		}
		items, err := meta.GetItemsPtr(answer)
		if err != nil {
			return nil, "", err
		}
		all := *items.(*[]T)
		for i := range all {
			if keep == nil || keep(metaOf(&all[i])) {
				strip(&all[i])
				got = append(got, all[i])
			}
		}
		next, left := answer.GetContinue(), answer.GetRemainingItemCount()
		if next == "" && left != nil && *left > 0 {
			return nil, "", fmt.Errorf("the server announces %d more objects, but gives no token to request them", *left)
		}
		if next == "" {
			break
		}
		if followed[next] {
			return nil, "", errors.New("the server's pages do not advance")
		}
		opts.Continue = next
		followed[opts.Continue] = true
		page++
	}
	once := lastOfEach(got)
	if twice := len(got) - len(once); twice > 0 && moved == "" {
		moved = fmt.Sprintf("%d objects appear twice: the pages were not read at the same moment", twice)
	}
	return once, moved, nil
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

// lastOfEach drops every object but the last of its name.
func lastOfEach[T any](items []T) []T {
	last := make(map[string]int, len(items))
	for i := range items {
		last[key(metaOf(&items[i]))] = i
	}
	var out []T
	for i := range items {
		if last[key(metaOf(&items[i]))] == i {
			out = append(out, items[i])
		}
	}
	return out
}
