-- Downloads reach the counters of projects and versions in two steps, so that counting waits for no row that a command
-- holds, and announces a change no more often than people can notice.
--
-- 1. A stored batch of events adds its downloads to `download_pending`, in the transaction that notes its ID in
--    `download_batch`: whoever comes with the same batch again adds nothing, and several processes may come at once.
-- 2. Every now and then one process moves what is pending into `project.downloads` and `version.downloads`.

create table download_batch (
  id text collate "C" primary key,
  applied timestamptz not null default now(),
  -- The ledger's `caught_up_to` has passed it: from then on it only keeps a late repetition out.
  is_passed boolean not null default false,
  constraint download_batch_id_check check (char_length(id) between 1 and 64)
);
create index download_batch_applied_idx on download_batch (applied);
create index download_batch_open_idx on download_batch (id) where not is_passed;

-- Names no rows of other tables: a foreign key would wait for whoever holds them.
create table download_pending (
  version_id text collate "C" primary key,
  project_id text collate "C" not null,
  downloads bigint not null,
  constraint download_pending_downloads_check check (downloads > 0)
);
create index download_pending_project_id_idx on download_pending (project_id);

-- Batches have IDs, not numbers, because they come from several processes. No release has used `applied`.
alter table download_ledger
  drop column applied,
  -- Every batch that the store has stored before this instant of its own clock, in milliseconds, has been taken in.
  add column caught_up_to bigint not null default 0,
  -- Counters are shown again from then on, whichever process does it.
  add column show_after timestamptz not null default now();
