"""A controller and its test, on an API server of its own. Run it with pytest."""

import subprocess
import threading
import time

import pytest
from kubernetes import client, config, watch


def assign_teams(api, seconds):
    """Keeps a ConfigMap `team` in each namespace that has the label `team`, for so many seconds."""
    core = client.CoreV1Api(api)
    for event in watch.Watch().stream(core.list_namespace, label_selector="team", timeout_seconds=seconds):
        if event["type"] == "DELETED":
            continue
        namespace = event["object"].metadata
        team = {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {"name": "team"},
            "data": {"name": namespace.labels["team"]},
        }
        core.patch_namespaced_config_map(
            "team", namespace.name, team, field_manager="teams", _content_type="application/apply-patch+yaml"
        )


@pytest.fixture(scope="session")
def api(tmp_path_factory):
    """A client of a server that ends with the tests. The server is ready when its kubeconfig exists."""
    kubeconfig = tmp_path_factory.mktemp("api") / "kubeconfig"
    server = subprocess.Popen(["kubewright", "apiserver", "--kubeconfig", str(kubeconfig)])
    try:
        while not kubeconfig.exists():
            assert server.poll() is None, "the API server has ended"
            time.sleep(0.005)
        yield config.new_client_from_config(str(kubeconfig))
    finally:
        server.terminate()
        server.wait()


@pytest.fixture
def controller(api):
    thread = threading.Thread(target=assign_teams, args=(api, 3))
    thread.start()
    yield
    thread.join()


def test_a_namespace_gets_its_team(api, controller):
    core = client.CoreV1Api(api)
    core.create_namespace({"metadata": {"name": "shop", "labels": {"team": "blue"}}})
    for event in watch.Watch().stream(core.list_namespaced_config_map, "shop", timeout_seconds=10):
        assert event["object"].data == {"name": "blue"}
        return
    pytest.fail("no team within ten seconds")


def test_an_invalid_team_is_refused(api):
    with pytest.raises(client.ApiException) as refused:
        client.CoreV1Api(api).create_namespace({"metadata": {"name": "other", "labels": {"team": "blue and red"}}})
    assert refused.value.status == 422
