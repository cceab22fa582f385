//! The kind `CronJob` of `batch.tutorial.kubebuilder.io/v1`. `make manifests` writes its CRD from these types; `kubectl explain` prints the
//! `///` comments.

// The words and the names are those of the CRD from which the types were made.
#![allow(clippy::doc_lazy_continuation, clippy::enum_variant_names)]
#![allow(rustdoc::all)]

use std::collections::BTreeMap;

use k8s_openapi::apimachinery::pkg::api::resource::Quantity;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use k8s_openapi::apimachinery::pkg::util::intstr::IntOrString;
use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What the kind holds beside its metadata.
#[derive(Clone, CustomResource, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[kube(
    group = "batch.tutorial.kubebuilder.io",
    version = "v1",
    kind = "CronJob",
    plural = "cronjobs",
    namespaced,
    status = "CronJobStatus",
    singular = "cronjob",
    derive = "Default",
    derive = "PartialEq"
)]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpec {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub concurrency_policy: Option<CronJobSpecConcurrencyPolicy>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0))]
    pub failed_jobs_history_limit: Option<i32>,
    pub job_template: CronJobSpecJobTemplate,
    #[schemars(length(min = 0))]
    pub schedule: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0))]
    pub starting_deadline_seconds: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0))]
    pub successful_jobs_history_limit: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub suspend: Option<bool>,
}

