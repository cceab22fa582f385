package org.example;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.fabric8.kubeapitest.junit.EnableKubeAPIServer;
import io.fabric8.kubernetes.api.model.ConfigMapBuilder;
import io.fabric8.kubernetes.api.model.Namespace;
import io.fabric8.kubernetes.api.model.NamespaceBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.informers.ResourceEventHandler;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** A controller and its test, on an API server that the extension starts. */
@EnableKubeAPIServer
class TeamsTest {
    static KubernetesClient client; // set by the extension

    /** Keeps a ConfigMap `team` in each namespace that has the label `team`. */
    record Teams(KubernetesClient client) implements ResourceEventHandler<Namespace> {
        @Override
        public void onAdd(Namespace namespace) {
            String team = namespace.getMetadata().getLabels().get("team");
            client.resource(new ConfigMapBuilder()
                            .withNewMetadata().withName("team").withNamespace(namespace.getMetadata().getName()).endMetadata()
                            .withData(Map.of("name", team))
                            .build())
                    .forceConflicts().serverSideApply();
        }

        @Override
        public void onUpdate(Namespace before, Namespace namespace) {
            onAdd(namespace);
        }

        @Override
        public void onDelete(Namespace namespace, boolean unknown) {}
    }

    private static Namespace namespace(String name, String team) {
        return new NamespaceBuilder().withNewMetadata().withName(name).addToLabels("team", team).endMetadata().build();
    }

    @Test
    void aNamespaceGetsItsTeam() {
        try (var informer = client.namespaces().withLabel("team").inform(new Teams(client))) {
            client.resource(namespace("shop", "blue")).create();
            var team = client.configMaps().inNamespace("shop").withName("team")
                    .waitUntilCondition(it -> it != null, 10, TimeUnit.SECONDS);
            assertEquals(Map.of("name", "blue"), team.getData());
        }
    }

    @Test
    void anInvalidTeamIsRefused() {
        var refused = assertThrows(KubernetesClientException.class,
                () -> client.resource(namespace("other", "blue and red")).create());
        assertEquals(422, refused.getCode());
    }
}
