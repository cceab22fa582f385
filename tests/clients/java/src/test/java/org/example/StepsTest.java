package org.example;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fabric8.kubeapitest.junit.EnableKubeAPIServer;
import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.ConfigMapBuilder;
import io.fabric8.kubernetes.api.model.ConfigMapList;
import io.fabric8.kubernetes.api.model.DeletionPropagation;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.KubernetesResourceList;
import io.fabric8.kubernetes.api.model.ListOptionsBuilder;
import io.fabric8.kubernetes.api.model.NamespaceBuilder;
import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.apiextensions.v1.CustomResourceDefinition;
import io.fabric8.kubernetes.api.model.apps.Deployment;
import io.fabric8.kubernetes.api.model.apps.DeploymentBuilder;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fabric8.kubernetes.client.Watcher;
import io.fabric8.kubernetes.client.WatcherException;
import io.fabric8.kubernetes.client.dsl.NonNamespaceOperation;
import io.fabric8.kubernetes.client.dsl.Resource;
import io.fabric8.kubernetes.client.dsl.RollableScalableResource;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import io.fabric8.kubernetes.client.utils.Serialization;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** What a user of fabric8's client does, one line for each step: the server that kube-api-test starts decides what is in it. */
@EnableKubeAPIServer
class StepsTest {
    static KubernetesClient client;

    private static final String NAMESPACE = "clients";
    private static final Map<String, String> LABELS = Map.of("app", "shop");
    private static final String GROUP = "clients.example.org";
    private static final String DEFINITION = """
            apiVersion: apiextensions.k8s.io/v1
            kind: CustomResourceDefinition
            metadata: {name: teams.clients.example.org}
            spec:
              group: clients.example.org
              scope: Namespaced
              names: {plural: teams, singular: team, kind: Team, shortNames: [tm]}
              versions:
              - name: v1
                served: true
                storage: true
                subresources: {status: {}}
                schema:
                  openAPIV3Schema:
                    type: object
                    properties:
                      spec:
                        type: object
                        required: [lead]
                        properties:
                          lead: {type: string, minLength: 2}
                          size: {type: integer, default: 3, maximum: 9}
                        x-kubernetes-validations:
                        - {rule: self.size > 0, message: a team has members}
                      status:
                        type: object
                        properties:
                          ready: {type: boolean}
            """;

    private final Recorder to;

    StepsTest() throws Exception {
        to = new Recorder();
    }

    @Test
    void steps() throws Exception {
        coreObjects();
        patches();
        applied();
        customObjects();
        errors();
        pages();
        watches();
        deletions();
        to.close();
    }

    private NonNamespaceOperation<ConfigMap, ConfigMapList, Resource<ConfigMap>> maps() {
        return client.configMaps().inNamespace(NAMESPACE);
    }

    private RollableScalableResource<Deployment> shop() {
        return client.apps().deployments().inNamespace(NAMESPACE).withName("shop");
    }

    private static ConfigMapBuilder configMap(String name, Map<String, String> data) {
        return new ConfigMapBuilder().withNewMetadata().withName(name).withNamespace(NAMESPACE).endMetadata().withData(data);
    }

    private static ConfigMapBuilder labelled(String name, Map<String, String> data, Map<String, String> labels) {
        return configMap(name, data).editMetadata().withLabels(labels).endMetadata();
    }

    private static Object names(KubernetesResourceList<? extends HasMetadata> list) {
        return list.getItems().stream().map(item -> item.getMetadata().getName()).toList();
    }

    private void coreObjects() {
        var space = new NamespaceBuilder().withNewMetadata().withName(NAMESPACE).endMetadata().build();
        to.step("create a namespace", () -> client.resource(space).create());
        to.step("create", () -> maps().resource(labelled("one", Map.of("a", "1", "b", "2"), LABELS).build()).create());
        to.step("read", () -> maps().withName("one").get());
        to.step("list by label", () -> maps().withLabel("app", "shop").list(), StepsTest::names);
        to.step("list by field", () -> maps().withField("metadata.name", "one").list(), StepsTest::names);
        to.step("list of a wrong field", () -> maps().withField("data.a", "1").list(), StepsTest::names);
        to.step("replace", () -> maps().resource(configMap("one", Map.of("a", "1", "c", "3")).build()).update());
        to.step("dry run", () -> maps().resource(configMap("dry", Map.of()).build()).dryRun().create());
        var deployment = new DeploymentBuilder().withNewMetadata().withName("shop").withNamespace(NAMESPACE).endMetadata()
                .withNewSpec().withNewSelector().withMatchLabels(LABELS).endSelector()
                .withNewTemplate().withNewMetadata().withLabels(LABELS).endMetadata()
                .withNewSpec().addNewContainer().withName("web").withImage("web:1").addNewPort().withContainerPort(80).endPort().endContainer()
                .endSpec().endTemplate().endSpec().build();
        to.step("create a deployment", () -> client.resource(deployment).create());
        to.step("scale", () -> shop().scale(3));
        to.step("read the scale", () -> shop().scale());
        to.step("edit the status", () -> shop().editStatus(it -> new DeploymentBuilder(it)
                .withNewStatus().withReplicas(3).withObservedGeneration(2L).endStatus().build()));
    }

