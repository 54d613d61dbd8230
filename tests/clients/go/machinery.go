package main

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	corev1apply "k8s.io/client-go/applyconfigurations/core/v1"
	informerfactory "k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/scheme"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/openapi3"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/events"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/client-go/tools/record"
)

func discoveryDocuments(_ context.Context, w world) error {
	discovery := w.clients.Discovery()
	groups, resources, err := discovery.ServerGroupsAndResources()
	if err != nil {
		return err
	}
	version, err := discovery.ServerVersion()
	if err != nil {
		return err
	}
	if _, err = discovery.OpenAPISchema(); err != nil {
		return err
	}
	spec, err := openapi3.NewRoot(discovery.OpenAPIV3()).GVSpec(schema.GroupVersion{Version: "v1"})
	if err != nil {
		return err
	}
	pods, err := podInProtobuf(discovery.OpenAPIV3())
	if err != nil {
		return err
	}
	return firstError(
		expect(len(groups) > 3 && len(resources) > 3, "%d groups are known", len(groups)),
		expect(version.Major == "1", "the version is %v", version),
		expect(spec.Components.Schemas["io.k8s.api.core.v1.Pod"] != nil, "OpenAPI v3 does not know pods"),
		expect(pods, "OpenAPI v3 in protobuf does not know the spec of pods"),
	)
}

// informers follows KUBE_FEATURE_WatchListClient: with it objects come as a watch, otherwise as a list.
func informers(ctx context.Context, w world) error {
	maps := w.clients.CoreV1().ConfigMaps(w.namespace)
	for number := range 20 {
		if _, err := maps.Create(ctx, configMap(fmt.Sprintf("m%d", number), nil), metav1.CreateOptions{}); err != nil {
			return err
		}
	}
	factory := informersIn(w)
	informer := factory.Core().V1().ConfigMaps().Informer()
	var updates, deletes atomic.Int32
	informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		UpdateFunc: func(_, _ any) { updates.Add(1) },
		DeleteFunc: func(any) { deletes.Add(1) },
	})
	factory.Start(ctx.Done())
	factory.WaitForCacheSync(ctx.Done())
	if found := len(informer.GetStore().List()); found < 20 {
		return fmt.Errorf("the informer knows %d of 20 objects", found)
	}
	_, err := maps.Update(ctx, configMap("m0", map[string]string{"a": "b"}), metav1.UpdateOptions{})
	if err != nil {
		return err
	}
	if err := maps.Delete(ctx, "m1", metav1.DeleteOptions{}); err != nil {
		return err
	}
	return until(ctx, "what changed", func() bool { return updates.Load() > 0 && deletes.Load() == 1 })
}

func informersIn(w world) informerfactory.SharedInformerFactory {
	return informerfactory.NewSharedInformerFactoryWithOptions(w.clients, 0, informerfactory.WithNamespace(w.namespace))
}

func leaderElection(ctx context.Context, w world) error {
	lock := &resourcelock.LeaseLock{
		LeaseMeta: metav1.ObjectMeta{Name: "leader", Namespace: w.namespace},
		Client:    w.clients.CoordinationV1(), LockConfig: resourcelock.ResourceLockConfig{Identity: "me"}}
	leading, released := make(chan struct{}), make(chan struct{})
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go leaderelection.RunOrDie(ctx, leaderelection.LeaderElectionConfig{
		Lock: lock, LeaseDuration: 15 * time.Second, RenewDeadline: 10 * time.Second, RetryPeriod: 200 * time.Millisecond,
		ReleaseOnCancel: true,
		Callbacks: leaderelection.LeaderCallbacks{
			OnStartedLeading: func(context.Context) { close(leading) },
			OnStoppedLeading: func() { close(released) },
		}})
	select {
	case <-leading:
	case <-ctx.Done():
		return fmt.Errorf("the lease was not gained")
	}
	cancel()
	<-released
	lease, err := w.clients.CoordinationV1().Leases(w.namespace).Get(context.Background(), "leader", metav1.GetOptions{})
	return firstError(err, expect(lease.Spec.HolderIdentity == nil || *lease.Spec.HolderIdentity == "", "the lease was not released"))
}

