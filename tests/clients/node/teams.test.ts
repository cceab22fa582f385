// A controller and its test, on an API server of its own. Compile it with tsc, and run it with `node --test`.
import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { ApiException, CoreV1Api, KubeConfig, KubernetesObjectApi, makeInformer, PatchStrategy, type V1Namespace } from "@kubernetes/client-node";

/** Keeps a ConfigMap `team` in each namespace that has the label `team`. Returns a function that stops it. */
export async function assignTeams(config: KubeConfig): Promise<() => Promise<void>> {
  const core = config.makeApiClient(CoreV1Api);
  const objects = KubernetesObjectApi.makeApiClient(config);
  const assign = async ({ metadata }: V1Namespace) => {
    const team = {
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { name: "team", namespace: metadata!.name },
      data: { name: metadata!.labels!.team },
    };
    await objects.patch(team, undefined, undefined, "teams", true, PatchStrategy.ServerSideApply);
  };
  const list = () => core.listNamespace({ labelSelector: "team" });
  const informer = makeInformer(config, "/api/v1/namespaces", list, "team");
  informer.on("add", assign);
  informer.on("update", assign);
  await informer.start();
  return () => informer.stop();
}

let server: ChildProcess;
let config: KubeConfig;
let stopController: () => Promise<void>;

before(async () => {
  const kubeconfig = join(mkdtempSync(join(tmpdir(), "api-")), "kubeconfig");
  server = spawn("kubewright", ["apiserver", "--kubeconfig", kubeconfig], { stdio: ["ignore", "pipe", "inherit"] });
  await once(server.stdout!, "data"); // the line that says it is ready
  config = new KubeConfig();
  config.loadFromFile(kubeconfig);
  stopController = await assignTeams(config);
});

after(async () => {
  await stopController();
  server.kill();
  await once(server, "exit");
});

test("a namespace gets its team", async () => {
  const core = config.makeApiClient(CoreV1Api);
  await core.createNamespace({ body: { metadata: { name: "shop", labels: { team: "blue" } } } });
  for (let tries = 0; tries < 200; tries++) {
    const { items } = await core.listNamespacedConfigMap({ namespace: "shop", fieldSelector: "metadata.name=team" });
    if (items.length > 0) return assert.deepEqual(items[0].data, { name: "blue" });
    await new Promise((wake) => setTimeout(wake, 50));
  }
  assert.fail("no team within ten seconds");
});

test("an invalid team is refused", async () => {
  const body = { metadata: { name: "other", labels: { team: "blue and red" } } };
  const refused = (error: unknown) => error instanceof ApiException && error.code === 422;
  await assert.rejects(config.makeApiClient(CoreV1Api).createNamespace({ body }), refused);
});
