//! Operators with other sets of children.

use std::{collections::BTreeMap, sync::Arc};

use k8s_openapi::{
    ByteString,
    api::core::v1::{ConfigMap, Container, Pod, PodSpec, Secret, Service, ServicePort, ServiceSpec},
};
use kube::{
    ResourceExt,
    api::{ObjectMeta, PostParams},
};
use kubewright_runtime::{Action, Cleanup, Context, Controller, Manager, ObjectKey, Reconciler, Result};

use super::{child, named};
use crate::{
    FooBar,
    wrong::{maps, owned, owning, ready},
};

/// The label of children that are claimed.
const LABEL: &str = "test.example.com/foobar";

fn foobar() -> Controller<FooBar> {
    Controller::new("foobar")
}

fn labels(object: &FooBar) -> BTreeMap<String, String> {
    BTreeMap::from([(LABEL.to_owned(), object.name_any())])
}

fn secret(object: &FooBar, text: &str) -> Secret {
    Secret {
        metadata: named(&object.name_any(), "secret"),
        data: Some(BTreeMap::from([(
            "text".to_owned(),
            ByteString(text.as_bytes().to_vec()),
        )])),
        ..Secret::default()
    }
}

pub(super) fn three_kinds(manager: &Manager) -> Result<()> {
    let controller = foobar().owns::<ConfigMap>().owns::<Secret>().owns::<Service>();
    controller.register(manager, ThreeKinds)
}

struct ThreeKinds;

impl Reconciler<FooBar> for ThreeKinds {
    async fn reconcile(&self, cx: &Context<FooBar>, object: Arc<FooBar>) -> Result<Action> {
        let port = ServicePort {
            port: i32::try_from(object.spec.target.len()).unwrap_or(1),
            ..ServicePort::default()
        };
        let service = Service {
            metadata: named(&object.name_any(), "service"),
            spec: Some(ServiceSpec {
                ports: Some(vec![port]),
                selector: Some(labels(&object)),
                ..ServiceSpec::default()
            }),
            ..Service::default()
        };
        cx.apply_child(child(&object, "foobar")).await?;
        cx.apply_child(secret(&object, &object.spec.target)).await?;
        cx.apply_child(service).await?;
        ready(cx, &object).await
    }
}

pub(super) fn conditional(manager: &Manager) -> Result<()> {
    let controller = foobar().owns::<ConfigMap>().prunes::<ConfigMap>();
    controller.register(manager, Conditional)
}

/// Another child belongs to the specs with a target of even length.
struct Conditional;

impl Reconciler<FooBar> for Conditional {
    async fn reconcile(&self, cx: &Context<FooBar>, object: Arc<FooBar>) -> Result<Action> {
        let mut wanted = vec![child(&object, "foobar")];
        wanted.extend(
            object
                .spec
                .target
                .len()
                .is_multiple_of(2)
                .then(|| child(&object, "extra")),
        );
        let names: Vec<_> = wanted.iter().map(ResourceExt::name_any).collect();
        for child in wanted {
            cx.apply_child(child).await?;
        }
        let names: Vec<_> = names.iter().map(String::as_str).collect();
        cx.prune_children::<ConfigMap>(&names).await?;
        ready(cx, &object).await
    }
}

pub(super) fn deletes(manager: &Manager) -> Result<()> {
    let controller = foobar().owns::<ConfigMap>().prunes::<ConfigMap>();
    controller.register(manager, Deletes)
}

struct Deletes;

impl Reconciler<FooBar> for Deletes {
    async fn reconcile(&self, cx: &Context<FooBar>, object: Arc<FooBar>) -> Result<Action> {
        let wanted = child(&object, &object.spec.target);
        let mut others = cx.children::<ConfigMap>()?;
        others.retain(|other| other.name_any() != wanted.name_any());
        cx.delete_children(&others).await?;
        cx.apply_child(wanted).await?;
        ready(cx, &object).await
    }
}

pub(super) fn once(manager: &Manager) -> Result<()> {
    let controller = foobar().owns::<ConfigMap>().owns::<Secret>();
    controller.register(manager, Once)
}

/// The Secret belongs to the user once it exists, for example to change the password in it.
struct Once;

impl Reconciler<FooBar> for Once {
    async fn reconcile(&self, cx: &Context<FooBar>, object: Arc<FooBar>) -> Result<Action> {
        cx.apply_child(child(&object, "foobar")).await?;
        cx.create_once(secret(&object, "first")).await?;
        ready(cx, &object).await
    }
}

