package template

// Metadata are the keys of annotations and labels of a template, in the order
// of their paths.
type Metadata struct{ Annotations, Labels []string }

// OnlyMetadata returns the annotations and labels of the template that differ.
// ok is false if anything else in the template differs, or if nothing does.
// Such a change replaces pods that run the same as before. OnlyMetadata ignores
// differences outside the template.
func OnlyMetadata(differences []Difference) (m Metadata, ok bool) {
	for _, d := range differences {
		rest, within := d.Path.Below(At)
		switch {
		case !within:
			continue
		case len(rest) < 2 || rest[0].Name != "metadata":
			return Metadata{}, false
		}
		key := rest[2:].Last().Name // none of a map that is empty on one side
		switch rest[1].Name {
		case "annotations":
			m.Annotations = append(m.Annotations, key)
		case "labels":
			m.Labels = append(m.Labels, key)
		default:
			return Metadata{}, false
		}
	}
	return m, len(m.Annotations)+len(m.Labels) > 0
}
