package replay

import "iter"

// vec is a persistent list, stored as a tree with 32 children a branch. A copy never
// changes when the list does: the first change after a copy copies one path, a few
// hundred bytes.
type vec[T any] struct {
	root  *branch[T]
	n     int
	shift uint // 5 for each level above the leaves
}

// branch is a node of a vec. Only a caller with its token may modify it.
type branch[T any] struct {
	own  *token
	kids []*branch[T]
	vals []T
}

// token marks the branches that were created since the last copy.
type token struct{ _ byte }

const (
	bits = 5
	mask = 1<<bits - 1
)

// setAt sets element i, which may be after the end.
func (v *vec[T]) setAt(own *token, i int, x T) {
	for i>>(v.shift+bits) > 0 {
		if v.root != nil {
			v.root = &branch[T]{own: own, kids: []*branch[T]{v.root}}
		}
		v.shift += bits
	}
	v.root = v.root.setAt(own, v.shift, i, x)
	v.n = max(v.n, i+1)
}

func (b *branch[T]) setAt(own *token, shift uint, i int, x T) *branch[T] {
	switch {
	case b == nil:
		b = &branch[T]{own: own}
	case b.own != own:
		b = &branch[T]{own: own, kids: append([]*branch[T](nil), b.kids...), vals: append([]T(nil), b.vals...)}
	}
	at := i >> shift & mask
	if shift == 0 {
		if more := at + 1 - len(b.vals); more > 0 {
			b.vals = append(b.vals, make([]T, more)...)
		}
		b.vals[at] = x
		return b
	}
	if more := at + 1 - len(b.kids); more > 0 {
		b.kids = append(b.kids, make([]*branch[T], more)...)
	}
	b.kids[at] = b.kids[at].setAt(own, shift-bits, i, x)
	return b
}

// get returns element i, or the zero value.
func (v vec[T]) get(i int) T {
	b := v.root
	for shift := v.shift; b != nil; shift -= bits {
		at := i >> shift & mask
		if shift == 0 {
			if at < len(b.vals) {
				return b.vals[at]
			}
			break
		}
		if at >= len(b.kids) {
			break
		}
		b = b.kids[at]
	}
	var none T
	return none
}

// all iterates over the elements.
func (v vec[T]) all() iter.Seq[T] {
	return func(yield func(T) bool) {
		for i := 0; i < v.n; i += 1 << bits {
			for _, x := range v.leaf(i) {
				if !yield(x) {
					return
				}
			}
		}
	}
}

func (v vec[T]) leaf(i int) []T {
	b := v.root
	for shift := v.shift; b != nil && shift > 0; shift -= bits {
		at := i >> shift & mask
		if at >= len(b.kids) {
			return nil
		}
		b = b.kids[at]
	}
	if b == nil {
		return nil
	}
	return b.vals
}
