// What a user of the JavaScript client does, one line for each step: the server of KUBECONFIG decides what is in it.
import * as k8s from "@kubernetes/client-node";

const { PatchStrategy } = k8s;
const config = new k8s.KubeConfig();
config.loadFromDefault();
const core = config.makeApiClient(k8s.CoreV1Api);
const apps = config.makeApiClient(k8s.AppsV1Api);
const extensions = config.makeApiClient(k8s.ApiextensionsV1Api);
const custom = config.makeApiClient(k8s.CustomObjectsApi);
const objects = k8s.KubernetesObjectApi.makeApiClient(config);

// What differs from run to run on one server.
const VARYING = ["uid", "resourceVersion", "creationTimestamp", "deletionTimestamp", "time", "lastTransitionTime", "continue", "_continue"];
const UID = /[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g;

/** A value with its keys in order, and without what varies. */
function normal(value, key) {
  if (value && VARYING.includes(key)) return key;
  if (Array.isArray(value)) return value.map((item) => normal(item));
  if (value instanceof Date) return value;
  if (typeof value === "string") return value.replaceAll(UID, "uid");
  if (value === null || typeof value !== "object") return value;
  const names = Object.keys(value).sort();
  return Object.fromEntries(names.map((name) => [name, normal(value[name], name)]));
}

const line = (value) => JSON.stringify(normal(value));

/** A Status. Where it has several causes, Go visits a map: their order is random, and that in the message too. */
function refusal(status) {
  const causes = status.details?.causes ?? [];
  if (causes.length > 1) {
    causes.sort((one, other) => (line(one) < line(other) ? -1 : 1));
    status.message = status.message.split(": [")[0];
  }
  return status;
}

/** Runs a step and prints its line. Returns the answer, or nothing if the server refused. */
async function step(name, act, show = (answer) => answer) {
  try {
    const answer = await act();
    console.log(`${name}: ${line(await show(answer))}`);
    return answer;
  } catch (refused) {
    if (!(refused instanceof k8s.ApiException)) throw refused;
    let body = refused.body;
    try {
      body = refusal(JSON.parse(body));
    } catch {}
    console.log(`${name}: refused ${refused.code} ${line(body)}`);
  }
}

const names = (list) => list.items.map((item) => item.metadata.name);
const namespace = "clients";
const labels = { app: "shop" };
const configMap = (name, data, metadata = {}) => ({ apiVersion: "v1", kind: "ConfigMap", metadata: { name, namespace, ...metadata }, data });

async function coreObjects() {
  await step("create a namespace", () => core.createNamespace({ body: { metadata: { name: namespace } } }));
  const one = configMap("one", { a: "1", b: "2" }, { labels });
  await step("create", () => core.createNamespacedConfigMap({ namespace, body: one }));
  await step("read", () => core.readNamespacedConfigMap({ namespace, name: "one" }));
  await step("list by label", () => core.listNamespacedConfigMap({ namespace, labelSelector: "app=shop" }), names);
  await step("list by field", () => core.listNamespacedConfigMap({ namespace, fieldSelector: "metadata.name=one" }), names);
  await step("list of a wrong selector", () => core.listNamespacedConfigMap({ namespace, labelSelector: "a in" }));
  const body = configMap("one", { a: "1", c: "3" });
  await step("replace", () => core.replaceNamespacedConfigMap({ namespace, name: "one", body }));
  await step("dry run", () => core.createNamespacedConfigMap({ namespace, dryRun: "All", body: configMap("dry", {}) }));
  const container = { name: "web", image: "web:1", ports: [{ containerPort: 80 }] };
  const spec = { selector: { matchLabels: labels }, template: { metadata: { labels }, spec: { containers: [container] } } };
  await step("create a deployment", () => apps.createNamespacedDeployment({ namespace, body: { metadata: { name: "shop" }, spec } }));
  await step("read the scale", () => apps.readNamespacedDeploymentScale({ namespace, name: "shop" }));
}

const patched = (strategy, metadata, rest = {}) => () =>
  objects.patch({ apiVersion: "v1", kind: "ConfigMap", metadata: { namespace, ...metadata }, ...rest }, undefined, undefined, undefined, undefined, strategy);

async function patches() {
  const name = "one";
  const operations = [{ op: "test", path: "/data/a", value: "1" }, { op: "add", path: "/data/d", value: "4" }];
  await step("JSON patch", () => core.patchNamespacedConfigMap({ namespace, name, body: operations }));
  const failing = [{ op: "test", path: "/data/a", value: "2" }];
  await step("JSON patch whose test fails", () => core.patchNamespacedConfigMap({ namespace, name, body: failing }));
  await step("merge patch", patched(PatchStrategy.MergePatch, { name }, { data: { a: null, e: "5" } }));
  await step("strategic merge patch", patched(PatchStrategy.StrategicMergePatch, { name, finalizers: ["example.org/hold"] }));
  const gone = { name, "$deleteFromPrimitiveList/finalizers": ["example.org/hold"] };
  await step("strategic merge patch that deletes", patched(PatchStrategy.StrategicMergePatch, gone));
  const strategic = k8s.setHeaderOptions("Content-Type", PatchStrategy.StrategicMergePatch);
  const body = { spec: { template: { spec: { containers: [{ name: "side", image: "side:1" }] } } } };
  const images = (it) => it.spec.template.spec.containers.map((container) => container.image);
  await step("a container joins", () => apps.patchNamespacedDeployment({ namespace, name: "shop", body }, strategic), images);
  const wrong = { spec: { replicas: -1 } };
  await step("patch to an invalid object", () => apps.patchNamespacedDeployment({ namespace, name: "shop", body: wrong }, strategic));
  const scale = [{ op: "replace", path: "/spec/replicas", value: 3 }];
  await step("scale", () => apps.patchNamespacedDeploymentScale({ namespace, name: "shop", body: scale }));
  const status = [{ op: "replace", path: "/status", value: { replicas: 3, observedGeneration: 3 } }];
  await step("patch the status", () => apps.patchNamespacedDeploymentStatus({ namespace, name: "shop", body: status }));
}

const apply = (object, manager, force) => () =>
  objects.patch(object, undefined, undefined, manager, force, PatchStrategy.ServerSideApply);

async function applied() {
  await step("apply", apply(configMap("applied", { x: "1" }), "first"));
  await step("apply in conflict", apply(configMap("applied", { x: "2", y: "2" }), "second"));
  await step("apply by force", apply(configMap("applied", { x: "2", y: "2" }), "second", true));
  await step("apply less", apply(configMap("applied", { x: "2" }), "second", true));
  await step("apply without a manager", apply(configMap("applied", { x: "2" })));
}

const group = "clients.example.org";
const schema = {
  type: "object",
  properties: {
    spec: {
      type: "object",
      required: ["lead"],
      properties: { lead: { type: "string", minLength: 2 }, size: { type: "integer", _default: 3, maximum: 9 } },
      x_kubernetes_validations: [{ rule: "self.size > 0", message: "a team has members" }],
    },
    status: { type: "object", properties: { ready: { type: "boolean" } } },
  },
};
const definition = {
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: `teams.${group}` },
  spec: {
    group,
    scope: "Namespaced",
    names: { plural: "teams", singular: "team", kind: "Team", shortNames: ["tm"] },
    versions: [{ name: "v1", served: true, storage: true, schema: { openAPIV3Schema: schema }, subresources: { status: {} } }],
  },
};
const team = (name, spec) => ({ apiVersion: `${group}/v1`, kind: "Team", metadata: { name, namespace }, spec });

