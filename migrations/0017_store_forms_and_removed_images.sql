-- Forms that were sent after the session had expired, until the user has signed in again.
create table stored_form (
  key_hash bytea primary key,
  -- Hash of a cookie: another browser cannot fetch the form.
  browser_hash bytea not null,
  -- Key of the IP address, which limits how many forms an address stores.
  caller text collate "C" not null,
  path text not null,
  fields jsonb not null,
  expires timestamptz not null
);
create index stored_form_caller_idx on stored_form (caller, expires);
create index stored_form_expires_idx on stored_form (expires);

-- Gallery images that can be restored for ten minutes: the row of `gallery_item` as JSON. A job deletes their files.
create table removed_gallery_item (
  id text collate "C" primary key,
  project_id text collate "C" not null references project (id) on delete cascade,
  url text not null,
  item jsonb not null,
  removed timestamptz not null
);
create index removed_gallery_item_project_id_idx on removed_gallery_item (project_id, url);
create index removed_gallery_item_removed_idx on removed_gallery_item (removed);
