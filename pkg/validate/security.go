package validate

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

var securityRules = table[*corev1.SecurityContext]{
	{"runAsUser", "must be from 0 to 2147483647; also applies to runAsGroup", 0,
		func(c *check, v *corev1.SecurityContext, at *field.Path) {
			c.id(at.Child("runAsUser"), v.RunAsUser, validation.IsValidUserID)
			c.id(at.Child("runAsGroup"), v.RunAsGroup, validation.IsValidGroupID)
		}},
	{"procMount", "must be Default or Unmasked; Unmasked requires hostUsers: false", 30,
		func(c *check, v *corev1.SecurityContext, at *field.Path) {
			if v.ProcMount == nil {
				return
			}
			oneOf(c, at.Child("procMount"), *v.ProcMount, corev1.DefaultProcMount, corev1.UnmaskedProcMount)
			if *v.ProcMount == corev1.UnmaskedProcMount && !isFalse(c.new.Spec.Template.Spec.HostUsers) {
				c.invalid(at.Child("procMount"), *v.ProcMount, "`hostUsers` must be false to use `Unmasked`")
			}
		}},
	{"seccompProfile",
		"type must be Localhost, RuntimeDefault or Unconfined; only Localhost has a localhostProfile, and " +
			"requires it; also applies to appArmorProfile", 30,
		func(c *check, v *corev1.SecurityContext, at *field.Path) {
			c.profiles(at, v.SeccompProfile, v.AppArmorProfile)
		}},
	{"allowPrivilegeEscalation",
		"must not be false if the container is privileged or adds the capability CAP_SYS_ADMIN", 0,
		func(c *check, v *corev1.SecurityContext, at *field.Path) {
			if !isFalse(v.AllowPrivilegeEscalation) {
				return
			}
			if isTrue(v.Privileged) {
				c.invalid(at, v, "cannot set `allowPrivilegeEscalation` to false and `privileged` to true")
			}
			if v.Capabilities == nil {
				return
			}
			for _, name := range v.Capabilities.Add {
				if name == "CAP_SYS_ADMIN" {
					c.invalid(at, v, "cannot set `allowPrivilegeEscalation` to false and `capabilities.Add` "+
						"CAP_SYS_ADMIN")
				}
			}
		}},
}

func (c *check) id(at *field.Path, id *int64, form func(int64) []string) {
	if id != nil {
		c.invalid(at, *id, form(*id)...)
	}
}

// profiles checks the profiles of a pod or a container. nil is valid.
func (c *check) profiles(at *field.Path, seccomp *corev1.SeccompProfile, appArmor *corev1.AppArmorProfile) {
	if seccomp != nil {
		at := at.Child("seccompProfile")
		c.profile(at, string(seccomp.Type), seccomp.LocalhostProfile,
			"type is required when seccompProfile is set", "seccomp")
		if p := seccomp.LocalhostProfile; p != nil && seccomp.Type == corev1.SeccompProfileTypeLocalhost {
			c.requireBelow(at.Child("localhostProfile"), *p)
		}
	}
	if appArmor != nil {
		at := at.Child("appArmorProfile")
		c.profile(at, string(appArmor.Type), appArmor.LocalhostProfile,
			"type is required when appArmorProfile is set", "AppArmor")
		switch p := appArmor.LocalhostProfile; {
		case p == nil || appArmor.Type != corev1.AppArmorProfileTypeLocalhost:
		case strings.TrimSpace(*p) != *p:
			c.invalid(at.Child("localhostProfile"), *p, "must not be padded with whitespace")
		case *p == "":
			c.required(at.Child("localhostProfile"), "must be set when AppArmor type is Localhost")
		}
	}
}

// profile checks the fields that seccomp and AppArmor profiles have in common.
func (c *check) profile(at *field.Path, kind string, file *string, why, what string) {
	if c.needs(at.Child("type"), kind, nil); kind == "" {
		c.errs[len(c.errs)-1].Detail = why
	} else {
		oneOf(c, at.Child("type"), kind, "Localhost", "RuntimeDefault", "Unconfined")
	}
	switch at := at.Child("localhostProfile"); {
	case kind == "Localhost" && file == nil:
		c.required(at, "must be set when "+what+" type is Localhost")
	case kind != "Localhost" && file != nil:
		c.invalid(at, *file, "can only be set when "+what+" type is Localhost")
	}
}
