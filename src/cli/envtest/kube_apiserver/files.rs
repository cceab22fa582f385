//! The files that flags of kube-apiserver name: certificates, keys, tokens.

use super::table::KUBE_APISERVER;
use crate::cli::envtest::{flags::Given, folder};
use crate::cli::given;
use anyhow::{Context, Result, anyhow};
use kubewright_apiserver::serve::Certificates;
use kubewright_apiserver::{SigningKey, User};
use std::net::IpAddr;
use std::path::Path;

/// The certificate for HTTPS with its key, and the authorities of clients.
pub fn certificates(given: &Given, address: IpAddr) -> Result<Certificates> {
    let own = own(given, address)?;
    let Some(file) = given.last("client-ca-file") else {
        return Ok(own);
    };
    let with = own.with_clients_of(&read("client-ca-file", file)?);
    with.with_context(|| naming("client-ca-file", file))
}

/// From the two files that are named, or `apiserver.crt` and `apiserver.key` of `--cert-dir`, or new ones.
fn own(given: &Given, address: IpAddr) -> Result<Certificates> {
    let pair = |flags: [&str; 2], files: [&str; 2]| {
        let [chain, key] = [read(flags[0], files[0])?, read(flags[1], files[1])?];
        Certificates::from_pem(&chain, &key)
            .with_context(|| format!("{} and `{}`", naming(flags[0], files[0]), files[1]))
    };
    match ["tls-cert-file", "tls-private-key-file"].map(|name| given.last(name)) {
        [Some(chain), Some(key)] => return pair(["tls-cert-file", "tls-private-key-file"], [chain, key]),
        [None, None] => {}
        _ => return Err(KUBE_APISERVER.refuse("`--tls-cert-file` and `--tls-private-key-file` belong together")),
    }
    let Some(dir) = given.last("cert-dir") else {
        return Ok(Certificates::generate(address)?.0);
    };
    let files = ["apiserver.crt", "apiserver.key"].map(|name| Path::new(dir).join(name).display().to_string());
    let [chain, key] = &files;
    if folder::has(Path::new(chain)) || folder::has(Path::new(key)) {
        return pair(["cert-dir"; 2], [chain.as_str(), key.as_str()]);
    }
    let (made, texts) = Certificates::generate(address)?;
    for (file, text) in files.iter().zip(texts) {
        folder::write_private(Path::new(file), &text).with_context(|| naming("cert-dir", file))?;
    }
    Ok(made)
}

/// The key that signs tokens of service accounts, if there is one.
///
/// # Errors
/// A file without a key, or a public key of another one: tokens of others are not verified here.
pub fn signing_key(given: &Given) -> Result<Option<SigningKey>> {
    const SIGNING: &str = "service-account-signing-key-file";
    const VERIFYING: &str = "service-account-key-file";
    let Some(file) = given.last(SIGNING) else {
        return Ok(None);
    };
    let key = SigningKey::from_pem(&read(SIGNING, file)?).with_context(|| naming(SIGNING, file))?;
    for file in given.all(VERIFYING) {
        if !key.is_of(&read(VERIFYING, file)?) {
            return Err(anyhow!("it is not the public key of `--{SIGNING}`").context(naming(VERIFYING, file)));
        }
    }
    Ok(Some(key))
}

/// The tokens of `--token-auth-file` with their users: a token, a name, a UID, and optionally groups.
pub fn tokens(given: &Given) -> Result<Vec<(String, User)>> {
    const NAME: &str = "token-auth-file";
    let Some(file) = given.last(NAME) else {
        return Ok(Vec::new());
    };
    let text = read(NAME, file)?;
    let lines = text.lines().enumerate();
    let lines = lines.filter(|(_, line)| !line.trim().is_empty() && !line.starts_with('#'));
    let token = |(number, line)| {
        user(line)
            .ok_or_else(|| anyhow!("line {} is not token,user,uid,\"groups\"", number + 1).context(naming(NAME, file)))
    };
    lines.map(token).collect()
}

fn user(line: &str) -> Option<(String, User)> {
    let columns = columns(line)?;
    let [token, name, uid, rest @ ..] = columns.as_slice() else {
        return None;
    };
    let groups = rest.first().into_iter().flat_map(|groups| groups.split(','));
    let groups = groups.map(str::trim).filter(|group| !group.is_empty());
    let user = User {
        uid: uid.clone(),
        ..User::new(name, groups)
    };
    (!token.is_empty() && !name.is_empty()).then(|| (token.clone(), user))
}

/// The columns of a line of CSV (RFC 4180), without the blanks around them.
fn columns(line: &str) -> Option<Vec<String>> {
    let (mut columns, mut quoted) = (vec![String::new()], false);
    let mut characters = line.trim_end().chars().peekable();
    while let Some(c) = characters.next() {
        // There is at least one.
        let column = columns.last_mut()?;
        match c {
            '"' if quoted && characters.peek() == Some(&'"') => column.extend(characters.next()),
            '"' => quoted = !quoted,
            ',' if !quoted => columns.push(String::new()),
            c => column.push(c),
        }
    }
    let trimmed = columns.iter().map(|column| column.trim().to_owned());
    (!quoted).then(|| trimmed.collect())
}

fn read(flag: &str, file: &str) -> Result<String> {
    given::file(Path::new(file)).with_context(|| naming(flag, file))
}

fn naming(flag: &str, file: &str) -> String {
    format!("`--{flag}={file}`")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_has_a_token_and_its_user() {
        let (token, bob) = user(r#"secret,bob,7,"devs, ops""#).unwrap();
        assert_eq!(
            (token.as_str(), bob.name.as_str(), bob.uid.as_str()),
            ("secret", "bob", "7")
        );
        assert_eq!(bob.groups, ["devs", "ops", "system:authenticated"]);
        let (_, quoted) = user(r#"t,"a ""b"", c",i"#).unwrap();
        assert_eq!(quoted.name, r#"a "b", c"#);
        for line in ["", "token,user", ",user,uid", "token,,uid", "t,u,i,\"open"] {
            assert!(user(line).is_none(), "{line}");
        }
    }
}
