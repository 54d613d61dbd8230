// Uses an API server as programs in JavaScript do; fails with the first thing that does not work.
import assert from 'node:assert/strict';
import * as k8s from '@kubernetes/client-node';

const config = new k8s.KubeConfig();
config.loadFromDefault();
const core = config.makeApiClient(k8s.CoreV1Api);
const objects = k8s.KubernetesObjectApi.makeApiClient(config);
const namespace = 'js-client';

await core.createNamespace({ body: { metadata: { name: namespace } } });
try {
  const pod = { metadata: { name: 'a' }, spec: { containers: [{ name: 'main', image: 'app:1' }] } };
  await core.createNamespacedPod({ namespace, body: pod });
  const seen = await core.readNamespacedPod({ namespace, name: 'a' });
  assert.equal(seen.spec.containers[0].image, 'app:1');

  const event = await new Promise((resolve, reject) => {
    new k8s.Watch(config).watch(`/api/v1/namespaces/${namespace}/pods`, {}, (type, obj) => resolve([type, obj]), reject);
  });
  assert.deepEqual([event[0], event[1].metadata.name], ['ADDED', 'a']);

  const applied = {
    apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'c', namespace }, data: { k: 'v' },
  };
  const kept = await objects.patch(applied, undefined, undefined, 'me', true, k8s.PatchStrategy.ServerSideApply);
  assert.equal(kept.data.k, 'v');
  const map = await core.readNamespacedConfigMap({ namespace, name: 'c' });
  assert.equal(map.metadata.managedFields[0].manager, 'me');

  await core.replaceNamespacedConfigMap({ namespace, name: 'c', body: { ...map, data: { k: 'w' } } });
  assert.equal((await core.listNamespacedConfigMap({ namespace, fieldSelector: 'metadata.name=c' })).items[0].data.k, 'w');
  await core.deleteNamespacedPod({ namespace, name: 'a' });
} finally {
  await core.deleteNamespace({ name: namespace });
}
process.exit(0);
