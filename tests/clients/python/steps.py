"""What a user of the Python client does, one line for each step: the server of KUBECONFIG decides what is in it."""

import json
import re
import sys
import time

from kubernetes import client, config, dynamic, watch
from kubernetes.client.exceptions import ApiException
from kubernetes.dynamic.exceptions import DynamicApiError, ResourceNotFoundError, TooManyRequestsError

# What differs from run to run on one server.
VARYING = {"uid", "resourceVersion", "creationTimestamp", "deletionTimestamp", "time", "lastTransitionTime"}
UID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
plain = client.ApiClient()


def normal(value, key=""):
    if isinstance(value, dict):
        return {name: normal(field, name) for name, field in value.items()}
    if isinstance(value, list):
        return [normal(item) for item in value]
    if value and key in VARYING or key in {"continue", "_continue"} and value:
        return key
    return UID.sub("uid", value) if isinstance(value, str) else value


def refusal(status):
    """A Status. Where it has several causes, Go visits a map: their order is random, and that in the message too."""
    causes = (status.get("details") or {}).get("causes") or []
    if len(causes) > 1:
        causes.sort(key=lambda cause: json.dumps(cause, sort_keys=True))
        status["message"] = status["message"].split(": [")[0]
    return normal(status)


def outcome(result):
    """An answer as JSON; models become what was on the wire."""
    if isinstance(result, (dynamic.resource.ResourceInstance, dynamic.resource.ResourceField)):
        result = result.to_dict()
    return json.dumps(normal(plain.sanitize_for_serialization(result)), sort_keys=True)


def step(name, act, show=lambda result: result):
    """Runs a step and prints its line. Returns the answer, or nothing if the server refused."""
    try:
        result = act()
    except (ApiException, DynamicApiError) as refused:
        body = refused.body.decode() if isinstance(refused.body, bytes) else refused.body
        try:
            body = refusal(json.loads(body))
        except ValueError:
            pass
        print(f"{name}: refused {refused.status} {refused.reason} {json.dumps(body, sort_keys=True)}")
        return None
    print(f"{name}: {outcome(show(result))}")
    return result


def names(answer):
    return [item.metadata.name for item in answer.items]


def config_map(name, data, **metadata):
    return client.V1ConfigMap(metadata=client.V1ObjectMeta(name=name, **metadata), data=data)


def core_objects(core, apps):
    space = client.V1Namespace(metadata=client.V1ObjectMeta(name="clients"))
    step("create a namespace", lambda: core.create_namespace(space))
    labels = {"app": "shop"}
    step("create", lambda: core.create_namespaced_config_map("clients", config_map("one", {"a": "1", "b": "2"}, labels=labels)))
    step("read", lambda: core.read_namespaced_config_map("one", "clients"))
    step("list by label", lambda: core.list_namespaced_config_map("clients", label_selector="app=shop"), names)
    step("list by field", lambda: core.list_namespaced_config_map("clients", field_selector="metadata.name=one"), names)
    step("list of a wrong selector", lambda: core.list_namespaced_config_map("clients", label_selector="a in"))
    step("list of a wrong field", lambda: core.list_namespaced_config_map("clients", field_selector="data.a=1"))
    replaced = config_map("one", {"a": "1", "c": "3"})
    step("replace", lambda: core.replace_namespaced_config_map("one", "clients", replaced))
    step("dry run", lambda: core.create_namespaced_config_map("clients", config_map("dry", {}), dry_run="All"))
    secret = client.V1Secret(metadata=client.V1ObjectMeta(name="token"), string_data={"user": "me"})
    step("strings of a secret", lambda: core.create_namespaced_secret("clients", secret))
    service = client.V1Service(
        metadata=client.V1ObjectMeta(name="shop"),
        spec=client.V1ServiceSpec(selector=labels, cluster_ip="10.0.0.77", ports=[client.V1ServicePort(port=80)]),
    )
    step("create a service", lambda: core.create_namespaced_service("clients", service))
    step("create a deployment", lambda: apps.create_namespaced_deployment("clients", deployment(labels)))
    step("scale", lambda: apps.patch_namespaced_deployment_scale("shop", "clients", {"spec": {"replicas": 3}}))
    step("read the scale", lambda: apps.read_namespaced_deployment_scale("shop", "clients"))
    status = {"status": {"replicas": 3, "observedGeneration": 2}}
    step("patch the status", lambda: apps.patch_namespaced_deployment_status("shop", "clients", status))


