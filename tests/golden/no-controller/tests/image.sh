#!/usr/bin/env bash
# Tests the image IMG in a cluster of kind: `make test-image`. All components are deployed; each line of the role is asked, the probes
# and the metrics are read, the samples become Ready, and objects that `make undeploy` leaves are an error. Your kubeconfig is not used.
set -euo pipefail

name=foobar-operator
setting() { # FIELD: its value in config/default
    sed -nE "s/^$1: *['\"]?([^'\" ]*).*/\1/p" config/default/kustomization.yaml
}
namespace=$(setting namespace) prefix=$(setting namePrefix) suffix=$(setting nameSuffix)
account=system:serviceaccount:$namespace:${prefix}controller-manager$suffix
deployment=deployment/${prefix}controller-manager$suffix
cluster=${KIND_CLUSTER:-$name-test}
tool=${CONTAINER_TOOL:-docker} kind=${KIND:-kind} kubectl=${KUBECTL:-kubectl}
work=$(mktemp -d)
touch "$work/forwarding"
created="" bound=""

fail() { # MESSAGE REMEDY
    printf 'error: %s\n\nhint: %s\n' "$1" "$2" >&2
    exit 1
}

step() {
    printf '\n--- %s\n' "$*"
}

finish() {
    local status=$?
    xargs -r kill <"$work/forwarding" 2>/dev/null || true
    [ -z "$bound" ] || $kubectl delete --ignore-not-found clusterrolebinding "$name-metrics-test" || true
    [ -z "$created" ] || $kind delete cluster --name "$cluster" || true
    rm -rf "$work"
    exit $status
}
trap finish EXIT

check_tools() {
    $tool info >/dev/null 2>&1 ||
        fail "\`$tool info\` fails: there is no container runtime" "start Docker, or name another tool with CONTAINER_TOOL; without one, \`make test-e2e\` tests all but the image"
    $kind version >/dev/null 2>&1 ||
        fail "\`$kind\` is not installed" "see https://kind.sigs.k8s.io, or name its path with KIND"
    $kubectl version --client >/dev/null 2>&1 ||
        fail "\`$kubectl\` is not installed" "install kubectl, or name its path with KUBECTL"
    curl --version >/dev/null 2>&1 || fail "\`curl\` is not installed" "install it with the packages of your system"
}

# Creates the cluster, which does not exist according to kind. If kind fails, it removes the parts of the cluster; if it is interrupted or
# killed, `finish` removes them.
create_cluster() {
    local status=0
    created=yes
    $kind create cluster --name "$cluster" --kubeconfig "$work/kubeconfig" --wait 3m || status=$?
    [ $status -eq 0 ] || [ $status -gt 128 ] || created=""
    [ $status -eq 0 ] || fail "the cluster \`$cluster\` cannot be made" "see what \`$kind\` prints"
}

# An existing cluster stays. It must have neither the operator nor its kinds, because `make undeploy` deletes all their objects.
start_cluster() {
    local clusters found
    clusters=$($kind get clusters) || fail "\`$kind get clusters\` fails" "see what it prints"
    grep -qxF -- "$cluster" <<<"$clusters" || create_cluster
    $kind get kubeconfig --name "$cluster" >"$work/kubeconfig"
    export KUBECONFIG=$work/kubeconfig
    found=$($kubectl get namespace "$namespace" --ignore-not-found --output name) || fail "the cluster \`$cluster\` does not answer" "see what \`$kubectl\` prints"
    [ -z "$found" ] ||
        fail "the cluster \`$cluster\` has the namespace \`$namespace\` already" "run \`make undeploy\` there, or name another cluster with KIND_CLUSTER"
    found=$($kubectl get -k config/crd --ignore-not-found --output name) || fail "the cluster \`$cluster\` does not answer" "see what \`$kubectl\` prints"
    [ -z "$found" ] ||
        fail "the cluster \`$cluster\` has kinds of this operator already: $(tr '\n' ' ' <<<"$found")" "run \`make uninstall\` there, which deletes all their objects, or name another cluster with KIND_CLUSTER"
}

