//! The client for Rust: reading, and what it can edit. Its bulk edit leaves out which projects it is for, so no server can
//! answer that one.

use ferinth::structures::{
    project::{ImageFileExt, ProjectType},
    search::{Facet, Sort},
    version::LatestVersionBody,
};
use ferinth::Ferinth;

fn env(name: &str) -> String {
    std::env::var(name).expect(name)
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let modrinth = Ferinth::<ferinth::Authenticated>::new("depot-tests", Some("1.0"), None, env("DEPOT_TOKEN").as_str())?;
    let (slug, version, sha1) = (env("DEPOT_PROJECT"), env("DEPOT_VERSION"), env("DEPOT_SHA1"));

    let project = modrinth.project_get(&slug).await?;
    assert_eq!(project.slug, slug);
    assert_eq!(modrinth.project_check_validity(&slug).await?, project.id);
    assert_eq!(modrinth.project_get_multiple(&[&slug]).await?.len(), 1);
    assert_eq!(modrinth.project_get_random(1).await?.len(), 1);
    assert!(modrinth.project_get_dependencies(&slug).await?.projects.is_empty());
    let facets = vec![
        vec![Facet::ProjectType(ProjectType::Mod)],
        vec![Facet::Categories("fabric".into())],
        vec![Facet::Versions("1.20.1".into())],
        vec![Facet::License("MIT".into())],
    ];
    let found = modrinth.search(&project.title, &Sort::Relevance, facets).await?;
    assert!(found.hits.iter().any(|hit| hit.project_id == project.id));

    assert_eq!(modrinth.version_list(&slug).await?.len(), 1);
    let listed = modrinth.version_list_filtered(&slug, Some(&["fabric"]), Some(&["1.20.1"]), None).await?;
    assert_eq!(listed[0].id, version);
    assert_eq!(modrinth.version_get(&version).await?.project_id, project.id);
    assert_eq!(modrinth.version_get_from_number(&slug, "1.0.0").await?.id, version);
    assert_eq!(modrinth.version_get_multiple(&[&version]).await?.len(), 1);
    assert_eq!(modrinth.version_get_from_hash(&sha1).await?.id, version);
    assert_eq!(modrinth.version_get_from_multiple_hashes(vec![sha1.clone()]).await?[&sha1].id, version);
    let filter = || LatestVersionBody { loaders: vec!["fabric".into()], game_versions: vec!["1.20.1".into()] };
    assert_eq!(modrinth.version_get_latest_from_hash(&sha1, &filter()).await?.id, version);
    let latest = modrinth.version_get_latest_from_multiple_hashes(vec![sha1.clone()], filter()).await?;
    assert_eq!(latest[&sha1].id, version);
    assert!(!modrinth.tag_list_loaders().await?.is_empty());
    assert!(!modrinth.tag_list_categories().await?.is_empty());

    modrinth.project_follow(&slug).await?;
    assert_eq!(modrinth.project_get(&slug).await?.followers, 1);
    modrinth.project_unfollow(&slug).await?;
    let picture = std::fs::read(env("DEPOT_PICTURE"))?;
    modrinth.project_edit_icon(&slug, picture.clone(), ImageFileExt::PNG).await?;
    modrinth.project_add_gallery_image(&slug, picture, &ImageFileExt::PNG, true, Some("Dusk".into()), None).await?;
    let edited = modrinth.project_get(&slug).await?;
    assert!(edited.icon_url.is_some());
    assert_eq!(edited.gallery.len(), 1);
    modrinth.version_delete(&version).await?;
    assert!(modrinth.version_get(&version).await.is_err());
    modrinth.project_delete(&slug).await?;
    assert!(modrinth.project_get(&slug).await.is_err());
    Ok(())
}