def deployment(labels):
    container = client.V1Container(name="web", image="web:1", ports=[client.V1ContainerPort(container_port=80)])
    return client.V1Deployment(
        metadata=client.V1ObjectMeta(name="shop"),
        spec=client.V1DeploymentSpec(
            selector=client.V1LabelSelector(match_labels=labels),
            template=client.V1PodTemplateSpec(
                metadata=client.V1ObjectMeta(labels=labels), spec=client.V1PodSpec(containers=[container])
            ),
        ),
    )


def patches(core, apps):
    operations = [{"op": "test", "path": "/data/a", "value": "1"}, {"op": "add", "path": "/data/d", "value": "4"}]
    step("JSON patch", lambda: core.patch_namespaced_config_map("one", "clients", operations))
    failing = [{"op": "test", "path": "/data/a", "value": "2"}]
    step("JSON patch whose test fails", lambda: core.patch_namespaced_config_map("one", "clients", failing))
    missing = [{"op": "remove", "path": "/data/none"}]
    step("JSON patch of a missing path", lambda: core.patch_namespaced_config_map("one", "clients", missing))
    sidecar = {"spec": {"template": {"spec": {"containers": [{"name": "side", "image": "side:1"}]}}}}
    images = lambda it: [container.image for container in it.spec.template.spec.containers]
    step("strategic merge patch", lambda: apps.patch_namespaced_deployment("shop", "clients", sidecar), images)
    gone = {"spec": {"template": {"spec": {"containers": [{"name": "side", "$patch": "delete"}]}}}}
    step("strategic merge patch that deletes", lambda: apps.patch_namespaced_deployment("shop", "clients", gone), images)
    wrong = {"spec": {"replicas": -1}}
    step("patch to an invalid object", lambda: apps.patch_namespaced_deployment("shop", "clients", wrong))


def dynamic_objects(kinds):
    maps = kinds.resources.get(api_version="v1", kind="ConfigMap")
    merge = "application/merge-patch+json"
    body = {"metadata": {"name": "one"}, "data": {"a": None, "e": "5"}}
    step("merge patch", lambda: maps.patch(body=body, namespace="clients", content_type=merge))
    applied = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "applied"}, "data": {"x": "1"}}
    apply = lambda body, manager, **more: kinds.server_side_apply(
        maps, body=body, name="applied", namespace="clients", field_manager=manager, **more
    )
    step("apply", lambda: apply(applied, "first"))
    other = {**applied, "data": {"x": "2", "y": "2"}}
    step("apply in conflict", lambda: apply(other, "second"))
    step("apply by force", lambda: apply(other, "second", force_conflicts=True))
    step("apply less", lambda: apply({**applied, "data": {"x": "2"}}, "second", force_conflicts=True))
    step("apply another name", lambda: apply({**applied, "metadata": {"name": "else"}}, "first"))
    step("list dynamically", lambda: maps.get(namespace="clients", field_selector="metadata.name=applied"))


NAMES = {"plural": "teams", "singular": "team", "kind": "Team", "shortNames": ["tm"]}
SCHEMA = {
    "type": "object",
    "properties": {
        "spec": {
            "type": "object",
            "required": ["lead"],
            "properties": {
                "lead": {"type": "string", "minLength": 2},
                "size": {"type": "integer", "default": 3, "maximum": 9},
                "tags": {"type": "array", "items": {"type": "string"}, "x-kubernetes-list-type": "set"},
            },
            "x-kubernetes-validations": [{"rule": "self.size > 0", "message": "a team has members"}],
        },
        "status": {"type": "object", "properties": {"ready": {"type": "boolean"}}},
    },
}
DEFINITION = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": "teams.clients.example.org"},
    "spec": {
        "group": "clients.example.org",
        "scope": "Namespaced",
        "names": NAMES,
        "versions": [
            {
                "name": "v1",
                "served": True,
                "storage": True,
                "schema": {"openAPIV3Schema": SCHEMA},
                "subresources": {"status": {}, "scale": {"specReplicasPath": ".spec.size", "statusReplicasPath": ".status.size"}},
            }
        ],
    },
}


