//! The webhook of a conversion without a server: for fuzzers.

use std::{sync::Arc, time::Duration};

use kube::CustomResourceExt;
use kubewright_runtime::{Metrics, Object, Result};
use schemars::JsonSchema;

use super::{Hub, answer::Conversion, each::ObjectConverter};
use crate::server::{Endpoint, local_share};

/// Answers ConversionReviews as an operator does, but that it cannot read the stored object.
pub struct Reviews(Arc<Conversion>);

impl Reviews {
    /// # Errors
    ///
    /// As [`Hub::register`].
    pub fn of<H: Object + CustomResourceExt + JsonSchema>(hub: Hub<H>) -> Result<Self> {
        let each = ObjectConverter {
            converter: hub.converter()?,
            stored: None,
        };
        let conversion = Conversion::new("/convert".to_owned(), each, &Metrics::new());
        Ok(Self(Arc::new(conversion)))
    }

    /// The status code and the body of the answer to this body, within this time.
    pub async fn answer(&self, body: &[u8], limit: Duration) -> (u16, Vec<u8>) {
        let conversion = Arc::clone(&self.0);
        let (code, body) = conversion.answer(body.to_vec().into(), limit, local_share()).await;
        (code.as_u16(), body.bytes())
    }
}
