-- What the operator's scanner says of the files of each version. A version whose files wait for a verdict, or are in
-- quarantine, has the status `unknown`, and the status it is to take as its requested one.

create table version_scan (
  version_id text collate "C" primary key references version (id) on delete cascade,
  state text not null default 'pending',
  -- Counts the sets of files that were to be judged: a verdict on an earlier set says nothing about this one.
  round integer not null default 1,
  -- Whether the version could be seen before these files were added to it: then it is no news when it is seen again.
  shown_before boolean not null default false,
  -- What the scanner says of all files together; null where it says nothing.
  reason text,
  -- [{file_id, filename, verdict, reason}]
  findings jsonb not null default '[]',
  -- How often the scanner was asked about this round without a verdict, and when it is asked again.
  attempts integer not null default 0,
  next_attempt timestamptz not null,
  -- Why there was no verdict; for moderators.
  last_error text,
  -- The moderator who let the version pass, whatever the scanner says.
  released_by text collate "C" references account (id) on delete set null,
  requested timestamptz not null,
  finished timestamptz,
  constraint version_scan_state_check check (state in ('pending', 'pass', 'warn', 'quarantine'))
);
create index version_scan_pending_idx on version_scan (next_attempt) where state = 'pending';
create index version_scan_state_idx on version_scan (state, requested, version_id) where state <> 'pass';
create index version_scan_released_by_idx on version_scan (released_by) where released_by is not null;
