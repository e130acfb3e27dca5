//! The tools of a local run: the same as on AWS, with secrets from the environment.

use std::sync::Arc;

use aws_config::{BehaviorVersion, SdkConfig};
use recado::adapters::toolbox::http::HttpTools;
use recado::adapters::toolbox::lambda::LambdaTools;
use recado::adapters::toolbox::secrets::FixedToolSecrets;
use recado::adapters::toolbox::{Source, Toolbox};
use recado::config::roster::Roster;
use recado::domain::Hasher;
use recado::ports::Tools;

use super::error::StartError;

/// What tools need from outside.
#[derive(Clone, Default)]
pub struct ToolAccess {
    /// What they send as `secret:NAME`, by name.
    pub secrets: FixedToolSecrets,
    /// Credentials and region for tools that are Lambda functions; without them such a call says so.
    pub lambda: Option<SdkConfig>,
}

/// All tools of these agents.
pub fn open(
    access: ToolAccess,
    agents: &Arc<Roster>,
    hasher: &Arc<Hasher>,
    built_in: Arc<dyn Source>,
) -> Result<Arc<dyn Tools>, StartError> {
    let http = HttpTools::new(Arc::new(access.secrets)).map_err(StartError::Tools)?;
    let nobody = || {
        SdkConfig::builder()
            .behavior_version(BehaviorVersion::latest())
            .build()
    };
    let sdk = access.lambda.unwrap_or_else(nobody);
    let lambda = LambdaTools::new(&sdk, Arc::clone(hasher));
    let sources = vec![built_in, Arc::new(http), Arc::new(lambda)];
    let toolbox = Toolbox::new(agents.clone(), sources);
    let clashes: Vec<String> = agents
        .agents()
        .flat_map(|agent| toolbox.clashes(agent))
        .collect();
    if clashes.is_empty() {
        Ok(Arc::new(toolbox))
    } else {
        Err(StartError::ToolNames(clashes.join("; ")))
    }
}