func eventRecorders(ctx context.Context, w world) error {
	about, err := w.clients.CoreV1().ConfigMaps(w.namespace).Create(ctx, configMap("a", nil), metav1.CreateOptions{})
	if err != nil {
		return err
	}
	older := record.NewBroadcaster()
	older.StartRecordingToSink(&typedcorev1.EventSinkImpl{Interface: w.clients.CoreV1().Events("")})
	defer older.Shutdown()
	recorder := older.NewRecorder(scheme.Scheme, corev1.EventSource{Component: "clients"})
	for range 3 {
		recorder.Event(about, corev1.EventTypeNormal, "Older", "the same again")
	}
	newer := events.NewBroadcaster(&events.EventSinkImpl{Interface: w.clients.EventsV1()})
	if err := newer.StartRecordingToSinkWithContext(ctx); err != nil {
		return err
	}
	defer newer.Shutdown()
	newer.NewRecorder(scheme.Scheme, "clients").Eventf(about, nil, corev1.EventTypeNormal, "Newer", "Checking", "once")
	return until(ctx, "both kinds of events", func() bool {
		found, err := w.clients.CoreV1().Events(w.namespace).List(ctx, metav1.ListOptions{FieldSelector: "involvedObject.name=a"})
		if err != nil {
			return false
		}
		reasons := map[string]int32{}
		for _, event := range found.Items {
			reasons[event.Reason] = max(event.Count, 1)
		}
		return reasons["Older"] == 3 && reasons["Newer"] == 1
	})
}

func serverSideApply(ctx context.Context, w world) error {
	pods := w.clients.CoreV1().Pods(w.namespace)
	config := corev1apply.Pod("a", w.namespace).WithLabels(map[string]string{"x": "1"}).
		WithSpec(corev1apply.PodSpec().WithContainers(corev1apply.Container().WithName("main").WithImage("app:1")))
	made, err := pods.Apply(ctx, config, metav1.ApplyOptions{FieldManager: "one"})
	if err != nil {
		return err
	}
	mine, err := corev1apply.ExtractPod(made, "one")
	if err != nil {
		return err
	}
	other := corev1apply.Pod("a", w.namespace).WithLabels(map[string]string{"x": "2"})
	_, conflict := pods.Apply(ctx, other, metav1.ApplyOptions{FieldManager: "two"})
	forced, err := pods.Apply(ctx, other, metav1.ApplyOptions{FieldManager: "two", Force: true})
	if err != nil {
		return err
	}
	left, err := pods.Apply(ctx, corev1apply.Pod("a", w.namespace), metav1.ApplyOptions{FieldManager: "two"})
	return firstError(
		err,
		expect(mine.Labels["x"] == "1" && len(mine.Spec.Containers) == 1, "what was applied was read back as %v", mine),
		expect(apierrors.IsConflict(conflict), "a conflict was answered with %v", conflict),
		expect(forced.Labels["x"] == "2", "labels are %v", forced.Labels),
		expect(left.Labels["x"] == "", "the label stayed: %v", left.Labels),
	)
}

func scaleAndStatus(ctx context.Context, w world) error {
	made, err := w.clients.CoreV1().Pods(w.namespace).Create(ctx, pod("a"), metav1.CreateOptions{})
	if err != nil {
		return err
	}
	made.Status.Message = "fine"
	changed, err := w.clients.CoreV1().Pods(w.namespace).UpdateStatus(ctx, made, metav1.UpdateOptions{})
	if err != nil && apierrors.IsConflict(err) {
		made, _ = w.clients.CoreV1().Pods(w.namespace).Get(ctx, "a", metav1.GetOptions{})
		made.Status.Message = "fine"
		changed, err = w.clients.CoreV1().Pods(w.namespace).UpdateStatus(ctx, made, metav1.UpdateOptions{})
	}
	if err != nil {
		return err
	}
	return firstError(
		expect(changed.Status.Message == "fine", "the status is %v", changed.Status),
		scaleStatefulSet(ctx, w),
	)
}
