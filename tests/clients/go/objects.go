package main

import (
	"context"

	batchv1 "k8s.io/api/batch/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
)

var configMaps = schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}

func typedVerbs(ctx context.Context, w world) error {
	maps := w.clients.CoreV1().ConfigMaps(w.namespace)
	made, err := maps.Create(ctx, configMap("a", map[string]string{"k": "1"}), metav1.CreateOptions{})
	if err != nil {
		return err
	}
	made.Data["k"] = "2"
	stale := made.DeepCopy()
	changed, err := maps.Update(ctx, made, metav1.UpdateOptions{})
	if err != nil {
		return err
	}
	_, conflict := maps.Update(ctx, stale, metav1.UpdateOptions{})
	patched, err := maps.Patch(ctx, "a", types.StrategicMergePatchType, []byte(`{"data":{"p":"3"}}`), metav1.PatchOptions{})
	if err != nil {
		return err
	}
	watch, err := maps.Watch(ctx, metav1.ListOptions{ResourceVersion: changed.ResourceVersion, FieldSelector: "metadata.name=a"})
	if err != nil {
		return err
	}
	defer watch.Stop()
	event := <-watch.ResultChan()
	listed, err := maps.List(ctx, metav1.ListOptions{Limit: 1})
	if err != nil {
		return err
	}
	err = maps.Delete(ctx, "a", metav1.DeleteOptions{Preconditions: metav1.NewUIDPreconditions(string(made.UID))})
	if err != nil {
		return err
	}
	_, missing := maps.Get(ctx, "a", metav1.GetOptions{})
	return firstError(
		expect(changed.Data["k"] == "2" && patched.Data["p"] == "3", "data is %v", patched.Data),
		expect(apierrors.IsConflict(conflict), "a stale update was answered with %v", conflict),
		expect(event.Object.(*corev1.ConfigMap).Data["p"] == "3", "the watch showed %v", event),
		expect(len(listed.Items) == 1, "%d items are listed", len(listed.Items)),
		expect(apierrors.IsNotFound(missing), "a deleted object was answered with %v", missing),
		maps.DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{}),
	)
}

func typedKinds(ctx context.Context, w world) error {
	one := int32(1)
	worker := pod("worker")
	worker.Spec.Containers[0].Resources.Requests = corev1.ResourceList{"cpu": resource.MustParse("100m")}
	worker.Spec.Volumes = []corev1.Volume{{Name: "v", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}}}
	service := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: "web"}, Spec: corev1.ServiceSpec{
		Ports: []corev1.ServicePort{{Port: 80, TargetPort: intstr.FromString("http")}}}}
	half := intstr.FromString("50%")
	budget := &policyv1.PodDisruptionBudget{ObjectMeta: metav1.ObjectMeta{Name: "half"}, Spec: policyv1.PodDisruptionBudgetSpec{
		MinAvailable: &half, Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"a": "b"}}}}
	job := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Name: "job"}, Spec: batchv1.JobSpec{Parallelism: &one,
		Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{RestartPolicy: "Never", Containers: worker.Spec.Containers}}}}
	now, holder := metav1.NowMicro(), "me"
	lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Name: "l"},
		Spec: coordinationv1.LeaseSpec{HolderIdentity: &holder, RenewTime: &now}}
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "s"}, Data: map[string][]byte{"k": {0, 255}}}
	core, options := w.clients.CoreV1(), metav1.CreateOptions{}
	_, err1 := core.Pods(w.namespace).Create(ctx, worker, options)
	_, err2 := core.Services(w.namespace).Create(ctx, service, options)
	_, err3 := w.clients.PolicyV1().PodDisruptionBudgets(w.namespace).Create(ctx, budget, options)
	_, err4 := w.clients.BatchV1().Jobs(w.namespace).Create(ctx, job, options)
	kept, err5 := w.clients.CoordinationV1().Leases(w.namespace).Create(ctx, lease, options)
	hidden, err6 := core.Secrets(w.namespace).Create(ctx, secret, options)
	if err := firstError(err1, err2, err3, err4, err5, err6); err != nil {
		return err
	}
	seen, err := core.Pods(w.namespace).Get(ctx, "worker", metav1.GetOptions{})
	return firstError(
		err,
		expect(seen.Spec.Containers[0].Resources.Requests.Cpu().String() == "100m", "the pod asks for %v", seen.Spec),
		expect(kept.Spec.RenewTime.UnixMicro() == now.UnixMicro(), "renewTime is %v, not %v", kept.Spec.RenewTime, now),
		expect(hidden.Data["k"][1] == 255, "the secret holds %v", hidden.Data),
	)
}