#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[schemars(extend("default" = "Allow"))]
pub enum CronJobSpecConcurrencyPolicy {
    #[default]
    Allow,
    Forbid,
    Replace,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplate {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metadata: Option<CronJobSpecJobTemplateMetadata>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub spec: Option<CronJobSpecJobTemplateSpec>,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[schemars(extend("additionalProperties" = false))]
pub struct CronJobSpecJobTemplateMetadata {}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpec {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub active_deadline_seconds: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub backoff_limit: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub backoff_limit_per_index: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub completion_mode: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub completions: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub managed_by: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub manual_selector: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_failed_indexes: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parallelism: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pod_failure_policy: Option<CronJobSpecJobTemplateSpecPodFailurePolicy>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pod_replacement_policy: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub selector: Option<CronJobSpecJobTemplateSpecSelector>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub success_policy: Option<CronJobSpecJobTemplateSpecSuccessPolicy>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub suspend: Option<bool>,
    pub template: CronJobSpecJobTemplateSpecTemplate,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ttl_seconds_after_finished: Option<i32>,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecPodFailurePolicy {
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub rules: Vec<CronJobSpecJobTemplateSpecPodFailurePolicyRules>,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecPodFailurePolicyRules {
    pub action: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub on_exit_codes: Option<CronJobSpecJobTemplateSpecPodFailurePolicyRulesOnExitCodes>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub on_pod_conditions:
        Option<Vec<CronJobSpecJobTemplateSpecPodFailurePolicyRulesOnPodConditions>>,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecPodFailurePolicyRulesOnExitCodes {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub container_name: Option<String>,
    pub operator: String,
    #[schemars(extend("x-kubernetes-list-type" = "set"))]
    pub values: Vec<i32>,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecPodFailurePolicyRulesOnPodConditions {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<String>,
    pub r#type: String,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[schemars(extend("x-kubernetes-map-type" = "atomic"))]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecSelector {
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub match_expressions: Option<Vec<CronJobSpecJobTemplateSpecSelectorMatchExpressions>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub match_labels: Option<BTreeMap<String, String>>,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecSelectorMatchExpressions {
    pub key: String,
    pub operator: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub values: Option<Vec<String>>,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecSuccessPolicy {
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub rules: Vec<CronJobSpecJobTemplateSpecSuccessPolicyRules>,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecSuccessPolicyRules {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub succeeded_count: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub succeeded_indexes: Option<String>,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplate {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metadata: Option<CronJobSpecJobTemplateSpecTemplateMetadata>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub spec: Option<CronJobSpecJobTemplateSpecTemplateSpec>,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[schemars(extend("additionalProperties" = false))]
pub struct CronJobSpecJobTemplateSpecTemplateMetadata {}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpec {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub active_deadline_seconds: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub affinity: Option<CronJobSpecJobTemplateSpecTemplateSpecAffinity>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub automount_service_account_token: Option<bool>,
    #[schemars(extend("x-kubernetes-list-map-keys" = ["name"]))]
    #[schemars(extend("x-kubernetes-list-type" = "map"))]
    pub containers: Vec<CronJobSpecJobTemplateSpecTemplateSpecContainers>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dns_config: Option<CronJobSpecJobTemplateSpecTemplateSpecDnsConfig>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dns_policy: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub enable_service_links: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-kubernetes-list-map-keys" = ["name"]))]
    #[schemars(extend("x-kubernetes-list-type" = "map"))]
    pub ephemeral_containers:
        Option<Vec<CronJobSpecJobTemplateSpecTemplateSpecEphemeralContainers>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-kubernetes-list-map-keys" = ["ip"]))]
    #[schemars(extend("x-kubernetes-list-type" = "map"))]
    pub host_aliases: Option<Vec<CronJobSpecJobTemplateSpecTemplateSpecHostAliases>>,
    #[serde(rename = "hostIPC", skip_serializing_if = "Option::is_none")]
    pub host_ipc: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host_network: Option<bool>,
    #[serde(rename = "hostPID", skip_serializing_if = "Option::is_none")]
    pub host_pid: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host_users: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hostname: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hostname_override: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-kubernetes-list-map-keys" = ["name"]))]
    #[schemars(extend("x-kubernetes-list-type" = "map"))]
    pub image_pull_secrets: Option<Vec<CronJobSpecJobTemplateSpecTemplateSpecImagePullSecrets>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-kubernetes-list-map-keys" = ["name"]))]
    #[schemars(extend("x-kubernetes-list-type" = "map"))]
    pub init_containers: Option<Vec<CronJobSpecJobTemplateSpecTemplateSpecInitContainers>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub node_name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-kubernetes-map-type" = "atomic"))]
    pub node_selector: Option<BTreeMap<String, String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub os: Option<CronJobSpecJobTemplateSpecTemplateSpecOs>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub overhead: Option<BTreeMap<String, Quantity>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub preemption_policy: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub priority: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub priority_class_name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub readiness_gates: Option<Vec<CronJobSpecJobTemplateSpecTemplateSpecReadinessGates>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-kubernetes-list-map-keys" = ["name"]))]
    #[schemars(extend("x-kubernetes-list-type" = "map"))]
    pub resource_claims: Option<Vec<CronJobSpecJobTemplateSpecTemplateSpecResourceClaims>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resources: Option<CronJobSpecJobTemplateSpecTemplateSpecResources>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub restart_policy: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub runtime_class_name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scheduler_name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-kubernetes-list-map-keys" = ["name"]))]
    #[schemars(extend("x-kubernetes-list-type" = "map"))]
    pub scheduling_gates: Option<Vec<CronJobSpecJobTemplateSpecTemplateSpecSchedulingGates>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scheduling_group: Option<CronJobSpecJobTemplateSpecTemplateSpecSchedulingGroup>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub security_context: Option<CronJobSpecJobTemplateSpecTemplateSpecSecurityContext>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub service_account: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub service_account_name: Option<String>,
    #[serde(rename = "setHostnameAsFQDN", skip_serializing_if = "Option::is_none")]
    pub set_hostname_as_fqdn: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub share_process_namespace: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub subdomain: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub termination_grace_period_seconds: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub tolerations: Option<Vec<CronJobSpecJobTemplateSpecTemplateSpecTolerations>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-kubernetes-list-map-keys" = ["topologyKey", "whenUnsatisfiable"]))]
    #[schemars(extend("x-kubernetes-list-type" = "map"))]
    pub topology_spread_constraints:
        Option<Vec<CronJobSpecJobTemplateSpecTemplateSpecTopologySpreadConstraints>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-kubernetes-list-map-keys" = ["name"]))]
    #[schemars(extend("x-kubernetes-list-type" = "map"))]
    pub volumes: Option<Vec<CronJobSpecJobTemplateSpecTemplateSpecVolumes>>,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecAffinity {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub node_affinity: Option<CronJobSpecJobTemplateSpecTemplateSpecAffinityNodeAffinity>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pod_affinity: Option<CronJobSpecJobTemplateSpecTemplateSpecAffinityPodAffinity>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pod_anti_affinity: Option<CronJobSpecJobTemplateSpecTemplateSpecAffinityPodAntiAffinity>,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecAffinityNodeAffinity {
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub preferred_during_scheduling_ignored_during_execution: Option<
        Vec<
            CronJobSpecJobTemplateSpecTemplateSpecAffinityNodeAffinityPreferredDuringSchedulingIgnoredDuringExecution,
        >,
    >,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub required_during_scheduling_ignored_during_execution: Option<
        CronJobSpecJobTemplateSpecTemplateSpecAffinityNodeAffinityRequiredDuringSchedulingIgnoredDuringExecution,
    >,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecAffinityNodeAffinityPreferredDuringSchedulingIgnoredDuringExecution
{
    pub preference: CronJobSpecJobTemplateSpecTemplateSpecAffinityNodeAffinityPreferredDuringSchedulingIgnoredDuringExecutionPreference,
    pub weight: i32,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[schemars(extend("x-kubernetes-map-type" = "atomic"))]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecAffinityNodeAffinityPreferredDuringSchedulingIgnoredDuringExecutionPreference
{
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub match_expressions: Option<
        Vec<
            CronJobSpecJobTemplateSpecTemplateSpecAffinityNodeAffinityPreferredDuringSchedulingIgnoredDuringExecutionPreferenceMatchExpressions,
        >,
    >,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub match_fields: Option<
        Vec<
            CronJobSpecJobTemplateSpecTemplateSpecAffinityNodeAffinityPreferredDuringSchedulingIgnoredDuringExecutionPreferenceMatchFields,
        >,
    >,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecAffinityNodeAffinityPreferredDuringSchedulingIgnoredDuringExecutionPreferenceMatchExpressions
{
    pub key: String,
    pub operator: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub values: Option<Vec<String>>,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecAffinityNodeAffinityPreferredDuringSchedulingIgnoredDuringExecutionPreferenceMatchFields
{
    pub key: String,
    pub operator: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub values: Option<Vec<String>>,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[schemars(extend("x-kubernetes-map-type" = "atomic"))]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecAffinityNodeAffinityRequiredDuringSchedulingIgnoredDuringExecution
{
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub node_selector_terms: Vec<
        CronJobSpecJobTemplateSpecTemplateSpecAffinityNodeAffinityRequiredDuringSchedulingIgnoredDuringExecutionNodeSelectorTerms,
    >,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[schemars(extend("x-kubernetes-map-type" = "atomic"))]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecAffinityNodeAffinityRequiredDuringSchedulingIgnoredDuringExecutionNodeSelectorTerms
{
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub match_expressions: Option<
        Vec<
            CronJobSpecJobTemplateSpecTemplateSpecAffinityNodeAffinityRequiredDuringSchedulingIgnoredDuringExecutionNodeSelectorTermsMatchExpressions,
        >,
    >,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub match_fields: Option<
        Vec<
            CronJobSpecJobTemplateSpecTemplateSpecAffinityNodeAffinityRequiredDuringSchedulingIgnoredDuringExecutionNodeSelectorTermsMatchFields,
        >,
    >,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecAffinityNodeAffinityRequiredDuringSchedulingIgnoredDuringExecutionNodeSelectorTermsMatchExpressions
{
    pub key: String,
    pub operator: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub values: Option<Vec<String>>,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecAffinityNodeAffinityRequiredDuringSchedulingIgnoredDuringExecutionNodeSelectorTermsMatchFields
{
    pub key: String,
    pub operator: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub values: Option<Vec<String>>,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecAffinityPodAffinity {
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub preferred_during_scheduling_ignored_during_execution: Option<
        Vec<
            CronJobSpecJobTemplateSpecTemplateSpecAffinityPodAffinityPreferredDuringSchedulingIgnoredDuringExecution,
        >,
    >,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub required_during_scheduling_ignored_during_execution: Option<
        Vec<
            CronJobSpecJobTemplateSpecTemplateSpecAffinityPodAffinityRequiredDuringSchedulingIgnoredDuringExecution,
        >,
    >,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecAffinityPodAffinityPreferredDuringSchedulingIgnoredDuringExecution
{
    pub pod_affinity_term: CronJobSpecJobTemplateSpecTemplateSpecAffinityPodAffinityPreferredDuringSchedulingIgnoredDuringExecutionPodAffinityTerm,
    pub weight: i32,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecAffinityPodAffinityPreferredDuringSchedulingIgnoredDuringExecutionPodAffinityTerm
{
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label_selector: Option<
        CronJobSpecJobTemplateSpecTemplateSpecAffinityPodAffinityPreferredDuringSchedulingIgnoredDuringExecutionPodAffinityTermLabelSelector,
    >,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub match_label_keys: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub mismatch_label_keys: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub namespace_selector: Option<
        CronJobSpecJobTemplateSpecTemplateSpecAffinityPodAffinityPreferredDuringSchedulingIgnoredDuringExecutionPodAffinityTermNamespaceSelector,
    >,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub namespaces: Option<Vec<String>>,
    pub topology_key: String,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[schemars(extend("x-kubernetes-map-type" = "atomic"))]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecAffinityPodAffinityPreferredDuringSchedulingIgnoredDuringExecutionPodAffinityTermLabelSelector
{
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub match_expressions: Option<
        Vec<
            CronJobSpecJobTemplateSpecTemplateSpecAffinityPodAffinityPreferredDuringSchedulingIgnoredDuringExecutionPodAffinityTermLabelSelectorMatchExpressions,
        >,
    >,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub match_labels: Option<BTreeMap<String, String>>,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecAffinityPodAffinityPreferredDuringSchedulingIgnoredDuringExecutionPodAffinityTermLabelSelectorMatchExpressions
{
    pub key: String,
    pub operator: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub values: Option<Vec<String>>,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[schemars(extend("x-kubernetes-map-type" = "atomic"))]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecAffinityPodAffinityPreferredDuringSchedulingIgnoredDuringExecutionPodAffinityTermNamespaceSelector
{
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub match_expressions: Option<
        Vec<
            CronJobSpecJobTemplateSpecTemplateSpecAffinityPodAffinityPreferredDuringSchedulingIgnoredDuringExecutionPodAffinityTermNamespaceSelectorMatchExpressions,
        >,
    >,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub match_labels: Option<BTreeMap<String, String>>,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecAffinityPodAffinityPreferredDuringSchedulingIgnoredDuringExecutionPodAffinityTermNamespaceSelectorMatchExpressions
{
    pub key: String,
    pub operator: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub values: Option<Vec<String>>,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecAffinityPodAffinityRequiredDuringSchedulingIgnoredDuringExecution
{
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label_selector: Option<
        CronJobSpecJobTemplateSpecTemplateSpecAffinityPodAffinityRequiredDuringSchedulingIgnoredDuringExecutionLabelSelector,
    >,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub match_label_keys: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub mismatch_label_keys: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub namespace_selector: Option<
        CronJobSpecJobTemplateSpecTemplateSpecAffinityPodAffinityRequiredDuringSchedulingIgnoredDuringExecutionNamespaceSelector,
    >,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub namespaces: Option<Vec<String>>,
    pub topology_key: String,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[schemars(extend("x-kubernetes-map-type" = "atomic"))]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecAffinityPodAffinityRequiredDuringSchedulingIgnoredDuringExecutionLabelSelector
{
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub match_expressions: Option<
        Vec<
            CronJobSpecJobTemplateSpecTemplateSpecAffinityPodAffinityRequiredDuringSchedulingIgnoredDuringExecutionLabelSelectorMatchExpressions,
        >,
    >,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub match_labels: Option<BTreeMap<String, String>>,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecAffinityPodAffinityRequiredDuringSchedulingIgnoredDuringExecutionLabelSelectorMatchExpressions
{
    pub key: String,
    pub operator: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub values: Option<Vec<String>>,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[schemars(extend("x-kubernetes-map-type" = "atomic"))]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecAffinityPodAffinityRequiredDuringSchedulingIgnoredDuringExecutionNamespaceSelector
{
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub match_expressions: Option<
        Vec<
            CronJobSpecJobTemplateSpecTemplateSpecAffinityPodAffinityRequiredDuringSchedulingIgnoredDuringExecutionNamespaceSelectorMatchExpressions,
        >,
    >,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub match_labels: Option<BTreeMap<String, String>>,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecAffinityPodAffinityRequiredDuringSchedulingIgnoredDuringExecutionNamespaceSelectorMatchExpressions
{
    pub key: String,
    pub operator: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub values: Option<Vec<String>>,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecAffinityPodAntiAffinity {
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub preferred_during_scheduling_ignored_during_execution: Option<
        Vec<
            CronJobSpecJobTemplateSpecTemplateSpecAffinityPodAntiAffinityPreferredDuringSchedulingIgnoredDuringExecution,
        >,
    >,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub required_during_scheduling_ignored_during_execution: Option<
        Vec<
            CronJobSpecJobTemplateSpecTemplateSpecAffinityPodAntiAffinityRequiredDuringSchedulingIgnoredDuringExecution,
        >,
    >,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecAffinityPodAntiAffinityPreferredDuringSchedulingIgnoredDuringExecution
{
    pub pod_affinity_term: CronJobSpecJobTemplateSpecTemplateSpecAffinityPodAntiAffinityPreferredDuringSchedulingIgnoredDuringExecutionPodAffinityTerm,
    pub weight: i32,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecAffinityPodAntiAffinityPreferredDuringSchedulingIgnoredDuringExecutionPodAffinityTerm
{
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label_selector: Option<
        CronJobSpecJobTemplateSpecTemplateSpecAffinityPodAntiAffinityPreferredDuringSchedulingIgnoredDuringExecutionPodAffinityTermLabelSelector,
    >,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub match_label_keys: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub mismatch_label_keys: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub namespace_selector: Option<
        CronJobSpecJobTemplateSpecTemplateSpecAffinityPodAntiAffinityPreferredDuringSchedulingIgnoredDuringExecutionPodAffinityTermNamespaceSelector,
    >,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub namespaces: Option<Vec<String>>,
    pub topology_key: String,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[schemars(extend("x-kubernetes-map-type" = "atomic"))]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecAffinityPodAntiAffinityPreferredDuringSchedulingIgnoredDuringExecutionPodAffinityTermLabelSelector
{
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub match_expressions: Option<
        Vec<
            CronJobSpecJobTemplateSpecTemplateSpecAffinityPodAntiAffinityPreferredDuringSchedulingIgnoredDuringExecutionPodAffinityTermLabelSelectorMatchExpressions,
        >,
    >,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub match_labels: Option<BTreeMap<String, String>>,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecAffinityPodAntiAffinityPreferredDuringSchedulingIgnoredDuringExecutionPodAffinityTermLabelSelectorMatchExpressions
{
    pub key: String,
    pub operator: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub values: Option<Vec<String>>,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[schemars(extend("x-kubernetes-map-type" = "atomic"))]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecAffinityPodAntiAffinityPreferredDuringSchedulingIgnoredDuringExecutionPodAffinityTermNamespaceSelector
{
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub match_expressions: Option<
        Vec<
            CronJobSpecJobTemplateSpecTemplateSpecAffinityPodAntiAffinityPreferredDuringSchedulingIgnoredDuringExecutionPodAffinityTermNamespaceSelectorMatchExpressions,
        >,
    >,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub match_labels: Option<BTreeMap<String, String>>,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecAffinityPodAntiAffinityPreferredDuringSchedulingIgnoredDuringExecutionPodAffinityTermNamespaceSelectorMatchExpressions
{
    pub key: String,
    pub operator: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub values: Option<Vec<String>>,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecAffinityPodAntiAffinityRequiredDuringSchedulingIgnoredDuringExecution
{
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label_selector: Option<
        CronJobSpecJobTemplateSpecTemplateSpecAffinityPodAntiAffinityRequiredDuringSchedulingIgnoredDuringExecutionLabelSelector,
    >,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub match_label_keys: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub mismatch_label_keys: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub namespace_selector: Option<
        CronJobSpecJobTemplateSpecTemplateSpecAffinityPodAntiAffinityRequiredDuringSchedulingIgnoredDuringExecutionNamespaceSelector,
    >,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub namespaces: Option<Vec<String>>,
    pub topology_key: String,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[schemars(extend("x-kubernetes-map-type" = "atomic"))]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecAffinityPodAntiAffinityRequiredDuringSchedulingIgnoredDuringExecutionLabelSelector
{
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub match_expressions: Option<
        Vec<
            CronJobSpecJobTemplateSpecTemplateSpecAffinityPodAntiAffinityRequiredDuringSchedulingIgnoredDuringExecutionLabelSelectorMatchExpressions,
        >,
    >,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub match_labels: Option<BTreeMap<String, String>>,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecAffinityPodAntiAffinityRequiredDuringSchedulingIgnoredDuringExecutionLabelSelectorMatchExpressions
{
    pub key: String,
    pub operator: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub values: Option<Vec<String>>,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[schemars(extend("x-kubernetes-map-type" = "atomic"))]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecAffinityPodAntiAffinityRequiredDuringSchedulingIgnoredDuringExecutionNamespaceSelector
{
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub match_expressions: Option<
        Vec<
            CronJobSpecJobTemplateSpecTemplateSpecAffinityPodAntiAffinityRequiredDuringSchedulingIgnoredDuringExecutionNamespaceSelectorMatchExpressions,
        >,
    >,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub match_labels: Option<BTreeMap<String, String>>,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecAffinityPodAntiAffinityRequiredDuringSchedulingIgnoredDuringExecutionNamespaceSelectorMatchExpressions
{
    pub key: String,
    pub operator: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub values: Option<Vec<String>>,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecContainers {
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub args: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub command: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-kubernetes-list-map-keys" = ["name"]))]
    #[schemars(extend("x-kubernetes-list-type" = "map"))]
    pub env: Option<Vec<CronJobSpecJobTemplateSpecTemplateSpecContainersEnv>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub env_from: Option<Vec<CronJobSpecJobTemplateSpecTemplateSpecContainersEnvFrom>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub image: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub image_pull_policy: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lifecycle: Option<CronJobSpecJobTemplateSpecTemplateSpecContainersLifecycle>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub liveness_probe: Option<CronJobSpecJobTemplateSpecTemplateSpecContainersLivenessProbe>,
    pub name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-kubernetes-list-map-keys" = ["containerPort", "protocol"]))]
    #[schemars(extend("x-kubernetes-list-type" = "map"))]
    pub ports: Option<Vec<CronJobSpecJobTemplateSpecTemplateSpecContainersPorts>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub readiness_probe: Option<CronJobSpecJobTemplateSpecTemplateSpecContainersReadinessProbe>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub resize_policy: Option<Vec<CronJobSpecJobTemplateSpecTemplateSpecContainersResizePolicy>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resources: Option<CronJobSpecJobTemplateSpecTemplateSpecContainersResources>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub restart_policy: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub restart_policy_rules:
        Option<Vec<CronJobSpecJobTemplateSpecTemplateSpecContainersRestartPolicyRules>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub security_context: Option<CronJobSpecJobTemplateSpecTemplateSpecContainersSecurityContext>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub startup_probe: Option<CronJobSpecJobTemplateSpecTemplateSpecContainersStartupProbe>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stdin: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stdin_once: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub termination_message_path: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub termination_message_policy: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tty: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-kubernetes-list-map-keys" = ["devicePath"]))]
    #[schemars(extend("x-kubernetes-list-type" = "map"))]
    pub volume_devices: Option<Vec<CronJobSpecJobTemplateSpecTemplateSpecContainersVolumeDevices>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-kubernetes-list-map-keys" = ["mountPath"]))]
    #[schemars(extend("x-kubernetes-list-type" = "map"))]
    pub volume_mounts: Option<Vec<CronJobSpecJobTemplateSpecTemplateSpecContainersVolumeMounts>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub working_dir: Option<String>,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecContainersEnv {
    pub name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value_from: Option<CronJobSpecJobTemplateSpecTemplateSpecContainersEnvValueFrom>,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecContainersEnvValueFrom {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub config_map_key_ref:
        Option<CronJobSpecJobTemplateSpecTemplateSpecContainersEnvValueFromConfigMapKeyRef>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub field_ref: Option<CronJobSpecJobTemplateSpecTemplateSpecContainersEnvValueFromFieldRef>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file_key_ref:
        Option<CronJobSpecJobTemplateSpecTemplateSpecContainersEnvValueFromFileKeyRef>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resource_field_ref:
        Option<CronJobSpecJobTemplateSpecTemplateSpecContainersEnvValueFromResourceFieldRef>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub secret_key_ref:
        Option<CronJobSpecJobTemplateSpecTemplateSpecContainersEnvValueFromSecretKeyRef>,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[schemars(extend("x-kubernetes-map-type" = "atomic"))]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecContainersEnvValueFromConfigMapKeyRef {
    pub key: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = ""))]
    pub name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub optional: Option<bool>,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[schemars(extend("x-kubernetes-map-type" = "atomic"))]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecContainersEnvValueFromFieldRef {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub api_version: Option<String>,
    pub field_path: String,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[schemars(extend("x-kubernetes-map-type" = "atomic"))]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecContainersEnvValueFromFileKeyRef {
    pub key: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = false))]
    pub optional: Option<bool>,
    pub path: String,
    pub volume_name: String,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[schemars(extend("x-kubernetes-map-type" = "atomic"))]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecContainersEnvValueFromResourceFieldRef {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub container_name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub divisor: Option<Quantity>,
    pub resource: String,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[schemars(extend("x-kubernetes-map-type" = "atomic"))]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecContainersEnvValueFromSecretKeyRef {
    pub key: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = ""))]
    pub name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub optional: Option<bool>,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecContainersEnvFrom {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub config_map_ref: Option<CronJobSpecJobTemplateSpecTemplateSpecContainersEnvFromConfigMapRef>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prefix: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub secret_ref: Option<CronJobSpecJobTemplateSpecTemplateSpecContainersEnvFromSecretRef>,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[schemars(extend("x-kubernetes-map-type" = "atomic"))]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecContainersEnvFromConfigMapRef {
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = ""))]
    pub name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub optional: Option<bool>,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[schemars(extend("x-kubernetes-map-type" = "atomic"))]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecContainersEnvFromSecretRef {
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = ""))]
    pub name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub optional: Option<bool>,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecContainersLifecycle {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub post_start: Option<CronJobSpecJobTemplateSpecTemplateSpecContainersLifecyclePostStart>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pre_stop: Option<CronJobSpecJobTemplateSpecTemplateSpecContainersLifecyclePreStop>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stop_signal: Option<String>,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecContainersLifecyclePostStart {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exec: Option<CronJobSpecJobTemplateSpecTemplateSpecContainersLifecyclePostStartExec>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub http_get: Option<CronJobSpecJobTemplateSpecTemplateSpecContainersLifecyclePostStartHttpGet>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sleep: Option<CronJobSpecJobTemplateSpecTemplateSpecContainersLifecyclePostStartSleep>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tcp_socket:
        Option<CronJobSpecJobTemplateSpecTemplateSpecContainersLifecyclePostStartTcpSocket>,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecContainersLifecyclePostStartExec {
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub command: Option<Vec<String>>,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecContainersLifecyclePostStartHttpGet {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub http_headers: Option<
        Vec<CronJobSpecJobTemplateSpecTemplateSpecContainersLifecyclePostStartHttpGetHttpHeaders>,
    >,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    pub port: IntOrString,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scheme: Option<String>,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecContainersLifecyclePostStartHttpGetHttpHeaders {
    pub name: String,
    pub value: String,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecContainersLifecyclePostStartSleep {
    pub seconds: i64,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecContainersLifecyclePostStartTcpSocket {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
    pub port: IntOrString,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecContainersLifecyclePreStop {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exec: Option<CronJobSpecJobTemplateSpecTemplateSpecContainersLifecyclePreStopExec>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub http_get: Option<CronJobSpecJobTemplateSpecTemplateSpecContainersLifecyclePreStopHttpGet>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sleep: Option<CronJobSpecJobTemplateSpecTemplateSpecContainersLifecyclePreStopSleep>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tcp_socket:
        Option<CronJobSpecJobTemplateSpecTemplateSpecContainersLifecyclePreStopTcpSocket>,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecContainersLifecyclePreStopExec {
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub command: Option<Vec<String>>,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecContainersLifecyclePreStopHttpGet {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub http_headers: Option<
        Vec<CronJobSpecJobTemplateSpecTemplateSpecContainersLifecyclePreStopHttpGetHttpHeaders>,
    >,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    pub port: IntOrString,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scheme: Option<String>,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecContainersLifecyclePreStopHttpGetHttpHeaders {
    pub name: String,
    pub value: String,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecContainersLifecyclePreStopSleep {
    pub seconds: i64,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecContainersLifecyclePreStopTcpSocket {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
    pub port: IntOrString,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecContainersLivenessProbe {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exec: Option<CronJobSpecJobTemplateSpecTemplateSpecContainersLivenessProbeExec>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failure_threshold: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub grpc: Option<CronJobSpecJobTemplateSpecTemplateSpecContainersLivenessProbeGrpc>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub http_get: Option<CronJobSpecJobTemplateSpecTemplateSpecContainersLivenessProbeHttpGet>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub initial_delay_seconds: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub period_seconds: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub success_threshold: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tcp_socket: Option<CronJobSpecJobTemplateSpecTemplateSpecContainersLivenessProbeTcpSocket>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub termination_grace_period_seconds: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeout_seconds: Option<i32>,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecContainersLivenessProbeExec {
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub command: Option<Vec<String>>,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecContainersLivenessProbeGrpc {
    pub port: i32,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = ""))]
    pub service: Option<String>,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecContainersLivenessProbeHttpGet {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub http_headers: Option<
        Vec<CronJobSpecJobTemplateSpecTemplateSpecContainersLivenessProbeHttpGetHttpHeaders>,
    >,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    pub port: IntOrString,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scheme: Option<String>,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecContainersLivenessProbeHttpGetHttpHeaders {
    pub name: String,
    pub value: String,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecContainersLivenessProbeTcpSocket {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
    pub port: IntOrString,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecContainersPorts {
    pub container_port: i32,
    #[serde(rename = "hostIP", skip_serializing_if = "Option::is_none")]
    pub host_ip: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host_port: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = "TCP"))]
    pub protocol: Option<String>,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecContainersReadinessProbe {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exec: Option<CronJobSpecJobTemplateSpecTemplateSpecContainersReadinessProbeExec>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failure_threshold: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub grpc: Option<CronJobSpecJobTemplateSpecTemplateSpecContainersReadinessProbeGrpc>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub http_get: Option<CronJobSpecJobTemplateSpecTemplateSpecContainersReadinessProbeHttpGet>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub initial_delay_seconds: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub period_seconds: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub success_threshold: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tcp_socket: Option<CronJobSpecJobTemplateSpecTemplateSpecContainersReadinessProbeTcpSocket>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub termination_grace_period_seconds: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeout_seconds: Option<i32>,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecContainersReadinessProbeExec {
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub command: Option<Vec<String>>,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecContainersReadinessProbeGrpc {
    pub port: i32,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = ""))]
    pub service: Option<String>,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecContainersReadinessProbeHttpGet {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub http_headers: Option<
        Vec<CronJobSpecJobTemplateSpecTemplateSpecContainersReadinessProbeHttpGetHttpHeaders>,
    >,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    pub port: IntOrString,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scheme: Option<String>,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecContainersReadinessProbeHttpGetHttpHeaders {
    pub name: String,
    pub value: String,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecContainersReadinessProbeTcpSocket {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
    pub port: IntOrString,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecContainersResizePolicy {
    pub resource_name: String,
    pub restart_policy: String,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecContainersResources {
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-kubernetes-list-map-keys" = ["name"]))]
    #[schemars(extend("x-kubernetes-list-type" = "map"))]
    pub claims: Option<Vec<CronJobSpecJobTemplateSpecTemplateSpecContainersResourcesClaims>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limits: Option<BTreeMap<String, Quantity>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub requests: Option<BTreeMap<String, Quantity>>,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecContainersResourcesClaims {
    pub name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub request: Option<String>,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecContainersRestartPolicyRules {
    pub action: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exit_codes:
        Option<CronJobSpecJobTemplateSpecTemplateSpecContainersRestartPolicyRulesExitCodes>,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecContainersRestartPolicyRulesExitCodes {
    pub operator: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-kubernetes-list-type" = "set"))]
    pub values: Option<Vec<i32>>,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecContainersSecurityContext {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub allow_privilege_escalation: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub app_armor_profile:
        Option<CronJobSpecJobTemplateSpecTemplateSpecContainersSecurityContextAppArmorProfile>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub capabilities:
        Option<CronJobSpecJobTemplateSpecTemplateSpecContainersSecurityContextCapabilities>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub privileged: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub proc_mount: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read_only_root_filesystem: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run_as_group: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run_as_non_root: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run_as_user: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub se_linux_options:
        Option<CronJobSpecJobTemplateSpecTemplateSpecContainersSecurityContextSeLinuxOptions>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seccomp_profile:
        Option<CronJobSpecJobTemplateSpecTemplateSpecContainersSecurityContextSeccompProfile>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub windows_options:
        Option<CronJobSpecJobTemplateSpecTemplateSpecContainersSecurityContextWindowsOptions>,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecContainersSecurityContextAppArmorProfile {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub localhost_profile: Option<String>,
    pub r#type: String,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecContainersSecurityContextCapabilities {
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub add: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub drop: Option<Vec<String>>,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecContainersSecurityContextSeLinuxOptions {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub level: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub role: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub r#type: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub user: Option<String>,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecContainersSecurityContextSeccompProfile {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub localhost_profile: Option<String>,
    pub r#type: String,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecContainersSecurityContextWindowsOptions {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gmsa_credential_spec: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gmsa_credential_spec_name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host_process: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run_as_user_name: Option<String>,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecContainersStartupProbe {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exec: Option<CronJobSpecJobTemplateSpecTemplateSpecContainersStartupProbeExec>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failure_threshold: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub grpc: Option<CronJobSpecJobTemplateSpecTemplateSpecContainersStartupProbeGrpc>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub http_get: Option<CronJobSpecJobTemplateSpecTemplateSpecContainersStartupProbeHttpGet>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub initial_delay_seconds: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub period_seconds: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub success_threshold: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tcp_socket: Option<CronJobSpecJobTemplateSpecTemplateSpecContainersStartupProbeTcpSocket>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub termination_grace_period_seconds: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeout_seconds: Option<i32>,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecContainersStartupProbeExec {
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub command: Option<Vec<String>>,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecContainersStartupProbeGrpc {
    pub port: i32,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = ""))]
    pub service: Option<String>,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecContainersStartupProbeHttpGet {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub http_headers:
        Option<Vec<CronJobSpecJobTemplateSpecTemplateSpecContainersStartupProbeHttpGetHttpHeaders>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    pub port: IntOrString,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scheme: Option<String>,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecContainersStartupProbeHttpGetHttpHeaders {
    pub name: String,
    pub value: String,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecContainersStartupProbeTcpSocket {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
    pub port: IntOrString,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecContainersVolumeDevices {
    pub device_path: String,
    pub name: String,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecContainersVolumeMounts {
    pub mount_path: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mount_propagation: Option<String>,
    pub name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read_only: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recursive_read_only: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sub_path: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sub_path_expr: Option<String>,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecDnsConfig {
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub nameservers: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub options: Option<Vec<CronJobSpecJobTemplateSpecTemplateSpecDnsConfigOptions>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub searches: Option<Vec<String>>,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecDnsConfigOptions {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<String>,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecEphemeralContainers {
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub args: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub command: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-kubernetes-list-map-keys" = ["name"]))]
    #[schemars(extend("x-kubernetes-list-type" = "map"))]
    pub env: Option<Vec<CronJobSpecJobTemplateSpecTemplateSpecEphemeralContainersEnv>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub env_from: Option<Vec<CronJobSpecJobTemplateSpecTemplateSpecEphemeralContainersEnvFrom>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub image: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub image_pull_policy: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lifecycle: Option<CronJobSpecJobTemplateSpecTemplateSpecEphemeralContainersLifecycle>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub liveness_probe:
        Option<CronJobSpecJobTemplateSpecTemplateSpecEphemeralContainersLivenessProbe>,
    pub name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-kubernetes-list-map-keys" = ["containerPort", "protocol"]))]
    #[schemars(extend("x-kubernetes-list-type" = "map"))]
    pub ports: Option<Vec<CronJobSpecJobTemplateSpecTemplateSpecEphemeralContainersPorts>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub readiness_probe:
        Option<CronJobSpecJobTemplateSpecTemplateSpecEphemeralContainersReadinessProbe>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub resize_policy:
        Option<Vec<CronJobSpecJobTemplateSpecTemplateSpecEphemeralContainersResizePolicy>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resources: Option<CronJobSpecJobTemplateSpecTemplateSpecEphemeralContainersResources>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub restart_policy: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub restart_policy_rules:
        Option<Vec<CronJobSpecJobTemplateSpecTemplateSpecEphemeralContainersRestartPolicyRules>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub security_context:
        Option<CronJobSpecJobTemplateSpecTemplateSpecEphemeralContainersSecurityContext>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub startup_probe:
        Option<CronJobSpecJobTemplateSpecTemplateSpecEphemeralContainersStartupProbe>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stdin: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stdin_once: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target_container_name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub termination_message_path: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub termination_message_policy: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tty: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-kubernetes-list-map-keys" = ["devicePath"]))]
    #[schemars(extend("x-kubernetes-list-type" = "map"))]
    pub volume_devices:
        Option<Vec<CronJobSpecJobTemplateSpecTemplateSpecEphemeralContainersVolumeDevices>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-kubernetes-list-map-keys" = ["mountPath"]))]
    #[schemars(extend("x-kubernetes-list-type" = "map"))]
    pub volume_mounts:
        Option<Vec<CronJobSpecJobTemplateSpecTemplateSpecEphemeralContainersVolumeMounts>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub working_dir: Option<String>,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecEphemeralContainersEnv {
    pub name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value_from: Option<CronJobSpecJobTemplateSpecTemplateSpecEphemeralContainersEnvValueFrom>,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecEphemeralContainersEnvValueFrom {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub config_map_key_ref: Option<
        CronJobSpecJobTemplateSpecTemplateSpecEphemeralContainersEnvValueFromConfigMapKeyRef,
    >,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub field_ref:
        Option<CronJobSpecJobTemplateSpecTemplateSpecEphemeralContainersEnvValueFromFieldRef>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file_key_ref:
        Option<CronJobSpecJobTemplateSpecTemplateSpecEphemeralContainersEnvValueFromFileKeyRef>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resource_field_ref: Option<
        CronJobSpecJobTemplateSpecTemplateSpecEphemeralContainersEnvValueFromResourceFieldRef,
    >,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub secret_key_ref:
        Option<CronJobSpecJobTemplateSpecTemplateSpecEphemeralContainersEnvValueFromSecretKeyRef>,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[schemars(extend("x-kubernetes-map-type" = "atomic"))]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecEphemeralContainersEnvValueFromConfigMapKeyRef {
    pub key: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = ""))]
    pub name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub optional: Option<bool>,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[schemars(extend("x-kubernetes-map-type" = "atomic"))]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecEphemeralContainersEnvValueFromFieldRef {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub api_version: Option<String>,
    pub field_path: String,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[schemars(extend("x-kubernetes-map-type" = "atomic"))]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecEphemeralContainersEnvValueFromFileKeyRef {
    pub key: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = false))]
    pub optional: Option<bool>,
    pub path: String,
    pub volume_name: String,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[schemars(extend("x-kubernetes-map-type" = "atomic"))]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecEphemeralContainersEnvValueFromResourceFieldRef {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub container_name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub divisor: Option<Quantity>,
    pub resource: String,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[schemars(extend("x-kubernetes-map-type" = "atomic"))]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecEphemeralContainersEnvValueFromSecretKeyRef {
    pub key: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = ""))]
    pub name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub optional: Option<bool>,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecEphemeralContainersEnvFrom {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub config_map_ref:
        Option<CronJobSpecJobTemplateSpecTemplateSpecEphemeralContainersEnvFromConfigMapRef>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prefix: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub secret_ref:
        Option<CronJobSpecJobTemplateSpecTemplateSpecEphemeralContainersEnvFromSecretRef>,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[schemars(extend("x-kubernetes-map-type" = "atomic"))]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecEphemeralContainersEnvFromConfigMapRef {
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = ""))]
    pub name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub optional: Option<bool>,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[schemars(extend("x-kubernetes-map-type" = "atomic"))]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecEphemeralContainersEnvFromSecretRef {
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = ""))]
    pub name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub optional: Option<bool>,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecEphemeralContainersLifecycle {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub post_start:
        Option<CronJobSpecJobTemplateSpecTemplateSpecEphemeralContainersLifecyclePostStart>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pre_stop: Option<CronJobSpecJobTemplateSpecTemplateSpecEphemeralContainersLifecyclePreStop>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stop_signal: Option<String>,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecEphemeralContainersLifecyclePostStart {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exec:
        Option<CronJobSpecJobTemplateSpecTemplateSpecEphemeralContainersLifecyclePostStartExec>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub http_get:
        Option<CronJobSpecJobTemplateSpecTemplateSpecEphemeralContainersLifecyclePostStartHttpGet>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sleep:
        Option<CronJobSpecJobTemplateSpecTemplateSpecEphemeralContainersLifecyclePostStartSleep>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tcp_socket: Option<
        CronJobSpecJobTemplateSpecTemplateSpecEphemeralContainersLifecyclePostStartTcpSocket,
    >,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecEphemeralContainersLifecyclePostStartExec {
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub command: Option<Vec<String>>,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecEphemeralContainersLifecyclePostStartHttpGet {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub http_headers: Option<
        Vec<
            CronJobSpecJobTemplateSpecTemplateSpecEphemeralContainersLifecyclePostStartHttpGetHttpHeaders,
        >,
    >,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    pub port: IntOrString,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scheme: Option<String>,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecEphemeralContainersLifecyclePostStartHttpGetHttpHeaders
{
    pub name: String,
    pub value: String,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecEphemeralContainersLifecyclePostStartSleep {
    pub seconds: i64,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecEphemeralContainersLifecyclePostStartTcpSocket {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
    pub port: IntOrString,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecEphemeralContainersLifecyclePreStop {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exec: Option<CronJobSpecJobTemplateSpecTemplateSpecEphemeralContainersLifecyclePreStopExec>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub http_get:
        Option<CronJobSpecJobTemplateSpecTemplateSpecEphemeralContainersLifecyclePreStopHttpGet>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sleep:
        Option<CronJobSpecJobTemplateSpecTemplateSpecEphemeralContainersLifecyclePreStopSleep>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tcp_socket:
        Option<CronJobSpecJobTemplateSpecTemplateSpecEphemeralContainersLifecyclePreStopTcpSocket>,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecEphemeralContainersLifecyclePreStopExec {
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub command: Option<Vec<String>>,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecEphemeralContainersLifecyclePreStopHttpGet {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub http_headers: Option<
        Vec<
            CronJobSpecJobTemplateSpecTemplateSpecEphemeralContainersLifecyclePreStopHttpGetHttpHeaders,
        >,
    >,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    pub port: IntOrString,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scheme: Option<String>,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecEphemeralContainersLifecyclePreStopHttpGetHttpHeaders
{
    pub name: String,
    pub value: String,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecEphemeralContainersLifecyclePreStopSleep {
    pub seconds: i64,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecEphemeralContainersLifecyclePreStopTcpSocket {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
    pub port: IntOrString,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecEphemeralContainersLivenessProbe {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exec: Option<CronJobSpecJobTemplateSpecTemplateSpecEphemeralContainersLivenessProbeExec>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failure_threshold: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub grpc: Option<CronJobSpecJobTemplateSpecTemplateSpecEphemeralContainersLivenessProbeGrpc>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub http_get:
        Option<CronJobSpecJobTemplateSpecTemplateSpecEphemeralContainersLivenessProbeHttpGet>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub initial_delay_seconds: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub period_seconds: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub success_threshold: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tcp_socket:
        Option<CronJobSpecJobTemplateSpecTemplateSpecEphemeralContainersLivenessProbeTcpSocket>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub termination_grace_period_seconds: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeout_seconds: Option<i32>,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecEphemeralContainersLivenessProbeExec {
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub command: Option<Vec<String>>,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecEphemeralContainersLivenessProbeGrpc {
    pub port: i32,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = ""))]
    pub service: Option<String>,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecEphemeralContainersLivenessProbeHttpGet {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub http_headers: Option<
        Vec<
            CronJobSpecJobTemplateSpecTemplateSpecEphemeralContainersLivenessProbeHttpGetHttpHeaders,
        >,
    >,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    pub port: IntOrString,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scheme: Option<String>,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecEphemeralContainersLivenessProbeHttpGetHttpHeaders
{
    pub name: String,
    pub value: String,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecEphemeralContainersLivenessProbeTcpSocket {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
    pub port: IntOrString,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecEphemeralContainersPorts {
    pub container_port: i32,
    #[serde(rename = "hostIP", skip_serializing_if = "Option::is_none")]
    pub host_ip: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host_port: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = "TCP"))]
    pub protocol: Option<String>,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecEphemeralContainersReadinessProbe {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exec: Option<CronJobSpecJobTemplateSpecTemplateSpecEphemeralContainersReadinessProbeExec>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failure_threshold: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub grpc: Option<CronJobSpecJobTemplateSpecTemplateSpecEphemeralContainersReadinessProbeGrpc>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub http_get:
        Option<CronJobSpecJobTemplateSpecTemplateSpecEphemeralContainersReadinessProbeHttpGet>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub initial_delay_seconds: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub period_seconds: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub success_threshold: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tcp_socket:
        Option<CronJobSpecJobTemplateSpecTemplateSpecEphemeralContainersReadinessProbeTcpSocket>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub termination_grace_period_seconds: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeout_seconds: Option<i32>,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecEphemeralContainersReadinessProbeExec {
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub command: Option<Vec<String>>,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecEphemeralContainersReadinessProbeGrpc {
    pub port: i32,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = ""))]
    pub service: Option<String>,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecEphemeralContainersReadinessProbeHttpGet {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub http_headers: Option<
        Vec<
            CronJobSpecJobTemplateSpecTemplateSpecEphemeralContainersReadinessProbeHttpGetHttpHeaders,
        >,
    >,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    pub port: IntOrString,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scheme: Option<String>,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecEphemeralContainersReadinessProbeHttpGetHttpHeaders
{
    pub name: String,
    pub value: String,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecEphemeralContainersReadinessProbeTcpSocket {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
    pub port: IntOrString,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecEphemeralContainersResizePolicy {
    pub resource_name: String,
    pub restart_policy: String,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecEphemeralContainersResources {
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-kubernetes-list-map-keys" = ["name"]))]
    #[schemars(extend("x-kubernetes-list-type" = "map"))]
    pub claims:
        Option<Vec<CronJobSpecJobTemplateSpecTemplateSpecEphemeralContainersResourcesClaims>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limits: Option<BTreeMap<String, Quantity>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub requests: Option<BTreeMap<String, Quantity>>,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecEphemeralContainersResourcesClaims {
    pub name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub request: Option<String>,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecEphemeralContainersRestartPolicyRules {
    pub action: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exit_codes: Option<
        CronJobSpecJobTemplateSpecTemplateSpecEphemeralContainersRestartPolicyRulesExitCodes,
    >,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecEphemeralContainersRestartPolicyRulesExitCodes {
    pub operator: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-kubernetes-list-type" = "set"))]
    pub values: Option<Vec<i32>>,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecEphemeralContainersSecurityContext {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub allow_privilege_escalation: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub app_armor_profile: Option<
        CronJobSpecJobTemplateSpecTemplateSpecEphemeralContainersSecurityContextAppArmorProfile,
    >,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub capabilities: Option<
        CronJobSpecJobTemplateSpecTemplateSpecEphemeralContainersSecurityContextCapabilities,
    >,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub privileged: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub proc_mount: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read_only_root_filesystem: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run_as_group: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run_as_non_root: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run_as_user: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub se_linux_options: Option<
        CronJobSpecJobTemplateSpecTemplateSpecEphemeralContainersSecurityContextSeLinuxOptions,
    >,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seccomp_profile: Option<
        CronJobSpecJobTemplateSpecTemplateSpecEphemeralContainersSecurityContextSeccompProfile,
    >,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub windows_options: Option<
        CronJobSpecJobTemplateSpecTemplateSpecEphemeralContainersSecurityContextWindowsOptions,
    >,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecEphemeralContainersSecurityContextAppArmorProfile {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub localhost_profile: Option<String>,
    pub r#type: String,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecEphemeralContainersSecurityContextCapabilities {
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub add: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub drop: Option<Vec<String>>,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecEphemeralContainersSecurityContextSeLinuxOptions {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub level: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub role: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub r#type: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub user: Option<String>,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecEphemeralContainersSecurityContextSeccompProfile {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub localhost_profile: Option<String>,
    pub r#type: String,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecEphemeralContainersSecurityContextWindowsOptions {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gmsa_credential_spec: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gmsa_credential_spec_name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host_process: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run_as_user_name: Option<String>,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecEphemeralContainersStartupProbe {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exec: Option<CronJobSpecJobTemplateSpecTemplateSpecEphemeralContainersStartupProbeExec>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failure_threshold: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub grpc: Option<CronJobSpecJobTemplateSpecTemplateSpecEphemeralContainersStartupProbeGrpc>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub http_get:
        Option<CronJobSpecJobTemplateSpecTemplateSpecEphemeralContainersStartupProbeHttpGet>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub initial_delay_seconds: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub period_seconds: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub success_threshold: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tcp_socket:
        Option<CronJobSpecJobTemplateSpecTemplateSpecEphemeralContainersStartupProbeTcpSocket>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub termination_grace_period_seconds: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeout_seconds: Option<i32>,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecEphemeralContainersStartupProbeExec {
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub command: Option<Vec<String>>,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecEphemeralContainersStartupProbeGrpc {
    pub port: i32,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = ""))]
    pub service: Option<String>,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecEphemeralContainersStartupProbeHttpGet {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub http_headers: Option<
        Vec<
            CronJobSpecJobTemplateSpecTemplateSpecEphemeralContainersStartupProbeHttpGetHttpHeaders,
        >,
    >,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    pub port: IntOrString,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scheme: Option<String>,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecEphemeralContainersStartupProbeHttpGetHttpHeaders {
    pub name: String,
    pub value: String,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecEphemeralContainersStartupProbeTcpSocket {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
    pub port: IntOrString,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecEphemeralContainersVolumeDevices {
    pub device_path: String,
    pub name: String,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecEphemeralContainersVolumeMounts {
    pub mount_path: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mount_propagation: Option<String>,
    pub name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read_only: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recursive_read_only: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sub_path: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sub_path_expr: Option<String>,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecHostAliases {
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub hostnames: Option<Vec<String>>,
    pub ip: String,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[schemars(extend("x-kubernetes-map-type" = "atomic"))]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecImagePullSecrets {
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = ""))]
    pub name: Option<String>,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecInitContainers {
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub args: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub command: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-kubernetes-list-map-keys" = ["name"]))]
    #[schemars(extend("x-kubernetes-list-type" = "map"))]
    pub env: Option<Vec<CronJobSpecJobTemplateSpecTemplateSpecInitContainersEnv>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub env_from: Option<Vec<CronJobSpecJobTemplateSpecTemplateSpecInitContainersEnvFrom>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub image: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub image_pull_policy: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lifecycle: Option<CronJobSpecJobTemplateSpecTemplateSpecInitContainersLifecycle>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub liveness_probe: Option<CronJobSpecJobTemplateSpecTemplateSpecInitContainersLivenessProbe>,
    pub name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-kubernetes-list-map-keys" = ["containerPort", "protocol"]))]
    #[schemars(extend("x-kubernetes-list-type" = "map"))]
    pub ports: Option<Vec<CronJobSpecJobTemplateSpecTemplateSpecInitContainersPorts>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub readiness_probe: Option<CronJobSpecJobTemplateSpecTemplateSpecInitContainersReadinessProbe>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub resize_policy:
        Option<Vec<CronJobSpecJobTemplateSpecTemplateSpecInitContainersResizePolicy>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resources: Option<CronJobSpecJobTemplateSpecTemplateSpecInitContainersResources>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub restart_policy: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub restart_policy_rules:
        Option<Vec<CronJobSpecJobTemplateSpecTemplateSpecInitContainersRestartPolicyRules>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub security_context:
        Option<CronJobSpecJobTemplateSpecTemplateSpecInitContainersSecurityContext>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub startup_probe: Option<CronJobSpecJobTemplateSpecTemplateSpecInitContainersStartupProbe>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stdin: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stdin_once: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub termination_message_path: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub termination_message_policy: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tty: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-kubernetes-list-map-keys" = ["devicePath"]))]
    #[schemars(extend("x-kubernetes-list-type" = "map"))]
    pub volume_devices:
        Option<Vec<CronJobSpecJobTemplateSpecTemplateSpecInitContainersVolumeDevices>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-kubernetes-list-map-keys" = ["mountPath"]))]
    #[schemars(extend("x-kubernetes-list-type" = "map"))]
    pub volume_mounts:
        Option<Vec<CronJobSpecJobTemplateSpecTemplateSpecInitContainersVolumeMounts>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub working_dir: Option<String>,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecInitContainersEnv {
    pub name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value_from: Option<CronJobSpecJobTemplateSpecTemplateSpecInitContainersEnvValueFrom>,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecInitContainersEnvValueFrom {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub config_map_key_ref:
        Option<CronJobSpecJobTemplateSpecTemplateSpecInitContainersEnvValueFromConfigMapKeyRef>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub field_ref: Option<CronJobSpecJobTemplateSpecTemplateSpecInitContainersEnvValueFromFieldRef>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file_key_ref:
        Option<CronJobSpecJobTemplateSpecTemplateSpecInitContainersEnvValueFromFileKeyRef>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resource_field_ref:
        Option<CronJobSpecJobTemplateSpecTemplateSpecInitContainersEnvValueFromResourceFieldRef>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub secret_key_ref:
        Option<CronJobSpecJobTemplateSpecTemplateSpecInitContainersEnvValueFromSecretKeyRef>,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[schemars(extend("x-kubernetes-map-type" = "atomic"))]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecInitContainersEnvValueFromConfigMapKeyRef {
    pub key: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = ""))]
    pub name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub optional: Option<bool>,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[schemars(extend("x-kubernetes-map-type" = "atomic"))]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecInitContainersEnvValueFromFieldRef {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub api_version: Option<String>,
    pub field_path: String,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[schemars(extend("x-kubernetes-map-type" = "atomic"))]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecInitContainersEnvValueFromFileKeyRef {
    pub key: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = false))]
    pub optional: Option<bool>,
    pub path: String,
    pub volume_name: String,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[schemars(extend("x-kubernetes-map-type" = "atomic"))]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecInitContainersEnvValueFromResourceFieldRef {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub container_name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub divisor: Option<Quantity>,
    pub resource: String,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[schemars(extend("x-kubernetes-map-type" = "atomic"))]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecInitContainersEnvValueFromSecretKeyRef {
    pub key: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = ""))]
    pub name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub optional: Option<bool>,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecInitContainersEnvFrom {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub config_map_ref:
        Option<CronJobSpecJobTemplateSpecTemplateSpecInitContainersEnvFromConfigMapRef>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prefix: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub secret_ref: Option<CronJobSpecJobTemplateSpecTemplateSpecInitContainersEnvFromSecretRef>,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[schemars(extend("x-kubernetes-map-type" = "atomic"))]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecInitContainersEnvFromConfigMapRef {
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = ""))]
    pub name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub optional: Option<bool>,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[schemars(extend("x-kubernetes-map-type" = "atomic"))]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecInitContainersEnvFromSecretRef {
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = ""))]
    pub name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub optional: Option<bool>,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecInitContainersLifecycle {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub post_start: Option<CronJobSpecJobTemplateSpecTemplateSpecInitContainersLifecyclePostStart>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pre_stop: Option<CronJobSpecJobTemplateSpecTemplateSpecInitContainersLifecyclePreStop>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stop_signal: Option<String>,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecInitContainersLifecyclePostStart {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exec: Option<CronJobSpecJobTemplateSpecTemplateSpecInitContainersLifecyclePostStartExec>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub http_get:
        Option<CronJobSpecJobTemplateSpecTemplateSpecInitContainersLifecyclePostStartHttpGet>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sleep: Option<CronJobSpecJobTemplateSpecTemplateSpecInitContainersLifecyclePostStartSleep>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tcp_socket:
        Option<CronJobSpecJobTemplateSpecTemplateSpecInitContainersLifecyclePostStartTcpSocket>,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecInitContainersLifecyclePostStartExec {
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub command: Option<Vec<String>>,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecInitContainersLifecyclePostStartHttpGet {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub http_headers: Option<
        Vec<
            CronJobSpecJobTemplateSpecTemplateSpecInitContainersLifecyclePostStartHttpGetHttpHeaders,
        >,
    >,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    pub port: IntOrString,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scheme: Option<String>,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecInitContainersLifecyclePostStartHttpGetHttpHeaders
{
    pub name: String,
    pub value: String,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecInitContainersLifecyclePostStartSleep {
    pub seconds: i64,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecInitContainersLifecyclePostStartTcpSocket {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
    pub port: IntOrString,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecInitContainersLifecyclePreStop {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exec: Option<CronJobSpecJobTemplateSpecTemplateSpecInitContainersLifecyclePreStopExec>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub http_get:
        Option<CronJobSpecJobTemplateSpecTemplateSpecInitContainersLifecyclePreStopHttpGet>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sleep: Option<CronJobSpecJobTemplateSpecTemplateSpecInitContainersLifecyclePreStopSleep>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tcp_socket:
        Option<CronJobSpecJobTemplateSpecTemplateSpecInitContainersLifecyclePreStopTcpSocket>,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecInitContainersLifecyclePreStopExec {
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub command: Option<Vec<String>>,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecInitContainersLifecyclePreStopHttpGet {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub http_headers: Option<
        Vec<CronJobSpecJobTemplateSpecTemplateSpecInitContainersLifecyclePreStopHttpGetHttpHeaders>,
    >,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    pub port: IntOrString,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scheme: Option<String>,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecInitContainersLifecyclePreStopHttpGetHttpHeaders {
    pub name: String,
    pub value: String,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecInitContainersLifecyclePreStopSleep {
    pub seconds: i64,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecInitContainersLifecyclePreStopTcpSocket {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
    pub port: IntOrString,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecInitContainersLivenessProbe {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exec: Option<CronJobSpecJobTemplateSpecTemplateSpecInitContainersLivenessProbeExec>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failure_threshold: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub grpc: Option<CronJobSpecJobTemplateSpecTemplateSpecInitContainersLivenessProbeGrpc>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub http_get: Option<CronJobSpecJobTemplateSpecTemplateSpecInitContainersLivenessProbeHttpGet>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub initial_delay_seconds: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub period_seconds: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub success_threshold: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tcp_socket:
        Option<CronJobSpecJobTemplateSpecTemplateSpecInitContainersLivenessProbeTcpSocket>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub termination_grace_period_seconds: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeout_seconds: Option<i32>,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecInitContainersLivenessProbeExec {
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub command: Option<Vec<String>>,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecInitContainersLivenessProbeGrpc {
    pub port: i32,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = ""))]
    pub service: Option<String>,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecInitContainersLivenessProbeHttpGet {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub http_headers: Option<
        Vec<CronJobSpecJobTemplateSpecTemplateSpecInitContainersLivenessProbeHttpGetHttpHeaders>,
    >,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    pub port: IntOrString,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scheme: Option<String>,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecInitContainersLivenessProbeHttpGetHttpHeaders {
    pub name: String,
    pub value: String,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecInitContainersLivenessProbeTcpSocket {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
    pub port: IntOrString,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecInitContainersPorts {
    pub container_port: i32,
    #[serde(rename = "hostIP", skip_serializing_if = "Option::is_none")]
    pub host_ip: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host_port: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = "TCP"))]
    pub protocol: Option<String>,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecInitContainersReadinessProbe {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exec: Option<CronJobSpecJobTemplateSpecTemplateSpecInitContainersReadinessProbeExec>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failure_threshold: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub grpc: Option<CronJobSpecJobTemplateSpecTemplateSpecInitContainersReadinessProbeGrpc>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub http_get: Option<CronJobSpecJobTemplateSpecTemplateSpecInitContainersReadinessProbeHttpGet>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub initial_delay_seconds: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub period_seconds: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub success_threshold: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tcp_socket:
        Option<CronJobSpecJobTemplateSpecTemplateSpecInitContainersReadinessProbeTcpSocket>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub termination_grace_period_seconds: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeout_seconds: Option<i32>,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecInitContainersReadinessProbeExec {
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub command: Option<Vec<String>>,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecInitContainersReadinessProbeGrpc {
    pub port: i32,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = ""))]
    pub service: Option<String>,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecInitContainersReadinessProbeHttpGet {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub http_headers: Option<
        Vec<CronJobSpecJobTemplateSpecTemplateSpecInitContainersReadinessProbeHttpGetHttpHeaders>,
    >,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    pub port: IntOrString,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scheme: Option<String>,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecInitContainersReadinessProbeHttpGetHttpHeaders {
    pub name: String,
    pub value: String,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecInitContainersReadinessProbeTcpSocket {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
    pub port: IntOrString,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecInitContainersResizePolicy {
    pub resource_name: String,
    pub restart_policy: String,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecInitContainersResources {
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-kubernetes-list-map-keys" = ["name"]))]
    #[schemars(extend("x-kubernetes-list-type" = "map"))]
    pub claims: Option<Vec<CronJobSpecJobTemplateSpecTemplateSpecInitContainersResourcesClaims>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limits: Option<BTreeMap<String, Quantity>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub requests: Option<BTreeMap<String, Quantity>>,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecInitContainersResourcesClaims {
    pub name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub request: Option<String>,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecInitContainersRestartPolicyRules {
    pub action: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exit_codes:
        Option<CronJobSpecJobTemplateSpecTemplateSpecInitContainersRestartPolicyRulesExitCodes>,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecInitContainersRestartPolicyRulesExitCodes {
    pub operator: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-kubernetes-list-type" = "set"))]
    pub values: Option<Vec<i32>>,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecInitContainersSecurityContext {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub allow_privilege_escalation: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub app_armor_profile:
        Option<CronJobSpecJobTemplateSpecTemplateSpecInitContainersSecurityContextAppArmorProfile>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub capabilities:
        Option<CronJobSpecJobTemplateSpecTemplateSpecInitContainersSecurityContextCapabilities>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub privileged: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub proc_mount: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read_only_root_filesystem: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run_as_group: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run_as_non_root: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run_as_user: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub se_linux_options:
        Option<CronJobSpecJobTemplateSpecTemplateSpecInitContainersSecurityContextSeLinuxOptions>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seccomp_profile:
        Option<CronJobSpecJobTemplateSpecTemplateSpecInitContainersSecurityContextSeccompProfile>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub windows_options:
        Option<CronJobSpecJobTemplateSpecTemplateSpecInitContainersSecurityContextWindowsOptions>,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecInitContainersSecurityContextAppArmorProfile {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub localhost_profile: Option<String>,
    pub r#type: String,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecInitContainersSecurityContextCapabilities {
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub add: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub drop: Option<Vec<String>>,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecInitContainersSecurityContextSeLinuxOptions {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub level: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub role: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub r#type: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub user: Option<String>,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecInitContainersSecurityContextSeccompProfile {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub localhost_profile: Option<String>,
    pub r#type: String,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecInitContainersSecurityContextWindowsOptions {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gmsa_credential_spec: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gmsa_credential_spec_name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host_process: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run_as_user_name: Option<String>,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecInitContainersStartupProbe {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exec: Option<CronJobSpecJobTemplateSpecTemplateSpecInitContainersStartupProbeExec>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failure_threshold: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub grpc: Option<CronJobSpecJobTemplateSpecTemplateSpecInitContainersStartupProbeGrpc>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub http_get: Option<CronJobSpecJobTemplateSpecTemplateSpecInitContainersStartupProbeHttpGet>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub initial_delay_seconds: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub period_seconds: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub success_threshold: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tcp_socket:
        Option<CronJobSpecJobTemplateSpecTemplateSpecInitContainersStartupProbeTcpSocket>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub termination_grace_period_seconds: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeout_seconds: Option<i32>,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecInitContainersStartupProbeExec {
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub command: Option<Vec<String>>,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecInitContainersStartupProbeGrpc {
    pub port: i32,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = ""))]
    pub service: Option<String>,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecInitContainersStartupProbeHttpGet {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub http_headers: Option<
        Vec<CronJobSpecJobTemplateSpecTemplateSpecInitContainersStartupProbeHttpGetHttpHeaders>,
    >,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    pub port: IntOrString,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scheme: Option<String>,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecInitContainersStartupProbeHttpGetHttpHeaders {
    pub name: String,
    pub value: String,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecInitContainersStartupProbeTcpSocket {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
    pub port: IntOrString,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecInitContainersVolumeDevices {
    pub device_path: String,
    pub name: String,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecInitContainersVolumeMounts {
    pub mount_path: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mount_propagation: Option<String>,
    pub name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read_only: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recursive_read_only: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sub_path: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sub_path_expr: Option<String>,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecOs {
    pub name: String,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecReadinessGates {
    pub condition_type: String,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecResourceClaims {
    pub name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resource_claim_name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resource_claim_template_name: Option<String>,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecResources {
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-kubernetes-list-map-keys" = ["name"]))]
    #[schemars(extend("x-kubernetes-list-type" = "map"))]
    pub claims: Option<Vec<CronJobSpecJobTemplateSpecTemplateSpecResourcesClaims>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limits: Option<BTreeMap<String, Quantity>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub requests: Option<BTreeMap<String, Quantity>>,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecResourcesClaims {
    pub name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub request: Option<String>,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecSchedulingGates {
    pub name: String,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecSchedulingGroup {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pod_group_name: Option<String>,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecSecurityContext {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub app_armor_profile:
        Option<CronJobSpecJobTemplateSpecTemplateSpecSecurityContextAppArmorProfile>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fs_group: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fs_group_change_policy: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run_as_group: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run_as_non_root: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run_as_user: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub se_linux_change_policy: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub se_linux_options:
        Option<CronJobSpecJobTemplateSpecTemplateSpecSecurityContextSeLinuxOptions>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seccomp_profile:
        Option<CronJobSpecJobTemplateSpecTemplateSpecSecurityContextSeccompProfile>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub supplemental_groups: Option<Vec<i64>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub supplemental_groups_policy: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub sysctls: Option<Vec<CronJobSpecJobTemplateSpecTemplateSpecSecurityContextSysctls>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub windows_options:
        Option<CronJobSpecJobTemplateSpecTemplateSpecSecurityContextWindowsOptions>,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecSecurityContextAppArmorProfile {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub localhost_profile: Option<String>,
    pub r#type: String,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecSecurityContextSeLinuxOptions {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub level: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub role: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub r#type: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub user: Option<String>,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecSecurityContextSeccompProfile {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub localhost_profile: Option<String>,
    pub r#type: String,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecSecurityContextSysctls {
    pub name: String,
    pub value: String,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecSecurityContextWindowsOptions {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gmsa_credential_spec: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gmsa_credential_spec_name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host_process: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run_as_user_name: Option<String>,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecTolerations {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub effect: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub operator: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub toleration_seconds: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<String>,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecTopologySpreadConstraints {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label_selector:
        Option<CronJobSpecJobTemplateSpecTemplateSpecTopologySpreadConstraintsLabelSelector>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub match_label_keys: Option<Vec<String>>,
    pub max_skew: i32,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_domains: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub node_affinity_policy: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub node_taints_policy: Option<String>,
    pub topology_key: String,
    pub when_unsatisfiable: String,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[schemars(extend("x-kubernetes-map-type" = "atomic"))]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecTopologySpreadConstraintsLabelSelector {
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub match_expressions: Option<
        Vec<
            CronJobSpecJobTemplateSpecTemplateSpecTopologySpreadConstraintsLabelSelectorMatchExpressions,
        >,
    >,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub match_labels: Option<BTreeMap<String, String>>,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecTopologySpreadConstraintsLabelSelectorMatchExpressions
{
    pub key: String,
    pub operator: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub values: Option<Vec<String>>,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecVolumes {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub aws_elastic_block_store:
        Option<CronJobSpecJobTemplateSpecTemplateSpecVolumesAwsElasticBlockStore>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub azure_disk: Option<CronJobSpecJobTemplateSpecTemplateSpecVolumesAzureDisk>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub azure_file: Option<CronJobSpecJobTemplateSpecTemplateSpecVolumesAzureFile>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cephfs: Option<CronJobSpecJobTemplateSpecTemplateSpecVolumesCephfs>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cinder: Option<CronJobSpecJobTemplateSpecTemplateSpecVolumesCinder>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub config_map: Option<CronJobSpecJobTemplateSpecTemplateSpecVolumesConfigMap>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub csi: Option<CronJobSpecJobTemplateSpecTemplateSpecVolumesCsi>,
    #[serde(rename = "downwardAPI", skip_serializing_if = "Option::is_none")]
    pub downward_api: Option<CronJobSpecJobTemplateSpecTemplateSpecVolumesDownwardApi>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub empty_dir: Option<CronJobSpecJobTemplateSpecTemplateSpecVolumesEmptyDir>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ephemeral: Option<CronJobSpecJobTemplateSpecTemplateSpecVolumesEphemeral>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fc: Option<CronJobSpecJobTemplateSpecTemplateSpecVolumesFc>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub flex_volume: Option<CronJobSpecJobTemplateSpecTemplateSpecVolumesFlexVolume>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub flocker: Option<CronJobSpecJobTemplateSpecTemplateSpecVolumesFlocker>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gce_persistent_disk: Option<CronJobSpecJobTemplateSpecTemplateSpecVolumesGcePersistentDisk>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub git_repo: Option<CronJobSpecJobTemplateSpecTemplateSpecVolumesGitRepo>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub glusterfs: Option<CronJobSpecJobTemplateSpecTemplateSpecVolumesGlusterfs>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host_path: Option<CronJobSpecJobTemplateSpecTemplateSpecVolumesHostPath>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub image: Option<CronJobSpecJobTemplateSpecTemplateSpecVolumesImage>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub iscsi: Option<CronJobSpecJobTemplateSpecTemplateSpecVolumesIscsi>,
    pub name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nfs: Option<CronJobSpecJobTemplateSpecTemplateSpecVolumesNfs>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub persistent_volume_claim:
        Option<CronJobSpecJobTemplateSpecTemplateSpecVolumesPersistentVolumeClaim>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub photon_persistent_disk:
        Option<CronJobSpecJobTemplateSpecTemplateSpecVolumesPhotonPersistentDisk>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub portworx_volume: Option<CronJobSpecJobTemplateSpecTemplateSpecVolumesPortworxVolume>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub projected: Option<CronJobSpecJobTemplateSpecTemplateSpecVolumesProjected>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub quobyte: Option<CronJobSpecJobTemplateSpecTemplateSpecVolumesQuobyte>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rbd: Option<CronJobSpecJobTemplateSpecTemplateSpecVolumesRbd>,
    #[serde(rename = "scaleIO", skip_serializing_if = "Option::is_none")]
    pub scale_io: Option<CronJobSpecJobTemplateSpecTemplateSpecVolumesScaleIo>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub secret: Option<CronJobSpecJobTemplateSpecTemplateSpecVolumesSecret>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub storageos: Option<CronJobSpecJobTemplateSpecTemplateSpecVolumesStorageos>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub vsphere_volume: Option<CronJobSpecJobTemplateSpecTemplateSpecVolumesVsphereVolume>,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecVolumesAwsElasticBlockStore {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fs_type: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub partition: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read_only: Option<bool>,
    #[serde(rename = "volumeID")]
    pub volume_id: String,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecVolumesAzureDisk {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub caching_mode: Option<String>,
    pub disk_name: String,
    #[serde(rename = "diskURI")]
    pub disk_uri: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = "ext4"))]
    pub fs_type: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = false))]
    pub read_only: Option<bool>,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecVolumesAzureFile {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read_only: Option<bool>,
    pub secret_name: String,
    pub share_name: String,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecVolumesCephfs {
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub monitors: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read_only: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub secret_file: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub secret_ref: Option<CronJobSpecJobTemplateSpecTemplateSpecVolumesCephfsSecretRef>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub user: Option<String>,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[schemars(extend("x-kubernetes-map-type" = "atomic"))]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecVolumesCephfsSecretRef {
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = ""))]
    pub name: Option<String>,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecVolumesCinder {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fs_type: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read_only: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub secret_ref: Option<CronJobSpecJobTemplateSpecTemplateSpecVolumesCinderSecretRef>,
    #[serde(rename = "volumeID")]
    pub volume_id: String,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[schemars(extend("x-kubernetes-map-type" = "atomic"))]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecVolumesCinderSecretRef {
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = ""))]
    pub name: Option<String>,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[schemars(extend("x-kubernetes-map-type" = "atomic"))]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecVolumesConfigMap {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub default_mode: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub items: Option<Vec<CronJobSpecJobTemplateSpecTemplateSpecVolumesConfigMapItems>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = ""))]
    pub name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub optional: Option<bool>,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecVolumesConfigMapItems {
    pub key: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mode: Option<i32>,
    pub path: String,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecVolumesCsi {
    pub driver: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fs_type: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub node_publish_secret_ref:
        Option<CronJobSpecJobTemplateSpecTemplateSpecVolumesCsiNodePublishSecretRef>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read_only: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub volume_attributes: Option<BTreeMap<String, String>>,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[schemars(extend("x-kubernetes-map-type" = "atomic"))]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecVolumesCsiNodePublishSecretRef {
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = ""))]
    pub name: Option<String>,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecVolumesDownwardApi {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub default_mode: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub items: Option<Vec<CronJobSpecJobTemplateSpecTemplateSpecVolumesDownwardApiItems>>,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecVolumesDownwardApiItems {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub field_ref: Option<CronJobSpecJobTemplateSpecTemplateSpecVolumesDownwardApiItemsFieldRef>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mode: Option<i32>,
    pub path: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resource_field_ref:
        Option<CronJobSpecJobTemplateSpecTemplateSpecVolumesDownwardApiItemsResourceFieldRef>,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[schemars(extend("x-kubernetes-map-type" = "atomic"))]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecVolumesDownwardApiItemsFieldRef {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub api_version: Option<String>,
    pub field_path: String,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[schemars(extend("x-kubernetes-map-type" = "atomic"))]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecVolumesDownwardApiItemsResourceFieldRef {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub container_name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub divisor: Option<Quantity>,
    pub resource: String,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecVolumesEmptyDir {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub medium: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size_limit: Option<Quantity>,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecVolumesEphemeral {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub volume_claim_template:
        Option<CronJobSpecJobTemplateSpecTemplateSpecVolumesEphemeralVolumeClaimTemplate>,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecVolumesEphemeralVolumeClaimTemplate {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metadata:
        Option<CronJobSpecJobTemplateSpecTemplateSpecVolumesEphemeralVolumeClaimTemplateMetadata>,
    pub spec: CronJobSpecJobTemplateSpecTemplateSpecVolumesEphemeralVolumeClaimTemplateSpec,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[schemars(extend("additionalProperties" = false))]
pub struct CronJobSpecJobTemplateSpecTemplateSpecVolumesEphemeralVolumeClaimTemplateMetadata {}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecVolumesEphemeralVolumeClaimTemplateSpec {
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub access_modes: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data_source: Option<
        CronJobSpecJobTemplateSpecTemplateSpecVolumesEphemeralVolumeClaimTemplateSpecDataSource,
    >,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data_source_ref: Option<
        CronJobSpecJobTemplateSpecTemplateSpecVolumesEphemeralVolumeClaimTemplateSpecDataSourceRef,
    >,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resources: Option<
        CronJobSpecJobTemplateSpecTemplateSpecVolumesEphemeralVolumeClaimTemplateSpecResources,
    >,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub selector: Option<
        CronJobSpecJobTemplateSpecTemplateSpecVolumesEphemeralVolumeClaimTemplateSpecSelector,
    >,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub storage_class_name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub volume_attributes_class_name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub volume_mode: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub volume_name: Option<String>,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[schemars(extend("x-kubernetes-map-type" = "atomic"))]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecVolumesEphemeralVolumeClaimTemplateSpecDataSource {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub api_group: Option<String>,
    pub kind: String,
    pub name: String,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecVolumesEphemeralVolumeClaimTemplateSpecDataSourceRef
{
    #[serde(skip_serializing_if = "Option::is_none")]
    pub api_group: Option<String>,
    pub kind: String,
    pub name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub namespace: Option<String>,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecVolumesEphemeralVolumeClaimTemplateSpecResources {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limits: Option<BTreeMap<String, Quantity>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub requests: Option<BTreeMap<String, Quantity>>,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[schemars(extend("x-kubernetes-map-type" = "atomic"))]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecVolumesEphemeralVolumeClaimTemplateSpecSelector {
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub match_expressions: Option<
        Vec<
            CronJobSpecJobTemplateSpecTemplateSpecVolumesEphemeralVolumeClaimTemplateSpecSelectorMatchExpressions,
        >,
    >,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub match_labels: Option<BTreeMap<String, String>>,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecVolumesEphemeralVolumeClaimTemplateSpecSelectorMatchExpressions
{
    pub key: String,
    pub operator: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub values: Option<Vec<String>>,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecVolumesFc {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fs_type: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lun: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read_only: Option<bool>,
    #[serde(rename = "targetWWNs", skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub target_ww_ns: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub wwids: Option<Vec<String>>,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecVolumesFlexVolume {
    pub driver: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fs_type: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub options: Option<BTreeMap<String, String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read_only: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub secret_ref: Option<CronJobSpecJobTemplateSpecTemplateSpecVolumesFlexVolumeSecretRef>,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[schemars(extend("x-kubernetes-map-type" = "atomic"))]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecVolumesFlexVolumeSecretRef {
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = ""))]
    pub name: Option<String>,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecVolumesFlocker {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dataset_name: Option<String>,
    #[serde(rename = "datasetUUID", skip_serializing_if = "Option::is_none")]
    pub dataset_uuid: Option<String>,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecVolumesGcePersistentDisk {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fs_type: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub partition: Option<i32>,
    pub pd_name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read_only: Option<bool>,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecVolumesGitRepo {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub directory: Option<String>,
    pub repository: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub revision: Option<String>,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecVolumesGlusterfs {
    pub endpoints: String,
    pub path: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read_only: Option<bool>,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecVolumesHostPath {
    pub path: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub r#type: Option<String>,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecVolumesImage {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pull_policy: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reference: Option<String>,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecVolumesIscsi {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub chap_auth_discovery: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub chap_auth_session: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fs_type: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub initiator_name: Option<String>,
    pub iqn: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = "default"))]
    pub iscsi_interface: Option<String>,
    pub lun: i32,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub portals: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read_only: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub secret_ref: Option<CronJobSpecJobTemplateSpecTemplateSpecVolumesIscsiSecretRef>,
    pub target_portal: String,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[schemars(extend("x-kubernetes-map-type" = "atomic"))]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecVolumesIscsiSecretRef {
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = ""))]
    pub name: Option<String>,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecVolumesNfs {
    pub path: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read_only: Option<bool>,
    pub server: String,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecVolumesPersistentVolumeClaim {
    pub claim_name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read_only: Option<bool>,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecVolumesPhotonPersistentDisk {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fs_type: Option<String>,
    #[serde(rename = "pdID")]
    pub pd_id: String,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecVolumesPortworxVolume {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fs_type: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read_only: Option<bool>,
    #[serde(rename = "volumeID")]
    pub volume_id: String,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecVolumesProjected {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub default_mode: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub sources: Option<Vec<CronJobSpecJobTemplateSpecTemplateSpecVolumesProjectedSources>>,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecVolumesProjectedSources {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cluster_trust_bundle:
        Option<CronJobSpecJobTemplateSpecTemplateSpecVolumesProjectedSourcesClusterTrustBundle>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub config_map: Option<CronJobSpecJobTemplateSpecTemplateSpecVolumesProjectedSourcesConfigMap>,
    #[serde(rename = "downwardAPI", skip_serializing_if = "Option::is_none")]
    pub downward_api:
        Option<CronJobSpecJobTemplateSpecTemplateSpecVolumesProjectedSourcesDownwardApi>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pod_certificate:
        Option<CronJobSpecJobTemplateSpecTemplateSpecVolumesProjectedSourcesPodCertificate>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub secret: Option<CronJobSpecJobTemplateSpecTemplateSpecVolumesProjectedSourcesSecret>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub service_account_token:
        Option<CronJobSpecJobTemplateSpecTemplateSpecVolumesProjectedSourcesServiceAccountToken>,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecVolumesProjectedSourcesClusterTrustBundle {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label_selector: Option<
        CronJobSpecJobTemplateSpecTemplateSpecVolumesProjectedSourcesClusterTrustBundleLabelSelector,
    >,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub optional: Option<bool>,
    pub path: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub signer_name: Option<String>,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[schemars(extend("x-kubernetes-map-type" = "atomic"))]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecVolumesProjectedSourcesClusterTrustBundleLabelSelector
{
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub match_expressions: Option<
        Vec<
            CronJobSpecJobTemplateSpecTemplateSpecVolumesProjectedSourcesClusterTrustBundleLabelSelectorMatchExpressions,
        >,
    >,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub match_labels: Option<BTreeMap<String, String>>,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecVolumesProjectedSourcesClusterTrustBundleLabelSelectorMatchExpressions
{
    pub key: String,
    pub operator: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub values: Option<Vec<String>>,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[schemars(extend("x-kubernetes-map-type" = "atomic"))]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecVolumesProjectedSourcesConfigMap {
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub items:
        Option<Vec<CronJobSpecJobTemplateSpecTemplateSpecVolumesProjectedSourcesConfigMapItems>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = ""))]
    pub name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub optional: Option<bool>,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecVolumesProjectedSourcesConfigMapItems {
    pub key: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mode: Option<i32>,
    pub path: String,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecVolumesProjectedSourcesDownwardApi {
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub items:
        Option<Vec<CronJobSpecJobTemplateSpecTemplateSpecVolumesProjectedSourcesDownwardApiItems>>,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecVolumesProjectedSourcesDownwardApiItems {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub field_ref: Option<
        CronJobSpecJobTemplateSpecTemplateSpecVolumesProjectedSourcesDownwardApiItemsFieldRef,
    >,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mode: Option<i32>,
    pub path: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resource_field_ref: Option<
        CronJobSpecJobTemplateSpecTemplateSpecVolumesProjectedSourcesDownwardApiItemsResourceFieldRef,
    >,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[schemars(extend("x-kubernetes-map-type" = "atomic"))]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecVolumesProjectedSourcesDownwardApiItemsFieldRef {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub api_version: Option<String>,
    pub field_path: String,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[schemars(extend("x-kubernetes-map-type" = "atomic"))]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecVolumesProjectedSourcesDownwardApiItemsResourceFieldRef
{
    #[serde(skip_serializing_if = "Option::is_none")]
    pub container_name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub divisor: Option<Quantity>,
    pub resource: String,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecVolumesProjectedSourcesPodCertificate {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub certificate_chain_path: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub credential_bundle_path: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key_path: Option<String>,
    pub key_type: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_expiration_seconds: Option<i32>,
    pub signer_name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub user_annotations: Option<BTreeMap<String, String>>,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[schemars(extend("x-kubernetes-map-type" = "atomic"))]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecVolumesProjectedSourcesSecret {
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub items:
        Option<Vec<CronJobSpecJobTemplateSpecTemplateSpecVolumesProjectedSourcesSecretItems>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = ""))]
    pub name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub optional: Option<bool>,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecVolumesProjectedSourcesSecretItems {
    pub key: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mode: Option<i32>,
    pub path: String,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecVolumesProjectedSourcesServiceAccountToken {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub audience: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expiration_seconds: Option<i64>,
    pub path: String,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecVolumesQuobyte {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub group: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read_only: Option<bool>,
    pub registry: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tenant: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub user: Option<String>,
    pub volume: String,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecVolumesRbd {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fs_type: Option<String>,
    pub image: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = "/etc/ceph/keyring"))]
    pub keyring: Option<String>,
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub monitors: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = "rbd"))]
    pub pool: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read_only: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub secret_ref: Option<CronJobSpecJobTemplateSpecTemplateSpecVolumesRbdSecretRef>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = "admin"))]
    pub user: Option<String>,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[schemars(extend("x-kubernetes-map-type" = "atomic"))]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecVolumesRbdSecretRef {
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = ""))]
    pub name: Option<String>,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecVolumesScaleIo {
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = "xfs"))]
    pub fs_type: Option<String>,
    pub gateway: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub protection_domain: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read_only: Option<bool>,
    pub secret_ref: CronJobSpecJobTemplateSpecTemplateSpecVolumesScaleIoSecretRef,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ssl_enabled: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = "ThinProvisioned"))]
    pub storage_mode: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub storage_pool: Option<String>,
    pub system: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub volume_name: Option<String>,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[schemars(extend("x-kubernetes-map-type" = "atomic"))]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecVolumesScaleIoSecretRef {
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = ""))]
    pub name: Option<String>,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecVolumesSecret {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub default_mode: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub items: Option<Vec<CronJobSpecJobTemplateSpecTemplateSpecVolumesSecretItems>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub optional: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub secret_name: Option<String>,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecVolumesSecretItems {
    pub key: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mode: Option<i32>,
    pub path: String,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecVolumesStorageos {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fs_type: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read_only: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub secret_ref: Option<CronJobSpecJobTemplateSpecTemplateSpecVolumesStorageosSecretRef>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub volume_name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub volume_namespace: Option<String>,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[schemars(extend("x-kubernetes-map-type" = "atomic"))]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecVolumesStorageosSecretRef {
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = ""))]
    pub name: Option<String>,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpecJobTemplateSpecTemplateSpecVolumesVsphereVolume {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fs_type: Option<String>,
    #[serde(rename = "storagePolicyID", skip_serializing_if = "Option::is_none")]
    pub storage_policy_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub storage_policy_name: Option<String>,
    pub volume_path: String,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CronJobStatus {
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 10))]
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub active: Option<Vec<CronJobStatusActive>>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub conditions: Vec<Condition>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("format" = "date-time"))]
    pub last_schedule_time: Option<String>,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[schemars(extend("x-kubernetes-map-type" = "atomic"))]
#[serde(rename_all = "camelCase")]
pub struct CronJobStatusActive {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub api_version: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub field_path: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub namespace: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resource_version: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub uid: Option<String>,
}
