-- The manifests of packs that name the version of their loader, from which the page of a pack proposes versions.
create index if not exists file_manifest_pack_loader_idx on file_manifest (file_id) where content ? 'packLoaderVersions';
