//! Services, what is behind and before them, and nodes.

use super::{
    Change, Said,
    address::{cidr, ip},
};
use crate::kinds::at::{At, quoted};

/// Of a Service.
pub(in crate::kinds) fn service((at, _): Change<'_, '_>) -> Said {
    let mut said = Vec::new();
    if at
        .at("metadata.annotations")
        .get("service.kubernetes.io/topology-aware-hints")
        .is_set()
    {
        said.push(
            "annotation service.kubernetes.io/topology-aware-hints is deprecated, please use \
             service.kubernetes.io/topology-mode instead"
                .to_owned(),
        );
    }
    let spec = at.get("spec");
    let r#type = spec.get("type").str();
    let is_headless = r#type == "ClusterIP" && spec.get("clusterIP").str() == "None";
    let balancer = spec.get("loadBalancerIP");
    let externals = spec.get("externalIPs");
    if !matches!(spec.get("clusterIP").str(), "" | "None") {
        spec.get("clusterIPs").items().for_each(|at| ip(&at, &mut said));
    }
    if is_headless {
        headless(&spec, &mut said);
    }
    externals.items().for_each(|at| ip(&at, &mut said));
    if externals.len() > 0 && !is_headless && r#type != "ExternalName" {
        said.push("spec.externalIPs is deprecated and may no longer be implemented in some clusters".to_owned());
    }
    if !balancer.str().is_empty() {
        ip(&balancer, &mut said);
    }
    spec.get("loadBalancerSourceRanges")
        .items()
        .for_each(|at| cidr(&at, &mut said));
    if r#type == "ExternalName" && externals.len() > 0 {
        said.push("spec.externalIPs is ignored when spec.type is \"ExternalName\"".to_owned());
    }
    if r#type != "ExternalName" && !spec.get("externalName").str().is_empty() {
        said.push("spec.externalName is ignored when spec.type is not \"ExternalName\"".to_owned());
    }
    if spec.get("trafficDistribution").str() == "PreferClose" {
        said.push("spec.trafficDistribution: \"PreferClose\" is deprecated; use \"PreferSameZone\"".to_owned());
    }
    said
}

fn headless(spec: &At<'_>, said: &mut Said) {
    let ignored = [
        ("spec.loadBalancerIP", !spec.get("loadBalancerIP").str().is_empty()),
        ("spec.externalIPs", spec.get("externalIPs").len() > 0),
        ("spec.SessionAffinity", spec.get("sessionAffinity").str() != "None"),
    ];
    let ignored = ignored.into_iter().filter(|(_, is_set)| *is_set);
    said.extend(ignored.map(|(field, _)| format!("{field} is ignored for headless services")));
}

/// Of the addresses that a Service's status has.
pub(in crate::kinds) fn service_status(at: &At<'_>) -> Said {
    points(at)
}

/// Of the addresses that an Ingress's status has.
pub(in crate::kinds) fn ingress_status(at: &At<'_>) -> Said {
    points(at)
}

fn points(at: &At<'_>) -> Said {
    let mut said = Vec::new();
    for point in at.at("status.loadBalancer.ingress").items() {
        let address = point.get("ip");
        if !address.str().is_empty() {
            ip(&address.called(&point.path), &mut said);
        }
    }
    said
}

/// Of the addresses that a Pod's status has.
pub(in crate::kinds) fn pod_status(at: &At<'_>) -> Said {
    let mut said = Vec::new();
    for list in ["podIPs", "hostIPs"] {
        let addresses = at.get("status").get(list);
        addresses.items().for_each(|item| ip(&item.get("ip"), &mut said));
    }
    said
}

/// Of a new Ingress.
pub(in crate::kinds) fn ingress((at, old): Change<'_, '_>) -> Said {
    const CLASS: &str = "kubernetes.io/ingress.class";
    let is_set = at.at("metadata.annotations").get(CLASS).is_set();
    if old.is_some() || !is_set || at.at("spec.ingressClassName").is_set() {
        return Vec::new();
    }
    vec![format!(
        "annotation {} is deprecated, please use 'spec.ingressClassName' instead",
        quoted(CLASS)
    )]
}

/// Of a NetworkPolicy.
pub(in crate::kinds) fn network_policy((at, _): Change<'_, '_>) -> Said {
    let mut said = Vec::new();
    for (rules, peers) in [("ingress", "from"), ("egress", "to")] {
        for rule in at.get("spec").get(rules).items() {
            for peer in rule.get(peers).items() {
                let block = peer.get("ipBlock");
                if block.is_set() {
                    cidr(&block.get("cidr"), &mut said);
                    block.get("except").items().for_each(|at| cidr(&at, &mut said));
                }
            }
        }
    }
    said
}

const MANAGED_BY: &str = "endpointslice.kubernetes.io/managed-by";

/// Of Endpoints that no controller made.
pub(in crate::kinds) fn endpoints((at, _): Change<'_, '_>) -> Said {
    let mut said = Vec::new();
    let labels = at.at("metadata.labels");
    if labels.get("endpoints.kubernetes.io/managed-by").str() == "endpoint-controller" {
        return said;
    }
    for subset in at.get("subsets").items() {
        for list in ["addresses", "notReadyAddresses"] {
            subset.get(list).items().for_each(|item| ip(&item.get("ip"), &mut said));
        }
    }
    said
}

/// Of EndpointSlices that no controller made.
pub(in crate::kinds) fn endpoint_slice((at, old): Change<'_, '_>) -> Said {
    let mut said = Vec::new();
    if old.is_none() && at.get("addressType").str() == "FQDN" {
        said.push("spec.addressType: FQDN endpoints are deprecated".to_owned());
    }
    let maker = at.at("metadata.labels").get(MANAGED_BY).str();
    if ![
        "endpointslice-controller.k8s.io",
        "endpointslicemirroring-controller.k8s.io",
    ]
    .contains(&maker)
    {
        for endpoint in at.get("endpoints").items() {
            endpoint.get("addresses").items().for_each(|at| ip(&at, &mut said));
        }
    }
    said
}

/// Of a Node.
pub(in crate::kinds) fn node((at, _): Change<'_, '_>) -> Said {
    let (mut said, spec) = (Vec::new(), at.get("spec"));
    if spec.get("configSource").is_set() {
        said.push("spec.configSource: the feature is removed".to_owned());
    }
    if !spec.get("externalID").str().is_empty() {
        said.push("spec.externalID: this field is deprecated, and is unused by Kubernetes".to_owned());
    }
    spec.get("podCIDRs").items().for_each(|at| cidr(&at, &mut said));
    said
}
