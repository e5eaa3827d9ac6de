package validate

import (
	"path"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

var volumeRules = table[*corev1.Volume]{
	{"", "must not have more than one source", 0, func(c *check, v *corev1.Volume, at *field.Path) {
		c.onlyOne(at, "volume", sources(v))
	}},
	{"name", "is required, and must be a DNS label and unique", 0, func(c *check, v *corev1.Volume, at *field.Path) {
		c.needs(at.Child("name"), v.Name, validation.IsDNS1123Label)
		if c.volumes[v.Name] != nil {
			c.add(field.Duplicate(at.Child("name"), v.Name))
		}
	}},
	{"emptyDir.sizeLimit", "must be 0 or more", 0, func(c *check, v *corev1.Volume, at *field.Path) {
		if e := v.EmptyDir; e != nil && e.SizeLimit != nil && e.SizeLimit.Sign() < 0 {
			c.forbidden(at.Child("emptyDir", "sizeLimit"), "SizeLimit field must be a valid resource quantity")
		}
	}},
	{"hostPath", "path is required, and must not contain ..; type must be a supported type", 0,
		func(c *check, v *corev1.Volume, at *field.Path) {
			h, at := v.HostPath, at.Child("hostPath")
			if h == nil {
				return
			}
			c.needs(at.Child("path"), h.Path, nil)
			if stepsBack(h.Path) {
				c.invalid(at.Child("path"), h.Path, "must not contain '..'")
			}
			if h.Type != nil {
				oneOf(c, at.Child("type"), *h.Type, corev1.HostPathUnset, corev1.HostPathBlockDev,
					corev1.HostPathCharDev, corev1.HostPathDirectory, corev1.HostPathDirectoryOrCreate,
					corev1.HostPathFile, corev1.HostPathFileOrCreate, corev1.HostPathSocket)
			}
		}},
	{"secret.secretName",
		"is required; also applies to configMap.name, persistentVolumeClaim.claimName, csi.driver and " +
			"image.reference", 0,
		func(c *check, v *corev1.Volume, at *field.Path) {
			if v.Secret != nil {
				c.needs(at.Child("secret", "secretName"), v.Secret.SecretName, nil)
			}
			if v.ConfigMap != nil {
				c.needs(at.Child("configMap", "name"), v.ConfigMap.Name, nil)
			}
			if v.PersistentVolumeClaim != nil {
				c.needs(at.Child("persistentVolumeClaim", "claimName"), v.PersistentVolumeClaim.ClaimName, nil)
			}
			if v.CSI != nil {
				c.needs(at.Child("csi", "driver"), v.CSI.Driver,
					func(s string) []string { return validation.IsDNS1123Subdomain(strings.ToLower(s)) })
			}
			if v.Image != nil && c.minor >= 35 {
				c.needs(at.Child("image", "reference"), v.Image.Reference, nil)
			}
		}},
	{"nfs", "server is required; path must be an absolute path", 0, func(c *check, v *corev1.Volume, at *field.Path) {
		n, at := v.NFS, at.Child("nfs")
		if n == nil {
			return
		}
		c.needs(at.Child("server"), n.Server, nil)
		c.needs(at.Child("path"), n.Path, nil)
		if !path.IsAbs(n.Path) {
			c.invalid(at.Child("path"), n.Path, "must be an absolute path")
		}
	}},
	{"configMap.defaultMode",
		"must be from 0 to 0777 (octal); also applies to secret, downwardAPI and projected, and to the mode " +
			"of their items", 0,
		func(c *check, v *corev1.Volume, at *field.Path) {
			for _, f := range files(v, at) {
				c.mode(f.at.Child("defaultMode"), f.mode)
				for i, item := range f.items {
					c.mode(f.itemsAt.Index(i).Child("mode"), item.Mode)
				}
				for _, file := range f.fields {
					c.mode(f.fieldsAt.Child("mode"), file.Mode)
				}
			}
		}},
	{"configMap.items[]",
		"key is required; path must be a relative path, and must not contain .. or begin with ..; also " +
			"applies to secret and projected", 0,
		func(c *check, v *corev1.Volume, at *field.Path) {
			for _, f := range files(v, at) {
				for i, item := range f.items {
					c.needs(f.itemsAt.Index(i).Child("key"), item.Key, nil)
					c.needs(f.itemsAt.Index(i).Child("path"), item.Path, nil)
					c.requireBelowVolume(f.itemsAt.Index(i).Child("path"), item.Path)
				}
			}
		}},
	{"downwardAPI.items[]",
		"path must be a relative path; exactly one of fieldRef and resourceFieldRef is required, and must " +
			"be supported in files; also applies to projected", 0,
		func(c *check, v *corev1.Volume, at *field.Path) {
			for _, f := range files(v, at) {
				for i := range f.fields {
					c.downwardFile(&f.fields[i], f.fieldsAt)
				}
			}
		}},
	{"projected.sources[]", "must not have more than one source; a ConfigMap or Secret must have a name", 0,
		func(c *check, v *corev1.Volume, at *field.Path) {
			if v.Projected == nil {
				return
			}
			for i := range v.Projected.Sources {
				s, at := &v.Projected.Sources[i], at.Child("projected", "sources").Index(i)
				if s.Secret != nil {
					c.needs(at.Child("secret", "name"), s.Secret.Name, nil)
				}
				if s.ConfigMap != nil {
					c.needs(at.Child("configMap", "name"), s.ConfigMap.Name, nil)
				}
				if len(members(s)) > 1 {
					c.forbidden(at, "may not specify more than 1 volume type per source")
				}
			}
		}},
	{"projected.sources[].serviceAccountToken",
		"path must be a relative path; expirationSeconds must be from 600 (10 minutes) to 2^32", 0,
		func(c *check, v *corev1.Volume, at *field.Path) {
			if v.Projected == nil {
				return
			}
			at = at.Child("projected")
			for i := range v.Projected.Sources {
				t := v.Projected.Sources[i].ServiceAccountToken
				if t == nil {
					continue
				}
				seconds := at.Child("sources").Index(i).Child("serviceAccountToken", "expirationSeconds")
				switch s := t.ExpirationSeconds; {
				case s == nil: // the default applies
				case *s < 10*60:
					c.invalid(seconds, *s, "may not specify a duration less than 10 minutes")
				case *s > 1<<32:
					c.invalid(seconds, *s, "may not specify a duration larger than 2^32 seconds")
				}
				c.needs(at.Child("path"), t.Path, nil) // the path in the API server's error
				c.requireBelowVolume(at.Child("path"), t.Path)
			}
		}},
	{"projected", "paths must be unique", 0, func(c *check, v *corev1.Volume, at *field.Path) {
		if v.Projected == nil {
			return
		}
		seen := map[string]bool{}
		for _, f := range files(v, at) {
			for _, item := range f.items {
				c.samePath(at.Child("projected"), item.Path, seen)
			}
			for _, file := range f.fields {
				c.samePath(at.Child("projected"), file.Path, seen)
			}
		}
	}},
	{"ephemeral.volumeClaimTemplate", "is required, and must have accessModes and a storage request", 23,
		func(c *check, v *corev1.Volume, at *field.Path) {
			e, at := v.Ephemeral, at.Child("ephemeral", "volumeClaimTemplate")
			switch {
			case e == nil:
				return
			case e.VolumeClaimTemplate == nil:
				c.required(at, "")
				return
			}
			claim, at := &e.VolumeClaimTemplate.Spec, at.Child("spec")
			if len(claim.AccessModes) == 0 {
				c.required(at.Child("accessModes"), "at least 1 access mode is required")
			}
			for _, mode := range claim.AccessModes {
				oneOf(c, at.Child("accessModes"), mode, corev1.ReadOnlyMany, corev1.ReadWriteMany, corev1.ReadWriteOnce,
					corev1.ReadWriteOncePod)
			}
			storage, has := claim.Resources.Requests[corev1.ResourceStorage]
			switch at := at.Child("resources").Key("storage"); {
			case !has:
				c.required(at, "")
			case storage.Sign() <= 0:
				c.invalid(at, storage.String(), "must be greater than zero")
			}
			if s := claim.StorageClassName; s != nil {
				c.fits(at.Child("storageClassName"), *s, dnsSubdomain)
			}
			if m := claim.VolumeMode; m != nil {
				oneOf(c, at.Child("volumeMode"), *m, corev1.PersistentVolumeBlock, corev1.PersistentVolumeFilesystem)
			}
		}},
}

// sources returns the sources of a volume. The API server checks emptyDir first.
func sources(v *corev1.Volume) []string {
	types := members(&v.VolumeSource)
	if i := slices.Index(types, "emptyDir"); i > 0 {
		types = slices.Insert(slices.Delete(types, i, i+1), 0, "emptyDir")
	}
	return types
}

// fileSet describes the files that a volume source creates.
type fileSet struct {
	at       *field.Path
	mode     *int32
	items    []corev1.KeyToPath
	itemsAt  *field.Path
	fields   []corev1.DownwardAPIVolumeFile
	fieldsAt *field.Path // path of all fields; the API server's errors have no index
}

// files returns the file sets of a volume. For a projected volume, only the first has a mode.
func files(v *corev1.Volume, at *field.Path) (all []fileSet) {
	if s := v.Secret; s != nil {
		all = append(all, fileSet{at: at.Child("secret"), mode: s.DefaultMode, items: s.Items,
			itemsAt: at.Child("secret", "items")})
	}
	if m := v.ConfigMap; m != nil {
		all = append(all, fileSet{at: at.Child("configMap"), mode: m.DefaultMode, items: m.Items,
			itemsAt: at.Child("configMap", "items")})
	}
	if d := v.DownwardAPI; d != nil {
		all = append(all, fileSet{at: at.Child("downwardAPI"), mode: d.DefaultMode, fields: d.Items,
			fieldsAt: at.Child("downwardAPI")})
	}
	if v.Projected == nil {
		return all
	}
	all = append(all, fileSet{at: at.Child("projected"), mode: v.Projected.DefaultMode})
	for i, s := range v.Projected.Sources {
		at := at.Child("projected", "sources").Index(i)
		if s.Secret != nil {
			all = append(all, fileSet{at: at, items: s.Secret.Items, itemsAt: at.Child("secret", "items")})
		}
		if s.ConfigMap != nil {
			all = append(all, fileSet{at: at, items: s.ConfigMap.Items, itemsAt: at.Child("configMap", "items")})
		}
		if s.DownwardAPI != nil {
			all = append(all, fileSet{at: at, fields: s.DownwardAPI.Items, fieldsAt: at.Child("downwardAPI")})
		}
	}
	return all
}

func (c *check) downwardFile(f *corev1.DownwardAPIVolumeFile, at *field.Path) {
	c.needs(at.Child("path"), f.Path, nil)
	c.requireBelowVolume(at.Child("path"), f.Path)
	switch {
	case f.FieldRef != nil && f.ResourceFieldRef != nil:
		c.invalid(at, "resource", "fieldRef and resourceFieldRef can not be specified simultaneously")
	case f.FieldRef != nil:
		c.fieldRef(at.Child("fieldRef"), f.FieldRef, ofFiles)
	case f.ResourceFieldRef != nil:
		c.resourceFieldRef(at.Child("resourceFieldRef"), f.ResourceFieldRef, true)
	default:
		c.required(at, "one of fieldRef and resourceFieldRef is required")
	}
}

func (c *check) samePath(at *field.Path, p string, seen map[string]bool) {
	if p != "" && seen[p] {
		c.invalid(at, p, "conflicting duplicate paths")
	}
	seen[p] = true
}

func (c *check) mode(at *field.Path, mode *int32) {
	if mode != nil && (*mode < 0 || *mode > 0o777) {
		c.invalid(at, *mode, "must be a number between 0 and 0777 (octal), both inclusive")
	}
}

// requireBelowVolume adds errors unless p stays below its volume. The kubelet reserves names that begin with "..".
func (c *check) requireBelowVolume(at *field.Path, p string) {
	c.requireBelow(at, p)
	if strings.HasPrefix(p, "..") && !strings.HasPrefix(p, "../") && p != ".." {
		c.invalid(at, p, "must not start with '..'")
	}
}
