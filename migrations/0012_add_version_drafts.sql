-- Drafts of versions: created without a number, loaders or files, and completed in several requests.

alter table version
  -- Whether the version was created as a draft and has not been published since. Only then can its fields be empty.
  add column is_new_draft boolean not null default false,
  -- When Depot deletes an incomplete draft: seven days after its last change. Null for every other version.
  add column draft_expires timestamptz;

create index version_draft_expires_idx on version (draft_expires) where draft_expires is not null;

-- What the manifests inside uploaded archives declare, for proposals and to find the project of a mod ID.

create table file_manifest (
  file_id text collate "C" not null references file (id) on delete cascade,
  -- Name of the entry in the archive.
  entry text not null,
  -- ID of the mod or plugin, in lower case.
  declared_id text collate "C",
  content jsonb not null,
  primary key (file_id, entry)
);
create index file_manifest_declared_id_idx on file_manifest (declared_id) where declared_id is not null;

-- The ID by which a manifest names the dependency, so that the next version of the project proposes the same project.
alter table dependency add column declared_id text collate "C";
