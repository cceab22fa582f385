package org.example;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.databind.node.TextNode;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.utils.Serialization;
import java.io.IOException;
import java.io.PrintStream;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.function.Function;

/** Runs steps, and prints a line for each into the file of the property `steps`. */
final class Recorder implements AutoCloseable {
    /** What differs from run to run on one server. */
    private static final Set<String> VARYING = Set.of(
            "uid", "resourceVersion", "creationTimestamp", "deletionTimestamp", "time", "lastTransitionTime", "continue");
    private static final String UID = "[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}";
    private final PrintStream file;

    Recorder() throws IOException {
        file = new PrintStream(System.getProperty("steps"));
    }

    /** Runs a step that prints its answer. Returns the answer, or null if the server refused. */
    <T> T step(String name, Callable<T> act) {
        return step(name, act, answer -> answer);
    }

    <T> T step(String name, Callable<T> act, Function<? super T, ?> show) {
        try {
            T answer = act.call();
            file.println(name + ": " + line(answer == null ? null : show.apply(answer)));
            return answer;
        } catch (KubernetesClientException refused) {
            file.println(name + ": refused " + refused.getCode() + " " + refusal(refused));
            return null;
        } catch (Exception other) {
            throw new AssertionError(name, other);
        }
    }

    private static JsonNode json(Object value) {
        return Serialization.jsonMapper().valueToTree(value);
    }

    private static String line(Object value) {
        return normal(json(value)).toString();
    }

    /** The Status. Where it has several causes, Go visits a map: their order is random, and that in the message too. */
    private static String refusal(KubernetesClientException refused) {
        JsonNode status = json(refused.getStatus());
        if (status.at("/details/causes") instanceof ArrayNode causes && causes.size() > 1) {
            List<JsonNode> sorted = new ArrayList<>();
            causes.forEach(sorted::add);
            sorted.sort(Comparator.comparing(JsonNode::toString));
            causes.removeAll().addAll(sorted);
            ((ObjectNode) status).put("message", status.get("message").asText().split(": \\[")[0]);
        }
        return normal(status).toString();
    }

    /** A value with its keys in order, and without what varies. */
    private static JsonNode normal(JsonNode value) {
        if (value.isTextual()) {
            return new TextNode(value.asText().replaceAll(UID, "uid"));
        }
        if (value.isArray()) {
            ArrayNode items = Serialization.jsonMapper().createArrayNode();
            value.forEach(item -> items.add(normal(item)));
            return items;
        }
        if (!value.isObject()) {
            return value;
        }
        ObjectNode fields = Serialization.jsonMapper().createObjectNode();
        List<String> names = new ArrayList<>();
        value.fieldNames().forEachRemaining(names::add);
        names.stream().sorted().forEach(name -> {
            JsonNode field = value.get(name);
            boolean varies = VARYING.contains(name) && !field.isNull() && !field.asText().isEmpty();
            fields.set(name, varies ? new TextNode(name) : normal(field));
        });
        return fields;
    }

    @Override
    public void close() {
        file.close();
    }
}
