-- Teams, organizations, projects, versions, their files and what a scanner says of these, follows.

-- The statuses of projects that search shows, and of versions that lists and search show. PostgreSQL replaces a call by
-- its condition, also in the indexes below: queries that say either find them. A change of one of these functions would
-- leave the indexes with the rows of before, so that they must be made again in the same migration.
create function is_searchable(status text) returns boolean language sql immutable as $$
  select status in ('approved', 'archived')
$$;

create function is_listed(status text) returns boolean language sql immutable as $$
  select status in ('listed', 'archived')
$$;

create table team (
  id text collate "C" primary key,
  -- How many projects in search have this team, as their own or as their organization's; kept by triggers.
  published integer not null default 0
);

create table team_member (
  team_id text collate "C" not null references team (id) on delete cascade,
  account_id text collate "C" not null references account (id) on delete cascade,
  role text not null default 'Member',
  is_owner boolean not null default false,
  permissions integer not null default 0,
  -- Null in project teams.
  organization_permissions integer,
  accepted boolean not null default false,
  payouts_split numeric(12, 4) not null default 0,
  ordering integer not null default 0,
  created timestamptz not null default now(),
  primary key (team_id, account_id),
  constraint team_member_role_check check (char_length(role) <= 255),
  constraint team_member_permissions_check check (permissions between 0 and 1023),
  constraint team_member_organization_permissions_check check (organization_permissions between 0 and 255),
  constraint team_member_payouts_split_check check (payouts_split between 0 and 5000),
  constraint team_member_owner_check check (not is_owner or accepted)
);
create index team_member_account_id_idx on team_member (account_id);
-- A team has at most one owner; races for ownership end here.
create unique index team_member_owner_key on team_member (team_id) where is_owner;

-- An account whose deletion is pending joins no team, as one that is gone: a request that began before ends like that.
create function refuse_leaving_member() returns trigger language plpgsql as $$
declare
  due timestamptz;
begin
  select deletion_due into due from account where id = new.account_id for key share;
  if due is not null then
    raise foreign_key_violation using
      message = 'The account is about to be deleted',
      detail = 'The account is not present in table "account".',
      constraint = 'team_member_account_id_fkey';
  end if;
  return new;
end
$$;
create trigger team_member_leaving before insert on team_member
  for each row execute function refuse_leaving_member();

create table organization (
  id text collate "C" primary key,
  slug text collate "C" not null,
  name text not null,
  description text not null,
  team_id text collate "C" not null references team (id),
  icon_url text,
  raw_icon_url text,
  color integer,
  created timestamptz not null default now(),
  revision bigint not null default 1,
  constraint organization_slug_key unique (slug),
  constraint organization_team_key unique (team_id)
);
-- A new slug may not equal the ID of another, case aside.
create index organization_lower_id_idx on organization (lower(id));

create trigger organization_revision before update on organization for each row execute function bump_revision();

create table project (
  id text collate "C" primary key,
  slug text collate "C" not null,
  name text not null,
  summary text not null,
  description text not null,
  status text not null,
  requested_status text,
  -- When a scheduled project takes its requested status.
  scheduled_at timestamptz,
  license text not null,
  license_url text,
  categories text[] not null default '{}',
  additional_categories text[] not null default '{}',
  -- Platform name → URL.
  link_urls jsonb not null default '{}',
  downloads bigint not null default 0,
  -- Downloads that no event stands for: what the row was made with (demo data, a move from elsewhere).
  imported_downloads bigint not null default 0,
  followers integer not null default 0,
  published timestamptz not null default now(),
  updated timestamptz not null default now(),
  approved timestamptz,
  queued timestamptz,
  team_id text collate "C" not null references team (id),
  organization_id text collate "C" references organization (id),
  icon_url text,
  raw_icon_url text,
  color integer,
  moderation_message text,
  moderation_message_body text,
  monetization_status text not null default 'monetized',
  -- Whether everybody sees how the downloads are made up, or its members alone.
  public_statistics boolean not null default true,
  -- A random point on a line of 2^31. Random projects are read from random stretches of that line.
  random_key integer not null default floor(random() * 2147483648)::integer,
  revision bigint not null default 1,
  constraint project_slug_key unique (slug),
  constraint project_team_key unique (team_id),
  constraint project_status_check check (status in ('approved', 'archived', 'rejected', 'draft', 'unlisted', 'processing',
    'withheld', 'scheduled', 'private', 'unknown')),
  constraint project_requested_status_check
    check (requested_status in ('approved', 'archived', 'unlisted', 'private', 'draft')),
  constraint project_monetization_check
    check (monetization_status in ('monetized', 'demonetized', 'force-demonetized')),
  constraint project_followers_check check (followers >= 0)
);
-- A new slug may not equal the ID of another, case aside.
create index project_lower_id_idx on project (lower(id));
create index project_organization_id_idx on project (organization_id);
create index project_queue_idx on project (coalesce(queued, published), id) where status = 'processing';
create index project_random_idx on project (random_key) include (id) where is_searchable(status);
-- What an update check asks of a project, from the index alone.
create index project_visibility_idx on project (id) include (status);
create index project_scheduled_idx on project (scheduled_at) where status = 'scheduled';

