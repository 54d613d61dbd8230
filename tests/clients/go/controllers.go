package main

import (
	"context"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	corev1apply "k8s.io/client-go/applyconfigurations/core/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"
)

// copier keeps a Secret for every ConfigMap, as controllers do: owned, created or updated, with a finalizer.
type copier struct {
	client.Client
}

func (c copier) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	source := &corev1.ConfigMap{}
	if err := c.Get(ctx, request.NamespacedName, source); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if source.Labels["copied"] == "" {
		return ctrl.Result{}, nil
	}
	copied := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: source.Name, Namespace: source.Namespace}}
	_, err := controllerutil.CreateOrUpdate(ctx, c.Client, copied, func() error {
		copied.StringData = source.Data
		return controllerutil.SetControllerReference(source, copied, c.Scheme())
	})
	return ctrl.Result{}, err
}

func managerWithDefaults(ctx context.Context, w world) error {
	manager, err := ctrl.NewManager(w.config, ctrl.Options{
		LeaderElection: true, LeaderElectionID: "clients", LeaderElectionNamespace: w.namespace,
		LeaderElectionReleaseOnCancel: true,
		Metrics:                       server.Options{BindAddress: "0"},
		Cache:                         cache.Options{DefaultNamespaces: map[string]cache.Config{w.namespace: {}}}})
	if err != nil {
		return err
	}
	err = ctrl.NewControllerManagedBy(manager).For(&corev1.ConfigMap{}).Owns(&corev1.Secret{}).
		Complete(copier{manager.GetClient()})
	if err != nil {
		return err
	}
	running, stop := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- manager.Start(running) }()
	source := configMap("a", map[string]string{"k": "v"})
	source.Labels = map[string]string{"copied": "yes"}
	if _, err = w.clients.CoreV1().ConfigMaps(w.namespace).Create(ctx, source, metav1.CreateOptions{}); err != nil {
		stop()
		return err
	}
	err = until(ctx, "the copy", func() bool {
		found, err := w.clients.CoreV1().Secrets(w.namespace).Get(ctx, "a", metav1.GetOptions{})
		return err == nil && string(found.Data["k"]) == "v"
	})
	stop()
	return firstError(err, <-ended)
}

func runtimeClient(ctx context.Context, w world) error {
	direct, err := client.New(w.config, client.Options{})
	if err != nil {
		return err
	}
	made := pod("a")
	made.Namespace = w.namespace
	if err = direct.Create(ctx, made); err != nil {
		return err
	}
	before := made.DeepCopy()
	made.Labels = map[string]string{"x": "y"}
	if err = direct.Patch(ctx, made, client.MergeFrom(before)); err != nil {
		return err
	}
	config := corev1apply.ConfigMap("c", w.namespace).WithData(map[string]string{"k": "v"})
	if err = direct.Apply(ctx, config, client.FieldOwner("me")); err != nil {
		return err
	}
	listed := &corev1.PodList{}
	err = direct.List(ctx, listed, client.InNamespace(w.namespace), client.MatchingLabels{"x": "y"})
	partial := &metav1.PartialObjectMetadataList{}
	partial.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("PodList"))
	return firstError(
		err,
		expect(len(listed.Items) == 1, "%d pods are listed", len(listed.Items)),
		direct.List(ctx, partial, client.InNamespace(w.namespace)),
		expect(len(partial.Items) == 1, "metadata of %d pods is listed", len(partial.Items)),
		direct.DeleteAllOf(ctx, &corev1.Pod{}, client.InNamespace(w.namespace)),
	)
}

func scaleStatefulSet(ctx context.Context, w world) error {
	none, labels := int32(0), map[string]string{"app": "x"}
	set := &appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Name: "s"}, Spec: appsv1.StatefulSetSpec{
		Replicas: &none, ServiceName: "s", Selector: &metav1.LabelSelector{MatchLabels: labels},
		Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: pod("").Spec}}}
	sets := w.clients.AppsV1().StatefulSets(w.namespace)
	if _, err := sets.Create(ctx, set, metav1.CreateOptions{}); err != nil {
		return err
	}
	for {
		scale, err := sets.GetScale(ctx, "s", metav1.GetOptions{})
		if err != nil {
			return err
		}
		scale.Spec.Replicas = 1
		scaled, err := sets.UpdateScale(ctx, "s", scale, metav1.UpdateOptions{})
		if apierrors.IsConflict(err) {
			continue
		}
		if err != nil {
			return err
		}
		return expect(scaled.Spec.Replicas == 1, "the scale is %v", fmt.Sprint(scaled.Spec))
	}
}
