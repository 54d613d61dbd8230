// Command clients uses an API server as Go programs do, with the defaults of their libraries, and prints
// what works: one line per check, "ok NAME" or "FAIL NAME: FAIL REASON". An argument selects checks by name.
package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/klog/v2"
	ctrllog "sigs.k8s.io/controller-runtime/pkg/log"
)

const checkSeconds = 60

// world is what every check gets: how to reach the server, and a namespace of its own.
type world struct {
	config    *rest.Config
	clients   kubernetes.Interface
	namespace string
}

type check struct {
	name string
	run  func(context.Context, world) error
}

var checks = []check{
	{"client-go: typed, every verb", typedVerbs},
	{"client-go: typed, many kinds", typedKinds},
	{"client-go: protobuf only", protobufOnly},
	{"client-go: dynamic", dynamicVerbs},
	{"client-go: metadata", metadataVerbs},
	{"client-go: discovery and OpenAPI", discoveryDocuments},
	{"client-go: informers", informers},
	{"client-go: leader election", leaderElection},
	{"client-go: event recorders", eventRecorders},
	{"client-go: server-side apply", serverSideApply},
	{"client-go: scale and status", scaleAndStatus},
	{"controller-runtime: manager", managerWithDefaults},
	{"controller-runtime: client", runtimeClient},
}

func main() {
	klog.SetOutput(io.Discard)
	klog.LogToStderr(false)
	ctrllog.SetLogger(logr.FromSlogHandler(slog.NewTextHandler(io.Discard, nil)))
	failures := 0
	for _, each := range checks {
		if len(os.Args) > 1 && !strings.Contains(each.name, os.Args[1]) {
			continue
		}
		if err := runOne(each); err != nil {
			failures++
			fmt.Printf("FAIL %s: FAIL %v\n", each.name, err)
		} else {
			fmt.Printf("ok %s\n", each.name)
		}
	}
	if failures > 0 {
		os.Exit(1)
	}
}

func runOne(each check) error {
	ctx, cancel := context.WithTimeout(context.Background(), checkSeconds*time.Second)
	defer cancel()
	config, err := clientcmd.BuildConfigFromFlags("", os.Getenv("KUBECONFIG"))
	if err != nil {
		return err
	}
	config.QPS, config.Burst = 100, 200
	clients, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	space := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "clients-"}}
	space, err = clients.CoreV1().Namespaces().Create(ctx, space, metav1.CreateOptions{})
	if err != nil {
		return err
	}
	defer clients.CoreV1().Namespaces().Delete(context.Background(), space.Name, metav1.DeleteOptions{})
	return each.run(ctx, world{config, clients, space.Name})
}

// expect says what was wrong, as an error.
func expect(holds bool, format string, values ...any) error {
	if holds {
		return nil
	}
	return fmt.Errorf(format, values...)
}

// firstError returns the first of these that is one.
func firstError(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

func until(ctx context.Context, what string, holds func() bool) error {
	for !holds() {
		select {
		case <-ctx.Done():
			return fmt.Errorf("%s did not happen in time", what)
		case <-time.After(50 * time.Millisecond):
		}
	}
	return nil
}

func configMap(name string, data map[string]string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}, Data: data}
}

func pod(name string) *corev1.Pod {
	containers := []corev1.Container{{Name: "main", Image: "registry.example/app:1"}}
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: corev1.PodSpec{Containers: containers}}
}
