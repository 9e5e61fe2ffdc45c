-- Drafts of versions: created without a number, loaders or files, and completed in several requests.

alter table version
  -- Whether the version was created as a draft and has not been published since. Only then can its fields be empty.
  add column is_new_draft boolean not null default false,
  -- When Depot deletes an incomplete draft: seven days after its last change. Null for every other version.
  add column draft_expires timestamptz;

create index version_draft_expires_idx on version (draft_expires) where draft_expires is not null;
