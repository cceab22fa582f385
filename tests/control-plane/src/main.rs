//! Runs a control plane until its standard input closes or it is killed, for manual use. `cargo run -p control-plane --
//! --controllers` prints the kubeconfig.

use std::io::Read;

use anyhow::{Result, bail};
use control_plane::{Assets, ControlPlane, Settings};

#[tokio::main]
async fn main() -> Result<()> {
    let mut settings = Settings::default();
    for argument in std::env::args().skip(1) {
        match argument.as_str() {
            "--audit" => settings.audit = true,
            "--controllers" => settings.controllers = true,
            other => bail!("`{other}` is not known\n\nhint: the flags are `--audit` and `--controllers`"),
        }
    }
    let plane = ControlPlane::start(&Assets::find()?, settings).await?;
    println!("{}", plane.kubeconfig().display());
    std::io::stdin().read_to_end(&mut Vec::new())?;
    Ok(())
}
