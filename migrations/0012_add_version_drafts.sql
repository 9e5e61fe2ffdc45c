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
  -- The fine-grained token or the trusted publisher that owns the upload; null: the account.
  token_owner text collate "C",
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

-- Trusted publishers: builds of a repository that publish versions of a project, or of the projects of an organization.

alter table project
  -- `trusted_only`: only trusted publishers publish versions.
  add column publishing text not null default 'any',
  add constraint project_publishing_check check (publishing in ('any', 'trusted_only'));

-- Where a trusted publisher built the version: claims of the build service that the version shows.
alter table version add column provenance jsonb;

create table trusted_publisher (
  id text collate "C" primary key,
  project_id text collate "C" references project (id) on delete cascade,
  organization_id text collate "C" references organization (id) on delete cascade,
  issuer text not null,
  -- As the build service last wrote it. The IDs identify the repository once an exchange has pinned them.
  repository text not null,
  repository_id text collate "C",
  owner_id text collate "C",
  workflow text not null,
  environment text,
  ref_pattern text,
  protected_ref_only boolean not null default false,
  called_workflows text[] not null default '{}',
  -- The author of its versions. Without this account among the members, the publisher does not work.
  created_by text collate "C" references account (id) on delete set null,
  created timestamptz not null default now(),
  -- When Depot noticed that the account is not a member any more, and notified the others.
  stopped timestamptz,
  last_used timestamptz,
  constraint trusted_publisher_owner_check check (num_nonnulls(project_id, organization_id) = 1),
  constraint trusted_publisher_key unique nulls not distinct
    (project_id, organization_id, issuer, repository, workflow, environment, ref_pattern)
);
create index trusted_publisher_organization_id_idx on trusted_publisher (organization_id);
create index trusted_publisher_created_by_idx on trusted_publisher (created_by);
create index trusted_publisher_repository_id_idx on trusted_publisher (issuer, repository_id);
create index trusted_publisher_repository_idx on trusted_publisher (issuer, lower(repository));

-- The token of one build, from the exchange of a token of the build service.
create table publisher_token (
  id text collate "C" primary key,
  publisher_id text collate "C" not null references trusted_publisher (id) on delete cascade,
  token_hash bytea not null,
  -- The only project of the token; null: all projects of the publisher's organization.
  project_id text collate "C" references project (id) on delete cascade,
  provenance jsonb not null,
  created timestamptz not null default now(),
  expires timestamptz not null,
  constraint publisher_token_hash_key unique (token_hash)
);
create index publisher_token_publisher_id_idx on publisher_token (publisher_id);
create index publisher_token_project_id_idx on publisher_token (project_id);
create index publisher_token_expires_idx on publisher_token (expires);

-- Tokens of build services that were exchanged, until they expire: each works once.
create table used_ci_token (
  issuer text not null,
  token_id text collate "C" not null,
  expires timestamptz not null,
  constraint used_ci_token_pkey primary key (issuer, token_id)
);
create index used_ci_token_expires_idx on used_ci_token (expires);

-- Service accounts: accounts of an organization whose tokens publish, and with which nobody signs in.
alter table account
  add column service_of text collate "C" references organization (id) on delete set null,
  add constraint account_service_check check (
    service_of is null or (email is null and password_hash is null and code_host_id is null and role = 'developer')
  );
create index account_service_of_idx on account (service_of) where service_of is not null;