pub(super) fn adopts(manager: &Manager) -> Result<()> {
    owning(manager, Adopts)
}

struct Adopts;

impl Reconciler<FooBar> for Adopts {
    async fn reconcile(&self, cx: &Context<FooBar>, object: Arc<FooBar>) -> Result<Action> {
        cx.adopt_child(child(&object, "foobar")).await?;
        ready(cx, &object).await
    }
}

pub(super) fn claims(manager: &Manager) -> Result<()> {
    foobar().claims::<ConfigMap>(labels).register(manager, Claims)
}

/// A child that loses its label belongs to who took the label away, and is replaced.
struct Claims;

impl Reconciler<FooBar> for Claims {
    async fn reconcile(&self, cx: &Context<FooBar>, object: Arc<FooBar>) -> Result<Action> {
        let mut claimed = cx.claim::<ConfigMap>().await?;
        claimed.retain(|map| map.metadata.deletion_timestamp.is_none());
        claimed.sort_by_key(|map| map.name_any());
        let mut wanted = owned(&object, "foobar");
        wanted.metadata.labels = Some(labels(&object));
        if let Some(first) = claimed.first() {
            if first.data != wanted.data {
                let mut changed = ConfigMap::clone(first);
                changed.data = wanted.data;
                maps(cx)
                    .replace(&first.name_any(), &PostParams::default(), &changed)
                    .await?;
            }
        } else {
            wanted.metadata.name = None;
            wanted.metadata.generate_name = Some(format!("{}-", object.name_any()));
            maps(cx).create(&PostParams::default(), &wanted).await?;
        }
        let surplus = &claimed[claimed.len().min(1)..];
        cx.delete_children(surplus).await?;
        ready(cx, &object).await
    }
}

pub(super) fn keeps_pods(manager: &Manager) -> Result<()> {
    foobar().claims::<Pod>(labels).register(manager, KeepsPods)
}

struct KeepsPods;

impl Reconciler<FooBar> for KeepsPods {
    async fn reconcile(&self, cx: &Context<FooBar>, object: Arc<FooBar>) -> Result<Action> {
        let container = Container {
            name: "main".to_owned(),
            image: Some("image".to_owned()),
            ..Container::default()
        };
        let pod = Pod {
            metadata: ObjectMeta {
                labels: Some(labels(&object)),
                ..named(&object.name_any(), "pod")
            },
            spec: Some(PodSpec {
                containers: vec![container],
                ..PodSpec::default()
            }),
            ..Pod::default()
        };
        let wanted = i32::try_from(object.spec.target.len()).unwrap_or(1);
        let kept = cx.keep_pods(wanted, &pod).await?;
        cx.patch_status(|status| status.note = Some(format!("{} Pods", kept.pods.len())))
            .await?;
        ready(cx, &object).await
    }
}

pub(super) fn elsewhere(manager: &Manager) -> Result<()> {
    let controller = foobar().applies_unowned::<ConfigMap>().prunes::<ConfigMap>();
    controller.register(manager, Elsewhere)
}

struct Elsewhere;

impl Reconciler<FooBar> for Elsewhere {
    fn finalizer(&self) -> Option<&str> {
        Some("test.example.com/elsewhere")
    }

    async fn reconcile(&self, cx: &Context<FooBar>, object: Arc<FooBar>) -> Result<Action> {
        let mut wanted = child(&object, "foobar");
        wanted.metadata.namespace = Some("kube-public".to_owned());
        let key = ObjectKey::of(&wanted);
        cx.apply_unowned(wanted).await?;
        cx.delete_unowned::<ConfigMap>(&[key]).await?;
        ready(cx, &object).await
    }

    async fn cleanup(&self, cx: &Context<FooBar>, _: Arc<FooBar>) -> Result<Cleanup> {
        cx.delete_unowned::<ConfigMap>(&[]).await?;
        Ok(Cleanup::Done)
    }
}

pub(super) fn shares(manager: &Manager) -> Result<()> {
    foobar().shares::<ConfigMap>().register(manager, Shares)
}

struct Shares;

impl Reconciler<FooBar> for Shares {
    async fn reconcile(&self, cx: &Context<FooBar>, object: Arc<FooBar>) -> Result<Action> {
        let shared = ConfigMap {
            metadata: named("all", "foobars"),
            data: Some(BTreeMap::from([("text".to_owned(), "of all".to_owned())])),
            ..ConfigMap::default()
        };
        cx.apply_shared(shared).await?;
        ready(cx, &object).await
    }
}
