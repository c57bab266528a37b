package diskspace

import (
	"os"
	"path/filepath"
	"testing"
)

func TestDiskHasRoomAndAName(t *testing.T) {
	dir := t.TempDir()
	below := filepath.Join(dir, "a")
	if err := os.Mkdir(below, 0o700); err != nil {
		t.Fatal(err)
	}
	here, err := At(dir)
	if err != nil || here.Free <= 0 || here.Size < here.Free || here.Device == "" {
		t.Errorf("%+v, %v", here, err)
	}
	if there, err := At(below); err != nil || there.Device != here.Device {
		t.Errorf("%+v, %v, want the device %q", there, err, here.Device)
	}
	if _, err := At(filepath.Join(dir, "none")); err == nil {
		t.Error("a folder that is not there has a disk")
	}
}