def established(extensions):
    stream = watch.Watch().stream(
        extensions.list_custom_resource_definition, field_selector=f"metadata.name={DEFINITION['metadata']['name']}", timeout_seconds=30
    )
    for event in stream:
        conditions = event["object"].status and event["object"].status.conditions or []
        if any(it.type == "Established" and it.status == "True" for it in conditions):
            return sorted((it.type, it.status, it.reason, it.message) for it in conditions)


def team(name, **spec):
    return {"apiVersion": "clients.example.org/v1", "kind": "Team", "metadata": {"name": name}, "spec": spec}


def served(kinds):
    """The kind, once it is in discovery and can be listed: the real server needs a moment for both."""
    for _ in range(200):
        try:
            teams = kinds.resources.get(api_version="clients.example.org/v1", kind="Team")
            teams.get(namespace="clients")
            return teams
        except (ResourceNotFoundError, TooManyRequestsError):
            time.sleep(0.05)
            kinds.resources.invalidate_cache()
    raise SystemExit("the kind Team is not served")


def custom_objects(api, kinds):
    extensions, custom = client.ApiextensionsV1Api(api), client.CustomObjectsApi(api)
    step("create a definition", lambda: extensions.create_custom_resource_definition(DEFINITION), lambda it: it.spec)
    step("the definition is established", lambda: established(extensions))
    teams = served(kinds)
    step("create a custom object", lambda: teams.create(body=team("blue", lead="Ada"), namespace="clients"))
    step("a custom object is invalid", lambda: teams.create(body=team("red", lead="A", size=12, tags=["a", "a"]), namespace="clients"))
    step("a rule refuses a custom object", lambda: teams.create(body=team("red", lead="Ada", size=0), namespace="clients"))
    step("a required field is missing", lambda: teams.create(body=team("red"), namespace="clients"))
    step("an unknown field is dropped", lambda: teams.create(body=team("green", lead="Bob", none=1), namespace="clients"))
    strict = {"field_validation": "Strict"}
    step("an unknown field is refused", lambda: custom.create_namespaced_custom_object(
        "clients.example.org", "v1", "clients", "teams", team("grey", lead="Bob", none=1), **strict))
    blue = ("clients.example.org", "v1", "clients", "teams", "blue")
    status = {"spec": {"size": 8}, "status": {"ready": True}}
    step("patch the status of a custom object", lambda: custom.patch_namespaced_custom_object_status(*blue, status))
    step("patch a custom object", lambda: custom.patch_namespaced_custom_object(*blue, {"spec": {"size": 5}, "status": {"ready": False}}))
    step("scale a custom object", lambda: custom.patch_namespaced_custom_object_scale(*blue, {"spec": {"replicas": 4}}))
    step("list custom objects", lambda: teams.get(namespace="clients"))
    step("apply a custom object", lambda: teams.server_side_apply(
        body=team("blue", lead="Eve"), namespace="clients", field_manager="python"))
    step("delete custom objects", lambda: teams.delete(namespace="clients", label_selector="!none"), lambda it: it.kind)
    step("delete the definition", lambda: extensions.delete_custom_resource_definition(DEFINITION["metadata"]["name"]), lambda _: "done")


def errors(core, nobody):
    step("not found", lambda: core.read_namespaced_config_map("none", "clients"))
    step("exists already", lambda: core.create_namespaced_config_map("clients", config_map("one", {})))
    stale = config_map("one", {}, resource_version="1")
    step("an old version", lambda: core.replace_namespaced_config_map("one", "clients", stale))
    step("invalid", lambda: core.create_namespaced_config_map("clients", config_map("One_", {"a/b": "1"}, labels={"a b": "c d"})))
    pod = client.V1Pod(metadata=client.V1ObjectMeta(name="pod"), spec=client.V1PodSpec(containers=[client.V1Container(name="A")]))
    step("invalid in many fields", lambda: core.create_namespaced_pod("clients", pod))
    step("not decoded", lambda: core.create_namespaced_config_map("clients", {"metadata": {"name": "two"}, "data": {"a": 1}}))
    step("no such namespace", lambda: core.create_namespaced_config_map("none", config_map("one", {})))
    step("forbidden", lambda: nobody.list_namespaced_secret("clients"))
    step("forbidden to delete", lambda: nobody.delete_namespaced_config_map("one", "clients"))