    private void patches() {
        var one = maps().withName("one");
        to.step("edit", () -> one.edit(it -> new ConfigMapBuilder(it).addToData("f", "6").build()));
        String operations = "[{\"op\": \"test\", \"path\": \"/data/a\", \"value\": \"%s\"}, {\"op\": \"add\", \"path\": \"/data/d\", \"value\": \"4\"}]";
        to.step("JSON patch", () -> one.patch(PatchContext.of(PatchType.JSON), operations.formatted("1")));
        to.step("JSON patch whose test fails", () -> one.patch(PatchContext.of(PatchType.JSON), operations.formatted("2")));
        to.step("merge patch", () -> one.patch(PatchContext.of(PatchType.JSON_MERGE), "{\"data\": {\"a\": null, \"e\": \"5\"}}"));
        String containers = "{\"spec\": {\"template\": {\"spec\": {\"containers\": [{\"name\": \"side\", %s}]}}}}";
        PatchContext strategic = PatchContext.of(PatchType.STRATEGIC_MERGE);
        to.step("strategic merge patch", () -> shop().patch(strategic, containers.formatted("\"image\": \"side:1\"")));
        to.step("strategic merge patch that deletes", () -> shop().patch(strategic, containers.formatted("\"$patch\": \"delete\"")));
        to.step("patch to an invalid object", () -> shop().patch(strategic, "{\"spec\": {\"replicas\": -1}}"));
    }

    private void applied() {
        var first = configMap("applied", Map.of("x", "1")).build();
        var second = configMap("applied", Map.of("x", "2", "y", "2")).build();
        var less = configMap("applied", Map.of("x", "2")).build();
        to.step("apply", () -> client.resource(first).fieldManager("first").serverSideApply());
        to.step("apply in conflict", () -> client.resource(second).fieldManager("second").serverSideApply());
        to.step("apply by force", () -> client.resource(second).fieldManager("second").forceConflicts().serverSideApply());
        to.step("apply less", () -> client.resource(less).fieldManager("second").forceConflicts().serverSideApply());
    }

    private static GenericKubernetesResource team(String name, Map<String, Object> spec) {
        var team = new GenericKubernetesResource();
        team.setApiVersion(GROUP + "/v1");
        team.setKind("Team");
        team.setMetadata(new ObjectMetaBuilder().withName(name).withNamespace(NAMESPACE).build());
        team.setAdditionalProperty("spec", new HashMap<>(spec));
        return team;
    }

    private void customObjects() {
        CustomResourceDefinition definition = Serialization.unmarshal(DEFINITION, CustomResourceDefinition.class);
        to.step("create a definition", () -> client.resource(definition).create(), CustomResourceDefinition::getSpec);
        to.step("it is established", () -> client.resource(definition).waitUntilCondition(it -> it.getStatus() != null
                && it.getStatus().getConditions().stream().anyMatch(on -> on.getType().equals("Established") && on.getStatus().equals("True")),
                30, TimeUnit.SECONDS), it -> it.getStatus().getAcceptedNames());
        var teams = client.genericKubernetesResources(GROUP + "/v1", "Team").inNamespace(NAMESPACE);
        to.step("create a custom object", () -> teams.resource(team("blue", Map.of("lead", "Ada"))).create());
        to.step("a custom object is invalid", () -> teams.resource(team("red", Map.of("lead", "A", "size", 12))).create());
        to.step("a rule refuses a custom object", () -> teams.resource(team("red", Map.of("lead", "Ada", "size", 0))).create());
        to.step("a required field is missing", () -> teams.resource(team("red", Map.of())).create());
        to.step("edit the status of a custom object", () -> teams.withName("blue").editStatus(it -> {
            it.setAdditionalProperty("status", Map.of("ready", true));
            return it;
        }));
        String both = "{\"spec\": {\"size\": 5}, \"status\": {\"ready\": false}}";
        to.step("patch a custom object", () -> teams.withName("blue").patch(PatchContext.of(PatchType.JSON_MERGE), both));
        to.step("a patch that it has not", () -> teams.withName("blue").patch(PatchContext.of(PatchType.STRATEGIC_MERGE), both));
        to.step("apply a custom object", () -> client.resource(team("blue", Map.of("lead", "Eve"))).fieldManager("java").serverSideApply());
        to.step("apply a new custom object", () -> client.resource(team("green", Map.of("lead", "Bob"))).serverSideApply());
        to.step("list custom objects", teams::list);
        to.step("delete a custom object", () -> teams.withName("green").delete());
        to.step("delete the definition", () -> client.resource(definition).delete(), deleted -> "done");
    }