func protobufOnly(ctx context.Context, w world) error {
	config := rest.CopyConfig(w.config)
	config.ContentType, config.AcceptContentTypes = "application/vnd.kubernetes.protobuf", "application/vnd.kubernetes.protobuf"
	clients, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	pods := clients.CoreV1().Pods(w.namespace)
	watch, err := pods.Watch(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	defer watch.Stop()
	if _, err = pods.Create(ctx, pod("a"), metav1.CreateOptions{}); err != nil {
		return err
	}
	event := <-watch.ResultChan()
	listed, err := pods.List(ctx, metav1.ListOptions{})
	_, missing := pods.Get(ctx, "b", metav1.GetOptions{})
	return firstError(
		err,
		expect(event.Object.(*corev1.Pod).Name == "a", "the watch showed %v", event),
		expect(len(listed.Items) == 1 && listed.Items[0].Spec.Containers[0].Name == "main", "listed: %v", listed),
		expect(apierrors.IsNotFound(missing), "a missing pod was answered with %v", missing),
		pods.Delete(ctx, "a", *metav1.NewDeleteOptions(0)),
	)
}

func dynamicVerbs(ctx context.Context, w world) error {
	client, err := dynamic.NewForConfig(w.config)
	if err != nil {
		return err
	}
	groups := client.Resource(schema.GroupVersionResource{Group: "scheduling.k8s.io", Version: "v1beta1", Resource: "podgroups"})
	group := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "scheduling.k8s.io/v1beta1", "kind": "PodGroup", "metadata": map[string]any{"name": "g"},
		"spec": map[string]any{"schedulingPolicy": map[string]any{"gang": map[string]any{"minCount": int64(2)}}}}}
	if _, err = groups.Namespace(w.namespace).Create(ctx, group, metav1.CreateOptions{}); err != nil {
		return err
	}
	applied, err := groups.Namespace(w.namespace).Apply(ctx, "g", &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "scheduling.k8s.io/v1beta1", "kind": "PodGroup",
		"metadata": map[string]any{"name": "g", "labels": map[string]any{"team": "a"}}}}, metav1.ApplyOptions{FieldManager: "me"})
	if err != nil {
		return err
	}
	listed, err := groups.List(ctx, metav1.ListOptions{LabelSelector: "team=a"})
	return firstError(
		err,
		expect(applied.GetLabels()["team"] == "a", "labels are %v", applied.GetLabels()),
		expect(len(listed.Items) == 1, "%d groups are listed", len(listed.Items)),
		groups.Namespace(w.namespace).Delete(ctx, "g", metav1.DeleteOptions{}),
	)
}

func metadataVerbs(ctx context.Context, w world) error {
	client, err := metadata.NewForConfig(w.config)
	if err != nil {
		return err
	}
	if _, err = w.clients.CoreV1().ConfigMaps(w.namespace).Create(ctx, configMap("a", nil), metav1.CreateOptions{}); err != nil {
		return err
	}
	maps := client.Resource(configMaps).Namespace(w.namespace)
	watch, err := maps.Watch(ctx, metav1.ListOptions{FieldSelector: "metadata.name=a"})
	if err != nil {
		return err
	}
	defer watch.Stop()
	event := <-watch.ResultChan()
	one, err := maps.Get(ctx, "a", metav1.GetOptions{})
	if err != nil {
		return err
	}
	listed, err := maps.List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	patched, err := maps.Patch(ctx, "a", types.MergePatchType, []byte(`{"metadata":{"labels":{"x":"y"}}}`), metav1.PatchOptions{})
	return firstError(
		err,
		expect(event.Object.(*metav1.PartialObjectMetadata).Name == "a", "the watch showed %v", event),
		expect(one.Name == "a" && len(listed.Items) >= 1 && patched.Labels["x"] == "y", "metadata is %v", patched),
		maps.Delete(ctx, "a", metav1.DeleteOptions{}),
	)
}