-- Counting downloads makes no new revision: caches put the new number into what they keep. Whatever else changes
-- `downloads` counts the revision up itself.
create trigger project_revision before update on project for each row
  when (old.downloads = new.downloads) execute function bump_revision();

create table gallery_item (
  id text collate "C" primary key,
  project_id text collate "C" not null references project (id) on delete cascade,
  url text not null,
  raw_url text not null,
  content_sha1 text collate "C" not null,
  -- Of the picture as uploaded, in pixels. Null for a moving one, which has no scaled copies.
  width integer,
  height integer,
  -- The widths that there are scaled copies for, which stand beside the picture: its address with `_WIDTH.webp`.
  copy_widths integer[] not null default '{}',
  featured boolean not null default false,
  name text,
  description text,
  ordering integer not null default 0,
  created timestamptz not null default now(),
  constraint gallery_item_url_key unique (project_id, url),
  -- The same picture once in a gallery: by its content, since each upload has an address of its own.
  constraint gallery_item_content_key unique (project_id, content_sha1)
);
create unique index gallery_item_featured_key on gallery_item (project_id) where featured;

create table version (
  id text collate "C" primary key,
  project_id text collate "C" not null references project (id) on delete cascade,
  author_id text collate "C" not null references account (id),
  name text not null,
  version_number text not null,
  changelog text not null default '',
  version_type text not null,
  status text not null default 'listed',
  requested_status text,
  scheduled_at timestamptz,
  featured boolean not null default false,
  downloads bigint not null default 0,
  -- As in `project`.
  imported_downloads bigint not null default 0,
  date_published timestamptz not null default now(),
  ordering integer,
  loaders text[] not null,
  -- Loader field name → value, as checked against the taxonomy.
  fields jsonb not null default '{}',
  revision bigint not null default 1,
  constraint version_type_check check (version_type in ('release', 'beta', 'alpha')),
  constraint version_status_check check (status in ('listed', 'archived', 'draft', 'unlisted', 'scheduled', 'unknown')),
  constraint version_requested_status_check check (requested_status in ('listed', 'archived', 'draft', 'unlisted'))
);
create index version_project_id_idx on version (project_id, date_published);
-- What an update check asks of a version, from the index alone.
create index version_visibility_idx on version (id) include (project_id, status, date_published);
-- The order of a project's version list, so that its first entry is found without reading the rest.
create index version_listed_idx on version (project_id, ordering, date_published desc, id)
  where is_listed(status);
-- The versions for a loader that few are for. Any others are found without it.
create index version_loaders_idx on version using gin (loaders) where is_listed(status);
create index version_author_id_idx on version (author_id);
create index version_scheduled_idx on version (scheduled_at) where status = 'scheduled';

create trigger version_revision before update on version for each row
  when (old.downloads = new.downloads) execute function bump_revision();