    private void errors() {
        to.step("not found", () -> maps().withName("none").get());
        to.step("not found to edit", () -> maps().withName("none").patch(PatchContext.of(PatchType.JSON_MERGE), "{}"));
        to.step("exists already", () -> maps().resource(configMap("one", Map.of()).build()).create());
        var stale = configMap("one", Map.of()).editMetadata().withResourceVersion("1").endMetadata().build();
        to.step("an old version", () -> maps().resource(stale).update());
        to.step("invalid", () -> maps().resource(labelled("One_", Map.of("a/b", "1"), Map.of("a b", "c d")).build()).create());
        var pod = new PodBuilder().withNewMetadata().withName("pod").endMetadata()
                .withNewSpec().addNewContainer().withName("A").endContainer().endSpec().build();
        to.step("invalid in many fields", () -> client.pods().inNamespace(NAMESPACE).resource(pod).create());
        to.step("no such namespace", () -> client.configMaps().inNamespace("none").resource(
                new ConfigMapBuilder().withNewMetadata().withName("one").endMetadata().build()).create());
        var nobody = new ConfigBuilder(client.getConfiguration()).withImpersonateUsername("nobody").build();
        try (KubernetesClient other = new KubernetesClientBuilder().withConfig(nobody).build()) {
            to.step("forbidden", () -> other.secrets().inNamespace(NAMESPACE).list());
            to.step("forbidden to delete", () -> other.configMaps().inNamespace(NAMESPACE).withName("one").delete());
        }
    }

    private void pages() {
        for (int number = 0; number < 5; number++) {
            maps().resource(labelled("page-" + number, Map.of(), Map.of("of", "book")).build()).create();
        }
        String token = null;
        for (int number = 1; number == 1 || token != null; number++) {
            var options = new ListOptionsBuilder().withLimit(2L).withContinue(token).build();
            var page = to.step("page " + number, () -> maps().list(options), it -> List.of(
                    names(it), String.valueOf(it.getMetadata().getRemainingItemCount())));
            String next = page.getMetadata().getContinue();
            token = next == null || next.isEmpty() ? null : next;
        }
        var wrong = new ListOptionsBuilder().withLimit(2L).withContinue("nonsense").build();
        to.step("a wrong page", () -> maps().list(wrong));
    }

    /** Collects what a watch is told until an object is deleted. */
    private static final class Events implements Watcher<ConfigMap> {
        final List<String> seen = new ArrayList<>();
        final CountDownLatch end = new CountDownLatch(1);

        @Override
        public void eventReceived(Action action, ConfigMap map) {
            seen.add(action + " " + map.getMetadata().getName() + " " + map.getData());
            if (action == Action.DELETED) {
                end.countDown();
            }
        }

        @Override
        public void onClose(WatcherException cause) {
            seen.add(cause.getMessage());
            end.countDown();
        }
    }

    private void watches() throws Exception {
        String start = maps().list().getMetadata().getResourceVersion();
        maps().resource(labelled("seen", Map.of("a", "1"), Map.of("of", "watch")).build()).create();
        PatchContext merge = PatchContext.of(PatchType.JSON_MERGE);
        maps().withName("seen").patch(merge, "{\"data\": {\"a\": \"2\"}}");
        maps().withName("seen").patch(merge, "{\"metadata\": {\"labels\": {\"of\": null}}}");
        maps().withName("seen").delete();
        var options = new ListOptionsBuilder().withResourceVersion(start).build();
        for (boolean byLabel : List.of(false, true)) {
            var events = new Events();
            var watched = byLabel ? maps().withLabel("of", "watch") : maps();
            try (var watch = watched.watch(options, events)) {
                assertTrue(events.end.await(30, TimeUnit.SECONDS));
                to.step(byLabel ? "watch by label" : "watch", () -> events.seen);
            }
        }
        try (var informer = maps().inform()) {
            maps().resource(configMap("informed", Map.of("a", "1")).build()).create();
            to.step("an informer", () -> maps().withName("informed").waitUntilCondition(it -> it != null, 30, TimeUnit.SECONDS).getData());
            to.step("its store", () -> informer.getStore().list().stream().map(it -> it.getMetadata().getName()).sorted().toList());
        }
    }

    private void deletions() {
        var owned = configMap("owned", Map.of()).editMetadata().addToFinalizers("example.org/hold").endMetadata().build();
        to.step("create with a finalizer", () -> maps().resource(owned).create());
        to.step("delete with a finalizer", () -> maps().withName("owned").delete());
        to.step("remove the finalizer", () -> maps().withName("owned").edit(it -> new ConfigMapBuilder(it)
                .editMetadata().withFinalizers(List.of()).endMetadata().build()));
        to.step("it is gone", () -> maps().withName("owned").get());
        for (var policy : List.of(DeletionPropagation.FOREGROUND, DeletionPropagation.ORPHAN, DeletionPropagation.BACKGROUND)) {
            to.step("delete " + policy, () -> shop().withPropagationPolicy(policy).delete());
            to.step("after " + policy, () -> shop().get(), it -> it.getMetadata().getFinalizers());
        }
        to.step("delete many", () -> maps().withLabel("of", "book").delete().size());
        to.step("what is left", () -> maps().list(), StepsTest::names);
    }
}
