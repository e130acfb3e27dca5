//! `recado run`: everything in this process, for the phone or for WhatsApp, until it is told to stop.

use std::collections::{BTreeMap, BTreeSet};
use std::process::ExitCode;

use clap::{Args, ValueEnum};
use recado::adapters::chance::SystemChance;
use recado::config::roster::Roster;
use recado::config::settings::{Channel, Listen, LocalSettings, MetaSettings, ModelAccess};
use recado::domain::Provider;

use super::{Failure, Given, make, settings, stop_signal};
use crate::console::print_line;
use crate::local::{self, LocalRun, Meta, Secrets};

#[derive(Debug, Args)]
pub struct RunArguments {
    /// Port; 0 takes a free one.
    #[arg(
        long,
        value_name = "N",
        help = "Port, also where --listen has another one; 0 takes a free one [default: RECADO_PORT or 8787]"
    )]
    port: Option<u16>,
    /// Address to listen on.
    #[arg(
        long,
        value_name = "ADDR",
        help = "Address to listen on, with or without a port; beyond this machine only with --channel meta \
                [default: RECADO_LISTEN or 127.0.0.1]"
    )]
    listen: Option<Listen>,
    /// Where messages come from and answers go.
    #[arg(
        long,
        value_enum,
        help = "Where messages come from and answers go: the built-in phone, or WhatsApp by Meta's Cloud API \
                [default: RECADO_CHANNEL or phone]"
    )]
    channel: Option<ChannelChoice>,
    /// Keep nothing on disk.
    #[arg(long)]
    ephemeral: bool,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum ChannelChoice {
    Phone,
    Meta,
}

impl RunArguments {
    fn given(&self) -> Given {
        let channel = self.channel.map(|channel| match channel {
            ChannelChoice::Phone => "phone",
            ChannelChoice::Meta => "meta",
        });
        Given {
            channel,
            is_ephemeral: self.ephemeral,
            without: None,
        }
    }
}

pub async fn run(arguments: RunArguments) -> Result<ExitCode, Failure> {
    let settings = settings(false, &arguments.given())?;
    let folder = (!arguments.ephemeral).then(|| settings.data_dir.clone());
    let mut listen = arguments
        .listen
        .unwrap_or(settings.listen)
        .at(settings.port);
    if let Some(port) = arguments.port {
        listen.set_port(port);
    }
    let channel = match &settings.channel {
        Channel::Phone(app_secret) => {
            let mut secrets = Secrets::random(SystemChance);
            if let Some(given) = app_secret {
                given.reveal().clone_into(&mut secrets.app_secret);
            }
            local::Channel::Phone(secrets)
        }
        Channel::Meta(meta) => local::Channel::Meta(Meta::of(meta)),
    };
    let options = make(&settings, listen, folder.clone(), channel).await?;
    let model = model_line(&settings, &options.agents);
    let run = LocalRun::start(options).await?;
    print_line(&format!("Recado is ready: {}", run.public_url()));
    print_line(&model);
    print_line(&match &folder {
        Some(folder) => format!("  memory   {}", folder.display()),
        None => "  memory   none: gone when this ends".to_owned(),
    });
    if let Channel::Meta(meta) = &settings.channel {
        for line in what_to_do(&settings, meta, &run) {
            print_line(&line);
        }
    }
    print_line("  stop     Ctrl-C");
    stop_signal().await;
    print_line("Stopping: what is under way ends first.");
    run.stop().await?;
    Ok(ExitCode::SUCCESS)
}

/// Which models answer, and where they are.
fn model_line(settings: &LocalSettings, agents: &Roster) -> String {
    match &settings.model {
        ModelAccess::Demo if settings.is_demo_chosen => {
            "  model    demo (built in; RECADO_MODEL names it)".to_owned()
        }
        ModelAccess::Demo => {
            "  model    demo (built in; set RECADO_MODEL_KEY for a real one)".to_owned()
        }
        ModelAccess::Providers(models) => {
            let mut places = BTreeMap::<Provider, BTreeSet<&str>>::new();
            let asked = agents.agents().map(|agent| &agent.model);
            let asked = asked.flat_map(|model| {
                [
                    Some(&model.main),
                    model.light.as_ref(),
                    model.fallback.as_ref(),
                ]
            });
            for model in asked.flatten() {
                let (provider, name) = Provider::of(model, models.default);
                places.entry(provider).or_default().insert(name);
            }
            let places = places.into_iter().map(|(provider, names)| {
                let names: Vec<&str> = names.into_iter().collect();
                let at = models.providers.get(&provider);
                let at = at.map_or("", |provider| provider.base_url.as_str());
                format!("{} at {at}", names.join(", "))
            });
            let places: Vec<String> = places.collect();
            format!("  model    {}", places.join("; "))
        }
    }
}

/// What is there and what comes next; never a secret itself.
fn what_to_do(settings: &LocalSettings, meta: &MetaSettings, run: &LocalRun) -> Vec<String> {
    let mut lines = vec![
        "  channel  meta: WhatsApp Cloud API; app secret, verify token and access token are set"
            .to_owned(),
        format!("  sends    {}/{}", meta.graph_url, meta.graph_version),
        format!("  operator {} (this machine only)", run.url()),
        "  webhook  /webhook/meta".to_owned(),
        "  next     1. lead a tunnel or an HTTPS proxy to the address above".to_owned(),
        "           2. Meta's App dashboard, WhatsApp, Configuration, Webhook: as callback URL".to_owned(),
        "              https://YOUR-HOST/webhook/meta, as verify token the word in RECADO_META_VERIFY_TOKEN"
            .to_owned(),
        "           3. after \"Verify and save\": subscribe to the field messages, and write to the number"
            .to_owned(),
    ];
    if settings.model == ModelAccess::Demo {
        lines.push(
            "           The demo model will answer real people until a real one is set.".to_owned(),
        );
    }
    lines
}