create table dependency (
  id bigint generated always as identity primary key,
  dependent_id text collate "C" not null references version (id) on delete cascade,
  -- A dependency on a version outlives it as one on its project.
  version_id text collate "C" references version (id) on delete set null,
  project_id text collate "C" references project (id) on delete cascade,
  file_name text,
  dependency_type text not null,
  constraint dependency_type_check check (dependency_type in ('required', 'optional', 'incompatible', 'embedded')),
  constraint dependency_self_check check (version_id <> dependent_id)
);
-- Dependencies of a project's versions are read from the index alone.
create index dependency_named_idx on dependency (dependent_id) include (version_id, project_id);
create index dependency_version_id_idx on dependency (version_id);
create index dependency_project_id_idx on dependency (project_id);

-- Which project published these bytes first: the same bytes belong to one project only, and the key settles races.
create table file_content (
  sha512 text collate "C" primary key,
  project_id text collate "C" not null references project (id) on delete cascade
);
create index file_content_project_id_idx on file_content (project_id);

create table file (
  id text collate "C" primary key,
  version_id text collate "C" not null references version (id) on delete cascade,
  filename text not null,
  size_bytes bigint not null,
  sha1 text collate "C" not null,
  sha512 text collate "C" not null,
  is_primary boolean not null default false,
  file_type text,
  content_type text not null,
  -- The key under which the files port holds the bytes.
  storage_key text collate "C" not null,
  created timestamptz not null default now(),
  constraint file_name_key unique (version_id, filename),
  constraint file_type_check check (file_type in ('required-resource-pack', 'optional-resource-pack', 'sources-jar',
    'dev-jar', 'javadoc-jar', 'signature', 'unknown'))
);
create unique index file_primary_key on file (version_id) where is_primary;
-- A hash leads to its version without a look at the row: update checks name a thousand of them.
create index file_sha1_idx on file (sha1) include (version_id);
create index file_sha512_idx on file (sha512) include (version_id);

-- An address of a file that ever answered bytes never answers others: caches on the way keep them for a year. So a name
-- stays with its bytes for as long as its version exists, also after the file is deleted. Another version has another
-- ID, and with it other addresses.

create table file_address (
  version_id text collate "C" not null references version (id) on delete cascade,
  filename text not null,
  sha512 text collate "C" not null,
  constraint file_address_key primary key (version_id, filename)
);

-- A trigger, so that it holds whatever inserts the file. The row is locked by the update that changes nothing:
-- of two uploads at once, the second sees the bytes of the first.
create function keep_file_address() returns trigger language plpgsql as $$
declare
  kept text;
begin
  insert into file_address (version_id, filename, sha512) values (new.version_id, new.filename, new.sha512)
    on conflict (version_id, filename) do update set sha512 = file_address.sha512
    returning sha512 into kept;
  if kept <> new.sha512 then
    raise unique_violation using
      constraint = 'file_address_key',
      message = 'The name was used for other bytes in this version';
  end if;
  return null;
end $$;
create trigger file_address_kept after insert on file for each row execute function keep_file_address();

-- Keys under which bytes are being stored for rows that are not committed yet. What a killed process leaves here is
-- removed from the store by a job.
create table upload_claim (
  storage_key text collate "C" primary key,
  created timestamptz not null default now()
);

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

create table follow (
  account_id text collate "C" not null references account (id) on delete cascade,
  project_id text collate "C" not null references project (id) on delete cascade,
  created timestamptz not null default now(),
  primary key (account_id, project_id)
);
-- Followers of one project are walked through in order, some thousands at a time.
create index follow_project_account_idx on follow (project_id, account_id);

-- The demo catalogue that `depot seed` writes: what was made, so that it is found again, added to, and removed.
create table demo_catalogue (
  only_row boolean primary key default true,
  -- No date of the demo is later. Of the first run, so that what a later one adds fits.
  until timestamptz not null,
  -- Part of the keys of its files: a demo that is written again shares none with one whose files are being removed.
  mark text not null,
  constraint demo_catalogue_only_row_check check (only_row)
);

create table demo_item (
  kind text not null,
  id text collate "C" not null,
  -- Of a project: the batch of events that its counters have been lowered for, and whether the store has it.
  events_batch text,
  has_events boolean not null default false,
  constraint demo_item_pkey primary key (kind, id),
  constraint demo_item_kind_check check (kind in ('account', 'organization', 'project', 'collection', 'report'))
);
create index demo_item_events_idx on demo_item (id) where kind = 'project' and not has_events;
