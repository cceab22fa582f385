package org.example;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import java.io.File;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;

/** The kubeconfig that `kubewright apiserver` writes. fabric8's client reads private keys of RSA only, unless Bouncy Castle is installed. */
@EnabledIfSystemProperty(named = "kubeconfig", matches = ".+")
class KubeconfigTest {
    @Test
    void theClientReadsIt() {
        Config config = Config.fromKubeconfig(new File(System.getProperty("kubeconfig")));
        try (KubernetesClient client = new KubernetesClientBuilder().withConfig(config).build()) {
            assertTrue(client.namespaces().list().getItems().stream().anyMatch(it -> it.getMetadata().getName().equals("default")));
        }
    }
}
