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

-- Files that arrive in several requests, until a version names them.

create table upload (
  id text collate "C" primary key,
  -- Null after the account was deleted; the upload then expires.
  account_id text collate "C" references account (id) on delete set null,
  -- Announced length; null until it is known.
  length bigint check (length >= 0),
  -- Bytes that are stored durably.
  received bigint not null default 0,
  -- Header Upload-Metadata.
  metadata text not null,
  -- The draft that names the upload.
  version_id text collate "C" references version (id) on delete set null,
  created timestamptz not null default now(),
  expires timestamptz not null,
  -- The request that writes, and when another one can take over.
  lease text collate "C",
  lease_until timestamptz
);
create index upload_account_id_idx on upload (account_id);
create index upload_version_id_idx on upload (version_id) where version_id is not null;
create index upload_expires_idx on upload (expires);

-- The stored parts of uploads.
create table upload_part (
  storage_key text collate "C" primary key,
  upload_id text collate "C" not null references upload (id),
  start bigint not null,
  -- Number of bytes that belong to the upload. An interrupted request can have written more.
  size_bytes bigint not null,
  -- Whether a request that has lost its lease might still write to the file.
  sealed boolean not null default false,
  unique (upload_id, start)
);
