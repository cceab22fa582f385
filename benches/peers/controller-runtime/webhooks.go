package main

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"

	"k8s.io/client-go/util/cert"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/webhook"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	testv1 "kubewright.dev/benches/controller-runtime/api/v1"
)

// The annotation that names whom to ask about an object.
const contact = "test.example.com/contact"

// Makes the certificate of the webhooks in folder; its name is 127.0.0.1.
func serveWebhooks(port int, folder string) (webhook.Server, error) {
	pem, key, err := cert.GenerateSelfSignedCertKey("127.0.0.1", []net.IP{net.IPv4(127, 0, 0, 1)}, nil)
	if err != nil {
		return nil, err
	}
	for name, content := range map[string][]byte{"tls.crt": pem, "tls.key": key} {
		if err := os.WriteFile(filepath.Join(folder, name), content, 0o600); err != nil {
			return nil, err
		}
	}
	return webhook.NewServer(webhook.Options{Host: "127.0.0.1", Port: port, CertDir: folder}), nil
}

// Registers the webhooks that the generated project has, and the conversion between the versions.
func registerWebhooks(mgr ctrl.Manager) error {
	return ctrl.NewWebhookManagedBy(mgr, &testv1.FooBar{}).
		WithDefaulter(defaulter{}).
		WithValidator(validator{}).
		Complete()
}

type defaulter struct{}

// Default makes the user the contact, unless the object names another.
func (defaulter) Default(ctx context.Context, object *testv1.FooBar) error {
	request, err := admission.RequestFromContext(ctx)
	if err != nil {
		return err
	}
	if _, set := object.Annotations[contact]; !set {
		if object.Annotations == nil {
			object.Annotations = map[string]string{}
		}
		object.Annotations[contact] = request.UserInfo.Username
	}
	return nil
}

type validator struct{}

func (validator) ValidateCreate(_ context.Context, object *testv1.FooBar) (admission.Warnings, error) {
	return nil, objections(object)
}

func (validator) ValidateUpdate(_ context.Context, _, object *testv1.FooBar) (admission.Warnings, error) {
	return nil, objections(object)
}

func (validator) ValidateDelete(context.Context, *testv1.FooBar) (admission.Warnings, error) {
	return nil, nil
}

func objections(object *testv1.FooBar) error {
	if object.Spec.Target == object.Name {
		return fmt.Errorf("spec.target: %q must not be the object itself", object.Spec.Target)
	}
	return nil
}