/** Waits until the real server, which needs a moment, serves the kind. */
async function served() {
  for (let tries = 0; tries < 200; tries++) {
    try {
      return await custom.listNamespacedCustomObject({ group, version: "v1", namespace, plural: "teams" });
    } catch (refused) {
      if (refused.code !== 404 && refused.code !== 429) throw refused;
      await new Promise((wake) => setTimeout(wake, 50));
    }
  }
  throw new Error("the kind Team is not served");
}

async function customObjects() {
  await step("create a definition", () => extensions.createCustomResourceDefinition({ body: definition }), (it) => it.spec);
  await step("it is served", served, (it) => it.kind);
  await step("create a custom object", () => objects.create(team("blue", { lead: "Ada" })));
  await step("a custom object is invalid", () => objects.create(team("red", { lead: "A", size: 12 })));
  await step("a rule refuses a custom object", () => objects.create(team("red", { lead: "Ada", size: 0 })));
  const blue = { group, version: "v1", namespace, plural: "teams", name: "blue" };
  const merge = k8s.setHeaderOptions("Content-Type", PatchStrategy.MergePatch);
  const status = { spec: { size: 8 }, status: { ready: true } };
  await step("patch the status of a custom object", () => custom.patchNamespacedCustomObjectStatus({ ...blue, body: status }, merge));
  await step("patch a custom object", () => custom.patchNamespacedCustomObject({ ...blue, body: { spec: { size: 5 } } }, merge));
  const strategic = k8s.setHeaderOptions("Content-Type", PatchStrategy.StrategicMergePatch);
  await step("a patch that it has not", () => custom.patchNamespacedCustomObject({ ...blue, body: {} }, strategic));
  await step("apply a custom object", apply(team("blue", { lead: "Eve" }), "node"));
  await step("apply a new custom object", apply(team("green", { lead: "Bob" }), "node"));
  await step("list custom objects", () => objects.list(`${group}/v1`, "Team", namespace));
  await step("delete a custom object", () => objects.delete(team("green")));
  await step("delete the definition", () => extensions.deleteCustomResourceDefinition({ name: definition.metadata.name }), () => "done");
}

