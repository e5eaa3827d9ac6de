// Dumps that no example has: a large cluster, and one whose words are markup.

const at = (seconds) => new Date(Date.UTC(2026, 0, 31, 12, 0, 0) - seconds * 1000).toISOString().replace(/\.\d+Z/, 'Z');

function daemonSet(namespace, name, image, desired) {
  const labels = { app: name };
  return {
    apiVersion: 'apps/v1', kind: 'DaemonSet',
    metadata: { namespace, name, uid: 'd0', generation: 2, creationTimestamp: at(9e6) },
    spec: { selector: { matchLabels: labels }, updateStrategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: '1%', maxSurge: 0 } }, revisionHistoryLimit: 10, template: template(labels, image) },
    status: { desiredNumberScheduled: desired, currentNumberScheduled: desired, numberReady: desired, numberAvailable: desired, updatedNumberScheduled: desired, numberMisscheduled: 0, observedGeneration: 2 },
  };
}

const template = (labels, image) => ({
  metadata: { labels },
  spec: {
    containers: [{ name: 'agent', image, resources: {}, terminationMessagePath: '/dev/termination-log', terminationMessagePolicy: 'File', imagePullPolicy: 'IfNotPresent' }],
    restartPolicy: 'Always', terminationGracePeriodSeconds: 30, dnsPolicy: 'ClusterFirst', securityContext: {}, schedulerName: 'default-scheduler',
  },
});

const revision = (ds, number, image, age) => ({
  apiVersion: 'apps/v1', kind: 'ControllerRevision',
  metadata: {
    namespace: ds.metadata.namespace, name: `${ds.metadata.name}-hash${number}`, uid: `r${number}`, creationTimestamp: at(age), labels: { ...ds.spec.selector.matchLabels, 'controller-revision-hash': `hash${number}` },
    ownerReferences: [{ apiVersion: 'apps/v1', kind: 'DaemonSet', name: ds.metadata.name, uid: 'd0', controller: true, blockOwnerDeletion: true }],
  },
  revision: number, data: { spec: { template: { ...template(ds.spec.selector.matchLabels, image), $patch: 'replace' } } },
});

const node = (name, labels, ready) => ({
  apiVersion: 'v1', kind: 'Node',
  metadata: { name, uid: name, labels: { 'kubernetes.io/hostname': name, ...labels }, creationTimestamp: at(9e6) },
  spec: ready ? {} : { taints: [{ key: 'node.kubernetes.io/unreachable', effect: 'NoExecute', timeAdded: at(7200) }] },
  status: { conditions: [{ type: 'Ready', status: ready ? 'True' : 'Unknown', lastTransitionTime: at(7200), reason: 'x' }], allocatable: { cpu: '8', memory: '32Gi', pods: '110' } },
});

const pod = (ds, name, on, number, ready, created) => ({
  apiVersion: 'v1', kind: 'Pod',
  metadata: {
    namespace: ds.metadata.namespace, name, uid: name, creationTimestamp: at(created), labels: { ...ds.spec.selector.matchLabels, 'controller-revision-hash': `hash${number}` },
    ownerReferences: [{ apiVersion: 'apps/v1', kind: 'DaemonSet', name: ds.metadata.name, uid: 'd0', controller: true, blockOwnerDeletion: true }],
  },
  spec: { nodeName: on, ...template({}, '').spec, containers: ds.spec.template.spec.containers },
  status: {
    phase: 'Running', startTime: at(created),
    conditions: ['PodScheduled', 'Initialized', 'ContainersReady', 'Ready'].map((type) => ({ type, status: ready || type[0] !== 'R' ? 'True' : 'False', lastTransitionTime: at(created - 8) })),
    containerStatuses: [{
      name: 'agent', image: 'x', imageID: '', ready, restartCount: ready ? 0 : 7,
      state: ready ? { running: { startedAt: at(created - 5) } } : { waiting: { reason: 'CrashLoopBackOff', message: 'back-off 5m0s' } },
      lastState: ready ? {} : { terminated: { exitCode: 1, reason: 'Error', message: 'fatal', startedAt: at(60), finishedAt: at(50) } },
    }],
  },
});

const list = (items) => ({ apiVersion: 'v1', kind: 'List', items });

// bigCluster is a rollout under way on so many nodes of six zones, with long names.
export function bigCluster(n) {
  const ds = daemonSet('kube-system', 'node-agent', 'example/agent:2', n);
  const items = [ds, revision(ds, 1, 'example/agent:1', 8e6), revision(ds, 2, 'example/agent:2', 3600)];
  for (let i = 0; i < n; i++) {
    const name = `ip-10-${i >> 12}-${(i >> 6) & 63}-${i & 63}.eu-central-${1 + (i % 2)}.compute.internal`;
    const dead = i % 977 === 5, failing = i % 641 === 17, updated = failing || i % 3 === 0;
    items.push(node(name, { 'topology.kubernetes.io/zone': `eu-central-${1 + (i % 2)}${'abc'[i % 3]}`, pool: ['general', 'gpu', 'spot'][i % 7 % 3] }, !dead));
    items.push(pod(ds, `node-agent-${(i * 7919 % 60466176).toString(36).padStart(5, '0')}`, name, updated ? 2 : 1, !failing && !dead, updated ? 3600 - i % 3000 : 8e6));
  }
  return list(items);
}

// hostile is a small cluster of which every word that somebody else writes is markup.
export function hostile() {
  const words = '</pre></code></td></style></script><script>alert(1)</script><img src=http://example.org/x onerror=alert(2)> "\'` ![i](http://example.org) [l](http://example.org) @team #1 :100: www.example.org https://example.org \u001b[31m \u202e --> <!-- | ~~~ ``` ${x} {{.}} &lt;';
  const ds = daemonSet('kube-system', 'agent', words, 3);
  ds.metadata.annotations = { 'kubernetes.io/change-cause': words };
  const items = [ds, revision(ds, 1, 'example/agent:1', 8e6), revision(ds, 2, words, 3600)];
  ['w-1', 'w-2', '"><script>alert(3)</script>'].forEach((name, i) => {
    items.push(node(name, { 'topology.kubernetes.io/zone': i ? words : 'a' }, true));
    const p = pod(ds, `agent-${i}`, name, 1 + i % 2, i !== 1, 3000);
    p.status.message = words;
    p.status.containerStatuses[0].lastState = { terminated: { exitCode: 1, reason: words, message: words, startedAt: at(60), finishedAt: at(50) } };
    items.push(p);
  });
  return list(items);
}
