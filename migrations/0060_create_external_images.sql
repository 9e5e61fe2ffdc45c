-- Images of other hosts in texts: the cached copies, and the URLs that moderators have blocked.

-- A URL whose image Depot has fetched or tried to fetch. `id` is the SHA-256 hash of the URL. Without `storage_key`, the last
-- fetch failed. `fresh_until` is the time of the next attempt.
create table external_image (
  id text collate "C" primary key check (id ~ '^[0-9a-f]{64}$'),
  url text not null check (char_length(url) <= 2048),
  storage_key text collate "C",
  content_type text,
  size_bytes integer not null default 0,
  -- ETag of the source.
  source_etag text,
  fetched timestamptz,
  fresh_until timestamptz not null,
  failures integer not null default 0,
  last_used timestamptz not null,
  constraint external_image_content_type_check check ((storage_key is null) = (content_type is null))
);
create unique index external_image_storage_key_key on external_image (storage_key);
create index external_image_last_used_idx on external_image (last_used);

-- URLs that Depot neither fetches nor shows. Separate from the cache, so that backups contain them.
create table blocked_external_image (
  id text collate "C" primary key check (id ~ '^[0-9a-f]{64}$'),
  url text not null check (char_length(url) <= 2048),
  created timestamptz not null,
  blocked_by_id text collate "C" references account (id) on delete set null,
  -- The takedown of a project whose texts contain the image. Undoing it lifts the block.
  takedown_id text collate "C" references takedown (id) on delete cascade
);
create index blocked_external_image_blocked_by_id_idx on blocked_external_image (blocked_by_id)
  where blocked_by_id is not null;
create index blocked_external_image_takedown_id_idx on blocked_external_image (takedown_id) where takedown_id is not null;
create index blocked_external_image_created_idx on blocked_external_image (created);