async function errors() {
  const nobody = new k8s.KubeConfig();
  nobody.loadFromDefault();
  nobody.setCurrentContext("nobody");
  const create = (body) => () => core.createNamespacedConfigMap({ namespace, body });
  await step("not found", () => core.readNamespacedConfigMap({ namespace, name: "none" }));
  await step("exists already", create(configMap("one", {})));
  const stale = configMap("one", {}, { resourceVersion: "1" });
  await step("an old version", () => core.replaceNamespacedConfigMap({ namespace, name: "one", body: stale }));
  await step("invalid", create(configMap("One_", { "a/b": "1" }, { labels: { "a b": "c d" } })));
  await step("invalid in many fields", () => core.createNamespacedPod({ namespace, body: { metadata: { name: "pod" }, spec: { containers: [{ name: "A" }] } } }));
  await step("no such namespace", () => core.createNamespacedConfigMap({ namespace: "none", body: { metadata: { name: "one" } } }));
  await step("another namespace", () => core.createNamespacedConfigMap({ namespace: "default", body: configMap("one", {}) }));
  await step("forbidden", () => nobody.makeApiClient(k8s.CoreV1Api).listNamespacedSecret({ namespace }));
}

async function pages() {
  for (let number = 0; number < 5; number++) {
    await core.createNamespacedConfigMap({ namespace, body: configMap(`page-${number}`, {}, { labels: { of: "book" } }) });
  }
  let _continue;
  for (let number = 1; number === 1 || _continue; number++) {
    const list = () => core.listNamespacedConfigMap({ namespace, limit: 2, _continue });
    const page = await step(`page ${number}`, list, (it) => [names(it), it.metadata.remainingItemCount ?? null]);
    _continue = page.metadata._continue;
  }
  await step("a wrong page", () => core.listNamespacedConfigMap({ namespace, limit: 2, _continue: "nonsense" }));
}

/** The events of a watch until `last`, or of a second. */
async function events(query, last) {
  const seen = [];
  await new Promise(async (done) => {
    const watch = await new k8s.Watch(config).watch(
      `/api/v1/namespaces/${namespace}/configmaps`,
      { timeoutSeconds: 1, ...query },
      (type, object) => seen.push([type, object.metadata?.name ?? object.message, object.data]) && type === last && watch.abort(),
      (error) => done(seen.push(error?.statusCode ?? "end")),
    );
  });
  return seen.filter((event) => Array.isArray(event));
}

async function watches() {
  const { resourceVersion } = (await core.listNamespacedConfigMap({ namespace })).metadata;
  await core.createNamespacedConfigMap({ namespace, body: configMap("seen", { a: "1" }, { labels: { of: "watch" } }) });
  await patched(PatchStrategy.MergePatch, { name: "seen" }, { data: { a: "2" } })();
  await patched(PatchStrategy.MergePatch, { name: "seen", labels: { of: null } })();
  await core.deleteNamespacedConfigMap({ namespace, name: "seen" });
  await step("watch", () => events({ resourceVersion }, "DELETED"));
  await step("watch by label", () => events({ resourceVersion, labelSelector: "of=watch" }, "DELETED"));
  await step("watch from now", () => events({ fieldSelector: "metadata.name=one" }));
  const informer = k8s.makeInformer(config, `/api/v1/namespaces/${namespace}/configmaps`, () => core.listNamespacedConfigMap({ namespace }));
  const added = new Promise((done) => informer.on("add", (it) => it.metadata.name === "informed" && done(it.data)));
  await informer.start();
  await core.createNamespacedConfigMap({ namespace, body: configMap("informed", { a: "1" }) });
  await step("an informer", () => added);
  await informer.stop();
}

async function deletions() {
  const owned = configMap("owned", {}, { finalizers: ["example.org/hold"] });
  await step("create with a finalizer", () => objects.create(owned));
  await step("delete with a finalizer", () => objects.delete(owned));
  await step("remove the finalizer", patched(PatchStrategy.MergePatch, { name: "owned", finalizers: null }));
  await step("it is gone", () => objects.read(owned));
  const body = { preconditions: { uid: "another" } };
  await step("delete another", () => core.deleteNamespacedConfigMap({ namespace, name: "one", body }));
  for (const propagationPolicy of ["Foreground", "Orphan", "Background"]) {
    await step(`delete ${propagationPolicy}`, () => apps.deleteNamespacedDeployment({ namespace, name: "shop", propagationPolicy }));
    await step(`after ${propagationPolicy}`, () => apps.readNamespacedDeployment({ namespace, name: "shop" }), (it) => it.metadata.finalizers);
  }
  await step("delete many", () => core.deleteCollectionNamespacedConfigMap({ namespace, labelSelector: "of=book" }), (it) => it.kind);
  await step("what is left", () => core.listNamespacedConfigMap({ namespace }), names);
}

for (const part of [coreObjects, patches, applied, customObjects, errors, pages, watches, deletions]) await part();