def pages(core):
    for number in range(5):
        core.create_namespaced_config_map("clients", config_map(f"page-{number}", {}, labels={"of": "book"}))
    token, number = None, 1
    while number == 1 or token:
        page = step(
            f"page {number}",
            lambda: core.list_namespaced_config_map("clients", limit=2, _continue=token),
            lambda it: [names(it), it.metadata.remaining_item_count],
        )
        token, number = page.metadata._continue, number + 1
    step("a wrong page", lambda: core.list_namespaced_config_map("clients", limit=2, _continue="nonsense"))


def watches(core):
    start = core.list_namespaced_config_map("clients").metadata.resource_version
    core.create_namespaced_config_map("clients", config_map("seen", {"a": "1"}, labels={"of": "watch"}))
    core.patch_namespaced_config_map("seen", "clients", {"data": {"a": "2"}})
    core.patch_namespaced_config_map("seen", "clients", {"metadata": {"labels": {"of": None}}})
    core.delete_namespaced_config_map("seen", "clients")
    stream = lambda **more: [
        (event["type"], event["raw_object"]["data"])
        for event in watch.Watch().stream(core.list_namespaced_config_map, "clients", resource_version=start, timeout_seconds=1, **more)
    ]
    step("watch", stream)
    step("watch by label", lambda: stream(label_selector="of=watch"))
    dated = watch.Watch().stream(core.list_namespaced_config_map, "clients", timeout_seconds=1, field_selector="metadata.name=one")
    step("watch from now", lambda: [event["type"] for event in dated])
    future = watch.Watch().stream(core.list_namespaced_config_map, "clients", resource_version="nonsense", timeout_seconds=1)
    step("watch from nonsense", lambda: list(future))


def deletions(core, apps):
    owned = config_map("owned", {}, finalizers=["example.org/hold"])
    step("create with a finalizer", lambda: core.create_namespaced_config_map("clients", owned))
    step("delete with a finalizer", lambda: core.delete_namespaced_config_map("owned", "clients"))
    free = {"metadata": {"finalizers": None}}
    step("remove the finalizer", lambda: core.patch_namespaced_config_map("owned", "clients", free))
    step("it is gone", lambda: core.read_namespaced_config_map("owned", "clients"))
    uid = client.V1DeleteOptions(preconditions=client.V1Preconditions(uid="another"))
    step("delete another", lambda: core.delete_namespaced_config_map("one", "clients", body=uid))
    for policy in ["Foreground", "Orphan", "Background"]:
        step(f"delete {policy}", lambda: apps.delete_namespaced_deployment("shop", "clients", propagation_policy=policy))
        finalizers = lambda it: it.metadata.finalizers
        step(f"after {policy}", lambda: apps.read_namespaced_deployment("shop", "clients"), finalizers)
    step("a wrong policy", lambda: core.delete_namespaced_config_map("one", "clients", propagation_policy="None"))
    step("delete many", lambda: core.delete_collection_namespaced_config_map("clients", label_selector="of=book"), lambda it: it.kind)
    step("what is left", lambda: core.list_namespaced_config_map("clients"), names)


def main():
    config.load_kube_config()
    api = client.ApiClient()
    core, apps, kinds = client.CoreV1Api(api), client.AppsV1Api(api), dynamic.DynamicClient(api)
    nobody = client.CoreV1Api(config.new_client_from_config(context="nobody"))
    step("version", lambda: client.VersionApi(api).get_code(), lambda it: [it.major, it.minor])
    core_objects(core, apps)
    patches(core, apps)
    dynamic_objects(kinds)
    custom_objects(api, kinds)
    errors(core, nobody)
    pages(core)
    watches(core)
    deletions(core, apps)


sys.exit(main())
