//! The environment variables of `cargo test`.

use crate::error::{Error, Result};

/// Whether `USE_EXISTING_CLUSTER` asks for the cluster of the kubeconfig.
pub(super) fn is_own_cluster(value: &str) -> Result<bool> {
    match value.to_ascii_lowercase().as_str() {
        "true" => Ok(true),
        "" | "false" => Ok(false),
        _ => Err(Error::Setup(format!(
            "USE_EXISTING_CLUSTER={value} is neither `true` nor `false`"
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::is_own_cluster;

    #[test]
    fn another_word_for_true_is_refused_and_not_ignored() {
        assert!(is_own_cluster("true").unwrap() && is_own_cluster("True").unwrap());
        assert!(!is_own_cluster("").unwrap() && !is_own_cluster("false").unwrap());
        let refused = is_own_cluster("1").unwrap_err().to_string();
        assert_eq!(refused, "USE_EXISTING_CLUSTER=1 is neither `true` nor `false`");
    }
}
