package cluster

import (
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	core "k8s.io/api/core/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// storageClass is the default one, whose volumes the test makes.
const storageClass = `
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {name: folders, annotations: {storageclass.kubernetes.io/is-default-class: "true"}}
provisioner: seine.test/folders
`

// provision gives each claim a folder, until the test ends.
func (c *cluster) provision(t *testing.T) {
	t.Helper()
	c.kubectl(t, storageClass, "apply", "-f", "-")
	repeat(t, 200*time.Millisecond, func() error {
		var claims core.PersistentVolumeClaimList
		if err := c.get("/api/v1/persistentvolumeclaims", &claims); err != nil {
			return err
		}
		for i := range claims.Items {
			if err := c.provisionClaim(&claims.Items[i]); err != nil {
				return err
			}
		}
		return nil
	})
}

// provisionClaim makes the volume of a claim that has none.
func (c *cluster) provisionClaim(claim *core.PersistentVolumeClaim) error {
	name := "folder-" + string(claim.UID)
	if claim.Status.Phase != core.ClaimPending || c.get("/api/v1/persistentvolumes/"+name, nil) == nil {
		return nil
	}
	dir := c.volume(claim.Name)
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	if err := os.Chmod(dir, 0o777); err != nil { // pods on a kubelet are of another user
		return err
	}
	class := "folders"
	if claim.Spec.StorageClassName != nil {
		class = *claim.Spec.StorageClassName
	}
	return c.call(http.MethodPost, "/api/v1/persistentvolumes", &core.PersistentVolume{
		ObjectMeta: meta.ObjectMeta{Name: name},
		Spec: core.PersistentVolumeSpec{
			Capacity: claim.Spec.Resources.Requests, AccessModes: claim.Spec.AccessModes, StorageClassName: class,
			PersistentVolumeReclaimPolicy: core.PersistentVolumeReclaimRetain,
			ClaimRef:                      &core.ObjectReference{APIVersion: "v1", Kind: "PersistentVolumeClaim", Namespace: claim.Namespace, Name: claim.Name, UID: claim.UID},
			PersistentVolumeSource:        core.PersistentVolumeSource{HostPath: &core.HostPathVolumeSource{Path: dir}},
		},
	}, nil)
}

// volume is the folder of a claim.
func (c *cluster) volume(claim string) string { return filepath.Join(c.dir, "volumes", claim) }

// repeat does something again and again until the test ends. What fails once may succeed the next time: what fails for
// long is seen by what waits for it.
func repeat(t *testing.T, every time.Duration, do func() error) {
	t.Helper()
	stop, ended := make(chan struct{}), make(chan struct{})
	var failed error
	go func() {
		defer close(ended)
		for {
			if err := do(); err != nil {
				failed = err
			}
			select {
			case <-stop:
				return
			case <-time.After(every):
			}
		}
	}()
	t.Cleanup(func() {
		close(stop)
		<-ended
		if t.Failed() && failed != nil {
			t.Logf("it failed last: %v", failed)
		}
	})
}