# A copy of config/ with the components of the project, and all other components that the cluster supports.
copy_with_all_components() {
    local more="../metrics ../network-policy"
    if $kubectl get customresourcedefinition servicemonitors.monitoring.coreos.com >/dev/null 2>&1; then
        more="$more ../prometheus"
    else
        echo "skipped: ../prometheus, because the cluster has no ServiceMonitors"
    fi
    cp -R config "$work"
    awk -v more="$more" '
        /^components:/ { listed = 1; next }
        listed && /^ *- / { sub(/^ *- */, ""); all[++count] = $0; known[$0] = 1; next }
        { listed = 0; print }
        END {
            print "components:"
            wanted = split(more, names, " ")
            for (i = 1; i <= count; i++) print "  - " all[i]
            for (i = 1; i <= wanted; i++) if (!(names[i] in known)) print "  - " names[i]
        }' config/default/kustomization.yaml >"$work/config/default/kustomization.yaml"
}

# As `make deploy` and `make undeploy`, on the copy.
manifests() { # COMMAND FLAG...
    # shellcheck disable=SC2086 # flags
    ${CARGO:-cargo} run --quiet ${CARGOFLAGS:-} --bin manifests -- "$@" --kustomization "$work/config/default" -- $kubectl
}

deploy() {
    manifests deploy --image "$IMG"
}

undeploy() {
    manifests undeploy --operator "$name"
}

show_pods() {
    $kubectl --namespace "$namespace" describe pods --selector control-plane=controller-manager >&2 || true
    $kubectl --namespace "$namespace" logs "$deployment" --tail 50 >&2 || true
}

may() { # YES|NO VERB RESOURCE FLAG...
    local wanted=$1 said
    shift
    said=$($kubectl auth can-i "$@" --as "$account" 2>/dev/null) || true
    [ "$said" = "$wanted" ] || fail "\`kubectl auth can-i $* --as $account\` says \`$said\`, and not \`$wanted\`" "compare config/rbac with what is bound in the cluster"
}

# A line for each rule of config/rbac/role.yaml: groups, resources, verbs, names and URLs. A line with `@` is the namespace of the next rules,
# if it is not the operator's own.
rules() {
    $kubectl create --dry-run=client --validate=false -f config/rbac/role.yaml --output \
        jsonpath='@{.metadata.annotations.kubewright\.dev/namespace}{"\n"}{range .rules[*]}{.apiGroups}|{.resources}|{.verbs}|{.resourceNames}|{.nonResourceURLs}{"\n"}{end}' |
        sed 's/""/core/g' | tr -d '[]"' | tr ',' ' '
}

# Checks each verb of each resource of the role, and three verbs that the role must not have.
ask_role() {
    local groups resources verbs names urls verb group resource one asked=0
    local own=--all-namespaces scope
    # A `*` in a rule is no file name.
    set -f
    while IFS='|' read -r groups resources verbs names urls; do
        case "$groups" in
        @) scope=$own ;;
        @*) scope=--namespace=${groups#@} ;;
        esac
        for verb in $verbs; do
            for group in $groups; do
                for resource in $resources; do
                    one=${resource%%/*}
                    [ "$group" = core ] || one=$one.$group
                    for object in ${names:-""}; do
                        if [ "$resource" = "${resource%%/*}" ]; then
                            may yes "$verb" "$one${object:+/$object}" "$scope"
                        else
                            may yes "$verb" "$one${object:+/$object}" "$scope" "--subresource=${resource#*/}"
                        fi
                        asked=$((asked + 1))
                    done
                done
            done
            for url in $urls; do
                may yes "$verb" "$url"
                asked=$((asked + 1))
            done
        done
    done < <(rules)
    set +f
    [ $asked -gt 0 ] || fail "config/rbac/role.yaml has no rule" "run \`make manifests\`"
    may no create clusterrolebindings.rbac.authorization.k8s.io --all-namespaces
    may no impersonate users --all-namespaces
    may no '*' '*' --all-namespaces
    echo "$asked permissions are granted, three others are not"
}

