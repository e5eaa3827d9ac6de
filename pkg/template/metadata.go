package template

// Metadata are the keys of a template's annotations and labels, in the order of
// their paths.
type Metadata struct{ Annotations, Labels []string }

// OnlyMetadata returns the annotations and labels that differ, where nothing else
// of the template of a DaemonSet does: pods are replaced for them, and run what they
// ran before. It is not ok where something else differs, or nothing does. What
// lies outside of the template does not matter.
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