# Forwards a port of this machine to a port of the Pod, and prints the first.
forward() { # PORT
    local log=$work/forward-$1
    $kubectl --namespace "$namespace" port-forward --address 127.0.0.1 "$deployment" ":$1" >"$log" 2>&1 &
    echo $! >>"$work/forwarding"
    for _ in $(seq 100); do
        sed -nE 's/^Forwarding from 127\.0\.0\.1:([0-9]+) .*/\1/p' "$log" | grep . && return
        sleep 0.1
    done
    fail "port $1 of the Pod cannot be reached: $(cat "$log")" "see \`kubectl port-forward\`"
}

answers() { # STATUS URL FLAG...
    local wanted=$1 url=$2 got
    shift 2
    got=$(curl --silent --insecure --max-time 10 --output "$work/answer" --write-out '%{http_code}' "$@" "$url") || true
    [ "$got" = "$wanted" ] || { show_pods; fail "\`$url\` answers $got, and not $wanted" "see the log above"; }
}

ask_servers() {
    local probes metrics token
    probes=$(forward 8081)
    answers 200 "http://127.0.0.1:$probes/healthz"
    answers 200 "http://127.0.0.1:$probes/readyz"
    metrics=$(forward 8443)
    answers 401 "https://127.0.0.1:$metrics/metrics"
    # The operator caches refusals, so another account sends the first request.
    token=$($kubectl --namespace "$namespace" create token default)
    answers 403 "https://127.0.0.1:$metrics/metrics" --header "Authorization: Bearer $token"
    $kubectl --namespace "$namespace" create serviceaccount metrics-test
    bound=yes
    $kubectl create clusterrolebinding "$name-metrics-test" --clusterrole "${prefix}metrics-reader$suffix" --serviceaccount "$namespace:metrics-test"
    sleep 1
    token=$($kubectl --namespace "$namespace" create token metrics-test)
    answers 200 "https://127.0.0.1:$metrics/metrics" --header "Authorization: Bearer $token"
    grep -q '^kubewright_' "$work/answer" || fail "the metrics have none of the operator" "see \`make dashboards\` for their names"
    $kubectl delete clusterrolebinding "$name-metrics-test"
    # Undeploy leaves a namespace with objects of others.
    $kubectl --namespace "$namespace" delete serviceaccount metrics-test
    echo "probes answer; metrics need a token, and a permission"
}

# Each sample gets Ready. Leave out kinds without a controller here.
reconcile_samples() {
    local samples place=default
    grep -q '^ *- ' config/samples/kustomization.yaml || { echo "skipped: there are no samples"; return; }
    $kubectl --namespace "$place" apply --server-side -k config/samples
    samples=$($kubectl --namespace "$place" get -k config/samples --output name)
    # shellcheck disable=SC2086 # one word for each
    $kubectl --namespace "$place" wait --for condition=Ready --timeout 2m $samples || { show_pods; fail "not all samples are Ready" "see the log above"; }
}

nothing_is_left() {
    local kinds=namespaces,clusterroles,clusterrolebindings,validatingwebhookconfigurations,mutatingwebhookconfigurations left
    left=$($kubectl get $kinds --output name | grep -F "/$prefix" || true)
    left=$left$($kubectl get -k config/crd --ignore-not-found --output name)
    [ -z "$left" ] || fail "\`make undeploy\` leaves $left" "see what it prints"
}

[ "${IMG:-controller:latest}" != controller:latest ] || IMG=$name:test
check_tools
step "building $IMG"
$tool build --tag "$IMG" .
step "the cluster $cluster"
start_cluster
$kind load docker-image "$IMG" --name "$cluster"
step "deploying with all components"
copy_with_all_components
deploy
$kubectl --namespace "$namespace" rollout status "$deployment" --timeout 3m || { show_pods; fail "the operator does not get ready" "see the log above"; }
step "the permissions of $account"
ask_role
step "probes and metrics"
ask_servers
step "the samples"
reconcile_samples
step "removing everything"
undeploy
nothing_is_left
printf '\n%s passes\n' "$IMG"
